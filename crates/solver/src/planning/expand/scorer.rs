//! The scores of hundreds of states at once.

use super::{ENDS, Layout, STATE, load, tape};
use crate::planning::Puzzle;
use ggp_engine::propnet::code::{Code, Engine};
use ggp_engine::propnet::lanes::Rows;

/// Computes which states are terminal, and their scores.
#[derive(Clone, Debug)]
pub(in crate::planning) struct Scorer {
    code: Code,
    banks: [Rows; 5],
    bits: usize,
    stride: usize,
    players: Vec<Player>,
}

/// A role that is not chance.
#[derive(Clone, Debug)]
struct Player {
    role: usize,
    /// By goal value: the score, if it is one.
    scores: Vec<Option<u8>>,
    /// The row of the first goal value.
    row: usize,
}

/// The result for one state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::planning) enum Scored {
    /// It is not terminal.
    Open,
    /// The scores of the roles that are not chance.
    End(Vec<u8>),
    /// This role has no score, or several.
    NoScore(usize),
}

impl Scorer {
    /// Compiles the query for `lanes` states at a time. None after [`Puzzle::stop`].
    pub fn new(puzzle: &Puzzle, layout: &Layout, lanes: usize) -> Option<Scorer> {
        let (net, words) = (&puzzle.net, lanes / 64);
        let coded = layout.network(puzzle);
        let mut wanted = vec![coded.terminal];
        wanted.extend(coded.goals.iter().flatten());
        let tape = tape(&coded.network, layout.bits(), 0, ENDS, &wanted);
        if puzzle.stop.is_over() {
            return None;
        }
        let terms = net.terms();
        let score = |goal: &(_, _)| {
            let score = net.game().score(&terms, goal.0).ok();
            score.map(|score| score.get())
        };
        let mut row = 1;
        let mut players = Vec::new();
        for (role, goals) in net.game().roles().zip(net.goals()) {
            if !net.game().is_random(role) {
                players.push(Player {
                    role: role.index(),
                    scores: goals.iter().map(score).collect(),
                    row,
                });
            }
            row += goals.len();
        }
        let rows = |rows: usize| Rows::new(rows, words);
        Some(Scorer {
            code: Code::new(&tape, words, Engine::Auto),
            banks: [
                rows(layout.bits()),
                rows(0),
                rows(0),
                rows(0),
                rows(wanted.len()),
            ],
            bits: layout.bits(),
            stride: layout.words(),
            players,
        })
    }

    /// Calls `see` with the result for each of the states.
    pub fn score(&mut self, states: &[u64], mut see: impl FnMut(Scored)) {
        let (lanes, stride) = (self.banks[STATE as usize].lanes(), self.stride);
        for chunk in states.chunks(lanes * stride) {
            let count = chunk.len() / stride;
            let word_of = |lane: usize, word: usize| chunk[lane * stride + word];
            load(&mut self.banks[STATE as usize], self.bits, count, word_of);
            self.code.run(&mut self.banks);
            (0..count).for_each(|lane| see(self.of(lane)));
        }
    }

    fn of(&self, lane: usize) -> Scored {
        let rows = &self.banks[ENDS as usize];
        let holds = |row: usize| rows.row(row)[lane / 64] >> (lane % 64) & 1 == 1;
        if !holds(0) {
            return Scored::Open;
        }
        let mut scores = Vec::with_capacity(self.players.len());
        for player in &self.players {
            let due = player.scores.iter().zip(player.row..);
            let mut due = due.filter(|(_, row)| holds(*row));
            match (due.next(), due.next()) {
                (Some((Some(score), _)), None) => scores.push(*score),
                _ => return Scored::NoScore(player.role),
            }
        }
        Scored::End(scores)
    }
}
