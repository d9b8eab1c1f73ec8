//! Answers of the solver with changes: `verify` confirms only what is true.
//!
//! The first line of an input is an answer in JSON, the other lines are the rules.

mod truth;

use std::sync::OnceLock;
use std::time::Duration;

use ggp_engine::machine::{AnyMachine, Backend, DatalogMachine, Machine};
use ggp_gdl::game::{Game, Score};
use ggp_search::{Budget, Plans, Stats};
use ggp_solver::solve::{Method, SolveOptions, claim, claim_count, count_from, solve_from};
use ggp_stop::Stop;
use ggp_verify::{Claim, Given, Limits, Proof, Record, digest, verify};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::{reading, small_limits};
use crate::plays::random_moves;
use crate::puzzles::PUZZLES;
use crate::{Known, json, rules};
use truth::is_true;

/// A game with true answers.
struct Answered {
    rules: String,
    game: Game,
    answers: Vec<Value>,
    /// Texts of facts and moves.
    words: Vec<String>,
}

/// A changed answer.
pub fn make(_: &Known, random: &mut Xoshiro256PlusPlus) -> String {
    static OWN: OnceLock<Vec<Answered>> = OnceLock::new();
    let own = OWN.get_or_init(|| {
        let puzzles = PUZZLES.iter();
        puzzles.filter_map(|rules| answered(rules)).collect()
    });
    let generated = (random.random_range(0..4) == 0)
        .then(|| answered(&rules::generate(random)))
        .flatten();
    let of = match &generated {
        Some(generated) => generated,
        None => &own[random.random_range(0..own.len())],
    };
    let pick = |random: &mut Xoshiro256PlusPlus| {
        of.answers[random.random_range(0..of.answers.len())].clone()
    };
    let mut answer = pick(random);
    for _ in 0..random.random_range(0..4) {
        let other = pick(random);
        let own = |path: &str| other.pointer(path).cloned();
        match random.random_range(0..10) {
            // The claim, the proof or the plans of another answer.
            0 => answer["answer"] = other["answer"].clone(),
            1 => {
                let proofs = (answer.pointer_mut("/answer/proof"), own("/answer/proof"));
                if let (Some(proof), Some(other)) = proofs {
                    *proof = other;
                }
            }
            2 => {
                let plans = (answer.pointer_mut("/answer/plans"), own("/answer/plans"));
                if let (Some(Value::Array(plans)), Some(Value::Array(more))) = plans {
                    plans.extend(more);
                }
            }
            // A plan becomes a random play.
            7 => {
                let plays = answer.pointer_mut("/answer/plans");
                if let Some(Value::Array(plans)) = plays
                    && !plans.is_empty()
                {
                    let play = random_moves(&of.game, 10, random);
                    let at = random.random_range(0..plans.len());
                    plans[at] = play.concat().into();
                }
            }
            8 => {
                let flags = ["/answer/all", "/answer/optimal"];
                let flag = answer.pointer_mut(flags[random.random_range(0..flags.len())]);
                if let Some(Value::Bool(flag)) = flag {
                    *flag = !*flag;
                }
            }
            // Mostly the claim: other rules are rejected at once.
            3..7 => {
                if let Some(claim) = answer.get_mut("answer") {
                    json::change(claim, &of.words, random);
                }
            }
            _ => json::change(&mut answer, &of.words, random),
        }
        if !answer.is_object() {
            break;
        }
    }
    format!("{}\n{}", json::line(&answer, random), of.rules)
}

