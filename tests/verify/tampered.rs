//! Answers of which one field was changed: the checker confirms only what is true.

use std::collections::{BTreeMap, BTreeSet};

use ggp_engine::machine::{Limits as MachineLimits, Machine, NaiveMachine};
use ggp_gdl::game::{Game, Score};
use ggp_gdl::terms::TermId;
use ggp_search::Plans;
use ggp_solver::solve::{Method, claim_outcome};
use ggp_verify::{Claim, Given, Limits, Proof};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use super::plans::{count, lamps};
use super::random::random_rules;
use super::shared::*;
use crate::algebra::{PEGS, by_algebra, puzzle};
use crate::common::sized;

/// The score and the facts at the end of a plan, and its moves; `None` if it does not end
/// the game.
fn end(game: &Game, plan: &[String]) -> Option<(Vec<TermId>, Score, Vec<TermId>)> {
    let mut machine = NaiveMachine::new(game, MachineLimits::default());
    let mut state = machine.initial().ok()?;
    let mut moves = Vec::new();
    for text in plan {
        let chosen = machine.read_move(text).ok()?;
        moves.push(chosen.term());
        state = machine.play(&state, &[chosen]).ok()?;
    }
    let role = game.roles().next()?;
    let is_over = machine.is_terminal(&state).ok()?;
    is_over.then_some(())?;
    Some((
        moves,
        machine.goal(&state, role).ok()?,
        machine.facts(&state),
    ))
}

