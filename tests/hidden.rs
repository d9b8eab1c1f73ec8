//! Games with hidden information: percepts, beliefs, and players that act on nothing else.

use std::collections::{HashMap, HashSet};

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine, PropnetState, canonical_moves};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{Belief, BeliefError, BeliefLimits, Member, Memories, World, best_plan, is_open};
use ggp_play::{AgentSpec, Brief, Observation, Pace};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::common::{names::scrambled, own_games, seed, sized};

/// The bundled games with hidden information.
pub(crate) fn hidden_games() -> Vec<(String, Game)> {
    let mut games = own_games();
    games.retain(|(_, game)| game.is_hidden());
    for (name, _) in &mut games {
        *name = name.trim_end_matches(".kif").to_owned();
    }
    assert!(games.len() >= 9, "the bundled games are there");
    games
}

/// A bundled game.
fn bundled(name: &str) -> Game {
    let mut games = hidden_games().into_iter();
    games
        .find(|(other, _)| other == name)
        .expect("it is bundled")
        .1
}

pub(crate) fn machine(game: &Game, backend: Backend) -> AnyMachine {
    AnyMachine::new(game, backend, Limits::default()).expect("the rules have a machine")
}

pub(crate) fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed())
}

/// A joint move drawn uniformly.
fn drawn(
    machine: &mut AnyMachine,
    state: &PropnetState,
    random: &mut Xoshiro256PlusPlus,
) -> Vec<Move> {
    let mut legal = Vec::new();
    let roles = machine.game().roles();
    roles
        .map(|role| {
            machine
                .legal(state, role, &mut legal)
                .expect("the rules have no fault");
            legal[random.random_range(0..legal.len())]
        })
        .collect()
}

/// The percepts of a role of a joint move.
pub(crate) fn told(
    machine: &mut AnyMachine,
    state: &PropnetState,
    joint: &[Move],
    role: RoleId,
) -> Vec<TermId> {
    let mut told = Vec::new();
    machine
        .percepts(state, joint, role, &mut told)
        .expect("the rules have no fault");
    told
}

#[test]
fn percepts_agree_in_all_backends_and_in_lanes() {
    percepts_agree(hidden_games());
}

/// See the test above; the public games are in `corpus.rs`.
pub(crate) fn percepts_agree(games: Vec<(String, Game)>) {
    let mut random = random();
    for (name, game) in games {
        let mut naive = machine(&game, Backend::Naive);
        let mut datalog = machine(&game, Backend::Datalog);
        let mut network = machine(&game, Backend::Propnet);
        let mut world = World::new(&game, Backend::Propnet, Limits::default()).unwrap();
        assert!(world.has_network(), "{name}");
        let (mut state, mut of_naive) = (datalog.initial().unwrap(), naive.initial().unwrap());
        let (mut of_network, mut of_world) =
            (network.initial().unwrap(), world.start(None).unwrap());
        for turn in 0..sized(8, 60) {
            if datalog.is_terminal(&state).unwrap() {
                break;
            }
            let joint = drawn(&mut datalog, &state, &mut random);
            let next = world.steps(&[(&of_world, &joint)]).unwrap().remove(0);
            for role in game.roles() {
                let mut expected = told(&mut naive, &of_naive, &joint, role);
                let at = format!("{name}, turn {turn}, {}", game.role_name(role));
                assert_eq!(told(&mut datalog, &state, &joint, role), expected, "{at}");
                assert_eq!(
                    told(&mut network, &of_network, &joint, role),
                    expected,
                    "{at}"
                );
                expected.sort_unstable();
                assert_eq!(world.told(&next, role), expected, "{at}");
                assert!(world.was_told(&next, role, &expected), "{at}");
            }
            state = datalog.next(&state, &joint).unwrap();
            of_naive = naive.next(&of_naive, &joint).unwrap();
            of_network = network.next(&of_network, &joint).unwrap();
            of_world = next;
            assert_eq!(world.facts(&of_world), datalog.facts(&state), "{name}");
        }
    }
}

#[test]
fn percepts_and_beliefs_do_not_depend_on_names() {
    names_do_not_matter(hidden_games());
}

