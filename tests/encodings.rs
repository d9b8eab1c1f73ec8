//! One puzzle, written in many ways: the encoding does not decide whether it is solved.

use std::fmt::Write as _;

use ggp_engine::machine::{AnyMachine, Backend, Limits};
use ggp_gdl::game::Game;
use ggp_search::{Stats, Verdict};
use ggp_solver::solve::{SolveOptions, solve};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::sized;

/// A way to write the cells of a board, their values and the moves.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Encoding {
    /// `(cell 1 2 v0)`.
    Content,
    /// `(cell 2 1 v0)`: columns first.
    ColumnFirst,
    /// `(v0 ...)` first: `(cell v0 1 2)`.
    ValueFirst,
    /// `(cell (at 1 2) v0)`, `(press (at 1 2))`.
    OneTerm,
    /// `(cell c1_2 v0)`, `(press c1_2)`, with tables.
    OneName,
    /// `(v0 1 2)`, `(v1 1 2)`: a relation for each value.
    Relations,
    /// `(v1 1 2)` for all values but the first, which is that of a cell without a fact.
    LitOnly,
    /// The same without the last value.
    DarkOnly,
    /// Content, and the number of moves made.
    Counter,
    /// Content, and a move that says more: `(press finger 1 2)`.
    LongMove,
}

const ENCODINGS: [Encoding; 10] = [
    Encoding::Content,
    Encoding::ColumnFirst,
    Encoding::ValueFirst,
    Encoding::OneTerm,
    Encoding::OneName,
    Encoding::Relations,
    Encoding::LitOnly,
    Encoding::DarkOnly,
    Encoding::Counter,
    Encoding::LongMove,
];

impl Encoding {
    /// The value that no fact stands for.
    fn missing(self, values: usize) -> Option<usize> {
        match self {
            Encoding::LitOnly => Some(0),
            Encoding::DarkOnly => Some(values - 1),
            _ => None,
        }
    }

    /// A cell as arguments; row and column may be variables.
    fn key(self, row: &str, column: &str) -> String {
        match self {
            Encoding::ColumnFirst => format!("{column} {row}"),
            Encoding::OneTerm => format!("(at {row} {column})"),
            Encoding::OneName => format!("c{row}_{column}"),
            _ => format!("{row} {column}"),
        }
    }

    fn fact(self, key: &str, value: usize) -> String {
        match self {
            Encoding::Relations | Encoding::LitOnly | Encoding::DarkOnly => {
                format!("(v{value} {key})")
            }
            Encoding::ValueFirst => format!("(cell v{value} {key})"),
            _ => format!("(cell {key} v{value})"),
        }
    }

    fn made(self, key: &str) -> String {
        match self {
            Encoding::LongMove => format!("(press finger {key})"),
            _ => format!("(press {key})"),
        }
    }
}

/// Lamps with some values; pressing one turns it and its neighbours on by one. All are to be 0.
fn lamps(encoding: Encoding, size: usize, values: usize) -> String {
    let mut random = Xoshiro256PlusPlus::seed_from_u64((100 * size + values) as u64);
    let mut board = vec![vec![0; size]; size];
    let near = |row: usize, column: usize| {
        let all = (0..size).flat_map(|r| (0..size).map(move |c| (r, c)));
        all.filter(move |(r, c)| r.abs_diff(row) + c.abs_diff(column) <= 1)
    };
    for row in 0..size {
        for column in 0..size {
            let times = random.random_range(0..values);
            for (r, c) in near(row, column) {
                board[r][c] = (board[r][c] + times) % values;
            }
        }
    }
    let missing = encoding.missing(values);
    let mut text = String::from("(role p) ");
    let variables = match encoding {
        Encoding::OneName | Encoding::OneTerm => "?k",
        _ => "?k ?l",
    };
    for (row, line) in board.iter().enumerate() {
        for (column, &value) in line.iter().enumerate() {
            let key = encoding.key(&row.to_string(), &column.to_string());
            let _ = write!(text, "(lamp {key}) ");
            for (r, c) in near(row, column) {
                let other = encoding.key(&r.to_string(), &c.to_string());
                let _ = write!(text, "(turns {key} {other}) ");
            }
            if Some(value) != missing {
                let _ = write!(text, "(init {}) ", encoding.fact(&key, value));
            }
        }
    }
    let others = variables.replace('?', "?o");
    let _ = write!(
        text,
        "(<= (legal p {}) (lamp {variables})) (<= (hit {variables}) (does p {}) (turns {others} {variables})) ",
        encoding.made(variables),
        encoding.made(&others),
    );
    // Whether a lamp has a value that no fact stands for.
    let facts = (0..values).filter(|value| Some(*value) != missing);
    let holds = |value: usize| {
        if Some(value) != missing {
            return format!("(true {})", encoding.fact(variables, value));
        }
        let others = facts.clone().map(|other| encoding.fact(variables, other));
        let others = others.map(|fact| format!("(not (true {fact}))"));
        others.collect::<Vec<_>>().join(" ")
    };
    for value in facts.clone() {
        let fact = encoding.fact(variables, value);
        let before = holds((value + values - 1) % values);
        let _ = write!(
            text,
            "(<= (next {fact}) (true {fact}) (not (hit {variables})))
            (<= (next {fact}) (lamp {variables}) {before} (hit {variables})) "
        );
    }
    for value in 1..values {
        let _ = write!(text, "(<= unsolved (lamp {variables}) {}) ", holds(value));
    }
    if encoding == Encoding::Counter {
        text += "(init (step 0)) (<= (next (step ?n)) (true (step ?m)) (after ?m ?n)) ";
        for step in 0..size * size * values {
            let _ = write!(text, "(after {step} {}) ", step + 1);
        }
    }
    text + "(<= terminal (not unsolved)) (<= (goal p 100) (not unsolved)) (<= (goal p 0) unsolved)"
}

#[test]
fn linear_puzzles_are_solved_in_every_encoding() {
    for (size, values) in sized(
        &[(3, 2), (6, 2), (5, 3)][..],
        &[(10, 2), (9, 3), (6, 4), (6, 5), (6, 6)],
    ) {
        for encoding in ENCODINGS {
            let what = format!("{encoding:?}, {size} x {size}, {values} values");
            let text = lamps(encoding, *size, *values);
            let game =
                Game::from_text("lamps.kif", &text).unwrap_or_else(|e| panic!("{what}: {e}"));
            let machine = AnyMachine::new(&game, Backend::Propnet, Limits::default()).unwrap();
            let mut options = SolveOptions::default();
            options.method = "algebra".parse().unwrap();
            let answer = solve(&machine, &options, &mut Stats::default(), &mut ()).unwrap();
            let is_solved = matches!(answer.verdict, Verdict::Solved { .. });
            assert!(
                is_solved,
                "{what}: {:?}, {}\n{text}",
                answer.verdict, answer.chosen
            );
        }
    }
}
