//! Breadth-first search with threads, little memory, files instead of memory,
//! symmetries, checkpoints, and budgets that end early.

mod files;
mod processes;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::sized;
use ggp_engine::machine::{DatalogMachine, Limits};
use ggp_engine::propnet::batch::pack;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::{Game, Score};
use ggp_search::{Budget, Counts, Observer, Stats};
use ggp_solver::planning::breadth_first::{
    BreadthFirstError, BreadthFirstOptions, Classes, Spill, breadth_first,
};
use ggp_solver::planning::checkpoint::{Checkpoint, CheckpointError};
use ggp_solver::planning::{Outcome, Plan, Puzzle, Reason};
use ggp_solver::solve::check_plan;

fn puzzle(name: &str, change: impl Fn(String) -> String) -> Puzzle {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let text = fs::read_to_string(folder.join(name).with_extension("kif")).unwrap();
    let game = Game::from_text(name, &change(text)).unwrap();
    let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).unwrap();
    net.simplify();
    let start = pack(net.initial().iter().copied());
    Puzzle::new(net, start, Score::MAX).unwrap()
}

fn own(name: &str) -> Puzzle {
    puzzle(name, |text| text)
}

/// A path under the build folder that does not exist yet.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("breadth-first-{name}"));
    let _ = fs::remove_dir_all(&path);
    let _ = fs::remove_file(&path);
    path
}

/// An outcome, and by level the counts and the number of open states.
type Counted = (Outcome, Vec<(Counts, u64)>);

fn run(puzzle: &Puzzle, options: &BreadthFirstOptions, budget: &Budget) -> Counted {
    run_part(puzzle, options, budget).0
}

/// Runs a search and also returns whether the budget was sufficient.
fn run_part(puzzle: &Puzzle, options: &BreadthFirstOptions, budget: &Budget) -> (Counted, bool) {
    let mut stats = Stats::default();
    let outcome = breadth_first(puzzle, options, budget, &mut stats, &mut ())
        .unwrap()
        .0;
    let counts = stats
        .levels
        .iter()
        .map(|level| (level.counts, level.frontier));
    ((outcome, counts.collect()), stats.ran_out.is_none())
}

fn plan((outcome, _): &Counted) -> &Plan {
    match outcome {
        Outcome::Solved { plan, optimal } if *optimal => plan,
        other => panic!("{other:?}"),
    }
}

fn whole() -> BreadthFirstOptions {
    BreadthFirstOptions {
        whole: true,
        ..BreadthFirstOptions::default()
    }
}

#[test]
fn the_whole_graph_is_searched_beyond_a_plan() {
    let puzzle = own("eight_puzzle");
    let first = run(&puzzle, &BreadthFirstOptions::default(), &Budget::default());
    let whole = run(&puzzle, &whole(), &Budget::default());
    assert_eq!(plan(&first), plan(&whole));
    let (before, made) = (&first.1[..plan(&first).len()], &whole.1);
    assert_eq!(before, &made[..before.len()]);
    let sum = |count: fn(&Counts) -> u64| made.iter().map(|(counts, _)| count(counts)).sum::<u64>();
    // All arrangements of the tiles with the right parity; one of them is solved.
    assert_eq!(sum(|counts| counts.generated), 181_440);
    assert_eq!(sum(|counts| counts.solutions), 1);
    let open: u64 = made.iter().map(|(_, open)| open).sum();
    assert_eq!(open, 181_440 - 1);
    assert_eq!(sum(|counts| counts.expanded), open);
    // With a depth limit, the results are the same up to that depth.
    let budget = Budget {
        depth: 22,
        ..Budget::default()
    };
    let within = run(&puzzle, &self::whole(), &budget);
    assert_eq!(plan(&within), plan(&first));
    assert_eq!(within.1, whole.1[..=22]);
}

fn up_to_symmetry() -> BreadthFirstOptions {
    BreadthFirstOptions {
        classes: Classes::Always,
        ..BreadthFirstOptions::default()
    }
}

#[test]
fn threads_do_not_change_results() {
    let budget = Budget {
        depth: 10,
        ..Budget::default()
    };
    for (name, budget) in [
        ("senku", &budget),
        ("eight_puzzle", &Budget::default()),
        ("hanoi", &Budget::default()),
        ("lights_out", &Budget::default()),
    ] {
        let puzzle = own(name);
        for options in [BreadthFirstOptions::default(), up_to_symmetry()] {
            let expected = run(&puzzle, &options, budget);
            for threads in [0, 2, 3, 7] {
                let options = BreadthFirstOptions {
                    threads,
                    ..options.clone()
                };
                assert_eq!(
                    run(&puzzle, &options, budget),
                    expected,
                    "{name}, {options:?}"
                );
            }
        }
    }
}

