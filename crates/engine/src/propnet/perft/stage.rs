//! The computation in the states of one depth, as code.
//!
//! In: a network, and the facts known at this depth and the next. Out: code that
//! examines states: the terminal condition, legal moves and scores. And code that
//! makes a joint move in all lanes: either the next one of each lane
//! ([`Odometer`]), or the same one in all lanes. That code writes the next states
//! or, at the last depth, only examines them.

use std::sync::OnceLock;

use super::assume::Assumed;
use super::compile::{Compiled, Outputs, Target};
use super::depth_facts::Known;
use super::odometer::Odometer;
use crate::propnet::Propnet;
use crate::propnet::lanes::Rows;
use crate::propnet::network::{Builder, Literal};
use crate::propnet::rewrite::{live, same_gate, transcribe};
use crate::propnet::tape::Place;

/// The facts that are not known at this depth.
pub(super) const STATE: usize = 0;
/// The results of examining states: [`TERMINAL`], [`STUCK`], legal moves, scores.
pub(super) const SEEN: usize = 1;
/// [`DONE`], and the moves not made yet; before and after a joint move.
pub(super) const LEFT: usize = 2;
const LEFT_AFTER: usize = 3;
/// The number of banks of one depth; those of the next depth follow.
pub(super) const BANKS: usize = 4;

/// Rows of [`SEEN`]: the game is over; it is not, but a role has no legal move.
pub(super) const TERMINAL: usize = 0;
pub(super) const STUCK: usize = 1;
const FIRST_LEGAL: usize = 2;
/// Row of [`LEFT`]: no joint move is left.
pub(super) const DONE: usize = 0;

/// The maximum number of joint moves with code of their own, and the maximum number
/// of gates of all that code.
const JOINTS: usize = 64;
const JOINT_GATES: usize = 400_000;

/// Code to make a joint move, compiled when it is first needed.
#[derive(Debug, Default)]
struct Pair {
    inner: OnceLock<Compiled>,
    last: OnceLock<Compiled>,
}

/// One depth.
#[derive(Debug)]
pub(super) struct Stage<'n> {
    target: Target<'n>,
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
    pub status: Compiled,
    score: OnceLock<Compiled>,
    /// By role: its possible moves.
    moves: Vec<Vec<usize>>,
    /// By role and possible move.
    legal: Vec<Vec<Literal>>,
    goals: Vec<Vec<(Literal, u8)>>,
    /// By role that has a choice: the rows of [`SEEN`] of its possible moves.
    pub choices: Vec<Vec<usize>>,
    odometer: Pair,
    joints: Vec<Pair>,
    joint_rows: Vec<Vec<usize>>,
}

/// The rows of a state: one for each relevant fact that is not known.
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

/// The roots' literals in a state, given the literals of its facts.
fn roots_in(
    net: &Propnet,
    builder: &mut Builder,
    facts: &[Literal],
    roots: &[Literal],
) -> Vec<Literal> {
    let mut inputs = facts.to_vec();
    inputs.resize(net.network.inputs(), Literal::FALSE);
    let became = transcribed(net, builder, &inputs, roots);
    roots.iter().map(|&root| of(&became, root)).collect()
}

