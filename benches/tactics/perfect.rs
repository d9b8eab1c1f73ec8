//! Random positions with the values of all moves: of connect four by a solver that shares no code
//! with the searches, of other games by proofs.

use std::collections::HashSet;

use ggp_engine::machine::{AnyMachine, Limits, Machine, PropnetState};
use ggp_gdl::game::{Move, RoleId};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::find;
use crate::shared::{Tactic, game, paragraph};

/// The games, with the joint moves before the positions.
const GAMES: &[(&str, std::ops::RangeInclusive<usize>)] = &[
    ("connect_four", 8..=14),
    ("hex", 8..=11),
    ("breakthrough_small", 8..=14),
];

/// Prints `count` positions of each game, in which not all moves are best.
pub fn run(count: usize) {
    println!("# Random positions with the values of all moves. Written by benches/tactics.rs.");
    for (name, plies) in GAMES {
        let game = game(name);
        let (mut machine, _) = AnyMachine::auto(&game, Limits::default()).expect("valid");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut solver = four::Solver::default();
        let mut met = HashSet::new();
        let mut found = 0;
        while found < count {
            let plies = random.random_range(plies.clone());
            let Some((state, played)) = walk(&mut machine, plies, &mut random) else {
                continue;
            };
            if !met.insert(played.clone()) {
                continue;
            }
            let text = |m: &Move| game.text(machine.terms(), m.term());
            let texts: Vec<Vec<String>> = (played.iter())
                .map(|joint| joint.iter().map(text).collect())
                .collect();
            let role = plies % 2;
            let values = match *name {
                "connect_four" => solver.values(&texts),
                _ => find::values(&mut machine, &state, role).map(|values| {
                    let text = |m: &Move| game.text(machine.terms(), m.term());
                    values.iter().map(|(m, value)| (text(m), *value)).collect()
                }),
            };
            let Some(values) = values else {
                continue;
            };
            let best = values.iter().map(|(_, value)| *value).max();
            let best = best.expect("somebody has a move");
            let best_moves = values.iter().filter(|(_, value)| *value == best);
            let best_moves: Vec<String> = best_moves.map(|(text, _)| text.clone()).collect();
            if best_moves.len() == values.len() {
                continue;
            }
            let chooser = game.roles().nth(role).expect("two roles");
            let position = Tactic {
                game: (*name).to_owned(),
                role: game.role_name(chooser).to_owned(),
                value: best,
                best: best_moves,
                legal: values.len(),
                played: texts.iter().map(|joint| joint.join(" ")).collect(),
            };
            print!("{}", paragraph(&position));
            found += 1;
            eprintln!("{name} {found}");
        }
    }
}

