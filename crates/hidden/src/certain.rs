//! Proofs of what a role knows, where the positions that fit are too many to look at.
//!
//! In: a belief. Out: facts, legal moves, scores and the end of the game, each if it is the same in
//! all positions that fit the role's moves and percepts. From turn to turn, a SAT solver is asked
//! for a joint move with the role's move and percepts, in a state in which all that is certain so
//! far holds, after which some fact is not as in the sample of the belief. Where none is found, the
//! facts are certain. What only follows from several turns together is not found, so not
//! everything that a role knows is certain in this sense.
//!
//! Source: backbones by refuted candidates, as in Janota, Lynce, Marques-Silva: Algorithms for
//! Computing Backbones of Propositional Formulae, AI Communications 28 (2), 2015, section 3.

use ggp_engine::machine::{AnyMachine, PlayError};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::holds;
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::Literal;
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_stop::Stop;
use rand::{Rng, RngExt};
use rustc_hash::FxHashMap;

use super::belief::Belief;
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

/// Claims that are the same in all positions that fit, with their values.
pub type Certain = FxHashMap<Claim, bool>;

/// The positions of a sample that suggest what is certain, as many as the bits of a word.
const EXAMPLES: usize = 64;
/// The most conflicts of the solver in one question.
const CONFLICTS: i32 = 20_000;

/// The claims that are certain for the role of a belief, which knows whether the game is over; none
/// without a network, or if `stop` comes first.
///
/// # Errors
///
/// Those of the machine.
pub fn certain<R: Rng>(
    world: &mut World,
    belief: &Belief,
    is_over: bool,
    stop: &Stop,
    random: &mut R,
) -> Result<Certain, PlayError> {
    let members = belief.with_end(world, is_over)?;
    let members = members.into_iter().take(EXAMPLES);
    let histories: Vec<Vec<Vec<Move>>> = members.map(|member| member.history()).collect();
    // By turn: states after it that fit, those of the examples first.
    let mut examples = Vec::with_capacity(belief.turns());
    let mut states = vec![belief.start().clone(); histories.len()];
    for (turn, (made, told)) in belief.past().iter().enumerate() {
        let other = others(world, belief.role(), &states, (*made, told), random)?;
        let joints = histories.iter().map(|history| &history[turn][..]);
        let pairs: Vec<(&State, &[Move])> = states.iter().zip(joints).collect();
        states = world.steps(&pairs)?;
        examples.push([&states[..], &other].concat());
    }
    let percepts = world.all_percepts(belief.role()).map(<[_]>::to_vec);
    let (Some(percepts), State::Packed(start), AnyMachine::Propnet(machine)) =
        (percepts, belief.start(), world.machine())
    else {
        return Ok(Certain::default());
    };
    let net = machine.net();
    let first: Vec<bool> = (0..net.facts().len())
        .map(|fact| holds(start, fact))
        .collect();
    if !net.admits(&first) || histories.is_empty() {
        return Ok(Certain::default());
    }
    let mut prover = Prover::new(net, stop);
    // The facts that are certain, and as literals.
    let mut known = vec![true; first.len()];
    let mut now: Vec<i32> = (prover.facts.iter().zip(&first))
        .map(|(&variable, &holds)| if holds { variable } else { -variable })
        .collect();
    for ((made, told), states) in belief.past().iter().zip(&examples) {
        let own = net.moves()[belief.role().index()].iter();
        let Some(own) = own
            .zip(&prover.moves[belief.role().index()])
            .find(|own| own.0 == made)
        else {
            return Ok(Certain::default());
        };
        let mut given = now.clone();
        given.extend([prover.goes_on, *own.1]);
        given.extend(percepts.iter().map(|(fact, percept)| {
            let next = prover.next[*fact as usize];
            if told.contains(percept) { next } else { -next }
        }));
        // The bits that are set in all of the states, and in any.
        let mut all: Box<[u64]> = words(&states[..1]).next().expect("there is one").into();
        let mut any = all.clone();
        for words in words(states) {
            all.iter_mut()
                .zip(words)
                .for_each(|(all, word)| *all &= word);
            any.iter_mut()
                .zip(words)
                .for_each(|(any, word)| *any |= word);
        }
        let same = prover.next.iter().enumerate().filter_map(|(fact, &next)| {
            match (holds(&all, fact), holds(&any, fact)) {
                (true, _) => Some(((fact, true), next)),
                (_, false) => Some(((fact, false), -next)),
                _ => None,
            }
        });
        let is_known = |((fact, _), _): &((usize, bool), i32)| known[*fact];
        let (mut same, new): (Vec<_>, Vec<_>) = same.partition(is_known);
        same.extend(prover.doubt(&given, new).unwrap_or_default());
        let Some(proved) = prover.prove(&given, same) else {
            return Ok(Certain::default());
        };
        known.fill(false);
        proved.iter().for_each(|(fact, _)| known[*fact] = true);
        let literals = proved.into_iter().map(|(fact, holds)| match holds {
            true => prover.facts[fact],
            false => -prover.facts[fact],
        });
        now = literals.collect();
    }
    now.push(if is_over { prover.over } else { -prover.over });
    let claims = prover.claims(&states);
    let proved = prover.prove(&now, claims).unwrap_or_default();
    let mut certain: Certain = proved.into_iter().collect();
    certain.retain(|claim, _| !matches!(claim, Claim::Fact(fact) if world.is_percept(*fact)));
    Ok(certain)
}

