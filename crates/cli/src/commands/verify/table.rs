//! Checks of files of values.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Options, Report};
use crate::rule_files::other_rules;
use crate::{Context, json, rule_files};
use ggp_gdl::game::Game;
use ggp_verify::{TableBytes, TableClaim, verify_table};

/// The first line of a file.
pub(super) const FIRST: &str = "ggp table 1\n";
/// The most bytes of the first two lines.
const MOST_BYTES: u64 = 1 << 28;

/// Checks a file of values.
///
/// # Errors
///
/// If it cannot be read, or is not such a file.
pub(super) fn check(
    options: &Options,
    game: &Game,
    path: &Path,
    context: &Context,
) -> anyhow::Result<Report> {
    let name = rule_files::shown_name(path);
    let cannot = || format!("cannot read {name}");
    let mut file = File::open(path).with_context(cannot)?;
    let length = file.metadata().with_context(cannot)?.len();
    let (mut first, mut second) = (String::new(), String::new());
    let mut lines = BufReader::new((&file).take(MOST_BYTES));
    let read = lines.read_line(&mut first);
    if read.is_err() || first != FIRST {
        bail!("{name} is not a file of `ggp tabulate`: its first line is another one");
    }
    lines.read_line(&mut second).with_context(cannot)?;
    let claim: TableClaim = json::parse(&second, "what `ggp tabulate` writes there")
        .map_err(|why| anyhow!("{name} is not a file of `ggp tabulate`: its second line: {why}"))?;
    if !claim.is_of(game) {
        bail!(
            "cannot check {name}: {}",
            other_rules(game, |game| claim.is_of(game))
        );
    }
    let mut read = |at: u64, out: &mut [u8]| {
        let read = file
            .seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(out));
        read.map_err(|error| error.to_string())
    };
    let bytes = TableBytes {
        start: (first.len() + second.len()) as u64,
        length,
        read: &mut read,
    };
    let positions = claim.positions();
    let is_whole = options.whole || options.sample >= positions;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut picks = (0..options.sample).map(|_| random.random_range(0..positions));
    let picks: Option<&mut dyn Iterator<Item = u64>> = match is_whole {
        true => None,
        false => Some(&mut picks),
    };
    let spinner = context.spinner(format!("checking {name}"));
    let outcome = verify_table(game, &claim, bytes, picks, &options.limits(context));
    spinner.finish_and_clear();
    Ok(Report::new(name, Vec::new(), outcome))
}
