//! Answers as claims that [`ggp_verify`] checks.

use std::borrow::Cow;
use std::time::Duration;

use crate::planning::effects::Effects;
use crate::planning::{Outcome, Puzzle, Reason, invariant, linear};
use ggp_engine::machine::{AnyMachine, Machine, PlayError, PropnetState};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::Packed;
use ggp_engine::propnet::network::Node;
use ggp_gdl::game::Move;
use ggp_search::{Budget, Coverage, Verdict};
use ggp_verify::{Claim, End, Flips, Given, Proof};

use super::{Answer, Counted};

/// The longest time for a proof that can be checked, unless the budget allows less.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The number of positions from which it takes long to search them again.
const MANY: u64 = 1_000_000;

/// The proof that there is no plan, as far as it was written down while solving.
pub fn proof(answer: &Answer) -> Option<Proof> {
    match (&answer.verdict, &answer.reason, &answer.puzzle) {
        (Verdict::Unsolvable, Some(reason), Some(puzzle)) => Some(proof_of(&puzzle.net, reason)),
        (Verdict::Unsolvable, ..) => Some(Proof::Exhausted { positions: None }),
        _ => None,
    }
}

/// Whether the proof that there is no plan was not written down, or takes long to check.
pub fn lacks_proof(answer: &Answer) -> bool {
    match proof(answer) {
        Some(Proof::Refuted { .. }) => true,
        Some(Proof::Exhausted { positions }) => {
            let symmetries = answer.seen.map_or(1, |seen| seen.symmetries as u64);
            positions.is_some_and(|count| count.saturating_mul(symmetries) > MANY)
        }
        _ => false,
    }
}

/// The claim that an answer makes. Where a refutation was not written down, or many
/// positions were searched, this looks for an invariant that proves the same.
pub fn claim(
    machine: &AnyMachine,
    start: &PropnetState,
    answer: &Answer,
    budget: &Budget,
) -> Claim {
    match &answer.verdict {
        Verdict::Solved {
            plans,
            optimal,
            coverage,
        } => Claim::Solved {
            plans: plans.iter().map(|plan| texts(machine, plan)).collect(),
            optimal: *optimal,
            all: *coverage == Coverage::All,
            least: match plans.first() {
                Some(plan) if *optimal => puzzle_of(machine, start, answer)
                    .and_then(|puzzle| by_flips(&puzzle, plan.len())),
                _ => None,
            },
        },
        Verdict::Unsolvable => {
            let mut proof = proof(answer).expect("the verdict has a proof");
            if lacks_proof(answer)
                && let Some(puzzle) = puzzle_of(machine, start, answer)
                && let Some(reason) = invariant::prove(&puzzle, &patient(budget))
            {
                proof = proof_of(&puzzle.net, &reason);
            }
            Claim::Unsolvable { proof }
        }
        Verdict::NoSolutionWithin(moves) => Claim::NoSolutionWithin { moves: *moves },
        Verdict::OutOfBudget {
            depth_completed, ..
        } => Claim::OutOfBudget {
            no_solution_within: *depth_completed,
            best: answer.best.as_ref().map(|best| End {
                score: best.score.get(),
                plan: texts(machine, &best.plan),
            }),
        },
    }
}

/// The puzzle of an answer; made anew only if the answer comes from a search on states.
fn puzzle_of<'a>(
    machine: &AnyMachine,
    start: &PropnetState,
    answer: &'a Answer,
) -> Option<Cow<'a, Puzzle>> {
    match &answer.puzzle {
        Some(puzzle) => Some(Cow::Borrowed(puzzle)),
        None => super::puzzle(machine, start, answer.target).map(Cow::Owned),
    }
}

/// The facts that prove that no plan is shorter, if moves flip facts.
fn by_flips(puzzle: &Puzzle, moves: usize) -> Option<Flips> {
    let effects = Effects::of(puzzle)?;
    let facts = linear::reason(puzzle, &effects, moves)?;
    Some(flips(&puzzle.net, &facts))
}

/// The claim that a count makes: plans, and whether all their ends are known. Of plans
/// that lead to the same end it keeps the first.
///
/// # Errors
///
/// [`PlayError`] if a plan cannot be played.
pub fn claim_count(
    machine: &AnyMachine,
    start: &PropnetState,
    counted: &Counted,
    budget: &Budget,
) -> Result<Claim, PlayError> {
    let mut machine = machine.clone();
    let mut ends: Vec<PropnetState> = Vec::new();
    let mut kept = Vec::new();
    for plan in &counted.plans {
        let mut state = start.clone();
        for &chosen in plan {
            state = machine.next(&state, &[chosen])?;
        }
        if !ends.contains(&state) {
            ends.push(state);
            kept.push(texts(&machine, plan));
        }
    }
    let proof = match counted.is_all {
        true => no_other(&machine, &counted.puzzle, &ends, budget),
        false => None,
    };
    Ok(Claim::Counted {
        plans: kept,
        all: counted.is_all,
        proof,
    })
}