/// States after joint moves that are drawn, in which a role has these percepts.
fn others<R: Rng>(
    world: &mut World,
    role: RoleId,
    states: &[State],
    (made, told): (Move, &[TermId]),
    random: &mut R,
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
fn words(states: &[State]) -> impl ExactSizeIterator<Item = &[u64]> {
    states.iter().map(|state| match state {
        State::Packed(words) => &words[..],
        State::Facts(_) => unreachable!("the states of a network are packed"),
    })
}

/// A state, a joint move and the state after it as clauses.
struct Prover<'n> {
    net: &'n Propnet,
    clauses: Clauses,
    frame: Frame<'n>,
    /// By fact: whether it is true now, and after the joint move.
    facts: Vec<i32>,
    next: Vec<i32>,
    /// By role: whether it makes the move.
    moves: Vec<Vec<i32>>,
    over: i32,
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
            frame,
            facts,
            next,
            moves,
            over,
            goes_on,
        }
    }

    /// The claims without those that fail together, wherever the given literals hold.
    fn doubt<T>(&mut self, given: &[i32], mut claims: Vec<(T, i32)>) -> Option<Vec<(T, i32)>> {
        let mut left = Vec::new();
        loop {
            let fail = claims.iter().map(|(_, literal)| -literal);
            let question: Vec<i32> = given.iter().copied().chain(fail).collect();
            if claims.is_empty() || self.clauses.solve(&question, CONFLICTS)? {
                return Some(left);
            }
            let count = left.len();
            left.extend(claims.extract_if(.., |(_, literal)| self.clauses.is_needed(-*literal)));
            if left.len() == count {
                return None;
            }
        }
    }

    /// Those of the claims that hold wherever the given literals do; `None` if that is not decided,
    /// or if they hold nowhere.
    fn prove<T>(&mut self, given: &[i32], mut claims: Vec<(T, i32)>) -> Option<Vec<T>> {
        let mut question = given.to_vec();
        while self.clauses.solve(&question, CONFLICTS)? {
            claims.retain(|(_, literal)| self.clauses.holds(*literal));
            // One of those that are left fails.
            let fails = self.clauses.variable();
            let clause = claims.iter().map(|(_, literal)| -literal);
            let clause: Vec<i32> = clause.chain([-fails]).collect();
            self.clauses.add(&clause);
            question.truncate(given.len());
            question.push(fails);
        }
        // Without a first answer the given literals contradict each other.
        (question.len() > given.len()).then(|| claims.into_iter().map(|(claim, _)| claim).collect())
    }

    /// The claims about a position that are the same in all examples, with their values.
    fn claims(&mut self, examples: &[State]) -> Vec<((Claim, bool), i32)> {
        let net = self.net;
        let mut inputs = vec![0; net.network().inputs()];
        for fact in 0..net.facts().len() {
            for (lane, state) in words(examples).enumerate() {
                inputs[net.fact_input(fact)] |= u64::from(holds(state, fact)) << lane;
            }
        }
        let values = net.network().evaluate(&inputs);
        let all = u64::MAX >> (u64::BITS as usize - examples.len());
        let roles: Vec<RoleId> = net.game().roles().collect();
        let facts = net.facts().iter().enumerate();
        let facts = facts.map(|(fact, term)| {
            (
                Claim::Fact(*term),
                net.network().input(net.fact_input(fact)),
            )
        });
        let legal = roles.iter().zip(net.moves()).zip(net.legal());
        let legal = legal.flat_map(|((&role, moves), legal)| {
            let legal = moves.iter().zip(legal);
            legal.map(move |(made, legal)| (Claim::Legal(role, *made), *legal))
        });
        let scores = roles.iter().zip(net.goals());
        let scores = scores.flat_map(|(&role, scores)| {
            scores
                .iter()
                .map(move |(score, holds)| (Claim::Score(role, *score), *holds))
        });
        let over = (Claim::Over, net.terminal());
        let claims: Vec<(Claim, Literal)> =
            facts.chain(legal).chain(scores).chain([over]).collect();
        let mut same = Vec::new();
        for (claim, literal) in claims {
            let flip = if literal.is_negated() { all } else { 0 };
            let value = values[literal.node()] & all ^ flip;
            let variable = self.frame.literal(literal, &mut self.clauses);
            match value {
                0 => same.push(((claim, false), -variable)),
                value if value == all => same.push(((claim, true), variable)),
                _ => {}
            }
        }
        same
    }
}