#[test]
fn symmetric_positions_count_as_one() {
    let machine = |puzzle: &Puzzle| DatalogMachine::new(puzzle.net.game(), Limits::default());
    for (name, depth, symmetries) in [("senku", 10, 8), ("eight_puzzle", u32::MAX, 2)] {
        let puzzle = own(name);
        let budget = Budget {
            depth,
            ..Budget::default()
        };
        let counted = |classes: Classes| {
            let options = BreadthFirstOptions { classes, ..whole() };
            let mut stats = Stats::default();
            let (outcome, seen) =
                breadth_first(&puzzle, &options, &budget, &mut stats, &mut ()).unwrap();
            let total = stats.total();
            assert_eq!(seen.positions, total.generated, "{name}");
            assert_eq!(seen.is_all, depth == u32::MAX, "{name}");
            (outcome, seen.symmetries, total)
        };
        let (outcome, one, whole) = counted(Classes::Never);
        let (reduced, count, classes) = counted(Classes::Always);
        assert_eq!((one, count), (1, symmetries), "{name}");
        // No class has more positions than there are symmetries.
        let most = classes.generated * symmetries as u64;
        assert!(
            whole.generated <= most && classes.generated < whole.generated,
            "{name}"
        );
        assert!(whole.solutions >= classes.solutions, "{name}");
        match (outcome, reduced) {
            (Outcome::Solved { plan, .. }, Outcome::Solved { plan: lifted, .. }) => {
                assert_eq!(plan.len(), lifted.len(), "{name}");
                let moves: Vec<_> = lifted
                    .iter()
                    .map(|&chosen| puzzle.net.moves()[0][chosen as usize])
                    .collect();
                let machine = machine(&puzzle).unwrap();
                assert_eq!(check_plan(&machine, &moves).unwrap(), Score::MAX, "{name}");
            }
            (outcome, reduced) => assert_eq!(outcome, reduced, "{name}"),
        }
    }
}

#[test]
fn symmetries_are_searched_for_in_large_puzzles() {
    for (name, symmetries) in [
        ("lights_out", 1),
        ("wolf_goat_cabbage", 1),
        ("eight_puzzle", 2),
    ] {
        let options = BreadthFirstOptions {
            classes: Classes::IfMany,
            ..BreadthFirstOptions::default()
        };
        let puzzle = own(name);
        let found = |options: &BreadthFirstOptions| {
            let mut stats = Stats::default();
            let budget = Budget::default();
            let (outcome, seen) =
                breadth_first(&puzzle, options, &budget, &mut stats, &mut ()).unwrap();
            let steps: Vec<u32> = stats.levels.iter().map(|level| level.depth).collect();
            assert!(steps.into_iter().eq(0..stats.levels.len() as u32), "{name}");
            (outcome, seen, stats.total())
        };
        let (reduced, seen, _) = found(&options);
        assert_eq!(seen.symmetries, symmetries, "{name}");
        let always = match symmetries {
            1 => BreadthFirstOptions::default(),
            _ => up_to_symmetry(),
        };
        assert_eq!(found(&always).0, reduced, "{name}");
    }
}

#[test]
fn levels_in_files_equal_levels_in_memory() {
    let folder = scratch("spill");
    let depth = |depth| Budget {
        depth,
        ..Budget::default()
    };
    // The levels of senku are disjoint, those of the eight puzzle are not.
    for (name, budget, classes) in [
        ("senku", depth(sized(9, 10)), Classes::Never),
        ("senku", depth(sized(10, 12)), Classes::Always),
        ("eight_puzzle", depth(u32::MAX), Classes::Never),
    ] {
        let puzzle = own(name);
        for threads in [1, 3] {
            let in_memory = BreadthFirstOptions {
                threads,
                classes,
                ..whole()
            };
            let spill = Some(Spill {
                folder: folder.clone(),
                most_bytes: 1 << 30,
            });
            let options = BreadthFirstOptions {
                spill: spill.clone(),
                ..in_memory.clone()
            };
            let little = Budget {
                memory_bytes: 500_000,
                ..budget.clone()
            };
            let without = run(&puzzle, &in_memory, &little);
            assert_eq!(without.0, Outcome::Unknown, "{name} needs more memory");
            let expected = run(&puzzle, &in_memory, &budget);
            assert_eq!(run(&puzzle, &options, &little), expected, "{name}");
            assert!(!folder.exists(), "all that was made is deleted");
            // Without `whole`, the same plan is found.
            let options = BreadthFirstOptions {
                whole: false,
                ..options
            };
            let first = run(&puzzle, &options, &little);
            assert_eq!(first.0, expected.0, "{name}");
            // The disk limit is respected as well.
            let options = BreadthFirstOptions {
                spill: spill.map(|spill| Spill {
                    most_bytes: 300_000,
                    ..spill
                }),
                ..in_memory
            };
            assert_eq!(run(&puzzle, &options, &little).0, Outcome::Unknown);
            assert!(!folder.exists(), "all that was made is deleted");
        }
    }
}

