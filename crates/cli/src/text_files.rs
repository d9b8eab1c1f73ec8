//! Rule text that is rewritten: read strictly, written as a whole.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use serde::Serialize;

use super::{Context, Reported};
use super::{rule_files, rule_limits};
use ggp_engine::machine::PlayError;
use ggp_gdl::rewrite::{Tree, detect_infix};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::syntax::{self, Sexp, SyntaxLimits};

/// The limits of rule text.
#[derive(clap::Args, Copy, Clone, Debug)]
pub struct TextLimits {
    /// Maximum size of the rules, in bytes
    #[arg(long, value_name = "N", default_value_t = SyntaxLimits::default().bytes)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    max_bytes: usize,
    /// Maximum nesting of lists, from 1 to 1000
    #[arg(long, value_name = "N", default_value_t = SyntaxLimits::default().nesting)]
    #[arg(help_heading = "Limits", hide_short_help = true, value_parser = rule_limits::nesting)]
    max_nesting: usize,
}

impl TextLimits {
    /// The limits of the reader.
    pub fn syntax(self) -> SyntaxLimits {
        SyntaxLimits {
            bytes: self.max_bytes,
            nesting: self.max_nesting,
        }
    }

    /// The text of a file, or of standard input for `-`. Of a file that is too large, only a
    /// part that [`TextLimits::forms`] and [`TextLimits::tree`] will refuse.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not UTF-8.
    pub fn read(self, path: &Path, context: &Context) -> anyhow::Result<Source> {
        let name = rule_files::shown_name(path);
        let bytes = rule_files::read_at_most(path, self.max_bytes, context)?;
        if bytes.len() > self.max_bytes {
            return Ok(Source::new(name, String::from_utf8_lossy(&bytes)));
        }
        rule_files::refuse_other_encodings(path, &bytes)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            anyhow!("{name} is not UTF-8 from byte {at} on")
        })?;
        Ok(Source::new(name, text))
    }

    /// Several KIF files as one rule set.
    ///
    /// # Errors
    ///
    /// As [`TextLimits::read`].
    pub fn read_all(self, paths: &[PathBuf], context: &Context) -> anyhow::Result<Sources> {
        if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
            bail!("standard input (`-`) can be read only once");
        }
        let files = paths.iter().map(|path| {
            let source = self.read(path, context)?;
            refuse_infix(path, source.text())?;
            Ok(source)
        });
        Ok(Sources::new(files.collect::<anyhow::Result<_>>()?))
    }

    /// The forms of the texts, with their positions.
    ///
    /// # Errors
    ///
    /// As [`TextLimits::tree`].
    pub fn forms(self, sources: &Sources, context: &Context) -> anyhow::Result<Vec<Sexp>> {
        refuse_other_texts(sources)?;
        let (forms, findings) = syntax::read_until(sources, self.syntax(), context.stop());
        go_on(context)?;
        if findings.is_empty() {
            return Ok(forms);
        }
        rule_files::report(&findings, sources, context);
        Err(Reported.into())
    }

    /// The forms of the texts, with their comments.
    ///
    /// # Errors
    ///
    /// [`Reported`] if brackets do not match; if a text is not one of rules, or if interrupted.
    pub fn tree<'t>(self, sources: &'t Sources, context: &Context) -> anyhow::Result<Tree<'t>> {
        refuse_other_texts(sources)?;
        let tree = Tree::read(sources, self.syntax(), context.stop());
        go_on(context)?;
        tree.map_err(|findings| {
            rule_files::report(&findings, sources, context);
            Reported.into()
        })
    }
}

fn refuse_other_texts(sources: &Sources) -> anyhow::Result<()> {
    let mut texts = sources.files().iter();
    texts.try_for_each(|source| rule_files::refuse_other_text(source.name(), source.text()))
}

/// Whether a path is `-`, standard input or output.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a file has the extension of infix notation.
pub fn is_named_infix(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("hrf"))
}

