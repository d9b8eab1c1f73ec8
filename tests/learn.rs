//! Values learned by self-play: equal for equal seeds and for other names, better than
//! random playouts, and the same whether positions are evaluated together or alone.

use std::path::Path;
use std::sync::Arc;

use crate::cli::workplace::Workplace;
use ggp_engine::propnet::batch::{Batch, Packed};
use ggp_engine::propnet::code::Engine;
use ggp_engine::propnet::{GroundLimits, Propnet};
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::{Scramble, scrambled_in_place};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::{self, SyntaxLimits};
use ggp_learn::{
    Account, Chooser, FileError, Library, Options, Trust, Values, facts_text, learn, read, trial,
    trust, write,
};
use ggp_play::{Advice, AgentSpec, Brief, Observation, Pace};
use ggp_stop::Stop;

fn text(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("games")
        .join(name);
    std::fs::read_to_string(file).expect("it can be read")
}

fn network(text: &str) -> Propnet {
    let game = Game::from_text("game.kif", text).expect("the rules are valid");
    let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
    net.simplify();
    net
}

/// The values learned from a number of games.
fn learned(net: &Propnet, games: u64) -> Values {
    let options = Options {
        games: Some(games),
        ..Options::default()
    };
    learn(net, &options, &Stop::new(), |_| ()).values
}

/// Positions of games in which the roles make arbitrary moves.
fn positions(net: &Propnet) -> Vec<Packed> {
    const LANES: usize = 64;
    let mut batch = Batch::new(net, LANES, Engine::Auto);
    let mut found = Vec::new();
    for ply in 0..12 {
        let mut joints = Vec::new();
        for lane in 0..LANES {
            for role in 0..batch.roles() {
                let legal: Vec<usize> = batch.legal_moves(lane, role).collect();
                let place = (lane * 7 + ply * 3) % legal.len().max(1);
                joints.push(legal.get(place).copied().unwrap_or(0));
            }
        }
        batch.step(&joints);
        found.append(&mut batch.states(LANES));
    }
    found
}

#[test]
fn the_same_is_learned_under_other_names() {
    let rules = text("breakthrough_small.kif");
    let sources = Sources::from(Source::new("game.kif", rules.as_str()));
    let (forms, _) = syntax::read(&sources, SyntaxLimits::default());
    let options = Scramble {
        seed: 5,
        order: false,
        comments: false,
        case: Case::Fold,
    };
    let (scrambled, _) = scrambled_in_place(&forms, &sources, options);
    assert_ne!(scrambled[0], rules);
    let (net, other) = (network(&rules), network(&scrambled[0]));
    let values = learned(&net, 1_500);
    assert!(
        values
            .features()
            .groups()
            .iter()
            .any(|group| group.len() == 3)
    );
    let file = write(&net, &values, Trust::default());
    assert_eq!(file, write(&net, &learned(&net, 1_500), Trust::default()));
    assert_eq!(
        file,
        write(&other, &learned(&other, 1_500), Trust::default())
    );
    let (back, _) = read(&other, &file).expect("the rules are the same");
    assert_eq!(back, values);
    for (state, same) in positions(&net).iter().zip(&positions(&other)) {
        let account = values.features_at_work(state);
        assert_eq!(back.features_at_work(same), account);
        let largest = &account.shares[0].facts;
        let (shown, other) = (
            facts_text(&net, largest, 200),
            facts_text(&other, largest, 200),
        );
        assert_ne!(shown, other);
        assert_eq!(shown.matches(" and ").count() + 1, largest.len());
        assert_eq!(facts_text(&net, largest, 5).chars().count(), 5);
    }
}

#[test]
fn values_beat_random_playouts_and_are_trusted() {
    let net = network(&text("breakthrough_small.kif"));
    let values = learned(&net, 4_000);
    let choosers = [Chooser::Values(&values), Chooser::Flat(8)];
    let found = trial(&net, Engine::Auto, choosers, 50, 1, &Stop::new()).expect("it ends");
    assert!(found.matches == 100 && found.mean > 0.8, "{found:?}");
    let trusted = trust(&net, Engine::Auto, &values, 1, &Stop::new());
    assert!(trusted.share() > 0.0);
    // Values that know nothing are not trusted.
    let nothing = learn(&net, &Options::default(), &Stop::raised(), |_| ()).values;
    let trusted = trust(&net, Engine::Auto, &nothing, 1, &Stop::new());
    assert_eq!(trusted.share(), 0.0);
}