/// The number of ends with the highest score.
fn ends(game: &Game) -> usize {
    let mut machine = machine(game);
    let role = game.roles().next().unwrap();
    let first = machine.initial().unwrap();
    let mut open = vec![machine.facts(&first)];
    let mut known: BTreeSet<Vec<TermId>> = open.iter().cloned().collect();
    let mut count = 0;
    while let Some(facts) = open.pop() {
        let state = machine.state(&facts).unwrap();
        if machine.is_terminal(&state).unwrap() {
            count += usize::from(machine.goal(&state, role).unwrap() == Score::MAX);
            continue;
        }
        let mut legal = Vec::new();
        machine.legal(&state, role, &mut legal).unwrap();
        for chosen in legal {
            let after = machine.next(&state, &[chosen]).unwrap();
            let after = machine.facts(&after);
            if known.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    count
}

/// A game with what is true of it.
struct Known {
    game: Game,
    shortest: Option<(usize, u64)>,
    ends: usize,
}

impl Known {
    fn new(game: Game) -> Known {
        let (shortest, ends) = (shortest(&game), ends(&game));
        Known {
            game,
            shortest,
            ends,
        }
    }

    /// Whether a claim is true, by slow and obvious means.
    fn is_true(&self, claim: &Claim) -> bool {
        let all_longer = |moves: u32| {
            self.shortest
                .is_none_or(|(least, _)| least > moves as usize)
        };
        let played = |plans: &[Vec<String>]| -> Option<Vec<_>> {
            let ends: Option<Vec<_>> = plans.iter().map(|plan| end(&self.game, plan)).collect();
            ends.filter(|ends| ends.iter().all(|(_, score, _)| *score == Score::MAX))
        };
        match claim {
            Claim::Solved {
                plans,
                optimal,
                all,
                ..
            } => {
                let Some(ends) = played(plans).filter(|ends| !ends.is_empty()) else {
                    return false;
                };
                let different: BTreeSet<_> = ends.iter().map(|(moves, ..)| moves).collect();
                let lengths: BTreeSet<usize> = plans.iter().map(Vec::len).collect();
                let Some((least, count)) = self.shortest else {
                    return false;
                };
                different.len() == plans.len()
                    && (!optimal || lengths == BTreeSet::from([least]))
                    // Plans of a greater length are not counted here.
                    && (!all || !optimal || plans.len() as u64 == count)
            }
            Claim::Counted { plans, all, .. } => {
                let Some(ends) = played(plans) else {
                    return false;
                };
                let different: BTreeSet<_> = ends.iter().map(|(_, _, facts)| facts).collect();
                different.len() == plans.len() && (!all || plans.len() == self.ends)
            }
            Claim::Unsolvable { .. } => self.shortest.is_none(),
            Claim::NoSolutionWithin { moves } => all_longer(*moves),
            Claim::OutOfBudget {
                no_solution_within,
                best,
            } => {
                no_solution_within.is_none_or(all_longer)
                    && best.as_ref().is_none_or(|best| {
                        end(&self.game, &best.plan)
                            .is_some_and(|(_, score, _)| score.get() == best.score)
                    })
            }
            _ => false,
        }
    }
}

/// All values that differ from `value` in one place, with the path to that place.
fn changed(value: &Value, words: &[String]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    match value {
        Value::Null => {}
        Value::Bool(yes) => found.push((String::new(), json!(!yes))),
        Value::Number(number) => {
            let number = number.as_i64().unwrap_or(0);
            for other in [number + 1, number - 1, -number, 0, 100, i64::MAX, i64::MIN] {
                if other != number {
                    found.push((String::new(), json!(other)));
                }
            }
        }
        Value::String(text) => {
            // Another spelling of the same term.
            found.push((String::new(), json!(format!(" {} ", text.to_uppercase()))));
            for other in words.iter().filter(|word| *word != text) {
                found.push((String::new(), json!(other)));
                found.push((String::new(), json!(format!("(not {other})"))));
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let with = |new: Vec<Value>| {
                    let rest = items[at + 1..].iter().cloned();
                    let all = items[..at].iter().cloned().chain(new).chain(rest);
                    Value::Array(all.collect())
                };
                found.push((String::new(), with(vec![])));
                found.push((String::new(), with(vec![item.clone(), item.clone()])));
                for (path, new) in changed(item, words) {
                    // Twice, in two spellings.
                    found.push((path.clone(), with(vec![item.clone(), new.clone()])));
                    found.push((path, with(vec![new])));
                }
            }
            found.push((String::new(), json!([])));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let mut without = fields.clone();
                without.remove(name);
                found.push((name.clone(), Value::Object(without)));
                for (path, new) in changed(field, words) {
                    let mut with = fields.clone();
                    with.insert(name.clone(), new);
                    found.push((format!("{name}.{path}"), Value::Object(with)));
                }
            }
        }
    }
    found
}

/// The texts of a game's facts and moves.
fn words(game: &Game) -> Vec<String> {
    let machine = machine(game);
    let mut machine = machine;
    let start = machine.initial().unwrap();
    let (net, _) = machine.network(&start).expect("it is a network");
    let terms = net.terms();
    let facts = net.facts().iter().map(|&fact| game.text(&terms, fact));
    let moves = net.moves()[0].iter().map(|m| game.text(&terms, m.term()));
    facts.chain(moves).collect()
}

/// A press turns two of three lamps, of which one is lit at first: an odd number stays lit.
const PAIRS: &str = "(role r) (pair a b) (pair b c) (init (lit a))
    (<= (legal r (press ?x ?y)) (pair ?x ?y))
    (<= (turned ?x) (does r (press ?x ?y))) (<= (turned ?y) (does r (press ?x ?y)))
    (<= (next (lit ?x)) (turned ?x) (not (true (lit ?x))))
    (<= (next (lit ?x)) (true (lit ?x)) (not (turned ?x)))
    (<= some (true (lit ?x)))
    (<= terminal (not some)) (<= (goal r 100) (not some)) (<= (goal r 0) some)";

/// Two tokens move between three places, or are given away; three are wanted.
const TOKENS: &str = "(role r) (place a) (place b) (place c) (init (on a)) (init (on b))
    (<= (legal r (move ?x ?y)) (true (on ?x)) (place ?y) (not (true (on ?y))))
    (<= (legal r (give ?x)) (true (on ?x)))
    (<= (gone ?x) (does r (move ?x ?y))) (<= (gone ?x) (does r (give ?x)))
    (<= (next (on ?y)) (does r (move ?x ?y)))
    (<= (next (on ?x)) (true (on ?x)) (not (gone ?x)))
    (<= some (true (on ?x))) (<= full (true (on a)) (true (on b)) (true (on c)))
    (<= terminal (not some)) (<= terminal full)
    (<= (goal r 100) full) (<= (goal r 0) (not full))";

#[test]
fn one_changed_field_is_confirmed_only_if_it_is_true() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut games = vec![
        game(WALK),
        lamps(2, |_, _| true),
        lamps(3, |x, y| (x, y) == (1, 1)),
        game(&colours(2)),
        game(&colours(3)),
        game(PAIRS),
        game(TOKENS),
        game(PEGS),
    ];
    games.extend((0..sized(6, 40)).map(|_| game(&random_rules(&mut random))));
    let (mut tried, mut right, mut places) = (0, 0, BTreeSet::new());
    for game in games {
        let known = Known::new(game);
        let game = &known.game;
        let words = words(game);
        let mut claims: Vec<Claim> = Method::all()
            .map(Method::name)
            .filter(|&name| name != "mcts")
            .map(|method| answer(game, method, Plans::First))
            .collect();
        claims.push(answer(
            game,
            "breadth-first",
            Plans::AllShortest { max: 1_000 },
        ));
        if words.iter().any(|word| word.starts_with("(has")) {
            claims.push(count(game));
        }
        claims.push(Claim::OutOfBudget {
            no_solution_within: Some(1),
            best: None,
        });
        if words.iter().any(|word| word == "(on a)") {
            let weights = ["a", "b", "c"].map(|place| (format!("(on {place})"), 1));
            let sum = unsolvable(Proof::Potential {
                weights: weights.to_vec(),
                given: Given::default(),
            });
            assert!(checked(game, &sum, &no_search()).is_ok());
            claims.push(sum);
        }
        if words.iter().any(|word| word == "(pegs 4)") {
            let pegs = puzzle(PEGS);
            claims.push(claim_outcome(&pegs.net, &by_algebra(&pegs)));
        }
        let mut texts = BTreeSet::new();
        for claim in claims {
            let value = serde_json::to_value(&claim).unwrap();
            if !texts.insert(value.to_string()) {
                continue;
            }
            // A few of very many for each field.
            let mut by_path: BTreeMap<String, Vec<Value>> = BTreeMap::new();
            for (path, tampered) in changed(&value, &words) {
                by_path.entry(path).or_default().push(tampered);
            }
            for changes in by_path.values_mut() {
                while changes.len() > sized(3, 100) {
                    let at = random.random_range(0..changes.len());
                    changes.swap_remove(at);
                }
            }
            let changes = by_path.into_iter();
            let changes =
                changes.flat_map(|(path, all)| all.into_iter().map(move |new| (path.clone(), new)));
            for (path, tampered) in changes {
                let Ok(claim) = serde_json::from_value::<Claim>(tampered) else {
                    places.insert(path);
                    continue;
                };
                for limits in [Limits::default(), no_search()] {
                    tried += 1;
                    if checked(game, &claim, &limits).is_ok_and(|checked| checked.open.is_empty()) {
                        right += 1;
                        assert!(
                            known.is_true(&claim),
                            "{path}: {claim:?}\n{:?}",
                            game.sources().files()
                        );
                    }
                }
                places.insert(path);
            }
        }
    }
    println!("{tried} changed answers, {right} of them true");
    // Every field of every kind was changed.
    let fields: BTreeSet<&str> = places
        .iter()
        .map(|path| path.trim_end_matches('.'))
        .collect();
    let all = [
        "all",
        "best.plan",
        "best.score",
        "least.facts",
        "moves",
        "no_solution_within",
        "optimal",
        "plans",
        "proof.clauses",
        "proof.facts",
        "proof.kind",
        "proof.moves",
        "proof.positions",
        "proof.told",
        "proof.weights",
        "verdict",
    ];
    let missing: Vec<_> = all.iter().filter(|name| !fields.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {fields:?}");
}
