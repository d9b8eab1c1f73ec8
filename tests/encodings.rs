//! Puzzles, written in many ways: the encoding does not decide whether they are solved.

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

    /// The variables of a cell, with a prefix.
    fn variables(self, prefix: &str) -> String {
        match self {
            Encoding::OneName | Encoding::OneTerm => format!("?{prefix}k"),
            _ => format!("?{prefix}k ?{prefix}l"),
        }
    }

    /// The condition that a cell has a value of `values`.
    fn holds(self, key: &str, value: usize, values: usize) -> String {
        let missing = self.missing(values);
        if Some(value) != missing {
            return format!("(true {})", self.fact(key, value));
        }
        let others = (0..values).filter(|value| Some(*value) != missing);
        let others = others.map(|other| format!("(not (true {}))", self.fact(key, other)));
        others.collect::<Vec<_>>().join(" ")
    }

    /// The rules that count up to `most` moves, in one of the encodings.
    fn counter(self, most: usize) -> String {
        let mut text = String::new();
        if self == Encoding::Counter {
            text += "(init (step 0)) (<= (next (step ?n)) (true (step ?m)) (after ?m ?n)) ";
            for step in 0..most {
                let _ = write!(text, "(after {step} {}) ", step + 1);
            }
        }
        text
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
    let [variables, others] = &["", "o"].map(|prefix| encoding.variables(prefix));
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
    let _ = write!(
        text,
        "(<= (legal p {}) (lamp {variables})) (<= (hit {variables}) (does p {}) (turns {others} {variables})) ",
        encoding.made(variables),
        encoding.made(others),
    );
    for value in (0..values).filter(|value| Some(*value) != missing) {
        let fact = encoding.fact(variables, value);
        let before = encoding.holds(variables, (value + values - 1) % values, values);
        let _ = write!(
            text,
            "(<= (next {fact}) (true {fact}) (not (hit {variables})))
            (<= (next {fact}) (lamp {variables}) {before} (hit {variables})) "
        );
    }
    for value in 1..values {
        let holds = encoding.holds(variables, value, values);
        let _ = write!(text, "(<= unsolved (lamp {variables}) {holds}) ");
    }
    text += &encoding.counter(size * size * values);
    text + "(<= terminal (not unsolved)) (<= (goal p 100) (not unsolved)) (<= (goal p 0) unsolved)"
}

/// Pegs on the cells of a board, in the holes of which one jumps; the last one ends where the hole was.
fn pegs(encoding: Encoding, board: &[&str]) -> String {
    let cells: Vec<(usize, usize, u8)> = (board.iter().enumerate())
        .flat_map(|(row, line)| {
            let line = line.bytes().enumerate();
            line.map(move |(column, sign)| (row, column, sign))
        })
        .filter(|(.., sign)| *sign != b' ')
        .collect();
    let key = |row: usize, column: usize| encoding.key(&row.to_string(), &column.to_string());
    let mut text = String::from("(role p) ");
    for &(row, column, sign) in &cells {
        let (at, value) = (key(row, column), usize::from(sign == b'o'));
        let _ = write!(text, "(spot {at}) ");
        if Some(value) != encoding.missing(2) {
            let _ = write!(text, "(init {}) ", encoding.fact(&at, value));
        }
        text += &if sign == b'.' {
            format!("(centre {at}) ")
        } else {
            format!("(rim {at}) ")
        };
        for (down, right) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
            let line = [1, 2].map(|step| {
                let row = row.checked_add_signed(step * down);
                let column = column.checked_add_signed(step * right);
                row.zip(column)
            });
            let is_cell =
                |(row, column)| cells.iter().any(|cell| (cell.0, cell.1) == (row, column));
            if let [Some(over), Some(to)] = line
                && is_cell(over)
                && is_cell(to)
            {
                let (over, to) = (key(over.0, over.1), key(to.0, to.1));
                let _ = write!(text, "(line {at} {over} {to}) ");
            }
        }
    }
    let [any, from, over, to] = &["", "f", "o", "t"].map(|prefix| encoding.variables(prefix));
    let [hole, peg] = [0, 1].map(|value| move |key: &str| encoding.holds(key, value, 2));
    let jump = encoding.made(&format!("{from} {to}"));
    let can = format!(
        "(line {from} {over} {to}) {} {} {}",
        peg(from),
        peg(over),
        hole(to)
    );
    let _ = write!(
        text,
        "(<= (legal p {jump}) {can}) (<= goes {can}) (<= (gone {from}) (does p {jump}))
        (<= (gone {over}) (does p {jump}) (line {from} {over} {to})) (<= (come {to}) (does p {jump})) "
    );
    for (value, made, lost) in [(0, "gone", "come"), (1, "come", "gone")] {
        if Some(value) != encoding.missing(2) {
            let fact = encoding.fact(any, value);
            let _ = write!(
                text,
                "(<= (next {fact}) ({made} {any}))
                (<= (next {fact}) (true {fact}) (not ({lost} {any}))) "
            );
        }
    }
    text += &encoding.counter(cells.len());
    let _ = write!(
        text,
        "(<= left (rim {any}) {}) (<= won (not left) (centre {any}) {}) (<= terminal (not goes))
        (<= (goal p 100) won) (<= (goal p 0) (not won))",
        peg(any),
        peg(any)
    );
    text
}