/// A state after random joint moves, if the game is not over before.
fn walk(
    machine: &mut AnyMachine,
    plies: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Option<(PropnetState, Vec<Vec<Move>>)> {
    let roles: Vec<RoleId> = machine.game().roles().collect();
    let mut state = machine.initial().expect("a first state");
    let mut played = Vec::new();
    for _ in 0..plies {
        let mut joint = Vec::new();
        for role in &roles {
            let mut legal = Vec::new();
            machine.legal(&state, *role, &mut legal).expect("valid");
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        state = machine.next(&state, &joint).expect("valid");
        played.push(joint);
        if machine.is_terminal(&state).expect("valid") {
            return None;
        }
    }
    Some((state, played))
}

/// Connect four, seven by six, by alpha-beta search of wins, draws and losses.
mod four {
    /// Bits of a column: six cells, and one above them that is always empty.
    const STEP: u32 = 7;
    const COLUMNS: u32 = 7;
    const ROWS: u32 = 6;
    /// Columns from the middle outwards.
    const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];
    const ENTRIES: usize = 1 << 22;

    /// A position: the discs of the side to move, and all discs.
    #[derive(Copy, Clone)]
    struct Board {
        own: u64,
        all: u64,
    }

    const fn bottom() -> u64 {
        let (mut bits, mut column) = (0, 0);
        while column < COLUMNS {
            bits |= 1 << (column * STEP);
            column += 1;
        }
        bits
    }
    const BOTTOM: u64 = bottom();
    const CELLS: u64 = BOTTOM * ((1 << ROWS) - 1);

    impl Board {
        /// The cells into which a disc can fall.
        fn open(self) -> u64 {
            (self.all + BOTTOM) & CELLS
        }

        fn play(self, disc: u64) -> Board {
            Board {
                own: self.all ^ self.own,
                all: self.all | disc,
            }
        }

        /// The cells that complete four of `discs` in a row.
        fn completed_by(self, discs: u64) -> u64 {
            // Upright, the fourth disc lies on three others.
            let mut found = (discs << 1) & (discs << 2) & (discs << 3);
            for step in [STEP - 1, STEP, STEP + 1] {
                let pair = (discs << step) & (discs << (2 * step));
                found |= pair & ((discs << (3 * step)) | (discs >> step));
                let pair = (discs >> step) & (discs >> (2 * step));
                found |= pair & ((discs >> (3 * step)) | (discs << step));
            }
            found & CELLS & !self.all
        }

        fn wins(self) -> u64 {
            self.completed_by(self.own) & self.open()
        }

        /// The moves after which the other side does not win at once.
        fn safe(self) -> u64 {
            let threats = self.completed_by(self.own ^ self.all);
            let forced = threats & self.open();
            let open = match forced.count_ones() {
                0 => self.open(),
                1 => forced,
                _ => 0,
            };
            // A disc below a threat allows it.
            open & !(threats >> 1)
        }
    }

    /// Bounds of the value of a position.
    #[derive(Copy, Clone, Default)]
    struct Entry {
        key: u64,
        least: i8,
        most: i8,
    }

    pub struct Solver {
        table: Vec<Entry>,
    }

    impl Default for Solver {
        fn default() -> Self {
            Solver {
                table: vec![Entry::default(); ENTRIES],
            }
        }
    }

    impl Solver {
        /// The score that each move leads to, for the side to move.
        pub fn values(&mut self, played: &[Vec<String>]) -> Option<Vec<(String, u8)>> {
            let mut board = Board { own: 0, all: 0 };
            for (ply, joint) in played.iter().enumerate() {
                let text = joint[ply % 2].strip_prefix("(drop ")?.strip_suffix(')')?;
                let column: u32 = text.parse().ok()?;
                board = board.play(board.open() & column_of(column - 1));
            }
            let mut found = Vec::new();
            for column in 0..COLUMNS {
                let disc = board.open() & column_of(column);
                if disc != 0 {
                    let value = match disc & board.wins() {
                        0 => -self.value(board.play(disc), -1, 1),
                        _ => 1,
                    };
                    found.push((format!("(drop {})", column + 1), (50 + 50 * value) as u8));
                }
            }
            Some(found)
        }

        /// The value for the side to move: 1, 0 or -1.
        fn value(&mut self, board: Board, mut alpha: i32, mut beta: i32) -> i32 {
            if board.all == CELLS {
                return 0;
            }
            if board.wins() != 0 {
                return 1;
            }
            let safe = board.safe();
            if safe == 0 {
                // The other side wins whatever is played.
                return -1;
            }
            // The discs of both sides, and a bit above each column.
            let key = board.own + board.all + BOTTOM;
            let at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 42) as usize;
            let known = self.table[at];
            let mut bounds = (-1, 1);
            if known.key == key {
                bounds = (i32::from(known.least), i32::from(known.most));
                if bounds.0 >= beta || bounds.0 == bounds.1 {
                    return bounds.0;
                }
                if bounds.1 <= alpha {
                    return bounds.1;
                }
            }
            alpha = alpha.max(bounds.0);
            beta = beta.min(bounds.1);
            let mut moves: Vec<(u32, u64)> = ORDER
                .iter()
                .map(|column| safe & column_of(*column))
                .filter(|disc| *disc != 0)
                .map(|disc| (board.completed_by(board.own | disc).count_ones(), disc))
                .collect();
            moves.sort_by_key(|(threats, _)| std::cmp::Reverse(*threats));
            let (mut best, mut floor) = (-1, alpha);
            for (_, disc) in moves {
                best = best.max(-self.value(board.play(disc), -beta, -floor));
                floor = floor.max(best);
                if floor >= beta {
                    break;
                }
            }
            if best >= beta {
                bounds.0 = bounds.0.max(best);
            } else if best > alpha {
                bounds = (best, best);
            } else {
                bounds.1 = bounds.1.min(best);
            }
            self.table[at] = Entry {
                key,
                least: bounds.0 as i8,
                most: bounds.1 as i8,
            };
            best
        }
    }

    fn column_of(column: u32) -> u64 {
        ((1 << ROWS) - 1) << (column * STEP)
    }
}
