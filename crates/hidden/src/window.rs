//! Questions about the last turns of a match, as clauses.
//!
//! In: what a role knows of each turn. Out: claims about the last position that hold wherever all
//! of the turns fit, and histories after which others do not. The turns are added from the last
//! one back to the first. While the first is missing, only proofs count.
//!
//! Source: Biere, Cimatti, Clarke, Zhu: Symbolic Model Checking without BDDs, TACAS 1999 (unrolled
//! steps of a system), here backwards from the last state.

use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::Literal;
use ggp_gdl::game::Move;
use ggp_stop::Stop;

/// The knowledge of a turn.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// By fact: whether it holds before the joint move.
    pub facts: Vec<Option<bool>>,
    /// A role and the number of its move.
    pub made: (usize, usize),
}

/// The last turns, and the position after them.
pub(super) struct Window<'n> {
    net: &'n Propnet,
    pub clauses: Clauses,
    /// By fact: its literal in the earliest position.
    facts: Vec<i32>,
    /// By turn, the last one first, and by role and move: its literal.
    pub moves: Vec<Vec<Vec<i32>>>,
    /// The frame of the last position.
    last: Frame<'n>,
}

impl<'n> Window<'n> {
    /// The last position alone, with what is known of its facts and of the end of the game.
    pub fn new(net: &'n Propnet, known: &[Option<bool>], is_over: bool, stop: &Stop) -> Self {
        let mut clauses = Clauses::until(stop);
        let facts = literals(known, &mut clauses);
        let mut last = frame(net, &facts, &[], &mut clauses);
        last.add_known(net, &mut clauses);
        let over = last.literal(net.terminal(), &mut clauses);
        clauses.add(&[if is_over { over } else { -over }]);
        Window {
            net,
            clauses,
            facts,
            moves: Vec::new(),
            last,
        }
    }

    /// The number of turns.
    pub fn turns(&self) -> usize {
        self.moves.len()
    }

    /// Adds the turn before the earliest.
    pub fn add(&mut self, turn: &Turn) {
        let (net, clauses) = (self.net, &mut self.clauses);
        let facts = literals(&turn.facts, clauses);
        let (own, made) = turn.made;
        let moves = net.moves().iter().enumerate().map(|(role, moves)| {
            let known = (0..moves.len()).map(|number| (role == own).then_some(made == number));
            literals(&known.collect::<Vec<_>>(), clauses)
        });
        let moves: Vec<Vec<i32>> = moves.collect();
        let mut frame = frame(net, &facts, &moves, clauses);
        frame.add_known(net, clauses);
        let over = frame.literal(net.terminal(), clauses);
        clauses.add(&[-over]);
        for (moves, legal) in moves.iter().zip(net.legal()) {
            let possible = moves.iter().zip(legal);
            let possible = possible.filter(|(made, _)| **made != -clauses.yes());
            let possible: Vec<(i32, Literal)> =
                possible.map(|(made, legal)| (*made, *legal)).collect();
            for &(made, legal) in &possible {
                let legal = frame.literal(legal, clauses);
                clauses.add(&[-made, legal]);
            }
            if possible.len() > 1 {
                let (one, two) = clauses.one_and_two(moves);
                clauses.add(&[one]);
                clauses.add(&[-two]);
            }
        }
        for (&next, &after) in net.next().iter().zip(&self.facts) {
            let next = frame.literal(next, clauses);
            clauses.add(&[-next, after]);
            clauses.add(&[next, -after]);
        }
        self.facts = facts;
        self.moves.push(moves);
    }

    /// A literal that holds in the last position if any of these does.
    pub fn any(&mut self, literals: &[Literal]) -> i32 {
        let literals = literals.iter();
        let literals = literals.map(|&literal| self.last.literal(literal, &mut self.clauses));
        let literals: Vec<i32> = literals.collect();
        self.clauses.any(&literals)
    }
}

/// The joint moves of the last model of a window whose turns have these moves, the first one first.
pub(super) fn history(net: &Propnet, moves: &[Vec<Vec<i32>>], clauses: &Clauses) -> Vec<Vec<Move>> {
    let turns = moves.iter().rev().map(|roles| {
        let made = roles.iter().zip(net.moves()).map(|(literals, moves)| {
            let made = literals.iter().position(|&made| clauses.holds(made));
            moves[made.expect("each role makes a move")]
        });
        made.collect()
    });
    turns.collect()
}

/// Literals with these values; variables where a value is not known.
fn literals(known: &[Option<bool>], clauses: &mut Clauses) -> Vec<i32> {
    let literals = known.iter().map(|known| match known {
        Some(true) => clauses.yes(),
        Some(false) => -clauses.yes(),
        None => clauses.variable(),
    });
    literals.collect()
}

/// The frame of a position with these facts, and of a joint move if there is one.
fn frame<'n>(
    net: &'n Propnet,
    facts: &[i32],
    moves: &[Vec<i32>],
    clauses: &mut Clauses,
) -> Frame<'n> {
    let mut inputs = vec![-clauses.yes(); net.network().inputs()];
    for (fact, &literal) in facts.iter().enumerate() {
        inputs[net.fact_input(fact)] = literal;
    }
    for (role, moves) in moves.iter().enumerate() {
        for (number, &literal) in moves.iter().enumerate() {
            inputs[net.move_input(role, number)] = literal;
        }
    }
    Frame::new(net.network(), &inputs, clauses)
}
