//! Files of learned values for players.
//!
//! In: files of `ggp learn`, and folders with such files. Out: a library for players, which use
//! the values of their rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};

use crate::Context;
use crate::rule_files::{other_rules, read_text};
use ggp_gdl::game::Game;
use ggp_learn::Library;
use ggp_play::Tables;
use ggp_solver::table::Table;

/// The greatest size of a file in bytes. A file of `ggp learn` has up to a few megabytes.
const MOST_BYTES: usize = 64 << 20;

/// The option for files of values.
#[derive(clap::Args)]
pub struct ValueOptions {
    /// Values of `ggp learn` for the players `auto` and `mcts`: files, or folders with .json files
    #[arg(long, value_name = "FILE,...", value_delimiter = ',')]
    values: Vec<PathBuf>,
    /// Values of all positions for the player `auto`, which then plays perfectly: files of `ggp
    /// tabulate`
    #[arg(long, value_name = "FILE,...", value_delimiter = ',')]
    table: Vec<PathBuf>,
}

impl ValueOptions {
    /// The values of all files. If the `games` to be played are known, each file must belong to
    /// one of them; those of folders need not.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, has no values, or belongs to none of the games.
    pub fn library(
        &self,
        games: Option<&[&Game]>,
        context: &Context,
    ) -> anyhow::Result<Arc<Library>> {
        let mut library = Library::new();
        for path in &self.values {
            match path.is_dir() {
                true => add_folder(&mut library, path, context)?,
                false => add_file(&mut library, path, games, context)?,
            }
        }
        Ok(Arc::new(library))
    }
}

impl ValueOptions {
    /// See [`tables`].
    ///
    /// # Errors
    ///
    /// As [`tables`].
    pub fn tables(&self, games: Option<&[&Game]>) -> anyhow::Result<Arc<Tables>> {
        tables(&self.table, games)
    }

    /// Warns if a file did not tell the value of a position, so that a player searched.
    pub fn warn_of_gaps(&self, tables: &Tables, context: &Context) {
        let Some(gap) = tables.gap() else {
            return;
        };
        let is_of = |path: &&PathBuf| {
            Table::open(path).is_ok_and(|table| table.header().rules == gap.rules)
        };
        let path = self.table.iter().find(is_of).or(self.table.first());
        let name = path.map_or_else(String::new, |path| path.display().to_string());
        context.note(format_args!(
            "warning: {name} did not tell the value of a position ({}), so the player searched; \
             the position is not one of this game, or the file is damaged: check it with `ggp verify`",
            gap.why
        ));
    }
}

/// The tables of all files. If the `games` to be played are known, each file must belong to
/// one of them.
///
/// # Errors
///
/// If a file cannot be read, is not a table, or belongs to none of the games.
pub fn tables(paths: &[PathBuf], games: Option<&[&Game]>) -> anyhow::Result<Arc<Tables>> {
    let mut tables = Tables::default();
    for path in paths {
        let table = Table::open(path);
        let table = table.with_context(|| format!("cannot use {}", path.display()))?;
        if let Some(games @ [first, ..]) = games
            && !games.iter().any(|game| table.is_of(game))
        {
            let why = other_rules(first, |game| table.is_of(game));
            bail!("cannot use {}: {why}", path.display());
        }
        tables.add(table);
    }
    Ok(Arc::new(tables))
}

/// Adds all .json files of a folder that have values.
fn add_folder(library: &mut Library, folder: &Path, context: &Context) -> anyhow::Result<()> {
    let name = folder.display();
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {name}"))?;
    let mut found = 0;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.with_context(|| format!("cannot read {name}"))?.path());
    }
    paths.sort();
    for path in paths {
        if path.extension().is_some_and(|ending| ending == "json") {
            let added = library.add(read_text(&path, MOST_BYTES, context)?);
            found += usize::from(added.is_ok());
        }
    }
    match found {
        0 => bail!("{name} has no files of `ggp learn`"),
        _ => Ok(()),
    }
}

fn add_file(
    library: &mut Library,
    path: &Path,
    games: Option<&[&Game]>,
    context: &Context,
) -> anyhow::Result<()> {
    let name = path.display();
    let mut own = Library::new();
    let text = read_text(path, MOST_BYTES, context)?;
    let added = own.add(text.clone()).and_then(|()| library.add(text));
    added.map_err(|error| anyhow!("cannot use {name}: {error}"))?;
    match games {
        Some(games) if !games.iter().any(|game| own.has(game)) => {
            bail!("the values in {name} were learned with other rules")
        }
        _ => Ok(()),
    }
}