fn transcribed(
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

/// By role: its scores, each with the literal that is true if it is the only goal
/// value.
fn single_goals(
    net: &Propnet,
    builder: &mut Builder,
    facts: &[Literal],
) -> Vec<Vec<(Literal, u8)>> {
    let roots: Vec<Literal> = net.goals.iter().flatten().map(|goal| goal.1).collect();
    let mut values = roots_in(net, builder, facts, &roots).into_iter();
    let mut terms = net.game.terms().clone();
    terms.refresh();
    let mut single_goals = Vec::new();
    for goals in &net.goals {
        let values: Vec<Literal> = values.by_ref().take(goals.len()).collect();
        let (mut some, mut several) = (Literal::FALSE, Literal::FALSE);
        for &literal in &values {
            let both = builder.and(&[some, literal]);
            several = builder.or(&[several, both]);
            some = builder.or(&[some, literal]);
        }
        let mut of_role = Vec::new();
        for (&literal, goal) in values.iter().zip(goals) {
            if let Ok(score) = net.game.score(&terms, goal.0) {
                of_role.push((builder.and(&[literal, !several]), score.get()));
            }
        }
        single_goals.push(of_role);
    }
    single_goals
}

/// By role, with the role: the number of its move among the possible ones.
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
    /// `known` and `after` are the known facts at this depth and at the next.
    pub fn new(target: Target<'n>, relevant: &[bool], known: &Known, after: &Known) -> Stage<'n> {
        let net = target.net;
        let rows = rows(relevant, known);
        let states = rows.iter().flatten().count();
        // The inputs are, in order: states, then as in `make_odometer`.
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
        let seen = roots_in(net, &mut builder, &facts, &roots);
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
        let goals = single_goals(net, &mut builder, &facts);

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
        let request = Outputs {
            scores: (SEEN as u8, outputs.len()),
            outputs,
            goals: goals.clone(),
        };
        let given = given(&builder, states);
        let status = request.compile(&builder, &given, &Assumed::default(), false, target);

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
            target,
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
            odometer: Pair::default(),
            joints: pairs,
        }
    }

    /// The number of joint moves that can be made in all lanes at once; 0 if there
    /// are too many.
    pub fn joints(&self) -> usize {
        self.joints.len()
    }

    /// The rows of [`SEEN`] that must all be set where a joint move is legal.
    pub fn joint_rows(&self, joint: usize) -> &[usize] {
        &self.joint_rows[joint]
    }

    /// The number of roles.
    pub fn roles(&self) -> usize {
        self.moves.len()
    }

    /// The numbers of rows of the [`BANKS`].
    pub fn sizes(&self) -> [usize; BANKS] {
        let goals: usize = self.goals.iter().map(Vec::len).sum();
        let seen = self.first_goal() + goals;
        let left = DONE + 1 + self.first_goal() - FIRST_LEGAL;
        [self.facts_given(), seen, left, left]
    }

    /// By fact: its value in a lane. Irrelevant facts are false.
    pub fn state(&self, rows: &Rows, lane: usize) -> Vec<bool> {
        let facts = self.rows.iter().zip(&self.known);
        facts
            .map(|(row, known)| match row {
                Some(row) => rows.get(*row, lane),
                None => *known == Some(true),
            })
            .collect()
    }

    /// The code for scores, used if the code that examines states does not compute
    /// them.
    pub fn score(&self) -> &Compiled {
        self.score.get_or_init(|| {
            let request = Outputs {
                outputs: Vec::new(),
                goals: self.goals.clone(),
                scores: (SEEN as u8, self.first_goal()),
            };
            let given = given(&self.builder, self.facts_given());
            request.compile(
                &self.builder,
                &given,
                &Assumed::default(),
                true,
                self.target,
            )
        })
    }

    fn first_goal(&self) -> usize {
        FIRST_LEGAL + self.choices.iter().map(Vec::len).sum::<usize>()
    }

    fn facts_given(&self) -> usize {
        self.rows.iter().flatten().count()
    }

    /// The code that makes each lane's next joint move and writes the ones that are
    /// left.
    pub fn odometer(&self, last: bool) -> &Compiled {
        let place_of = if last {
            &self.odometer.last
        } else {
            &self.odometer.inner
        };
        place_of.get_or_init(|| self.make_odometer(last))
    }

    /// The code that makes one joint move in all lanes.
    pub fn joint(&self, joint: usize, last: bool) -> &Compiled {
        let pair = &self.joints[joint];
        let place_of = if last { &pair.last } else { &pair.inner };
        place_of.get_or_init(|| self.make_joint(joint, last))
    }

    fn make_odometer(&self, last: bool) -> Compiled {
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
            _ => chosen.next().expect("there is one for each choice"),
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

    fn make_joint(&self, joint: usize, last: bool) -> Compiled {
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

    /// `chosen`: by role and possible move, true if it is made.
    fn make(
        &self,
        mut builder: Builder,
        given: &[(usize, Place)],
        chosen: &[Vec<Literal>],
        mut outputs: Vec<(Literal, Place)>,
        assumed: &Assumed,
        last: bool,
    ) -> Compiled {
        let net = self.target.net;
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
        let became = transcribed(net, &mut builder, &inputs, &roots);
        let mut goals = Vec::new();
        if last {
            let facts = varying().zip(&self.after);
            let facts = facts.map(|((row, &next), &known)| match row {
                Some(_) => of(&became, next),
                None => constant(known == Some(true)),
            });
            let facts: Vec<Literal> = facts.collect();
            let terminal = roots_in(net, &mut builder, &facts, &[net.terminal])[0];
            outputs.push((terminal, place(BANKS + SEEN, TERMINAL)));
            goals = single_goals(net, &mut builder, &facts);
        } else {
            let states = varying().filter_map(|(row, &next)| row.map(|row| (row, next)));
            outputs
                .extend(states.map(|(row, next)| (of(&became, next), place(BANKS + STATE, row))));
        }
        let request = Outputs {
            outputs,
            goals,
            scores: ((BANKS + SEEN) as u8, TERMINAL + 1),
        };
        request.compile(&builder, given, assumed, false, self.target)
    }
}

/// The first `rows` inputs, read from [`STATE`].
fn given(builder: &Builder, rows: usize) -> Vec<(usize, Place)> {
    let node = |row: usize| builder.input(row).node();
    (0..rows)
        .map(|row| (node(row), place(STATE, row)))
        .collect()
}