#[test]
fn an_invalid_spill_folder_is_an_error() {
    let file = scratch("no-folder");
    fs::write(&file, "here").unwrap();
    let options = BreadthFirstOptions {
        spill: Some(Spill {
            folder: file.clone(),
            most_bytes: 1 << 30,
        }),
        ..whole()
    };
    let little = Budget {
        memory_bytes: 500_000,
        ..Budget::default()
    };
    let mut stats = Stats::default();
    let error =
        breadth_first(&own("eight_puzzle"), &options, &little, &mut stats, &mut ()).unwrap_err();
    assert!(
        matches!(&error, BreadthFirstError::Spill(at, _) if at == &file),
        "{error}"
    );
}

/// Searches in pieces of `nodes` states, each resumed from the previous one.
fn in_pieces(puzzle: &Puzzle, options: &BreadthFirstOptions, nodes: u64, file: &Path) -> Counted {
    let budget = Budget {
        nodes,
        ..Budget::default()
    };
    let mut options = BreadthFirstOptions {
        checkpoint: Some(Checkpoint {
            file: file.to_owned(),
            every: Duration::from_secs(1_000),
        }),
        ..options.clone()
    };
    for piece in 0..1_000 {
        let (found, is_done) = run_part(puzzle, &options, &budget);
        if is_done {
            assert!(piece > 2, "the search ended too early");
            return found;
        }
        options.resume = Some(file.to_owned());
        options.threads = 1 + piece % 3;
    }
    panic!("the search does not end");
}

#[test]
fn a_plan_is_kept_when_the_budget_runs_out() {
    let eight = puzzle("eight_puzzle", |text| text);
    let budget = Budget {
        nodes: 100_000,
        ..Budget::default()
    };
    let (found, is_done) = run_part(&eight, &whole(), &budget);
    assert_eq!((plan(&found).len(), is_done), (20, false));
}

