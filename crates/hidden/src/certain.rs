//! Proofs of what a role knows, where the positions that fit are too many to look at.
//!
//! In: a belief, and questions about facts, legal moves, scores and the end of the game. Out:
//! whether the answer is the same in all positions that fit the role's moves and percepts. From
//! turn to turn, a SAT solver is asked for a joint move with the role's move and percepts, in a
//! state in which all that is certain so far holds, after which some fact is not as in the sample
//! of the belief. Where none is found, the fact is certain. What follows only from several turns
//! together is asked of more and more of the last turns, at the end of all.
//!
//! Source: backbones by refuted candidates, as in Janota, Lynce, Marques-Silva: Algorithms for
//! Computing Backbones of Propositional Formulae, AI Communications 28 (2), 2015, section 3.

use ggp_engine::machine::{AnyMachine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::{Literal, read};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_stop::Stop;
use rand::{Rng, RngExt};
use rustc_hash::FxHashMap;
use std::sync::PoisonError;

use super::belief::Belief;
use super::window::{Turn, Window, history};
use super::world::{LANES, State, World};

/// Something that holds in a position or does not.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// A fact is true.
    Fact(TermId),
    /// A move of a role is legal.
    Legal(RoleId, Move),
    /// A role has a score.
    Score(RoleId, TermId),
    /// The game is over.
    Over,
}

/// All claims that may hold in a game with a network.
pub fn claims(world: &mut World) -> Vec<Claim> {
    let roles: Vec<RoleId> = world.game().roles().collect();
    let AnyMachine::Propnet(machine) = world.machine() else {
        return Vec::new();
    };
    let net = machine.net();
    let mut claims: Vec<Claim> = net.facts().iter().copied().map(Claim::Fact).collect();
    for (role, (moves, goals)) in roles.iter().zip(net.moves().iter().zip(net.goals())) {
        claims.extend(moves.iter().map(|made| Claim::Legal(*role, *made)));
        claims.extend(goals.iter().map(|(score, _)| Claim::Score(*role, *score)));
    }
    claims.push(Claim::Over);
    claims.retain(|claim| !matches!(claim, Claim::Fact(fact) if world.is_percept(*fact)));
    claims
}

/// The answer to a question about one claim, or whether one of several holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It holds in all positions that fit, or in none.
    Certain(bool),
    /// It holds in all positions of the sample or in none, and not so after this history, which
    /// fits.
    Differs(Vec<Vec<Move>>),
    /// Neither was found.
    Open,
}

/// The facts of a position that are known to hold or not to hold.
type Facts = Vec<Option<bool>>;

/// A role, the first state, and the role's moves and percepts since.
type Past = (RoleId, State, Vec<(Move, Vec<TermId>)>);

/// The facts proved of positions. They stay true whatever is asked for next, and proofs of a later position go
/// on from them.
#[derive(Debug, Default)]
pub(super) struct Proofs(FxHashMap<Past, Facts>);

impl Proofs {
    /// The facts proved of the position after some turns of a belief.
    fn after(&self, belief: &Belief, turns: usize) -> Option<&Facts> {
        let past = belief.past()[..turns].to_vec();
        self.0.get(&(belief.role(), belief.start().clone(), past))
    }

    fn add(&mut self, belief: &Belief, turns: usize, facts: Facts) {
        if self.0.len() >= KEPT {
            self.0.clear();
        }
        let past = belief.past()[..turns].to_vec();
        self.0
            .insert((belief.role(), belief.start().clone(), past), facts);
    }
}

/// The most positions whose proofs are kept.
const KEPT: usize = 1_000;
/// The positions of a sample that suggest what is certain, as many as the bits of a word.
const EXAMPLES: usize = 64;
/// The most conflicts of the solver in one question.
const CONFLICTS: i32 = 20_000;
/// The most questions about single claims that end without an answer.
const UNDECIDED: u32 = 8;
/// The most bytes of the clauses of several turns.
const MEMORY: u64 = 1 << 30;

