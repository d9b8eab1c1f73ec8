//! What is computed in the states of one depth, as code.
//!
//! In: a network, and what is known of the states of this depth and the next.
//! Out: code that looks at states: whether they go on, the legal moves, what
//! they are worth. And code that makes a joint move in all lanes: either each
//! lane its next one ([`Odometer`]), or all lanes the same one. That code
//! writes the states after it or, at the last depth, only looks at them.

use std::sync::OnceLock;

use super::assume::Assumed;
use super::depth_facts::Known;
use super::odometer::Odometer;
use super::work::{Making, Wanted, Work};
use crate::propnet::Propnet;
use crate::propnet::lanes::Rows;
use crate::propnet::network::{Builder, Literal};
use crate::propnet::rewrite::{live, same_gate, transcribe};
use crate::propnet::tape::Place;

/// Facts that are not known of the depth.
pub(super) const STATE: usize = 0;
/// What was seen in the states: [`TERMINAL`], [`STUCK`], legal moves, worth.
pub(super) const SEEN: usize = 1;
/// [`DONE`], and the moves not made yet; before and after a joint move.
pub(super) const LEFT: usize = 2;
const LEFT_AFTER: usize = 3;
/// Banks of one depth; those of the next follow.
pub(super) const BANKS: usize = 4;

/// Rows of [`SEEN`]: the game is over; it is not, but a role has no legal move.
pub(super) const TERMINAL: usize = 0;
pub(super) const STUCK: usize = 1;
const FIRST_LEGAL: usize = 2;
/// Row of [`LEFT`]: no joint move is left.
pub(super) const DONE: usize = 0;

/// Most joint moves that get code of their own, and most gates of all that code.
const JOINTS: usize = 64;
const JOINT_GATES: usize = 400_000;

/// Code to make a joint move, made when it is first needed.
#[derive(Debug, Default)]
struct Pair {
    inner: OnceLock<Work>,
    last: OnceLock<Work>,
}

/// One depth.
#[derive(Debug)]
pub(super) struct Stage<'n> {
    making: Making<'n>,
    /// By fact.
    pub known: Known,
    /// By fact: its row of [`STATE`].
    pub rows: Vec<Option<usize>>,
    pub after: Known,
    after_rows: Vec<Option<usize>>,
    /// By fact.
    facts: Vec<Literal>,
    builder: Builder,
    assumed: Assumed,
    pub status: Work,
    score: OnceLock<Work>,
    /// By role: its possible moves.
    moves: Vec<Vec<usize>>,
    /// By role and possible move.
    legal: Vec<Vec<Literal>>,
    goals: Vec<Vec<(Literal, u8)>>,
    /// By role that has a choice: the rows of [`SEEN`] of its possible moves.
    pub choices: Vec<Vec<usize>>,
    rank: Pair,
    joints: Vec<Pair>,
    joint_rows: Vec<Vec<usize>>,
}

/// Rows of a state: one for each fact that matters and is not known.
pub(super) fn rows(relevant: &[bool], known: &Known) -> Vec<Option<usize>> {
    let mut free = 0..;
    let facts = relevant.iter().zip(known);
    facts
        .map(|(&relevant, known)| match relevant && known.is_none() {
            true => free.next(),
            false => None,
        })
        .collect()
}

fn place(bank: usize, row: usize) -> Place {
    Place {
        bank: bank as u8,
        index: row as u32,
    }
}

fn constant(value: bool) -> Literal {
    Literal::FALSE.negated_if(value)
}

fn of(became: &[Literal], old: Literal) -> Literal {
    became[old.node()].negated_if(old.is_negated())
}

/// What a state means: the roots' literals, given those of facts.
fn look(
    net: &Propnet,
    builder: &mut Builder,
    facts: &[Literal],
    roots: &[Literal],
) -> Vec<Literal> {
    let mut inputs = facts.to_vec();
    inputs.resize(net.network.inputs(), Literal::FALSE);
    let became = written(net, builder, &inputs, roots);
    roots.iter().map(|&root| of(&became, root)).collect()
}

