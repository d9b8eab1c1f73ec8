//! Checkpoints of breadth-first search with changed bytes: they are rejected, or the search
//! goes on to the same result.
//!
//! The first word of an input is the number of a search, and each line after it is a change.
//! A file with a changed byte does not match its checksum. With `sign` it gets a new one, as
//! if the search had written it; then its content may be false, but it causes no panic and
//! no endless search.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use ggp_engine::propnet::batch::pack;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::Score;
use ggp_search::{Budget, Counts, Stats};
use ggp_solver::planning::breadth_first::{
    BreadthFirstError, BreadthFirstOptions, Classes, Seen, breadth_first,
};
use ggp_solver::planning::checkpoint::Checkpoint;
use ggp_solver::planning::{Outcome, Puzzle};
use hmac_sha256::Hash as Sha256;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::reading;
use crate::Known;

/// The searches: rules, the treatment of symmetries, whether all positions are searched, the
/// number of positions before the checkpoint, and the longest plan.
const SEARCHES: [(&str, Classes, bool, u64, u32); 6] = [
    (TILES, Classes::Never, false, 300, 12),
    (TILES, Classes::Always, true, 200, 10),
    (TILES, Classes::IfMany, false, 500, 11),
    (PEGS, Classes::Never, true, 100, 6),
    (PEGS, Classes::Always, false, 60, 7),
    (DISCS, Classes::Never, false, 10, u32::MAX),
];
const TILES: &str = include_str!("../../../../games/eight_puzzle.kif");
const PEGS: &str = include_str!("../../../../games/senku.kif");
const DISCS: &str = include_str!("../../../../games/hanoi.kif");

/// The length of the checksum at the end of a file.
const CHECKSUM: usize = 32;

/// The result of a search: the outcome, the extent, and the counts by level.
type Found = (Outcome, Seen, Vec<(u32, Counts, u64)>);

/// A search with its checkpoint.
struct Begun {
    puzzle: Puzzle,
    options: BreadthFirstOptions,
    budget: Budget,
    bytes: Vec<u8>,
    /// The result after the unchanged checkpoint.
    found: Found,
}

fn begun() -> &'static [Begun] {
    static BEGUN: OnceLock<Vec<Begun>> = OnceLock::new();
    BEGUN.get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is a place for files");
        let file = folder.path().join("checkpoint");
        let all = SEARCHES.iter();
        all.map(|&(rules, classes, whole, nodes, depth)| {
            let game = reading(rules).game.expect("the rules are right");
            let (mut net, _) =
                Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
            net.simplify();
            let start = pack(net.initial().iter().copied());
            let puzzle = Puzzle::new(net, start, Score::MAX).expect("it has one role");
            let options = BreadthFirstOptions {
                classes,
                whole,
                ..BreadthFirstOptions::default()
            };
            let part = Budget {
                nodes,
                ..Budget::default()
            };
            let with_file = BreadthFirstOptions {
                checkpoint: Some(Checkpoint {
                    file: file.clone(),
                    every: Duration::from_secs(1_000),
                }),
                ..options.clone()
            };
            let mut stats = Stats::default();
            breadth_first(&puzzle, &with_file, &part, &mut stats, &mut ())
                .expect("the file can be written");
            assert!(
                stats.ran_out.is_some(),
                "the search of {nodes} positions ends"
            );
            let bytes = std::fs::read(&file).expect("it was written");
            let budget = Budget {
                depth,
                nodes: 20_000,
                memory_bytes: 64 << 20,
                time: Some(Duration::from_secs(20)),
                ..Budget::default()
            };
            let found = resumed(&puzzle, &options, &budget, &file).expect("it is unchanged");
            Begun {
                puzzle,
                options,
                budget,
                bytes,
                found,
            }
        })
        .collect()
    })
}

