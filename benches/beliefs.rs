//! Beliefs: how near samples come to all positions that fit, and how long it takes to find some.
//!
//! ```text
//! cargo bench --bench beliefs -- [--matches COUNT] [--turns TURNS] [--members COUNT] [--proofs TURNS] [GAME]...
//! ```
//!
//! A game is the name of a bundled one, a rule file, or `battleship_8` or `battleship_10`: battleship on larger seas,
//! with three or four ships. Random matches are played to the end. Before each turn, the
//! first role that is not `random` has a belief without limits, as far as 200,000 positions allow, and samples of
//! at most COUNT positions, each from nothing. *One* is the total variation between a sample and all that fits, *ten*
//! that of the average of ten samples, both on average over the turns. The times are those from nothing to the
//! positions that fit after the last turn of a match. A sample that finds none counts as lost. *Worth* is the number
//! of positions drawn independently whose shares of facts would vary as much from sample to sample as those after
//! the last turn of a match do.
//!
//! With `--proofs`, matches have TURNS turns, and for all facts that are the same in the whole sample, it is asked
//! within a minute whether they are so in all positions that fit.

use std::time::{Duration, Instant};

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{
    Belief, BeliefError, BeliefLimits, Claim, Memories, Verdict, World, certain, claims,
};
use ggp_stop::Stop;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

#[path = "../tests/common/battleships.rs"]
mod battleships;
#[path = "../tests/common/spread.rs"]
mod spread;

use battleships::battleship;
use spread::variances;

const GAMES: &[&str] = &[
    "kuhn_poker",
    "leduc_poker",
    "liars_dice",
    "paid_look",
    "blind_tic_tac_toe",
    "krieg_tic_tac_toe",
    "battleship",
];
/// The most positions of a belief that counts as having no limits.
const MOST: usize = 200_000;
/// The samples of a turn.
const SAMPLES: u64 = 10;
/// The most joint moves of a match, unless an option says otherwise.
const LONGEST: usize = 200;

/// The columns.
const SAMPLED: &str = "game, turns, most positions, in a sample, total variation (one, ten), worth, ms median and most, lost";
const PROOFS: &str =
    "game, turns, in the sample, facts certain, with a history that differs, open, s";

/// A role's moves with its percepts after each.
type Past = Vec<(Move, Vec<TermId>)>;

fn main() {
    let (mut games, mut matches, mut members, mut proofs) = (Vec::new(), 5, 200, None);
    let mut turns = LONGEST;
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("an option has a value");
        match &word[..] {
            "--matches" => matches = value().parse().expect("COUNT is a number"),
            "--turns" => turns = value().parse().expect("TURNS is a number"),
            "--proofs" => proofs = Some(value().parse().expect("TURNS is a number")),
            "--members" => members = value().parse().expect("COUNT is a number"),
            _ => games.push(word),
        }
    }
    if games.is_empty() {
        games = GAMES.iter().map(|name| (*name).to_owned()).collect();
    }
    println!("{}", if proofs.is_some() { PROOFS } else { SAMPLED });
    for game in &games {
        let text = match &game[..] {
            "battleship_8" => battleship(8, 4),
            "battleship_10" => battleship(10, 5),
            file if file.ends_with(".kif") => read(file),
            name => read(&format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"))),
        };
        let rules = Game::from_text(game, &text).expect("the rules have no error");
        match proofs {
            Some(turns) => prove(&rules, matches, members, turns),
            None => measure(&rules, matches, members, turns),
        }
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).expect("the rules can be read")
}

