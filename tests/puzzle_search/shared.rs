//! Games for the tests of puzzle searches.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ggp_engine::propnet::batch::pack;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::{Game, Score};
use ggp_solver::planning::Puzzle;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub fn game(text: &str) -> Game {
    Game::from_text("test.kif", text).unwrap_or_else(|found| panic!("{text}\n{:?}", found.findings))
}

pub fn puzzle(game: &Game) -> Option<Puzzle> {
    let (mut net, _) = Propnet::ground(game, &GroundLimits::default()).ok()?;
    net.simplify();
    let start = pack(net.initial().iter().copied());
    Puzzle::new(net, start, Score::MAX)
}

/// The puzzle of valid rules that are small enough for a network.
pub fn puzzle_of(text: &str) -> Puzzle {
    puzzle(&game(text)).expect("the rules are small and have one role")
}

/// The concatenated text of some files in `games/`.
pub fn own(files: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let texts = files.iter();
    texts
        .map(|file| fs::read_to_string(root.join(file)).unwrap())
        .collect()
}

/// The single-player games in `games/`, and each board with its rules.
pub fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let files = |folder: &Path| {
        let entries = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries.filter(|path| path.is_file()).collect();
        files.sort();
        files
    };
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut texts: Vec<(String, String)> = files(&root)
        .iter()
        .map(|path| (name(path), read(path)))
        .collect();
    for board in files(&root.join("instances")) {
        let text = read(&board);
        let (_, rules) = text.split_once("; Read with games/").unwrap();
        let rules = rules.split(".kif").next().unwrap();
        let rules = read(&root.join(format!("{rules}.kif")));
        texts.push((name(&board), format!("{rules}\n{text}")));
    }
    texts
}

/// Rules of a small random game whose moves set, clear or flip facts.
pub fn random_rules(seed: u64) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let facts = random.random_range(2..7);
    let moves = random.random_range(2..5);
    let mut text = String::from("(role me)\n");
    let literal = |random: &mut Xoshiro256PlusPlus| {
        let fact = random.random_range(0..facts);
        match random.random_bool(0.5) {
            true => format!("(true (f {fact}))"),
            false => format!("(not (true (f {fact})))"),
        }
    };
    for fact in 0..facts {
        writeln!(text, "(base (f {fact}))").unwrap();
        if random.random_bool(0.3) {
            writeln!(text, "(init (f {fact}))").unwrap();
        }
        let mut others = Vec::new();
        for chosen in 0..moves {
            match random.random_range(0..6) {
                0 => writeln!(text, "(<= (next (f {fact})) (does me (m {chosen})))").unwrap(),
                1 => {}
                2 => writeln!(
                    text,
                    "(<= (next (f {fact})) (does me (m {chosen})) (not (true (f {fact}))))"
                )
                .unwrap(),
                3 => writeln!(
                    text,
                    "(<= (next (f {fact})) (does me (m {chosen})) {})",
                    literal(&mut random)
                )
                .unwrap(),
                _ => others.push(chosen),
            }
        }
        for chosen in others {
            let rule = format!("(does me (m {chosen})) (true (f {fact}))");
            writeln!(text, "(<= (next (f {fact})) {rule})").unwrap();
        }
    }
    for chosen in 0..moves {
        writeln!(text, "(input me (m {chosen}))").unwrap();
        let condition = match chosen {
            0 => String::new(),
            _ => literal(&mut random),
        };
        writeln!(
            text,
            "(<= (legal me (m {chosen})) (true (tick ?t)) {condition})"
        )
        .unwrap();
    }
    let goal: Vec<String> = (0..random.random_range(2..5))
        .map(|_| literal(&mut random))
        .collect();
    let goal = goal.join(" ");
    writeln!(text, "(<= won {goal})").unwrap();
    writeln!(
        text,
        "(<= terminal won)\n(<= (goal me 100) won)\n(<= (goal me 0) (not won))"
    )
    .unwrap();
    // A clock that wraps around, or that ends the game.
    let last = random.random_range(2..9);
    writeln!(
        text,
        "(init (tick 0)) (<= (next (tick ?u)) (true (tick ?t)) (after ?t ?u))"
    )
    .unwrap();
    for tick in 0..last {
        writeln!(text, "(after {tick} {})", tick + 1).unwrap();
    }
    if random.random_bool(0.5) {
        writeln!(text, "(after {last} 0)").unwrap();
    } else {
        writeln!(text, "(<= terminal (true (tick {last})))").unwrap();
    }
    if random.random_bool(0.3) {
        let extra = literal(&mut random);
        writeln!(text, "(<= terminal {extra})").unwrap();
    }
    text
}