/// The verdicts on claims for the role of a belief, which knows whether the game is over. A
/// question is whether any of some claims holds. All are open without a network, or if `stop`
/// comes first.
///
/// # Errors
///
/// Those of the machine.
pub fn certain(
    world: &mut World,
    belief: &Belief,
    is_over: bool,
    questions: &[Vec<Claim>],
    stop: &Stop,
    random: &mut dyn Rng,
) -> Result<Vec<Verdict>, PlayError> {
    let mut verdicts = vec![Verdict::Open; questions.len()];
    let members = belief.with_end(world, is_over)?;
    let members = members.into_iter().take(EXAMPLES);
    let histories: Vec<Vec<Vec<Move>>> = members.map(|member| member.history()).collect();
    let proofs = world.proofs();
    let mut proofs = proofs.lock().unwrap_or_else(PoisonError::into_inner);
    let known = (1..=belief.turns()).take_while(|turns| proofs.after(belief, *turns).is_some());
    let known = known.count();
    // By turn about which nothing is proved yet: states after it that fit, those of the examples first.
    let mut examples = Vec::with_capacity(belief.turns());
    let mut states = vec![belief.start().clone(); histories.len()];
    for (turn, (made, told)) in belief.past().iter().enumerate() {
        let other = if turn < known {
            Vec::new()
        } else {
            others(world, belief.role(), &states, (*made, told), random)?
        };
        let joints = histories.iter().map(|history| &history[turn][..]);
        let pairs: Vec<(&State, &[Move])> = states.iter().zip(joints).collect();
        states = world.steps(&pairs)?;
        examples.push([&states[..], &other].concat());
    }
    let percepts = world.all_percepts(belief.role()).map(<[_]>::to_vec);
    let (Some(percepts), State::Packed(start), AnyMachine::Propnet(machine)) =
        (percepts, belief.start(), world.machine())
    else {
        return Ok(verdicts);
    };
    let net = machine.net();
    let first: Vec<bool> = (0..net.facts().len())
        .map(|fact| holds(start, fact))
        .collect();
    if !net.admits(&first) || histories.is_empty() {
        return Ok(verdicts);
    }
    let first = first.into_iter().map(Some).collect();
    let mut prover = Prover::new(net, stop);
    let turns = prover.turns(belief, first, &examples, &percepts, &mut proofs);
    let Some((turns, last)) = turns else {
        return Ok(verdicts);
    };
    let mut window = Window::new(net, &last, is_over, stop);
    let questions: Vec<Vec<Literal>> = questions
        .iter()
        .map(|claims| {
            claims
                .iter()
                .filter_map(|claim| literal(net, claim))
                .collect()
        })
        .collect();
    let mut open = Vec::new();
    for (number, literals) in questions.iter().enumerate() {
        if let Some(value) = value(net, literals, &states) {
            let any = window.any(literals);
            open.push(((number, value), if value { any } else { -any }));
        }
    }
    // The questions whose claims are not as in the sample after a history.
    let mut differ: Vec<(usize, bool, Vec<Vec<Move>>)> = Vec::new();
    let mut undecided = 0;
    while !open.is_empty() && !stop.is_over() {
        let is_all = window.turns() == turns.len();
        let mut left = Vec::new();
        let (clauses, moves) = (&mut window.clauses, &window.moves);
        let mut failed = |clauses: &Clauses, failed: Vec<_>| {
            let history = || history(net, moves, clauses);
            match is_all.then(history) {
                Some(history) => differ.extend(
                    (failed.into_iter())
                        .map(|((number, value), _)| (number, value, history.clone())),
                ),
                None => left.extend(failed),
            }
        };
        let mut proved = Vec::new();
        match prove(clauses, &[], &mut open, &mut failed) {
            Some(()) => proved.append(&mut open),
            // Together they are too hard.
            None => {
                for claim in std::mem::take(&mut open) {
                    let is_left = undecided < UNDECIDED;
                    match is_left
                        .then(|| clauses.solve(&[-claim.1], CONFLICTS))
                        .flatten()
                    {
                        Some(true) => failed(clauses, vec![claim]),
                        Some(false) => proved.push(claim),
                        None => {
                            undecided += 1;
                            open.push(claim);
                        }
                    }
                }
            }
        }
        for ((number, value), _) in proved {
            verdicts[number] = Verdict::Certain(value);
        }
        left.append(&mut open);
        if is_all {
            break;
        }
        // Twice as many turns each time, so that all proofs together take about twice the last one.
        let more = turns.iter().rev().skip(window.turns());
        for turn in more.take(window.turns() + 1) {
            if window.clauses.memory() > MEMORY || stop.is_over() {
                left.clear();
            } else {
                window.add(turn);
            }
        }
        open = left;
    }
    for (number, value, history) in differ {
        let Some(state) = after(world, belief, &history, is_over)? else {
            continue;
        };
        let AnyMachine::Propnet(machine) = world.machine() else {
            continue;
        };
        // A cycle of the clauses may have come true because of itself.
        if self::value(machine.net(), &questions[number], &[state]) == Some(!value) {
            verdicts[number] = Verdict::Differs(history);
        }
    }
    Ok(verdicts)
}