/// Prints one row.
fn measure(game: &Game, matches: u64, members: usize, most: usize) {
    let mut world = World::new(game, Backend::Auto, Limits::default()).expect("a world");
    let mut machine = AnyMachine::new(game, Backend::Auto, Limits::default()).expect("a machine");
    let role = game
        .roles()
        .find(|role| !game.is_random(*role))
        .expect("a role");
    let all = BeliefLimits {
        members: MOST,
        joint_moves: 20 * MOST,
        time: None,
    };
    let few = BeliefLimits {
        members,
        joint_moves: 50 * members,
        time: None,
    };
    let (mut turns, mut largest, mut lost, mut kept, mut samples) = (0, 0, 0, 0, 0);
    let mut apart = Vec::new();
    let mut times: Vec<Duration> = Vec::new();
    let mut worth = (0.0, 0.0);
    for seed in 0..matches {
        let mut past = played(&mut machine, role, seed);
        past.truncate(most);
        turns += past.len();
        let mut exact = Some(nothing(&mut world, role));
        for turn in 1..=past.len() {
            let is_last = turn == past.len();
            if let Some(belief) = &mut exact {
                let made = update(&mut world, belief, &past[turn - 1], all, seed);
                made.expect("the match itself fits");
                largest = largest.max(belief.members().len());
                if !belief.is_exact() {
                    exact = None;
                }
            }
            // Long matches are compared at every fourth turn.
            if !is_last && (exact.is_none() || turn % past.len().div_ceil(8) != 0) {
                continue;
            }
            let expected = exact.as_ref().map(|belief| shares(&world, belief));
            let mut sums: FxHashMap<Vec<TermId>, f64> = FxHashMap::default();
            let (mut one, mut found) = (0.0, 0.0);
            let mut each = Vec::new();
            for sample in 0..SAMPLES {
                let begun = Instant::now();
                let mut belief = nothing(&mut world, role);
                let mut steps = past[..turn].iter();
                let made = steps.try_for_each(|step| {
                    update(&mut world, &mut belief, step, few, SAMPLES * seed + sample)
                });
                if is_last {
                    times.push(begun.elapsed());
                }
                if made.is_err() {
                    lost += 1;
                    continue;
                }
                let sampled = shares(&world, &belief);
                kept += sampled.len();
                samples += 1;
                if let Some(expected) = &expected {
                    one += distance(expected, &sampled);
                }
                found += 1.0;
                for (state, share) in &sampled {
                    *sums.entry(state.clone()).or_default() += share;
                }
                each.push(sampled.into_iter().collect());
            }
            if let Some(expected) = expected.filter(|_| found > 0.0) {
                sums.values_mut().for_each(|share| *share /= found);
                apart.push((one / found, distance(&expected, &sums)));
            }
            if is_last && each.len() > 1 {
                let [one, from_sample_to_sample] = variances(&each);
                worth = (worth.0 + one, worth.1 + from_sample_to_sample);
            }
        }
    }
    times.sort_unstable();
    let mean = |of: fn(&(f64, f64)) -> f64| apart.iter().map(of).sum::<f64>() / apart.len() as f64;
    let largest = if largest < MOST {
        largest.to_string()
    } else {
        format!(">{MOST}")
    };
    println!(
        "{}, {:.0}, {largest}, {:.0}, {:.3}, {:.3}, {:.0}, {:.1}, {:.1}, {lost}",
        game.name(),
        turns as f64 / matches as f64,
        kept as f64 / f64::from(samples),
        mean(|pair| pair.0),
        mean(|pair| pair.1),
        worth.0 / worth.1,
        1e3 * times[times.len() / 2].as_secs_f64(),
        1e3 * times[times.len() - 1].as_secs_f64(),
    );
}