#[test]
fn a_resumed_search_gives_the_same_result() {
    let file = scratch("pieces");
    let swapped = |text: String| {
        let text = text.replace("(init (cell 1 1 2))", "(init (cell 1 1 3))");
        text.replace("(init (cell 1 2 3))", "(init (cell 1 2 2))")
    };
    let unsolvable = puzzle("eight_puzzle", swapped);
    let expected = run(&unsolvable, &whole(), &Budget::default());
    let positions = 181_440;
    let exhausted = Outcome::Unsolvable(Reason::Exhausted { positions });
    assert_eq!(expected.0, exhausted);
    assert_eq!(in_pieces(&unsolvable, &whole(), 30_000, &file), expected);
    let solvable = own("eight_puzzle");
    let expected = run(&solvable, &whole(), &Budget::default());
    assert_eq!(in_pieces(&solvable, &whole(), 40_000, &file), expected);
    for (once, nodes) in [
        (BreadthFirstOptions::default(), 10_001),
        (up_to_symmetry(), 5_001),
    ] {
        let expected = run(&solvable, &once, &Budget::default());
        let found = in_pieces(&solvable, &once, nodes, &file);
        assert_eq!(plan(&found), plan(&expected));
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_costs_a_warning_only() {
    #[derive(Default)]
    struct Heard(Vec<String>);
    impl Observer for Heard {
        fn warning(&mut self, text: &str) {
            self.0.push(text.to_owned());
        }
    }
    let file = scratch("no-such-folder").join("checkpoint");
    let options = BreadthFirstOptions {
        checkpoint: Some(Checkpoint {
            file: file.clone(),
            every: Duration::ZERO,
        }),
        ..whole()
    };
    let eight = own("eight_puzzle");
    for nodes in [u64::MAX, 20_000] {
        let budget = Budget {
            nodes,
            ..Budget::default()
        };
        let mut heard = Heard::default();
        let found = breadth_first(&eight, &options, &budget, &mut Stats::default(), &mut heard);
        assert_eq!(found.unwrap().0, run(&eight, &whole(), &budget).0);
        assert_eq!(heard.0.len(), 1, "it is said once");
        let name = file.display().to_string();
        assert!(
            heard.0.iter().all(|text| text.contains(&name)),
            "{heard:?}",
            heard = heard.0
        );
    }
}

#[test]
fn checkpoints_of_other_searches_are_rejected() {
    let file = scratch("rejected");
    let resume = |puzzle: &Puzzle, options: BreadthFirstOptions, memory_bytes: u64| {
        let options = BreadthFirstOptions {
            resume: Some(file.clone()),
            ..options
        };
        let budget = Budget {
            memory_bytes,
            ..Budget::default()
        };
        match breadth_first(puzzle, &options, &budget, &mut Stats::default(), &mut ()) {
            Err(BreadthFirstError::Checkpoint(error)) => Err(error),
            other => Ok(other.unwrap().0),
        }
    };
    let eight = own("eight_puzzle");
    let once = BreadthFirstOptions::default();
    let plenty = 1 << 30;
    let missing = resume(&eight, once.clone(), plenty);
    assert!(matches!(missing, Err(CheckpointError::File(..))));
    let options = BreadthFirstOptions {
        checkpoint: Some(Checkpoint {
            file: file.clone(),
            every: Duration::from_secs(1_000),
        }),
        ..once.clone()
    };
    let budget = Budget {
        nodes: 20_000,
        ..Budget::default()
    };
    assert_eq!(run(&eight, &options, &budget).0, Outcome::Unknown);
    assert!(resume(&eight, once.clone(), plenty).is_ok());

    let another_start = puzzle("eight_puzzle", |text| {
        let text = text.replace("(init (cell 1 1 2))", "(init (cell 1 1 3))");
        text.replace("(init (cell 1 2 3))", "(init (cell 1 2 2))")
    });
    for (puzzle, options) in [
        (&another_start, once.clone()),
        (&own("hanoi"), once.clone()),
        (&eight, whole()),
    ] {
        let rejected = resume(puzzle, options, plenty);
        assert!(
            matches!(
                rejected,
                Err(CheckpointError::Rules(_) | CheckpointError::Puzzle(_))
            ),
            "{rejected:?}"
        );
    }
    let rejected = resume(&eight, up_to_symmetry(), plenty).unwrap_err();
    let expected = "another method: breadth-first instead of breadth-first up to symmetry";
    assert!(rejected.to_string().contains(expected), "{rejected}");
    let rejected = resume(&eight, once.clone(), 300_000);
    assert!(
        matches!(rejected, Err(CheckpointError::Memory(_))),
        "{rejected:?}"
    );

    let bytes = fs::read(&file).unwrap();
    let with = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        resume(&eight, once.clone(), plenty).expect_err("the file was modified")
    };
    for at in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        let error = with(&changed);
        match at {
            0..12 => assert!(matches!(error, CheckpointError::Foreign(_)), "{error}"),
            _ => assert!(matches!(error, CheckpointError::Damaged(_)), "{error}"),
        }
    }
    assert!(matches!(
        with(&bytes[..bytes.len() / 2]),
        CheckpointError::Damaged(_)
    ));
    assert!(matches!(with(b""), CheckpointError::Foreign(_)));
    assert!(matches!(
        with(b"(role player)"),
        CheckpointError::Foreign(_)
    ));
}

#[test]
fn a_false_checkpoint_with_a_right_checksum_causes_no_panic() {
    let file = scratch("false");
    let hanoi = own("hanoi");
    let few = Budget {
        nodes: 10,
        ..Budget::default()
    };
    let options = BreadthFirstOptions {
        checkpoint: Some(Checkpoint {
            file: file.clone(),
            every: Duration::from_secs(1_000),
        }),
        ..BreadthFirstOptions::default()
    };
    assert_eq!(run(&hanoi, &options, &few).0, Outcome::Unknown);
    let resume = BreadthFirstOptions {
        resume: Some(file.clone()),
        ..BreadthFirstOptions::default()
    };
    let bytes = fs::read(&file).unwrap();
    let content = bytes.len() - 32;
    let (mut rejected, mut resumed) = (0, 0);
    // Numbers begin after the magic text, the version, the rules, the method and the digest.
    for at in (12 + 4 + 32 + 8 + "breadth-first".len() + 32..content).step_by(8) {
        for number in [0_u64, 3, 1 << 20, u64::MAX] {
            let mut changed = bytes.clone();
            let end = content.min(at + 8);
            changed[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            let checksum = hmac_sha256::Hash::hash(&changed[..content]);
            changed[content..].copy_from_slice(&checksum);
            fs::write(&file, &changed).unwrap();
            let mut stats = Stats::default();
            match breadth_first(&hanoi, &resume, &few, &mut stats, &mut ()) {
                Ok(_) => resumed += 1,
                Err(BreadthFirstError::Checkpoint(
                    CheckpointError::Damaged(_) | CheckpointError::Memory(_),
                )) => rejected += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(resumed > 10 && rejected > 1_000, "{resumed} {rejected}");
}