/// The state after a history, if that fits what the role of a belief knows.
fn after(
    world: &mut World,
    belief: &Belief,
    history: &[Vec<Move>],
    is_over: bool,
) -> Result<Option<State>, PlayError> {
    let mut state = belief.start().clone();
    for (joint, (made, told)) in history.iter().zip(belief.past()) {
        let status = world.status(std::slice::from_ref(&state))?.remove(0);
        let mut legal = status.legal.iter().zip(joint);
        let is_legal = !status.terminal && legal.all(|(legal, made)| legal.contains(made));
        if !is_legal || joint[belief.role().index()] != *made {
            return Ok(None);
        }
        state = world.steps(&[(&state, joint)])?.remove(0);
        if !world.was_told(&state, belief.role(), told) {
            return Ok(None);
        }
    }
    let status = world.status(std::slice::from_ref(&state))?.remove(0);
    Ok((status.terminal == is_over).then_some(state))
}

/// The literal of a claim; none if it never holds.
fn literal(net: &Propnet, claim: &Claim) -> Option<Literal> {
    let found = |(_, literal): (_, &Literal)| *literal;
    match claim {
        Claim::Fact(fact) => {
            let number = net.facts().iter().position(|one| one == fact)?;
            Some(net.network().input(net.fact_input(number)))
        }
        Claim::Legal(role, made) => {
            let mut moves = net.moves()[role.index()]
                .iter()
                .zip(&net.legal()[role.index()]);
            moves.find(|one| one.0 == made).map(found)
        }
        Claim::Score(role, score) => {
            let mut scores = net.goals()[role.index()].iter();
            Some(scores.find(|one| one.0 == *score)?.1)
        }
        Claim::Over => Some(net.terminal()),
    }
}

/// Whether any of some literals holds, if that is the same in all of at most 64 states.
fn value(net: &Propnet, literals: &[Literal], states: &[State]) -> Option<bool> {
    let mut inputs = vec![0; net.network().inputs()];
    for fact in 0..net.facts().len() {
        for (lane, state) in words(states).enumerate() {
            inputs[net.fact_input(fact)] |= u64::from(holds(state, fact)) << lane;
        }
    }
    let values = net.network().evaluate(&inputs);
    let all = u64::MAX >> (u64::BITS as usize - states.len());
    let any = literals.iter().map(|&literal| read(literal, &values));
    match any.fold(0, |any, one| any | one) & all {
        0 => Some(false),
        any if any == all => Some(true),
        _ => None,
    }
}