/// Cells to shade, any at a time: no number stays twice in a line, no two shaded cells are side by side, and
/// those left are connected.
fn hitori(encoding: Encoding, board: &[&str]) -> String {
    let size = board.len();
    let key = |row: usize, column: usize| encoding.key(&row.to_string(), &column.to_string());
    let mut text = String::from("(role p) ");
    let cells = || (0..size).flat_map(|row| (0..size).map(move |column| (row, column)));
    for (row, column) in cells() {
        let at = key(row, column);
        let _ = write!(text, "(spot {at}) ");
        if encoding.missing(2) != Some(0) {
            let _ = write!(text, "(init {}) ", encoding.fact(&at, 0));
        }
        for (r, c) in cells().filter(|other| *other != (row, column)) {
            let other = key(r, c);
            if r.abs_diff(row) + c.abs_diff(column) == 1 {
                let _ = write!(text, "(beside {at} {other}) ");
            }
            let number = |row: usize, column: usize| board[row].as_bytes()[column];
            if (r == row || c == column) && number(r, c) == number(row, column) {
                let _ = write!(text, "(twin {at} {other}) ");
            }
        }
    }
    // One of two cells side by side is not shaded.
    let (first, second) = (key(0, 0), key(0, 1));
    let [any, other] = &["", "o"].map(|prefix| encoding.variables(prefix));
    let [white, black] = [0, 1].map(|value| move |key: &str| encoding.holds(key, value, 2));
    let shade = encoding.made(any);
    let _ = write!(
        text,
        "(<= (legal p {shade}) (spot {any}) {}) (<= (legal p end))
        (<= (linked {first}) {}) (<= (linked {second}) {})
        (<= (linked {any}) (linked {other}) (beside {other} {any}) {})
        (<= wrong (twin {any} {other}) {} {}) (<= wrong (beside {any} {other}) {} {})
        (<= wrong (spot {any}) {} (not (linked {any}))) ",
        white(any),
        white(&first),
        black(&first),
        white(any),
        white(any),
        white(other),
        black(any),
        black(other),
        white(any)
    );
    if encoding.missing(2) != Some(0) {
        let fact = encoding.fact(any, 0);
        let _ = write!(
            text,
            "(<= (next {fact}) (true {fact}) (not (does p {shade}))) "
        );
    }
    if encoding.missing(2) != Some(1) {
        let fact = encoding.fact(any, 1);
        let _ = write!(
            text,
            "(<= (next {fact}) (true {fact})) (<= (next {fact}) (does p {shade})) "
        );
    }
    text += &encoding.counter(size * size);
    text + "(<= (next ended) (does p end)) (<= terminal (true ended)) (<= (goal p 100) (true ended) (not wrong))
        (<= (goal p 0) wrong) (<= (goal p 0) (not (true ended)))"
}

/// The boards of `games/instances/hitori_5x5.kif` and `hitori_9x9.kif`.
const BOARDS: [&[&str]; 2] = [
    &["52551", "24531", "41344", "45312", "23222"],
    &[
        "769224588",
        "993474293",
        "841572637",
        "162546272",
        "733715812",
        "286152774",
        "476918122",
        "313287845",
        "327211451",
    ],
];

/// Solves a puzzle in all encodings.
fn solve_all(what: &str, method: &str, nodes: u64, text: impl Fn(Encoding) -> String) {
    for encoding in ENCODINGS {
        let what = format!("{encoding:?}, {what}");
        let text = text(encoding);
        let game = Game::from_text("rules.kif", &text).unwrap_or_else(|e| panic!("{what}: {e}"));
        let machine = AnyMachine::new(&game, Backend::Propnet, Limits::default()).unwrap();
        let mut options = SolveOptions::default();
        options.method = method.parse().unwrap();
        options.budget.nodes = nodes;
        let mut stats = Stats::default();
        let answer = solve(&machine, &options, &mut stats, &mut ()).unwrap();
        let is_solved = matches!(answer.verdict, Verdict::Solved { .. });
        assert!(
            is_solved,
            "{what}: {:?}, {}\n{text}",
            answer.verdict, answer.chosen
        );
    }
}

#[test]
fn linear_puzzles_are_solved_in_every_encoding() {
    for (size, values) in sized(
        &[(3, 2), (6, 2), (5, 3)][..],
        &[(10, 2), (9, 3), (6, 4), (6, 5), (6, 6)],
    ) {
        let what = format!("{size} x {size}, {values} values");
        solve_all(&what, "algebra", u64::MAX, |encoding| {
            lamps(encoding, *size, *values)
        });
    }
}

#[test]
fn jumping_puzzles_are_solved_in_every_encoding() {
    let board = [
        "  ooo  ", "  ooo  ", "ooooooo", "ooo.ooo", "ooooooo", "  ooo  ", "  ooo  ",
    ];
    solve_all("pegs", "auto", 20_000_000, |encoding| {
        pegs(encoding, &board)
    });
}

#[test]
fn boards_to_fill_in_are_solved_in_every_encoding() {
    let board = sized(&BOARDS[..1], &BOARDS);
    for board in board {
        solve_all("hitori", "auto", 20_000_000, |encoding| {
            hitori(encoding, board)
        });
    }
}