fn written(
    net: &Propnet,
    builder: &mut Builder,
    inputs: &[Literal],
    roots: &[Literal],
) -> Vec<Literal> {
    let live = live(&net.network, roots.iter().copied());
    transcribe(&net.network, &live, inputs, builder, |b, node, reads| {
        same_gate(&net.network, b, node, reads)
    })
}

/// By role: its scores, and when each is the only goal value.
fn alone(net: &Propnet, builder: &mut Builder, facts: &[Literal]) -> Vec<Vec<(Literal, u8)>> {
    let roots: Vec<Literal> = net.goals.iter().flatten().map(|goal| goal.1).collect();
    let mut due = look(net, builder, facts, &roots).into_iter();
    let mut terms = net.game.terms().clone();
    terms.refresh();
    let mut alone = Vec::new();
    for goals in &net.goals {
        let due: Vec<Literal> = due.by_ref().take(goals.len()).collect();
        let (mut some, mut several) = (Literal::FALSE, Literal::FALSE);
        for &literal in &due {
            let both = builder.and(&[some, literal]);
            several = builder.or(&[several, both]);
            some = builder.or(&[some, literal]);
        }
        let mut of_role = Vec::new();
        for (&literal, goal) in due.iter().zip(goals) {
            if let Ok(score) = net.game.score(&terms, goal.0) {
                of_role.push((builder.and(&[literal, !several]), score.get()));
            }
        }
        alone.push(of_role);
    }
    alone
}

/// By role, with the role: the number of its move, of those possible.
fn numbers(moves: &[Vec<usize>], mut joint: usize) -> Vec<(usize, usize)> {
    let mut numbers: Vec<(usize, usize)> = Vec::new();
    for (role, moves) in moves.iter().enumerate().rev() {
        numbers.push((role, joint % moves.len()));
        joint /= moves.len();
    }
    numbers.reverse();
    numbers
}