/// Refuses a file in infix notation.
///
/// # Errors
///
/// If the text is in infix notation, or, where the text leaves it open, the name says so.
pub fn refuse_infix(path: &Path, text: &str) -> anyhow::Result<()> {
    let (name, shown) = (path.display(), rule_files::shown_name(path));
    match detect_infix(text).unwrap_or_else(|| is_named_infix(path)) {
        true => {
            bail!("{shown} is in infix notation; `ggp rules convert {name}` converts it to KIF")
        }
        false => Ok(()),
    }
}

/// Whether two paths lead to the same file, which need not exist yet.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        path.canonicalize().ok().or_else(|| {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
            Some(folder.join(path.file_name()?))
        })
    };
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

/// Checks that no output overwrites an input or another output; standard input and output do
/// not count as one file.
///
/// # Errors
///
/// If two of the paths lead to one file.
pub fn keep_apart(outputs: &[&Path], inputs: &[&Path]) -> anyhow::Result<()> {
    for (number, output) in outputs.iter().enumerate() {
        let name = rule_files::shown_name(output);
        if outputs[..number]
            .iter()
            .any(|other| is_same_file(other, output))
        {
            let name = if is_stdin(output) {
                "standard output".to_owned()
            } else {
                name
            };
            bail!("two outputs would be written to {name}: give each its own file");
        }
        if !is_stdin(output) && inputs.iter().any(|input| is_same_file(input, output)) {
            bail!("{name} is an input and would be overwritten: write to another file");
        }
    }
    Ok(())
}

/// Checks for an interrupt.
///
/// # Errors
///
/// [`PlayError::Interrupted`].
pub fn go_on(context: &Context) -> anyhow::Result<()> {
    match context.is_interrupted() {
        true => Err(PlayError::Interrupted.into()),
        false => Ok(()),
    }
}

/// Replaces a file as a whole; if the path is a link, the file that it points to.
///
/// # Errors
///
/// Errors of writing, with the file's name.
pub fn write(path: &Path, text: &str, context: &Context) -> anyhow::Result<()> {
    let place = match path.exists() {
        true => path
            .canonicalize()
            .with_context(|| format!("cannot write {}", path.display()))?,
        false => path.to_owned(),
    };
    context.write_file(&place, text.as_bytes())
}

/// Writes a text to a file, or to standard output if no path is given.
///
/// # Errors
///
/// Errors of writing.
pub fn put(path: Option<&Path>, text: &str, context: &Context) -> anyhow::Result<()> {
    match path.filter(|path| !is_stdin(path)) {
        Some(path) => write(path, text, context),
        None => Ok(context.print_text(text)?),
    }
}

/// Writes a text as [`put`] does; with `--json`, prints a report, which includes the text unless
/// that is written to a file.
///
/// # Errors
///
/// Errors of writing.
pub fn put_or_report<T: Serialize>(
    path: Option<&Path>,
    text: String,
    report: impl FnOnce(Option<String>) -> T,
    context: &Context,
) -> anyhow::Result<()> {
    let is_written = path.is_some_and(|path| !is_stdin(path));
    if is_written || !context.json() {
        put(path, &text, context)?;
    }
    match context.json() {
        true => context.print_json(&report((!is_written).then_some(text))),
        false => Ok(()),
    }
}

/// The rule files that the arguments name; a folder names all rule files in it, at any
/// depth.
///
/// # Errors
///
/// If a folder cannot be listed or has no rule file.
pub fn files(arguments: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for argument in arguments {
        if is_stdin(argument) || !argument.is_dir() {
            files.push(argument.clone());
            continue;
        }
        let before = files.len();
        let mut open = vec![argument.clone()];
        while let Some(folder) = open.pop() {
            let name = || format!("cannot list {}", folder.display());
            for entry in std::fs::read_dir(&folder).with_context(name)? {
                let entry = entry.with_context(name)?;
                let path = entry.path();
                // A link to a folder may form a cycle.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                } else if path.extension().is_some_and(|ending| ending == "kif") && path.is_file() {
                    files.push(path);
                }
            }
        }
        if files.len() == before {
            bail!("there is no rule file (.kif) in {}", argument.display());
        }
        files[before..].sort();
    }
    Ok(files)
}