#[test]
fn positions_have_the_same_values_together_and_alone() {
    // Of two roles, of three, and with moves at the same time.
    for name in ["connect_four.kif", "three_player_race.kif", "goofspiel.kif"] {
        let net = network(&text(name));
        let values = learned(&net, 700);
        let states = positions(&net);
        let mut together = vec![0.0; states.len() * values.roles()];
        let mut alone = vec![0.0; values.roles()];
        values.evaluate(&states, &mut together);
        for (state, together) in states.iter().zip(together.chunks(values.roles())) {
            values.evaluate(std::slice::from_ref(state), &mut alone);
            assert_eq!(alone, together, "{name}");
            assert!(alone.iter().all(|value| (0.0..=100.0).contains(value)));
        }
    }
}

/// The value of a sum of shares, from 0 to 100.
fn value_of(sum: f32) -> f32 {
    100.0 / (1.0 + (-sum).exp())
}

#[test]
fn shares_add_up_to_the_value_and_to_its_change() {
    for name in ["connect_four.kif", "three_player_race.kif", "goofspiel.kif"] {
        let net = network(&text(name));
        let values = learned(&net, 700);
        let states = positions(&net);
        let mut grouped = 0;
        for (state, other) in states.iter().zip(states.iter().skip(64)) {
            let sum = |account: &Account, role: usize| -> f32 {
                let shares = account.shares.iter().map(|share| share.weights[role]);
                account.base[role] + shares.sum::<f32>()
            };
            let whole = values.features_at_work(state);
            grouped += usize::from(whole.shares.iter().any(|share| share.facts.len() > 1));
            let changes = values.changes(state, other);
            for role in 0..values.roles() {
                let value = whole.values[role];
                for account in [&whole, &values.facts_at_work(state)] {
                    let found = value_of(sum(account, role));
                    assert!((found - value).abs() < 0.01, "{name}: {found}, {value}");
                }
                let changed = changes.facts.iter().map(|change| change.weights[role]);
                let after = sum(&whole, role) + changes.turn[role] + changed.sum::<f32>();
                let (before, expected) = changes.values[role];
                assert_eq!(before, value);
                let found = value_of(after);
                assert!(
                    (found - expected).abs() < 0.01,
                    "{name}: {found}, {expected}"
                );
            }
            for change in &changes.facts {
                let (bit, word) = (change.fact % 64, change.fact / 64);
                let holds = |state: &Packed| state[word] >> bit & 1 == 1;
                assert_eq!((holds(state), holds(other)), (!change.holds, change.holds));
            }
        }
        assert!(grouped > 0, "{name} has no groups at work");
    }
}

#[test]
fn every_kind_of_game_can_be_learned() {
    for name in [
        "prisoners_dilemma.kif",
        "light_cycles.kif",
        "lights_out.kif",
        "chomp.kif",
    ] {
        let net = network(&text(name));
        let values = learned(&net, 300);
        assert_eq!(values.roles(), net.game().role_count());
        let file = write(&net, &values, Trust::default());
        assert_eq!(read(&net, &file).expect("it fits").0, values, "{name}");
    }
}

#[test]
fn files_that_do_not_fit_are_rejected() {
    let net = network(&text("tic_tac_toe.kif"));
    let values = learned(&net, 300);
    let file = write(&net, &values, Trust::default());
    let other = network(&text("nim.kif"));
    let error = |net: &Propnet, text: &str| read(net, text).expect_err("it does not fit");
    assert!(matches!(error(&other, &file), FileError::OtherRules { .. }));
    let newer = file.replacen("\"version\":2", "\"version\":3", 1);
    assert_eq!(error(&net, &newer), FileError::Version(3));
    assert!(matches!(error(&net, "{}"), FileError::Malformed(_)));
    assert!(matches!(
        error(&net, &file[..file.len() / 2]),
        FileError::Malformed(_)
    ));
    // Any changed number is found, or makes other values.
    for (from, to) in [
        ("\"roles\":2", "\"roles\":9"),
        ("\"outputs\":1", "\"outputs\":2"),
        ("\"trust\":0", "\"trust\":101"),
        ("\"groups\":[[", "\"groups\":[[9999,"),
        ("\"phases\":[", "\"phases\":[9999,"),
        ("\"weights\":[[", "\"weights\":[[1,"),
    ] {
        let damaged = file.replacen(from, to, 1);
        assert_ne!(damaged, file, "{from}");
        assert!(
            matches!(error(&net, &damaged), FileError::Malformed(_)),
            "{to}"
        );
    }
}