/// The result of the search after a checkpoint.
fn resumed(
    puzzle: &Puzzle,
    options: &BreadthFirstOptions,
    budget: &Budget,
    file: &Path,
) -> Result<Found, BreadthFirstError> {
    let options = BreadthFirstOptions {
        resume: Some(file.to_owned()),
        ..options.clone()
    };
    let mut stats = Stats::default();
    let (outcome, seen) = breadth_first(puzzle, &options, budget, &mut stats, &mut ())?;
    let levels = stats.levels.iter();
    let levels = levels.map(|level| (level.depth, level.counts, level.frontier));
    Ok((outcome, seen, levels.collect()))
}

/// Changes of a checkpoint.
pub fn make(_: &Known, random: &mut Xoshiro256PlusPlus) -> String {
    let search = random.random_range(0..SEARCHES.len());
    let len = begun()[search].bytes.len();
    let mut lines = vec![search.to_string()];
    for _ in 0..random.random_range(1..4) {
        // The numbers at the beginning mean most.
        let at = match random.random_bool(0.5) {
            true => random.random_range(0..len),
            false => random.random_range(0..len.min(2_000)),
        };
        lines.push(match random.random_range(0..7) {
            0 => format!("flip {at} {}", random.random_range(0..8)),
            1 => format!("cut {at}"),
            2 => format!("insert {at} {}", random.random::<u8>()),
            3 => format!("remove {at} {}", random.random_range(1..100)),
            4 => format!(
                "copy {at} {} {}",
                random.random_range(1..100),
                random.random_range(0..len)
            ),
            _ => {
                let numbers = [0, 1, 2, 7, 127, 128, 1 << 20, 1 << 31, 1 << 40, u64::MAX];
                let number = numbers[random.random_range(0..numbers.len())];
                format!("number {at} {number}")
            }
        });
    }
    if random.random_bool(0.7) {
        lines.push("sign".to_owned());
    }
    lines.join("\n")
}

/// Makes one change.
fn change(bytes: &mut Vec<u8>, line: &str) {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or_default();
    let place = |at: usize| (number(at) as usize).min(bytes.len());
    let (at, end) = (place(0), place(0).saturating_add(number(1) as usize));
    let end = end.min(bytes.len());
    match name {
        "flip" if at < bytes.len() => bytes[at] ^= 1 << (number(1) % 8),
        "cut" => bytes.truncate(at),
        "insert" => bytes.insert(at, number(1) as u8),
        "remove" => drop(bytes.drain(at..end)),
        "copy" => {
            let to = place(2);
            let copied = bytes[at..end].to_vec();
            drop(bytes.splice(to..to, copied));
        }
        "number" if bytes.len() >= 8 => {
            // The magic text, the version and the name make no whole number of words.
            let at = at.min(bytes.len() - 8);
            bytes[at..at + 8].copy_from_slice(&number(1).to_le_bytes());
        }
        "sign" if bytes.len() >= CHECKSUM => {
            let content = bytes.len() - CHECKSUM;
            let checksum = Sha256::hash(&bytes[..content]);
            bytes[content..].copy_from_slice(&checksum);
        }
        _ => {}
    }
}

pub fn run(input: &str, _: u64) -> Result<u64, String> {
    let mut lines = input.lines();
    let search = lines.next().and_then(|line| line.trim().parse().ok());
    let Some(begun) = search.and_then(|search: usize| begun().get(search)) else {
        return Ok(0);
    };
    let mut bytes = begun.bytes.clone();
    let mut is_signed = false;
    for line in lines {
        change(&mut bytes, line);
        is_signed |= line.split(' ').next() == Some("sign");
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join("checkpoint");
    std::fs::write(&file, &bytes).map_err(|error| error.to_string())?;
    match resumed(&begun.puzzle, &begun.options, &begun.budget, &file) {
        Err(error) if error.to_string().len() > 1_000 => Err(format!("a long error: {error}")),
        Err(_) if bytes == begun.bytes => Err("the unchanged file is rejected".to_owned()),
        Err(_) => Ok(1),
        Ok(found) if found == begun.found => Ok(1),
        Ok(_) if is_signed => Ok(0),
        Ok(found) => Err(format!(
            "another result: {found:?}\ninstead of {:?}",
            begun.found
        )),
    }
}