/// See the test above; the public games are in `corpus.rs`.
pub(crate) fn names_do_not_matter(games: Vec<(String, Game)>) {
    let mut random = random();
    for (name, game) in games {
        let text = game.sources().files()[0].text().to_owned();
        let other =
            Game::from_text(&name, &scrambled(&text)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut machines = [
            machine(&game, Backend::Auto),
            machine(&other, Backend::Auto),
        ];
        let mut states = [
            machines[0].initial().unwrap(),
            machines[1].initial().unwrap(),
        ];
        let mut worlds =
            [&game, &other].map(|game| World::new(game, Backend::Auto, Limits::default()).unwrap());
        let role = game.roles().find(|role| !game.is_random(*role)).unwrap();
        let mut memories = [Memories::default(), Memories::default()];
        let mut beliefs: Vec<Belief> = Vec::new();
        for (world, memories) in worlds.iter_mut().zip(&mut memories) {
            let start = world.start(None).unwrap();
            beliefs.push(Belief::new(world, memories, role, &start, false));
        }
        for _ in 0..4 {
            if machines[0].is_terminal(&states[0]).unwrap() {
                break;
            }
            let picks: Vec<u32> = game.roles().map(|_| random.random()).collect();
            let mut counts = Vec::new();
            for (at, machine) in machines.iter_mut().enumerate() {
                let roles = machine.game().roles();
                let joint: Vec<Move> = roles
                    .zip(&picks)
                    .map(|(role, pick)| {
                        let mut legal = Vec::new();
                        machine.legal(&states[at], role, &mut legal).unwrap();
                        legal[*pick as usize % legal.len()]
                    })
                    .collect();
                let percepts = told(machine, &states[at], &joint, role);
                states[at] = machine.next(&states[at], &joint).unwrap();
                let turn = (joint[role.index()], &percepts[..]);
                let limits = BeliefLimits::default();
                let (world, memories) = (&mut worlds[at], &mut memories[at]);
                let mut same = Xoshiro256PlusPlus::seed_from_u64(1);
                beliefs[at]
                    .update(world, memories, turn, limits, &mut same)
                    .unwrap();
                let histories = beliefs[at].members().iter().map(|member| member.histories);
                counts.push((
                    percepts.len(),
                    beliefs[at].members().len(),
                    histories.sum::<u128>(),
                ));
            }
            assert_eq!(counts[0], counts[1], "{name}");
        }
    }
}

/// All histories of a number of joint moves, listed one by one, that fit what a role knows of one of
/// them: by state, their number and their probability under uniform choices.
fn listed(
    machine: &mut AnyMachine,
    role: RoleId,
    past: &[(Move, Vec<TermId>)],
) -> HashMap<Vec<TermId>, (u128, f64)> {
    let mut level = vec![(machine.initial().unwrap(), 1.0)];
    for (made, percepts) in past {
        let mut next = Vec::new();
        for (state, chance) in level {
            if machine.is_terminal(&state).unwrap() {
                continue;
            }
            let mut joints: Vec<(Vec<Move>, f64)> = vec![(Vec::new(), chance)];
            for each in machine.game().roles() {
                let mut legal = Vec::new();
                machine.legal(&state, each, &mut legal).unwrap();
                if each == role {
                    legal.retain(|own| own == made);
                }
                // The role's own choice is made, not drawn.
                let share = if each == role {
                    1.0
                } else {
                    1.0 / legal.len() as f64
                };
                joints = joints
                    .iter()
                    .flat_map(|(joint, chance)| {
                        legal
                            .iter()
                            .map(move |next| ([&joint[..], &[*next]].concat(), chance * share))
                    })
                    .collect();
            }
            for (joint, chance) in joints {
                if told(machine, &state, &joint, role) == *percepts {
                    next.push((machine.next(&state, &joint).unwrap(), chance));
                }
            }
        }
        level = next;
    }
    let mut found: HashMap<Vec<TermId>, (u128, f64)> = HashMap::new();
    for (state, chance) in level {
        let entry = found.entry(machine.facts(&state)).or_default();
        entry.0 += 1;
        entry.1 += chance;
    }
    found
}

/// A role's moves with its percepts after each.
pub(crate) type Past = Vec<(Move, Vec<TermId>)>;

/// The moves and percepts of a role in a random match, as the machine orders them.
pub(crate) fn past(
    machine: &mut AnyMachine,
    role: RoleId,
    turns: usize,
    random: &mut Xoshiro256PlusPlus,
) -> Past {
    let mut state = machine.initial().unwrap();
    let mut past = Vec::new();
    while past.len() < turns && !machine.is_terminal(&state).unwrap() {
        let joint = drawn(machine, &state, random);
        past.push((joint[role.index()], told(machine, &state, &joint, role)));
        state = machine.next(&state, &joint).unwrap();
    }
    past
}

/// The belief of a role after a past.
pub(crate) fn belief(
    world: &mut World,
    role: RoleId,
    past: &[(Move, Vec<TermId>)],
    limits: BeliefLimits,
    is_apart: bool,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Belief, BeliefError> {
    let mut memories = Memories::default();
    let start = world.start(None).unwrap();
    let mut belief = Belief::new(world, &mut memories, role, &start, is_apart);
    for (made, percepts) in past {
        belief.update(world, &mut memories, (*made, percepts), limits, random)?;
    }
    Ok(belief)
}

/// The shares of states in a belief.
pub(crate) fn shares(world: &World, members: &[Member]) -> HashMap<Vec<TermId>, f64> {
    let total: f64 = members.iter().map(|member| member.weight).sum();
    let mut shares: HashMap<Vec<TermId>, f64> = HashMap::new();
    for member in members {
        *shares.entry(world.facts(&member.state)).or_default() += member.weight / total;
    }
    shares
}

/// The games of [`SMALL`].
fn small_games() -> Vec<(String, Game)> {
    let mut games = hidden_games();
    games.retain(|(name, _)| SMALL.contains(&&name[..]));
    assert_eq!(games.len(), SMALL.len());
    games
}

pub(crate) const SMALL: [&str; 6] = [
    "kuhn_poker",
    "liars_dice",
    "leduc_poker",
    "monty_hall",
    "paid_look",
    "blind_tic_tac_toe",
];

#[test]
fn beliefs_have_the_histories_that_a_listing_finds() {
    let mut random = random();
    for (name, game) in small_games() {
        let mut machine = machine(&game, Backend::Datalog);
        let mut world = World::new(&game, Backend::Auto, Limits::default()).unwrap();
        for role in game.roles().filter(|role| !game.is_random(*role)) {
            let turns = if name == "blind_tic_tac_toe" { 2 } else { 3 };
            let past = past(&mut machine, role, turns, &mut random);
            let expected = listed(&mut machine, role, &past);
            let limits = BeliefLimits::default();
            let found = belief(&mut world, role, &past, limits, false, &mut random).unwrap();
            assert!(found.is_exact(), "{name}");
            assert_eq!(found.members().len(), expected.len(), "{name}");
            let total: f64 = expected.values().map(|(_, chance)| chance).sum();
            let shares = shares(&world, found.members());
            for member in found.members() {
                let facts = world.facts(&member.state);
                assert_eq!(member.histories, expected[&facts].0, "{name}");
                assert!(
                    (shares[&facts] - expected[&facts].1 / total).abs() < 1e-9,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn samples_come_near_to_all_that_fits() {
    let mut random = random();
    for (name, game) in small_games() {
        let mut machine = machine(&game, Backend::Datalog);
        let mut world = World::new(&game, Backend::Auto, Limits::default()).unwrap();
        let role = game.roles().find(|role| !game.is_random(*role)).unwrap();
        let past = past(&mut machine, role, 4, &mut random);
        let all = BeliefLimits::default();
        let exact = belief(&mut world, role, &past, all, false, &mut random).unwrap();
        let exact = shares(&world, exact.members());
        // Far too few for all that fits; many samples together must still come near.
        let few = BeliefLimits {
            members: 20,
            joint_moves: 60,
            time: None,
        };
        let mut sums: HashMap<Vec<TermId>, f64> = HashMap::new();
        let samples = sized(400, 4_000);
        for _ in 0..samples {
            let sample = belief(&mut world, role, &past, few, false, &mut random).unwrap();
            for (state, share) in shares(&world, sample.members()) {
                *sums.entry(state).or_default() += share / samples as f64;
            }
        }
        let states: HashSet<_> = exact.keys().chain(sums.keys()).collect();
        let at = |shares: &HashMap<_, f64>, state| shares.get(state).copied().unwrap_or(0.0);
        let apart = states
            .into_iter()
            .map(|state| (at(&exact, state) - at(&sums, state)).abs());
        let distance = apart.sum::<f64>() / 2.0;
        assert!(distance < 0.1, "{name}: total variation {distance}");
    }
}

#[test]
fn what_cannot_be_told_is_impossible() {
    let game = bundled("kuhn_poker");
    let mut world = World::new(&game, Backend::Auto, Limits::default()).unwrap();
    let mut machine = machine(&game, Backend::Datalog);
    let role = game.roles().next().unwrap();
    let mut past = past(&mut machine, role, 1, &mut random());
    past[0].1.clear();
    let limits = BeliefLimits::default();
    let error = belief(&mut world, role, &past, limits, false, &mut random()).unwrap_err();
    assert!(
        matches!(error, BeliefError::Impossible { turn: 1 }),
        "{error}"
    );
}

#[test]
fn plans_reach_the_known_values() {
    for (name, value, looked) in [
        ("monty_hall", 200.0 / 3.0, 7),
        ("paid_look", 2517.0 / 32.0, 0),
    ] {
        let game = bundled(name);
        let mut world = World::new(&game, Backend::Auto, Limits::default()).unwrap();
        let role = game.roles().find(|role| !game.is_random(*role)).unwrap();
        let start = world.start(None).unwrap();
        let plan = best_plan(&mut world, role, &start, 100_000).unwrap();
        assert!((plan.value - value).abs() < 1e-9, "{name}: {}", plan.value);
        assert!(
            looked == 0 || plan.choices == looked,
            "{name}: {}",
            plan.choices
        );
    }
}

/// The move that an agent chooses, as text. The rules are read anew, so that nothing of another match
/// is left.
fn choice(text: &str, spec: &str, role: usize, joints: &[Vec<String>]) -> String {
    let game = Game::from_text("rules", text).unwrap();
    let mut machine = machine(&game, Backend::Datalog);
    let role = game.roles().nth(role).unwrap();
    let (mut own, mut percepts) = (Vec::new(), Vec::new());
    let mut state = machine.initial().unwrap();
    for joint in joints {
        let joint: Vec<Move> = joint
            .iter()
            .map(|made| machine.read_move(made).unwrap())
            .collect();
        own.push(joint[role.index()]);
        percepts.push(told(&mut machine, &state, &joint, role));
        state = machine.next(&state, &joint).unwrap();
    }
    let spec: AgentSpec = spec.parse().unwrap();
    let mut agent = spec.agent(Brief::new(&game, role)).unwrap();
    let pace = Pace::new(None, spec.limits(None).1);
    agent.begin(&pace).unwrap();
    let advice = agent
        .choose(&Observation::of_percepts(own, percepts), &pace)
        .unwrap();
    machine.text(advice.chosen)
}

/// Games that begin with a secret draw: to a role, matches that differ in the draw of another look alike.
pub(crate) const SECRETS: [&str; 3] = ["leduc_poker", "liars_dice", "kuhn_poker"];

/// Checks that something was compared in each of some games.
pub(crate) fn check_compared(compared: &[String], expected: &[&str]) {
    for name in expected {
        let is_compared = compared.iter().any(|game| game == name);
        assert!(is_compared, "{name} is not among {compared:?}");
    }
}

/// Two matches that look alike to a role, which then has a choice.
pub(crate) type Alike = (usize, [Vec<Vec<String>>; 2]);

/// Pairs of matches that look alike to a role.
pub(crate) fn alike(game: &Game, most: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Alike> {
    let mut machine = machine(game, Backend::Datalog);
    let mut met: HashMap<(usize, Past), Vec<Vec<String>>> = HashMap::new();
    let mut pairs = Vec::new();
    for _ in 0..most * 20 {
        let mut state = machine.initial().unwrap();
        let mut pasts: Vec<Past> = vec![Vec::new(); game.role_count()];
        let mut joints: Vec<Vec<String>> = Vec::new();
        while joints.len() < 5 && !machine.is_terminal(&state).unwrap() {
            let joint = drawn(&mut machine, &state, random);
            for role in game.roles() {
                let percepts = told(&mut machine, &state, &joint, role);
                pasts[role.index()].push((joint[role.index()], percepts));
            }
            joints.push(canonical_moves_of(&machine, &joint));
            state = machine.next(&state, &joint).unwrap();
            if machine.is_terminal(&state).unwrap() {
                break;
            }
            for role in game.roles().filter(|role| !game.is_random(*role)) {
                let mut legal = Vec::new();
                machine.legal(&state, role, &mut legal).unwrap();
                if legal.len() < 2 {
                    continue;
                }
                let key = (role.index(), pasts[role.index()].clone());
                let other = met.entry(key).or_insert_with(|| joints.clone());
                if *other != joints {
                    pairs.push((role.index(), [other.clone(), joints.clone()]));
                }
            }
        }
        if pairs.len() >= most {
            break;
        }
    }
    pairs.truncate(most);
    pairs
}

fn canonical_moves_of(machine: &AnyMachine, joint: &[Move]) -> Vec<String> {
    let texts = joint
        .iter()
        .map(|made| canonical_moves(machine, &[*made]).remove(0));
    texts.collect()
}

#[test]
fn a_player_never_acts_on_what_it_cannot_know() {
    check_compared(&players_act_on_knowledge(hidden_games()), &SECRETS);
}

/// See the test above; the public games are in `corpus.rs`.
pub(crate) fn players_act_on_knowledge(games: Vec<(String, Game)>) -> Vec<String> {
    let mut random = random();
    let mut compared = Vec::new();
    for (name, game) in games {
        let text = game.sources().files()[0].text();
        for (role, [left, right]) in alike(&game, sized(3, 120), &mut random) {
            for spec in ["ismcts:100", "mcts:32", "random"] {
                let [a, b] = [&left, &right].map(|joints| choice(text, spec, role, joints));
                assert_eq!(a, b, "{name}, {spec}: {left:?} and {right:?}");
            }
            compared.push(name.clone());
        }
    }
    compared
}

#[test]
fn a_search_over_knowledge_pays_to_look_and_guesses_do_not() {
    let game = bundled("paid_look");
    let text = game.sources().files()[0].text();
    let role = game.roles().position(|role| !game.is_random(role)).unwrap();
    // Chance has hidden the prize, and the seeker has passed twice: this is the last look.
    let mut machine = machine(&game, Backend::Datalog);
    let mut state = machine.initial().unwrap();
    let mut joints = Vec::new();
    for _ in 0..3 {
        let mut joint = drawn(&mut machine, &state, &mut random());
        let mut legal = Vec::new();
        machine
            .legal(&state, game.roles().nth(role).unwrap(), &mut legal)
            .unwrap();
        let pass = legal.iter().find(|made| machine.text(**made) == "pass");
        joint[role] = *pass.unwrap_or(&legal[0]);
        joints.push(canonical_moves_of(&machine, &joint));
        state = machine.next(&state, &joint).unwrap();
    }
    assert_eq!(choice(text, "ismcts:20000", role, &joints), "look");
    assert_ne!(choice(text, "mcts:20000", role, &joints), "look");
}

#[test]
fn players_answer_to_the_end_of_every_match() {
    players_answer(hidden_games());
}

/// See the test above; the public games are in `corpus.rs`.
pub(crate) fn players_answer(games: Vec<(String, Game)>) {
    let mut random = random();
    for (name, game) in games {
        for spec in ["ismcts:64", "mcts:16", "random"] {
            let spec: AgentSpec = spec.parse().unwrap();
            let role = game.roles().find(|role| !game.is_random(*role)).unwrap();
            let mut machine = machine(&game, Backend::Datalog);
            let mut agent = spec.agent(Brief::new(&game, role)).unwrap();
            let pace = Pace::new(None, spec.limits(None).1);
            agent.begin(&pace).unwrap();
            let (mut own, mut percepts) = (Vec::new(), Vec::new());
            let mut state = machine.initial().unwrap();
            while own.len() < sized(12, 60) && !machine.is_terminal(&state).unwrap() {
                let mut joint = drawn(&mut machine, &state, &mut random);
                let mut legal = Vec::new();
                machine.legal(&state, role, &mut legal).unwrap();
                if legal.len() > 1 {
                    let observation = Observation::of_percepts(own.clone(), percepts.clone());
                    let pace = Pace::new(None, spec.limits(None).1);
                    let advice = agent.choose(&observation, &pace);
                    let advice = advice.unwrap_or_else(|e| panic!("{name}, {spec}: {e}"));
                    assert!(legal.contains(&advice.chosen), "{name}, {spec}");
                    joint[role.index()] = advice.chosen;
                }
                own.push(joint[role.index()]);
                percepts.push(told(&mut machine, &state, &joint, role));
                state = machine.next(&state, &joint).unwrap();
            }
        }
    }
}

#[test]
fn a_game_is_open_if_percepts_tell_each_position() {
    for (name, expected) in [
        ("dice_race", Some(true)),
        ("matching_pennies", Some(true)),
        ("kuhn_poker", Some(false)),
        ("krieg_tic_tac_toe", Some(false)),
        ("liars_dice", Some(false)),
    ] {
        for backend in [Backend::Propnet, Backend::Datalog] {
            let game = bundled(name);
            let mut world = World::new(&game, backend, Limits::default()).unwrap();
            let start = world.start(None).unwrap();
            let found = is_open(&mut world, &start, 5_000).unwrap();
            // Dice Race has more positions than that.
            let is_large = name == "dice_race";
            assert_eq!(found, expected.filter(|_| !is_large), "{name}");
        }
    }
    let game = bundled("dice_race");
    let mut world = World::new(&game, Backend::Propnet, Limits::default()).unwrap();
    let start = world.start(None).unwrap();
    let found = is_open(&mut world, &start, sized(5_000, 2_000_000)).unwrap();
    assert_eq!(found, Some(true).filter(|_| sized(0, 1) == 1));
}
