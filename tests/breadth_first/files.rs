//! Checkpoints of searches whose levels are in files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::processes::in_processes;
use super::{Counted, own, run, run_part, scratch, whole};
use crate::common::sized;
use ggp_search::{Budget, Stats};
use ggp_solver::planning::breadth_first::{
    BreadthFirstError, BreadthFirstOptions, Classes, Spill, breadth_first,
};
use ggp_solver::planning::checkpoint::{Checkpoint, CheckpointError};

/// Memory so little that levels are in files.
fn little(nodes: u64, depth: u32) -> Budget {
    Budget {
        nodes,
        depth,
        memory_bytes: 500_000,
        ..Budget::default()
    }
}

fn spilled(folder: &Path, most_bytes: u64) -> BreadthFirstOptions {
    BreadthFirstOptions {
        spill: Some(Spill {
            folder: folder.to_owned(),
            most_bytes,
        }),
        ..whole()
    }
}

/// Options that go on from a checkpoint and write one.
fn from(
    options: &BreadthFirstOptions,
    resume: Option<&Path>,
    checkpoint: &Path,
    every: Duration,
) -> BreadthFirstOptions {
    BreadthFirstOptions {
        checkpoint: Some(Checkpoint {
            file: checkpoint.to_owned(),
            every,
        }),
        resume: resume.map(Path::to_owned),
        ..options.clone()
    }
}

/// All files in a folder and the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files = Vec::new();
    for entry in entries {
        match entry.path().is_dir() {
            true => files.extend(self::files(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

#[test]
fn a_search_in_files_is_resumed() {
    let folder = scratch("files");
    let file = scratch("files-checkpoint");
    for (name, depth, classes, nodes) in [
        ("eight_puzzle", u32::MAX, Classes::Never, 30_000),
        ("senku", sized(9, 10), Classes::Always, sized(1_000, 10_000)),
    ] {
        let puzzle = own(name);
        let in_memory = BreadthFirstOptions { classes, ..whole() };
        let expected = run(
            &puzzle,
            &in_memory,
            &Budget {
                depth,
                ..Budget::default()
            },
        );
        // A checkpoint after each round, after each level, and seldom.
        for every in [0, 1_000] {
            let mut options = BreadthFirstOptions {
                classes,
                ..spilled(&folder, 1 << 30)
            };
            options = from(&options, None, &file, Duration::from_secs(every));
            let mut pieces = 0;
            let found = loop {
                let (found, is_done) = run_part(&puzzle, &options, &little(nodes, depth));
                if is_done {
                    break found;
                }
                pieces += 1;
                options.resume = Some(file.clone());
                options.threads = 1 + pieces % 3;
            };
            assert_eq!(found, expected, "{name}");
            assert!(pieces > 2, "{name}: {pieces}");
            assert!(files(&folder).len() > 2, "{name}: there were no files");
            fs::remove_dir_all(&folder).unwrap();
            fs::remove_file(&file).unwrap();
        }
    }
}

#[test]
fn the_disk_limit_ends_a_search_that_goes_on_with_more() {
    let folder = scratch("files-limit");
    let file = scratch("files-limit-checkpoint");
    let puzzle = own("eight_puzzle");
    let expected = run(&puzzle, &whole(), &Budget::default());
    let mut resume = None;
    let mut ended = 0;
    for most_bytes in (0..).map(|step| 100_000 + 150_000 * step) {
        let options = spilled(&folder, most_bytes);
        let options = from(&options, resume.take(), &file, Duration::from_secs(1_000));
        let (found, is_done) = run_part(&puzzle, &options, &little(u64::MAX, u32::MAX));
        if is_done {
            assert_eq!(found, expected);
            break;
        }
        ended += 1;
        resume = Some(file.as_path());
    }
    assert!(ended > 3, "{ended}");
}

#[test]
fn an_older_checkpoint_stays_valid() {
    let folder = scratch("files-two");
    let (first, second) = (scratch("files-first"), scratch("files-second"));
    let puzzle = own("eight_puzzle");
    let expected = run(&puzzle, &whole(), &Budget::default());
    let options = spilled(&folder, 1 << 30);
    let piece = |resume: Option<&Path>, checkpoint: &Path, nodes: u64| {
        let options = from(&options, resume, checkpoint, Duration::ZERO);
        run_part(&puzzle, &options, &little(nodes, u32::MAX))
    };
    assert!(!piece(None, &first, 100_000).1);
    let before = files(&folder);
    assert!(!piece(Some(&first), &second, 30_000).1);
    assert!(before.iter().all(|file| file.exists()));
    for checkpoint in [&second, &first] {
        assert!(!piece(Some(checkpoint), checkpoint, 20_000).1);
    }
    for checkpoint in [&first, &second] {
        let options = BreadthFirstOptions {
            resume: Some(checkpoint.clone()),
            ..options.clone()
        };
        // Nothing is written for good without another checkpoint.
        let before = files(&folder);
        assert_eq!(
            run(&puzzle, &options, &little(u64::MAX, u32::MAX)),
            expected
        );
        assert_eq!(files(&folder), before);
    }
}

#[test]
fn missing_and_damaged_files_are_named() {
    let folder = scratch("files-damaged");
    let file = scratch("files-damaged-checkpoint");
    let puzzle = own("eight_puzzle");
    let options = from(&spilled(&folder, 1 << 30), None, &file, Duration::ZERO);
    assert!(!run_part(&puzzle, &options, &little(100_000, u32::MAX)).1);
    let error = |options: &BreadthFirstOptions| {
        let options = BreadthFirstOptions {
            resume: Some(file.clone()),
            checkpoint: None,
            ..options.clone()
        };
        let budget = little(10, u32::MAX);
        match breadth_first(&puzzle, &options, &budget, &mut Stats::default(), &mut ()) {
            Err(BreadthFirstError::Checkpoint(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(error(&whole()), CheckpointError::Levels(_)));
    let is_level = |path: &PathBuf| path.parent() != Some(&folder);
    let level = files(&folder).into_iter().find(is_level).unwrap();
    let mut bytes = fs::read(&level).unwrap();
    bytes[0] ^= 1;
    fs::write(&level, &bytes).unwrap();
    assert!(matches!(error(&options), CheckpointError::Damaged(path) if path == level));
    fs::remove_file(&level).unwrap();
    assert!(matches!(error(&options), CheckpointError::Missing(path) if path == level));
}

#[test]
fn processes_go_on_with_levels_in_files() {
    let folder = scratch("files-processes");
    let checkpoints = scratch("files-processes-checkpoints");
    let puzzle = own("eight_puzzle");
    let expected = run(&puzzle, &whole(), &Budget::default());
    for count in sized(2..3, 2..5) {
        let mut options = spilled(&folder, 1 << 30);
        let mut pieces = 0;
        let found: Counted = loop {
            let every = [Duration::ZERO, Duration::from_secs(1_000)][pieces % 2];
            options = from(
                &options,
                (pieces > 0).then_some(&*checkpoints),
                &checkpoints,
                every,
            );
            let mut found = in_processes(&puzzle, &options, &little(30_000, u32::MAX), count);
            let found = found.swap_remove(0);
            pieces += 1;
            if found == expected || pieces > 50 {
                break found;
            }
        };
        assert_eq!(found, expected);
        assert!(pieces > 3, "{pieces}");
        // Each process has its last segment only, or those since the level was opened.
        assert!(files(&checkpoints).len() < 20, "{:?}", files(&checkpoints));
        fs::remove_dir_all(&folder).unwrap();
        fs::remove_dir_all(&checkpoints).unwrap();
    }
}