/// The answers of all methods. `None` without rules of one role.
fn answered(rules: &str) -> Option<Answered> {
    let game = reading(rules).game?;
    let role = game.roles().next()?;
    if game.role_count() != 1 || game.is_random(role) {
        return None;
    }
    let machine = AnyMachine::new(
        &game,
        Backend::Propnet,
        small_limits(Duration::from_secs(10)),
    )
    .ok()?;
    let start = machine.clone().initial().ok()?;
    let facts = machine.facts(&start);
    let budget = Budget {
        nodes: 5_000,
        depth: 40,
        time: Some(Duration::from_secs(1)),
        ..Budget::default()
    };
    let mut claims = vec![
        Claim::NoSolutionWithin { moves: 1 },
        Claim::OutOfBudget {
            no_solution_within: Some(0),
            best: None,
        },
        Claim::Unsolvable {
            proof: Proof::Over { moves: 9 },
        },
        Claim::Unsolvable {
            proof: Proof::Invariant(Given::default()),
        },
    ];
    let methods = Method::all().filter(|method| method.name() != "mcts");
    let methods = methods.map(|method| (method, Plans::First));
    let all = Plans::AllShortest { max: 1_000 };
    let more = "breadth-first".parse().ok().map(|method| (method, all));
    for (method, plans) in methods.chain(more) {
        let mut options = SolveOptions::default();
        options.method = method;
        options.plans = plans;
        options.budget = budget.clone();
        let mut stats = Stats::default();
        if let Ok(found) = solve_from(&machine, &start, &options, &mut stats, &mut ()) {
            claims.push(claim(&machine, &start, &found, &budget));
        }
    }
    let mut options = SolveOptions::default();
    options.budget = budget.clone();
    if let Ok(counted) = count_from(&machine, &start, &options, 1_000)
        && let Ok(claim) = claim_count(&machine, &start, &counted, &budget)
    {
        claims.push(claim);
    }
    let mut answers = Vec::new();
    for claim in claims {
        let record = Record::new(&game, &facts, Score::MAX.get(), claim);
        let value = serde_json::to_value(&record).ok()?;
        if !answers.contains(&value) {
            answers.push(value);
        }
    }
    let (net, _) = machine.network(&start)?;
    let terms = net.terms();
    let facts = net.facts().iter().map(|&fact| game.text(&terms, fact));
    let moves = net.moves()[0].iter().map(|m| game.text(&terms, m.term()));
    let verdicts = [
        "solved",
        "counted",
        "unsolvable",
        "no_solution_within",
        "out_of_budget",
        "exhausted",
        "parity",
        "potential",
        "invariant",
        "over",
        "refuted",
    ];
    Some(Answered {
        words: facts
            .chain(moves)
            .chain(verdicts.map(str::to_owned))
            .collect(),
        rules: rules.to_owned(),
        answers,
        game,
    })
}

pub fn run(input: &str, _: u64) -> Result<u64, String> {
    let (answer, rules) = input.split_once('\n').unwrap_or((input, ""));
    let Ok(record) = serde_json::from_str::<Record>(answer) else {
        return Ok(0);
    };
    let Some(game) = reading(rules).game else {
        return Ok(0);
    };
    // As the command line does it.
    let Some(target) = Score::new(record.target).filter(|target| target.get() > 0) else {
        return Ok(0);
    };
    if record.rules != digest(&game) {
        return Ok(0);
    }
    let mut terms = game.terms().clone();
    let facts = record.start.iter();
    let facts: Result<Vec<_>, _> = facts
        .map(|fact| game.parse_term(&mut terms, fact))
        .collect();
    let Ok(start) = facts else {
        return Ok(0);
    };
    let is_state = DatalogMachine::new(&game, small_limits(Duration::from_secs(10)))
        .and_then(|mut machine| machine.state(&start))
        .is_ok();
    if !is_state {
        return Ok(0);
    }
    let mut confirmed = 0;
    let default = Limits::default();
    for positions in [default.positions, 0] {
        let limits = Limits {
            positions,
            stop: Stop::after(Duration::from_secs(2)),
            ..default.clone()
        };
        let Ok(checked) = verify(&game, &start, target, &record.answer, &limits) else {
            continue;
        };
        let claim = confirmed_part(record.answer.clone(), checked.open.is_empty());
        match is_true(&game, &start, target, &claim) {
            Some(true) => confirmed += 1,
            Some(false) => {
                return Err(format!(
                    "confirmed, but not true: {claim:?}\nchecked: {:?}\nwith {positions} positions",
                    checked.how
                ));
            }
            // Too large for the slow way.
            None => {}
        }
    }
    Ok(confirmed)
}

/// The part of a claim that was confirmed if some of it stayed open: its plans.
fn confirmed_part(claim: Claim, is_all: bool) -> Claim {
    match claim {
        Claim::Solved { plans, .. } if !is_all => Claim::Solved {
            plans,
            optimal: false,
            all: false,
            least: None,
        },
        Claim::Counted { plans, .. } if !is_all => Claim::Counted {
            plans,
            all: false,
            proof: None,
        },
        claim => claim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_answers_are_confirmed() {
        for rules in PUZZLES {
            let found = answered(rules).expect("it is a puzzle");
            let confirmed = found.answers.iter().filter(|answer| {
                let compared = run(&format!("{answer}\n{rules}"), 0);
                compared.expect("it is true if it is confirmed") > 0
            });
            assert!(confirmed.count() > 2, "{rules}");
        }
    }
}