/// Prints a row for each match: what is proved about the facts that are the same in a sample.
fn prove(game: &Game, matches: u64, members: usize, turns: usize) {
    let mut world = World::new(game, Backend::Propnet, Limits::default()).expect("a world");
    let mut machine = AnyMachine::new(game, Backend::Auto, Limits::default()).expect("a machine");
    let mut roles = game.roles().filter(|role| !game.is_random(*role));
    let role = roles.next().expect("a role");
    let limits = BeliefLimits {
        members,
        joint_moves: 50 * members,
        time: None,
    };
    for seed in 0..matches {
        let past = played(&mut machine, role, seed);
        let mut belief = nothing(&mut world, role);
        for step in past.iter().take(turns) {
            update(&mut world, &mut belief, step, limits, seed).expect("the match itself fits");
        }
        let state = belief.members()[0].state.clone();
        let is_over = world.status(&[state]).expect("no fault")[0].terminal;
        let positions = belief.with_end(&mut world, is_over).expect("no fault");
        let mut counts: FxHashMap<TermId, usize> = FxHashMap::default();
        for position in &positions {
            for fact in world.facts(&position.state) {
                *counts.entry(fact).or_default() += 1;
            }
        }
        let all = positions.len();
        let is_same = |claim: &Claim| match claim {
            Claim::Fact(fact) => [None, Some(&all)].contains(&counts.get(fact)),
            _ => false,
        };
        let asked = claims(&mut world).into_iter().filter(is_same);
        let asked: Vec<Vec<Claim>> = asked.map(|claim| vec![claim]).collect();
        let begun = Instant::now();
        let stop = Stop::default().within(Some(Duration::from_secs(60)));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let found = certain(&mut world, &belief, is_over, &asked, &stop, &mut random);
        let (mut proved, mut differ, mut open) = (0, 0, 0);
        for (verdict, claim) in found.expect("no fault").iter().zip(&asked) {
            let Claim::Fact(fact) = claim[0] else {
                continue;
            };
            match verdict {
                Verdict::Certain(holds) => {
                    assert_eq!(*holds, counts.contains_key(&fact), "the sample fits");
                    proved += 1;
                }
                Verdict::Differs(_) => differ += 1,
                Verdict::Open => open += 1,
            }
        }
        println!(
            "{}, {}, {all}, {proved}, {differ}, {open}, {:.1}",
            game.name(),
            belief.turns(),
            begun.elapsed().as_secs_f64()
        );
    }
}

/// The belief before the first turn.
fn nothing(world: &mut World, role: RoleId) -> Belief {
    let start = world.start(None).expect("there is a first state");
    Belief::new(world, &mut Memories::default(), role, &start, false)
}

fn update(
    world: &mut World,
    belief: &mut Belief,
    (made, told): &(Move, Vec<TermId>),
    limits: BeliefLimits,
    seed: u64,
) -> Result<(), BeliefError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1_000 * seed + belief.turns() as u64);
    belief.update(
        world,
        &mut Memories::default(),
        (*made, told),
        limits,
        &mut random,
    )
}

/// The turns of a role in a random match.
fn played(machine: &mut AnyMachine, role: RoleId, seed: u64) -> Past {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut past = Past::new();
    let mut state = machine.initial().expect("there is a first state");
    let mut legal = Vec::new();
    while past.len() < LONGEST && !machine.is_terminal(&state).expect("no fault") {
        let mut joint = Vec::new();
        for role in machine.game().clone().roles() {
            machine.legal(&state, role, &mut legal).expect("no fault");
            joint.push(legal[random.random_range(0..legal.len())]);
        }
        let mut told = Vec::new();
        machine
            .percepts(&state, &joint, role, &mut told)
            .expect("no fault");
        past.push((joint[role.index()], told));
        state = machine.next(&state, &joint).expect("no fault");
    }
    past
}

/// The share of each state in a belief.
fn shares(world: &World, belief: &Belief) -> FxHashMap<Vec<TermId>, f64> {
    let total: f64 = belief.members().iter().map(|member| member.weight).sum();
    let mut shares = FxHashMap::default();
    for member in belief.members() {
        *shares.entry(world.facts(&member.state)).or_default() += member.weight / total;
    }
    shares
}

/// The total variation between two distributions.
fn distance(one: &FxHashMap<Vec<TermId>, f64>, other: &FxHashMap<Vec<TermId>, f64>) -> f64 {
    let at = |shares: &FxHashMap<_, f64>, state| shares.get(state).copied().unwrap_or(0.0);
    let both = one
        .iter()
        .map(|(state, share)| (share - at(other, state)).abs());
    let alone = other.iter().filter(|(state, _)| !one.contains_key(*state));
    (both.sum::<f64>() + alone.map(|(_, share)| share).sum::<f64>()) / 2.0
}