impl<'n> Stage<'n> {
    /// `known` and `after` are what is known of the states of this depth and of
    /// the next.
    pub fn new(making: Making<'n>, relevant: &[bool], known: &Known, after: &Known) -> Stage<'n> {
        let net = making.net;
        let rows = rows(relevant, known);
        let states = rows.iter().flatten().count();
        // Inputs come first: states, then as in `make_rank`.
        let moves: usize = net.moves.iter().map(Vec::len).sum();
        let mut builder = Builder::new(states + 1 + 2 * moves);
        let facts: Vec<Literal> = rows
            .iter()
            .zip(known)
            .map(|(row, known)| match (row, known) {
                (Some(row), _) => builder.input(*row),
                (None, known) => constant(*known == Some(true)),
            })
            .collect();
        let mut roots = vec![net.terminal];
        roots.extend(net.legal.iter().flatten());
        let seen = look(net, &mut builder, &facts, &roots);
        let terminal = seen[0];
        let mut seen = seen[1..].iter().copied();
        let (mut moves, mut legal) = (Vec::new(), Vec::new());
        for literals in &net.legal {
            let all: Vec<Literal> = seen.by_ref().take(literals.len()).collect();
            let possible = (0..all.len()).filter(|&number| all[number] != Literal::FALSE);
            let possible: Vec<usize> = possible.collect();
            legal.push(
                possible
                    .iter()
                    .map(|&number| all[number])
                    .collect::<Vec<_>>(),
            );
            moves.push(possible);
        }
        let some: Vec<Literal> = legal.iter().map(|legal| builder.or(legal)).collect();
        let all = builder.and(&some);
        let stuck = builder.and(&[!terminal, !all]);
        let goals = alone(net, &mut builder, &facts);

        let mut outputs = vec![
            (terminal, place(SEEN, TERMINAL)),
            (stuck, place(SEEN, STUCK)),
        ];
        let mut choices = Vec::new();
        for legal in legal.iter().filter(|legal| legal.len() > 1) {
            let first = FIRST_LEGAL + outputs.len() - 2;
            outputs.extend((first..).zip(legal).map(|(row, &l)| (l, place(SEEN, row))));
            choices.push((first..first + legal.len()).collect());
        }
        let wanted = Wanted {
            worth: (SEEN as u8, outputs.len()),
            outputs,
            goals: goals.clone(),
        };
        let given = given(&builder, states);
        let status = wanted.work(&builder, &given, &Assumed::default(), false, making);

        let mut assumed = Assumed::default();
        assumed.assume(builder.network(), !terminal);
        assumed.assume(builder.network(), all);
        let joints: usize = legal.iter().map(Vec::len).product();
        let is_few = joints <= JOINTS && joints * net.network.gates() <= JOINT_GATES;
        let mut pairs = Vec::new();
        pairs.resize_with(if is_few { joints } else { 0 }, Pair::default);
        let joint_rows = (0..pairs.len()).map(|joint| {
            let numbers = numbers(&moves, joint).into_iter();
            let numbers = numbers.filter(|&(role, _)| moves[role].len() > 1);
            let choices = numbers.zip(&choices);
            choices
                .map(|((_, number), rows): (_, &Vec<usize>)| rows[number])
                .collect()
        });
        let joint_rows = joint_rows.collect();
        Stage {
            joint_rows,
            making,
            known: known.clone(),
            after_rows: self::rows(relevant, after),
            after: after.clone(),
            rows,
            facts,
            builder,
            assumed,
            status,
            score: OnceLock::new(),
            moves,
            legal,
            goals,
            choices,
            rank: Pair::default(),
            joints: pairs,
        }
    }

    /// Number of joint moves that can be made in all lanes at once; none if
    /// there are too many.
    pub fn joints(&self) -> usize {
        self.joints.len()
    }

    /// The rows of [`SEEN`] that say where a joint move is legal.
    pub fn joint_rows(&self, joint: usize) -> &[usize] {
        &self.joint_rows[joint]
    }

    /// Number of roles.
    pub fn roles(&self) -> usize {
        self.moves.len()
    }

    /// Rows that the [`BANKS`] need.
    pub fn sizes(&self) -> [usize; BANKS] {
        let goals: usize = self.goals.iter().map(Vec::len).sum();
        let seen = self.first_goal() + goals;
        let left = DONE + 1 + self.first_goal() - FIRST_LEGAL;
        [self.facts_given(), seen, left, left]
    }

    /// By fact: whether it holds in a lane. What does not matter does not hold.
    pub fn state(&self, rows: &Rows, lane: usize) -> Vec<bool> {
        let facts = self.rows.iter().zip(&self.known);
        facts
            .map(|(row, known)| match row {
                Some(row) => rows.get(*row, lane),
                None => *known == Some(true),
            })
            .collect()
    }

    /// Says what states are worth, if looking at them does not.
    pub fn score(&self) -> &Work {
        self.score.get_or_init(|| {
            let wanted = Wanted {
                outputs: Vec::new(),
                goals: self.goals.clone(),
                worth: (SEEN as u8, self.first_goal()),
            };
            let given = given(&self.builder, self.facts_given());
            wanted.work(
                &self.builder,
                &given,
                &Assumed::default(),
                true,
                self.making,
            )
        })
    }

    fn first_goal(&self) -> usize {
        FIRST_LEGAL + self.choices.iter().map(Vec::len).sum::<usize>()
    }

    fn facts_given(&self) -> usize {
        self.rows.iter().flatten().count()
    }

    /// Makes each lane's next joint move; writes what is left after it.
    pub fn rank(&self, last: bool) -> &Work {
        let place_of = if last {
            &self.rank.last
        } else {
            &self.rank.inner
        };
        place_of.get_or_init(|| self.make_rank(last))
    }

    /// Makes one joint move in all lanes.
    pub fn joint(&self, joint: usize, last: bool) -> &Work {
        let pair = &self.joints[joint];
        let place_of = if last { &pair.last } else { &pair.inner };
        place_of.get_or_init(|| self.make_joint(joint, last))
    }

    fn make_rank(&self, last: bool) -> Work {
        let mut builder = self.builder.clone();
        let mut given = given(&builder, self.facts_given());
        let mut free = self.facts_given()..;
        let mut inputs = |places: Vec<Place>| -> Vec<Literal> {
            let inputs = free.by_ref().zip(places);
            let inputs = inputs.map(|(number, place)| {
                let input = builder.input(number);
                given.push((input.node(), place));
                input
            });
            inputs.collect()
        };
        let done = inputs(vec![place(LEFT, DONE)])[0];
        let mut row = DONE + 1..;
        let (mut left, mut again) = (Vec::new(), Vec::new());
        for rows in &self.choices {
            let places = row.by_ref().take(rows.len());
            left.push(inputs(places.map(|row| place(LEFT, row)).collect()));
            again.push(inputs(rows.iter().map(|&row| place(SEEN, row)).collect()));
        }
        let odometer = Odometer::new(&mut builder, done, &left, &again);
        let mut chosen = odometer.chosen.into_iter();
        let chosen = self.moves.iter().map(|moves| match moves.len() {
            0 | 1 => vec![Literal::TRUE; moves.len()],
            _ => chosen.next().expect("one for each choice"),
        });
        let chosen: Vec<Vec<Literal>> = chosen.collect();
        let left = odometer.left.into_iter().flatten();
        let mut outputs = vec![(odometer.done, place(LEFT_AFTER, DONE))];
        outputs.extend(
            (DONE + 1..)
                .zip(left)
                .map(|(r, l)| (l, place(LEFT_AFTER, r))),
        );
        self.make(builder, &given, &chosen, outputs, &self.assumed, last)
    }

    fn make_joint(&self, joint: usize, last: bool) -> Work {
        let given = given(&self.builder, self.facts_given());
        let mut assumed = self.assumed.clone();
        let mut chosen = Vec::new();
        for (role, number) in numbers(&self.moves, joint) {
            assumed.assume(self.builder.network(), self.legal[role][number]);
            let mut of_role = vec![Literal::FALSE; self.moves[role].len()];
            of_role[number] = Literal::TRUE;
            chosen.push(of_role);
        }
        let builder = self.builder.clone();
        self.make(builder, &given, &chosen, Vec::new(), &assumed, last)
    }

    /// `chosen`: by role and possible move, whether it is made.
    fn make(
        &self,
        mut builder: Builder,
        given: &[(usize, Place)],
        chosen: &[Vec<Literal>],
        mut outputs: Vec<(Literal, Place)>,
        assumed: &Assumed,
        last: bool,
    ) -> Work {
        let net = self.making.net;
        let mut inputs = self.facts.clone();
        inputs.resize(net.network.inputs(), Literal::FALSE);
        for (role, (moves, chosen)) in self.moves.iter().zip(chosen).enumerate() {
            for (&number, &chosen) in moves.iter().zip(chosen) {
                inputs[net.move_input(role, number)] = chosen;
            }
        }
        let varying = || self.after_rows.iter().zip(&net.next);
        let roots: Vec<Literal> = varying()
            .filter(|(row, _)| row.is_some())
            .map(|(_, &next)| next)
            .collect();
        let became = written(net, &mut builder, &inputs, &roots);
        let mut goals = Vec::new();
        if last {
            let facts = varying().zip(&self.after);
            let facts = facts.map(|((row, &next), &known)| match row {
                Some(_) => of(&became, next),
                None => constant(known == Some(true)),
            });
            let facts: Vec<Literal> = facts.collect();
            let terminal = look(net, &mut builder, &facts, &[net.terminal])[0];
            outputs.push((terminal, place(BANKS + SEEN, TERMINAL)));
            goals = alone(net, &mut builder, &facts);
        } else {
            let states = varying().filter_map(|(row, &next)| row.map(|row| (row, next)));
            outputs
                .extend(states.map(|(row, next)| (of(&became, next), place(BANKS + STATE, row))));
        }
        let wanted = Wanted {
            outputs,
            goals,
            worth: ((BANKS + SEEN) as u8, TERMINAL + 1),
        };
        wanted.work(&builder, given, assumed, false, self.making)
    }
}

/// The first so many inputs, from [`STATE`].
fn given(builder: &Builder, rows: usize) -> Vec<(usize, Place)> {
    let node = |row: usize| builder.input(row).node();
    (0..rows)
        .map(|row| (node(row), place(STATE, row)))
        .collect()
}