/// States after joint moves that are drawn, in which a role has these percepts.
fn others(
    world: &mut World,
    role: RoleId,
    states: &[State],
    (made, told): (Move, &[TermId]),
    random: &mut dyn Rng,
) -> Result<Vec<State>, PlayError> {
    let status = world.status(states)?;
    let drawn = states.iter().zip(&status).cycle().take(LANES);
    let drawn = drawn.map(|(state, status)| {
        let each = status.legal.iter();
        let mut joint: Vec<Move> = each
            .map(|legal| legal[random.random_range(0..legal.len())])
            .collect();
        joint[role.index()] = made;
        (state, joint)
    });
    let drawn: Vec<(&State, Vec<Move>)> = drawn.collect();
    let pairs: Vec<_> = drawn
        .iter()
        .map(|(state, joint)| (*state, &joint[..]))
        .collect();
    let found = world.steps_told(&pairs, role, told)?;
    Ok(found.into_iter().flatten().collect())
}

/// The words of states, which are all packed.
fn words<'s>(
    states: impl IntoIterator<Item = &'s State, IntoIter: ExactSizeIterator>,
) -> impl ExactSizeIterator<Item = &'s [u64]> {
    states.into_iter().map(|state| match state {
        State::Packed(words) => &words[..],
        State::Mixed(_) | State::Facts(_) => unreachable!("the states of a network are packed"),
    })
}

/// A state, a joint move and the state after it as clauses.
struct Prover<'n> {
    net: &'n Propnet,
    clauses: Clauses,
    /// By fact: whether it is true now, and after the joint move.
    facts: Vec<i32>,
    next: Vec<i32>,
    /// By role: whether it makes the move.
    moves: Vec<Vec<i32>>,
    /// True if the joint move is made: each role makes one legal move, and the game is not over.
    goes_on: i32,
}

impl<'n> Prover<'n> {
    fn new(net: &'n Propnet, stop: &Stop) -> Self {
        let mut clauses = Clauses::for_short_questions();
        clauses.set_stop(stop);
        let inputs: Vec<i32> = (0..net.network().inputs())
            .map(|_| clauses.variable())
            .collect();
        let facts = (0..net.facts().len()).map(|fact| inputs[net.fact_input(fact)]);
        let facts: Vec<i32> = facts.collect();
        let moves = net.moves().iter().enumerate();
        let moves = moves.map(|(role, moves)| {
            let numbers = 0..moves.len();
            let inputs = numbers.map(|number| inputs[net.move_input(role, number)]);
            inputs.collect()
        });
        let moves: Vec<Vec<i32>> = moves.collect();
        let mut frame = Frame::new(net.network(), &inputs, &clauses);
        frame.add_known(net, &mut clauses);
        let over = frame.literal(net.terminal(), &mut clauses);
        let goes_on = clauses.variable();
        clauses.add(&[-goes_on, -over]);
        for (moves, legal) in moves.iter().zip(net.legal()) {
            let (one, two) = clauses.one_and_two(moves);
            clauses.add(&[-goes_on, one]);
            clauses.add(&[-goes_on, -two]);
            for (&made, &legal) in moves.iter().zip(legal) {
                let legal = frame.literal(legal, &mut clauses);
                clauses.add(&[-goes_on, -made, legal]);
            }
        }
        let next = net.next().iter();
        let next = next
            .map(|&next| frame.literal(next, &mut clauses))
            .collect();
        Prover {
            net,
            clauses,
            facts,
            next,
            moves,
            goes_on,
        }
    }