/// Clauses that hold in no end with the target score but these.
fn no_other(
    machine: &AnyMachine,
    puzzle: &Puzzle,
    ends: &[PropnetState],
    budget: &Budget,
) -> Option<Given> {
    let ends = ends.iter().map(|end| Some(machine.network(end)?.1));
    let ends: Vec<Packed> = ends.collect::<Option<_>>()?;
    let clauses = invariant::prove_no_other(puzzle, &ends, &patient(budget))?;
    Some(given(&puzzle.net, &clauses))
}

/// The budget, limited to [`PATIENCE`].
fn patient(budget: &Budget) -> Budget {
    Budget {
        time: Some(budget.time.map_or(PATIENCE, |time| time.min(PATIENCE))),
        ..budget.clone()
    }
}

fn texts(machine: &AnyMachine, plan: &[Move]) -> Vec<String> {
    let mut terms = machine.terms().clone();
    terms.refresh();
    let text = |chosen: &Move| machine.game().text(&terms, chosen.term());
    plan.iter().map(text).collect()
}

/// The claim that an outcome on this network makes, with facts and moves as texts.
pub fn claim_outcome(net: &Propnet, outcome: &Outcome) -> Claim {
    match outcome {
        Outcome::Solved { plan, optimal } => {
            let terms = net.terms();
            let text = |&chosen: &u32| {
                let chosen = net.moves()[0][chosen as usize];
                net.game().text(&terms, chosen.term())
            };
            Claim::Solved {
                plans: vec![plan.iter().map(text).collect()],
                optimal: *optimal,
                all: false,
                least: None,
            }
        }
        Outcome::Unsolvable(reason) => Claim::Unsolvable {
            proof: proof_of(net, reason),
        },
        Outcome::NoPlanWithin(moves) => Claim::NoSolutionWithin { moves: *moves },
        Outcome::Unknown => Claim::OutOfBudget {
            no_solution_within: None,
            best: None,
        },
    }
}

/// A reason on this network as a proof, with facts as texts.
fn proof_of(net: &Propnet, reason: &Reason) -> Proof {
    let terms = net.terms();
    let text = |fact: u32| net.game().text(&terms, net.facts()[fact as usize]);
    let facts = |facts: &[u32]| facts.iter().map(|&fact| text(fact)).collect();
    let sum = |weights: &Vec<(u32, i64)>| -> Vec<(String, i64)> {
        let weights = weights.iter();
        weights
            .map(|&(fact, weight)| (text(fact), weight))
            .collect()
    };
    match reason {
        Reason::Exhausted { positions } => Proof::Exhausted {
            positions: Some(*positions),
        },
        // No state at all is a solution.
        Reason::Parity { facts, told } if facts.is_empty() && told.is_empty() => {
            Proof::Invariant(given(net, &[]))
        }
        Reason::Parity { facts: odd, told } => Proof::Parity {
            facts: facts(odd),
            told: told.iter().map(sum).collect(),
            given: given(net, &[]),
        },
        Reason::Potential { weights } => Proof::Potential {
            weights: sum(weights),
            given: given(net, &[]),
        },
        Reason::Invariant { clauses } => Proof::Invariant(given(net, clauses)),
        Reason::Over { moves } => Proof::Over { moves: *moves },
        Reason::Refuted { what } => Proof::Refuted { what: what.clone() },
    }
}

/// Facts that moves flip or leave alone, and the assumptions of their network.
fn flips(net: &Propnet, facts: &[u32]) -> Flips {
    let terms = net.terms();
    let text = |&fact: &u32| net.game().text(&terms, net.facts()[fact as usize]);
    Flips {
        facts: facts.iter().map(text).collect(),
        given: given(net, &[]),
    }
}

/// The assumptions of a network about every state, and further clauses over its facts.
fn given(net: &Propnet, clauses: &[Vec<(u32, bool)>]) -> Given {
    let terms = net.terms();
    let text = |fact: usize| net.game().text(&terms, net.facts()[fact]);
    let mut given = Given::default();
    for &(fact, equal) in net.assumed() {
        match net.network().node(equal.node()) {
            Node::Input(other) => {
                for value in [true, false] {
                    let other = literal(text(other), value == equal.is_negated());
                    given.clauses.push(vec![literal(text(fact), value), other]);
                }
            }
            _ => given
                .clauses
                .push(vec![literal(text(fact), equal.is_negated())]),
        }
    }
    for group in net.exclusive() {
        let facts: Vec<String> = group.facts.iter().map(|&fact| text(fact)).collect();
        if group.exact {
            given.clauses.push(facts.clone());
        }
        given.exclusive.push(facts);
    }
    for clause in clauses {
        let clause = clause.iter();
        let clause = clause.map(|&(fact, holds)| literal(text(fact as usize), holds));
        given.clauses.push(clause.collect());
    }
    given
}

/// A fact, or its negation as `(not FACT)`.
fn literal(fact: String, holds: bool) -> String {
    match holds {
        true => fact,
        false => format!("(not {fact})"),
    }
}