#[test]
fn players_use_the_values_of_their_rules() {
    let rules = text("breakthrough_small.kif");
    let net = network(&rules);
    let without_trust = write(&net, &learned(&net, 1_500), Trust::default());
    let trusted = without_trust.replacen("\"trust\":0", "\"trust\":30", 1);
    let game = Game::from_text("game.kif", &rules).expect("the rules are valid");
    let role = game.roles().next().expect("it has roles");
    let advice = |spec: &str, file: Option<&str>| -> Advice {
        let mut library = Library::new();
        if let Some(file) = file {
            library
                .add(file.to_owned())
                .expect("it is a file of values");
        }
        let brief = Brief {
            values: Arc::new(library),
            ..Brief::new(&game, role)
        };
        let spec: AgentSpec = spec.parse().expect("the player exists");
        let mut agent = spec.agent(brief).expect("the options are right");
        let first = Observation::of_joint_moves(role, []);
        let chosen = agent.choose(&first, &Pace::new(None, Some(2_000)));
        chosen.expect("it has a move")
    };
    let plain = advice("mcts", None);
    // Values without trust, or of other rules, or not asked for, change nothing.
    let other = network(&text("tic_tac_toe.kif"));
    let other = write(&other, &learned(&other, 300), Trust::default());
    assert_eq!(advice("mcts", Some(&without_trust)), plain);
    assert_eq!(advice("mcts", Some(&other)), plain);
    assert_eq!(advice("mcts:learn=off", Some(&trusted)), plain);
    let informed = advice("mcts", Some(&trusted));
    assert_ne!(informed.value, plain.value);
    assert_eq!(advice("auto", Some(&trusted)), informed);
}

#[test]
fn the_command_line_takes_files_of_values_and_folders() {
    let place = Workplace::new();
    let games = concat!(env!("CARGO_MANIFEST_DIR"), "/games");
    let game = format!("{games}/tic_tac_toe.kif");
    let learned = place.run(&format!("learn {game} --games 5000 -o values.json"));
    assert_eq!(learned.code, Some(0), "{}", learned.err);
    let run = |line: &str, code: i32| {
        let answer = place.run(line);
        assert_eq!(answer.code, Some(code), "{line}: {}", answer.err);
        answer.err
    };
    let explain = format!("learn {game} --explain values.json");
    let at = ["--moves", "(mark 2 2);(mark 1 1)"];
    let facts = place.run_with(&format!("{explain} --top 1"), &at, "");
    assert!(facts.out.contains("all other facts"), "{facts:?}");
    let groups = place.run_with(&format!("{explain} --top 99 --groups"), &at, "");
    assert!(groups.out.contains("(cell 1 1 nought) and "), "{groups:?}");
    assert!(!groups.out.contains("all other facts"), "{groups:?}");
    let play = format!("play {game} --roles mcts:50,mcts:50,learn=off");
    run(&format!("{play} --values values.json"), 0);
    run(&format!("{play} --values ."), 0);
    let cup = format!("tournament --games {game},matches.kif --player mcts:50 --player first");
    run(&format!("{cup} --values values.json"), 0);
    let error = run(
        "play matches.kif --roles first,first --values values.json",
        2,
    );
    assert!(error.contains("learned with other rules"), "{error}");
    let error = run(
        "play matches.kif --roles first,first --values matches.kif",
        2,
    );
    assert!(error.contains("cannot use matches.kif"), "{error}");
    std::fs::create_dir(place.folder().join("empty")).expect("it is new");
    place.write("empty/values.json", "{}");
    let error = run(&format!("{play} --values empty"), 2);
    assert!(
        error.contains("empty has no files of `ggp learn`"),
        "{error}"
    );
    let error = run(&format!("{play} --values nowhere.json"), 2);
    assert!(error.contains("cannot open nowhere.json"), "{error}");
}