    /// The knowledge of each turn and of the facts of the last position; `None` if it is not
    /// decided. What is proved is added to the proofs.
    fn turns(
        &mut self,
        belief: &Belief,
        first: Vec<Option<bool>>,
        examples: &[Vec<State>],
        percepts: &[(u32, TermId)],
        proofs: &mut Proofs,
    ) -> Option<(Vec<Turn>, Facts)> {
        let own = belief.role().index();
        let (mut known, mut turns) = (first, Vec::new());
        for (turn, ((made, told), examples)) in belief.past().iter().zip(examples).enumerate() {
            let number = self.net.moves()[own].iter().position(|one| one == made)?;
            let made = (own, number);
            if let Some(next) = proofs.after(belief, turn + 1) {
                let facts = std::mem::replace(&mut known, next.clone());
                turns.push(Turn { facts, made });
                continue;
            }
            let mut given: Vec<i32> = self
                .facts
                .iter()
                .zip(&known)
                .filter_map(|(&variable, known)| Some(if (*known)? { variable } else { -variable }))
                .collect();
            given.extend([self.goes_on, self.moves[own][number]]);
            given.extend(percepts.iter().map(|(fact, percept)| {
                let next = self.next[*fact as usize];
                if told.contains(percept) { next } else { -next }
            }));
            let (mut same, new) = self.suggested(&known, examples);
            same.extend(doubt(&mut self.clauses, &given, new).unwrap_or_default());
            prove(&mut self.clauses, &given, &mut same, |_, _| {})?;
            let mut next = vec![None; known.len()];
            for ((fact, value), _) in same {
                next[fact] = Some(value);
            }
            proofs.add(belief, turn + 1, next.clone());
            let facts = std::mem::replace(&mut known, next);
            turns.push(Turn { facts, made });
        }
        Some((turns, known))
    }

    /// The facts after a turn that are the same in all examples, with their values and literals:
    /// those that were known before, and others.
    #[expect(clippy::type_complexity, reason = "two lists of the same kind")]
    fn suggested(
        &self,
        known: &[Option<bool>],
        examples: &[State],
    ) -> (Vec<((usize, bool), i32)>, Vec<((usize, bool), i32)>) {
        // The bits that are set in all of the states, and in any.
        let mut states = words(examples);
        let mut all: Box<[u64]> = states.next().expect("there is one").into();
        let mut any = all.clone();
        for words in states {
            all.iter_mut()
                .zip(words)
                .for_each(|(all, word)| *all &= word);
            any.iter_mut()
                .zip(words)
                .for_each(|(any, word)| *any |= word);
        }
        let (mut same, mut new) = (Vec::new(), Vec::new());
        for (fact, (&next, known)) in self.next.iter().zip(known).enumerate() {
            let list = if known.is_some() { &mut same } else { &mut new };
            match (holds(&all, fact), holds(&any, fact)) {
                (true, _) => list.push(((fact, true), next)),
                (_, false) => list.push(((fact, false), -next)),
                _ => {}
            }
        }
        (same, new)
    }
}

/// The claims without those that fail together, wherever the given literals hold.
fn doubt<T>(
    clauses: &mut Clauses,
    given: &[i32],
    mut claims: Vec<(T, i32)>,
) -> Option<Vec<(T, i32)>> {
    let mut left = Vec::new();
    loop {
        let fail = claims.iter().map(|(_, literal)| -literal);
        let question: Vec<i32> = given.iter().copied().chain(fail).collect();
        if claims.is_empty() || clauses.solve(&question, CONFLICTS)? {
            return Some(left);
        }
        let count = left.len();
        left.extend(claims.extract_if(.., |(_, literal)| clauses.is_needed(-*literal)));
        if left.len() == count {
            return None;
        }
    }
}

/// Keeps those of the claims that hold wherever the given literals do; `None` if that is not
/// decided, or if the given ones hold nowhere. `failed` takes the others, those that fail in one
/// model together.
fn prove<T>(
    clauses: &mut Clauses,
    given: &[i32],
    claims: &mut Vec<(T, i32)>,
    mut failed: impl FnMut(&Clauses, Vec<(T, i32)>),
) -> Option<()> {
    let mut question = given.to_vec();
    while clauses.solve(&question, CONFLICTS)? {
        let fail = claims.extract_if(.., |(_, literal)| !clauses.holds(*literal));
        let fail: Vec<_> = fail.collect();
        failed(clauses, fail);
        // One of those that are left fails.
        let fails = clauses.variable();
        let clause = claims.iter().map(|(_, literal)| -literal);
        let clause: Vec<i32> = clause.chain([-fails]).collect();
        clauses.add(&clause);
        question.truncate(given.len());
        question.push(fails);
    }
    // Without a first answer the given literals contradict each other.
    (question.len() > given.len()).then_some(())
}
