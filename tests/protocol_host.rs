//! Hosted matches over real sockets.

pub(crate) mod fake;
mod percepts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fake::{Fake, Manner};
use ggp_engine::machine::{DatalogMachine, Limits, PlayError};
use ggp_gdl::game::Game;
use ggp_gdl::symbol::Case;
use ggp_play::contest::Resources;
use ggp_play::protocol::host::{
    ExchangeError, HostError, HostOptions, Party, PerceptForm, Seen, host, info,
};
use ggp_play::record::MatchRecord;
use tempfile::TempDir;

/// Two players take one or two of five matches in turn.
const RULES: &str = "
    (role ann) (role bob) ; who takes the last one wins
    (init (left 5)) (init (turn ann))
    (minus 5 1 4) (minus 4 1 3) (minus 3 1 2) (minus 2 1 1) (minus 1 1 0)
    (minus 5 2 3) (minus 4 2 2) (minus 3 2 1) (minus 2 2 0)
    (other ann bob) (other bob ann)
    (<= (legal ?r (take ?k)) (true (turn ?r)) (true (left ?n)) (minus ?n ?k ?m))
    (<= (legal ?r wait) (true (turn ?s)) (other ?r ?s))
    (<= (next (left ?m)) (true (left ?n)) (does ?r (take ?k)) (minus ?n ?k ?m))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= terminal (true (left 0)))
    (<= (goal ?r 100) (true (left 0)) (true (turn ?s)) (other ?r ?s))
    (<= (goal ?r 0) (true (left 0)) (true (turn ?r)))";

fn own_game(name: &str) -> Game {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("games")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    Game::from_text(name, &text).expect("our games are right")
}

fn matches() -> Game {
    Game::from_text("matches.kif", RULES).expect("the rules are right")
}

fn options(grace: Duration) -> HostOptions {
    let limits = Limits::default();
    HostOptions {
        start_clock: 0,
        most_moves: 10_000,
        play_clock: 0,
        whole_clock: false,
        preview_clock: None,
        grace,
        connect: Duration::from_secs(20),
        most_bytes: 1 << 20,
        headers: false,
        percepts: PerceptForm::Own,
        case: Case::Fold,
        stop: limits.stop.clone(),
        resources: Resources {
            threads: 1,
            memory_bytes: 64 << 20,
            values: Default::default(),
            tables: Default::default(),
            limits,
        },
    }
}

/// The grace time for players that answer, on a machine that may be busy.
const ENOUGH: Duration = Duration::from_secs(60);

fn record(game: &Game, is_scrambled: bool) -> MatchRecord {
    let text = game.sources().files()[0].text();
    MatchRecord {
        match_id: "m.1".to_owned(),
        random_token: "x".repeat(32),
        preview_clock: -1,
        scrambled: is_scrambled,
        rulesheet: Some(text.to_owned()),
        seed: Some(3),
        player_names_from_host: vec!["someone".to_owned(); game.role_count()],
        is_player_human: vec![false; game.role_count()],
        ..MatchRecord::default()
    }
}

fn parties(fakes: &[Fake]) -> Vec<Party> {
    let party = |fake: &Fake| Party::Remote(fake.url().parse().unwrap(), String::new());
    fakes.iter().map(party).collect()
}

fn machine(game: &Game) -> DatalogMachine {
    DatalogMachine::new(game, Limits::default()).unwrap()
}

/// Hosts a match and checks its record against the rules.
fn play(game: &Game, fakes: &[Fake], options: &HostOptions, is_scrambled: bool) -> MatchRecord {
    let mut record = record(game, is_scrambled);
    let machine = machine(game);
    host(
        machine.clone(),
        &parties(fakes),
        options,
        &mut record,
        &mut |_, _| Ok(()),
    )
    .expect("the match ends");
    record
        .replay(machine, |_, _| ())
        .expect("the record is right");
    assert!(record.is_completed && !record.is_aborted);
    record
}

fn pair(manner: &Manner) -> [Fake; 2] {
    [Fake::new(manner.clone()), Fake::new(Manner::Reference)]
}

/// The errors of a role after the first state.
fn errors(record: &MatchRecord, role: usize) -> Vec<&str> {
    let errors = record.errors[1..].iter();
    errors.map(|errors| errors[role].as_str()).collect()
}

#[test]
fn messages_are_identical_to_those_of_the_reference_host() {
    let fakes = pair(&Manner::Reference);
    let found = play(&matches(), &fakes, &options(ENOUGH), false);
    let heard = fakes[0].heard();
    let request = |body: &str| {
        format!(
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\nSender: GAMESERVER\r\n\
             Receiver: \r\nContent-Type: text/acl\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let rules = heard[0].split_once("\r\n\r\n").unwrap().1;
    assert_eq!(heard[0], request(rules));
    let start = "( START m.1 ann (( role ann ) ( role bob ) ( init ( left 5 ) ) ";
    assert!(rules.starts_with(start), "{rules}");
    assert!(rules.ends_with(" ( true ( turn ?r ) ) ) ) 0 0)"), "{rules}");
    assert!(!rules.contains(';') && !rules.contains('\n'));
    assert_eq!(heard[1], request("( PLAY m.1 NIL )"));
    let joint = |joint: &[String]| joint.join(" ");
    let second = format!("( PLAY m.1 ({} ) )", joint(&found.moves[0]));
    assert_eq!(heard[2], request(&second));
    let last = format!("( STOP m.1 ({} ) )", joint(found.moves.last().unwrap()));
    assert_eq!(heard.last().unwrap(), &request(&last));
    assert_eq!(heard.len(), found.moves.len() + 2);
}

#[test]
fn whole_games_are_played_with_plain_and_scrambled_names() {
    for name in [
        "tic_tac_toe.kif",
        "goofspiel.kif",
        "buttons_and_lights_timed.kif",
    ] {
        let game = own_game(name);
        for is_scrambled in [false, true] {
            let fakes: Vec<Fake> = game.roles().map(|_| Fake::new(Manner::Reference)).collect();
            let found = play(&game, &fakes, &options(ENOUGH), is_scrambled);
            let wrong = found
                .errors
                .iter()
                .flatten()
                .find(|error| !error.is_empty());
            assert_eq!(wrong, None, "{name}");
            assert_eq!(found.errors.len(), found.states.len());
        }
    }
}

#[test]
fn players_of_a_scrambled_match_see_no_name_of_the_rules() {
    let fakes = pair(&Manner::Reference);
    play(&matches(), &fakes, &options(ENOUGH), true);
    for request in fakes.iter().flat_map(Fake::heard) {
        let body = request.split_once("\r\n\r\n").unwrap().1;
        let words: BTreeSet<&str> = body.split([' ', '(', ')']).collect();
        for name in [
            "ann", "bob", "left", "turn", "minus", "other", "take", "wait", "?r", "?k",
        ] {
            assert!(!words.contains(name), "{name} is in {body}");
        }
        let kept = [
            "role", "init", "<=", "legal", "true", "next", "terminal", "goal", "5", "100",
        ];
        if body.starts_with("( START") {
            assert!(kept.iter().all(|word| words.contains(word)), "{body}");
        }
    }
}

#[test]
fn answers_are_understood_in_every_http_form() {
    for manner in [
        Manner::Upper,
        Manner::Chunked,
        Manner::NoLength,
        Manner::Bare,
        Manner::Interim,
        Manner::Open,
        Manner::Talks,
        Manner::Slow(Duration::from_millis(30)),
    ] {
        for is_scrambled in [false, true] {
            let fakes = pair(&manner);
            let found = play(&matches(), &fakes, &options(ENOUGH), is_scrambled);
            let found = errors(&found, 0);
            assert!(
                found.iter().all(|error| error.is_empty()),
                "{manner:?}: {found:?}"
            );
        }
    }
}

#[test]
fn a_match_goes_on_whatever_a_player_does() {
    let cases = [
        (Manner::Silent, "TO"),
        (Manner::Trickle, "TO"),
        (Manner::HalfClosed, "CE"),
        (Manner::Garbage, "CE"),
        (Manner::Giant, "IL more than 1048576 bytes"),
        (Manner::Says("nil"), "IL nil"),
        (Manner::Says("busy"), "IL busy"),
        (Manner::Says("\u{1b}[2J\u{9b}H"), "IL \u{fffd}[2J\u{fffd}H"),
        (Manner::Says("( take 7 )"), "IL ( take 7 )"),
        (Manner::Says("((("), "IL ((("),
        (Manner::Says(""), "IL "),
    ];
    for (manner, error) in cases {
        // The clocks are short for players that do not answer.
        let is_late = error == "TO";
        let grace = if is_late {
            Duration::from_secs(1)
        } else {
            ENOUGH
        };
        let fakes = pair(&manner);
        let found = play(&matches(), &fakes, &options(grace), false);
        let found = errors(&found, 0);
        assert!(
            found.iter().all(|found| *found == error),
            "{manner:?}: {found:?}"
        );
        assert!(found.len() >= 3);
    }
}

#[test]
fn players_may_be_silent_at_any_message() {
    for kind in ["PREVIEW", "START", "STOP"] {
        let fakes = pair(&Manner::SilentAt(kind));
        let options = HostOptions {
            preview_clock: Some(0),
            ..options(Duration::from_secs(2))
        };
        let found = play(&matches(), &fakes, &options, false);
        let expected = if kind == "START" { "TO" } else { "" };
        assert_eq!(found.errors[0], [expected, ""], "{kind}");
        assert!(
            errors(&found, 0).iter().all(|error| error.is_empty()),
            "{kind}"
        );
        assert_eq!(fakes[0].count(kind), 1);
    }
    let fake = Fake::new(Manner::SilentAt("INFO"));
    let said = info(&fake.url().parse().unwrap(), &options(ENOUGH));
    assert!(matches!(said, Err(ExchangeError::Late)), "{said:?}");
    let fake = Fake::new(Manner::Reference);
    let said = info(&fake.url().parse().unwrap(), &options(ENOUGH)).expect("it says who it is");
    assert_eq!(
        (said.name.as_deref(), said.is_busy()),
        (Some("Random"), false)
    );
}

#[test]
fn a_player_that_ignores_the_end_does_not_delay_others() {
    let fakes = pair(&Manner::SilentAt("ABORT"));
    let game = matches();
    let mut record = record(&game, false);
    let stop = |_: &MatchRecord, seen: Seen<'_>| match seen {
        Seen::Moved(_) => Err(std::io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    };
    let options = options(ENOUGH);
    let parties = parties(&fakes);
    let ended = host(machine(&game), &parties, &options, &mut record, &mut {
        stop
    });
    assert!(matches!(ended, Err(HostError::Observer(_))), "{ended:?}");
    assert!(record.is_aborted);
    for fake in &fakes {
        assert_eq!((fake.count("ABORT"), fake.count("STOP")), (1, 0));
    }
}

#[test]
fn the_whole_clock_is_used_if_requested() {
    let fakes = pair(&Manner::Reference);
    let options = HostOptions {
        start_clock: 1,
        play_clock: 1,
        whole_clock: true,
        ..options(ENOUGH)
    };
    let begun = Instant::now();
    let found = play(&matches(), &fakes, &options, false);
    assert!(begun.elapsed() >= Duration::from_secs(1 + found.moves.len() as u64));
    assert!(found.errors.iter().flatten().all(String::is_empty));
}

#[test]
fn a_match_continues_without_an_unreachable_player() {
    let game = matches();
    let mut parties = parties(&[Fake::new(Manner::Reference), Fake::new(Manner::Reference)]);
    parties[1] = Party::Agent("random".parse().unwrap());
    let mut record = record(&game, false);
    let options = options(Duration::from_secs(5));
    host(
        machine(&game),
        &parties,
        &options,
        &mut record,
        &mut |_, _| Ok(()),
    )
    .expect("it ends");
    assert!(
        record.errors.iter().all(|errors| errors[0] == "CE"),
        "{:?}",
        record.errors
    );
}

#[test]
fn an_interrupt_aborts_the_match_while_a_player_thinks() {
    let fakes = pair(&Manner::Silent);
    let options = options(Duration::from_secs(600));
    let game = matches();
    let mut record = record(&game, false);
    let stop = options.stop.clone();
    let is_over = AtomicBool::new(false);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Until the player is asked, or the match is over for another reason.
            while fakes[0].count("PLAY") == 0 && !is_over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(2));
            }
            stop.raise();
        });
        let ended = host(
            machine(&game),
            &parties(&fakes),
            &options,
            &mut record,
            &mut |_, _| Ok(()),
        );
        is_over.store(true, Ordering::SeqCst);
        let is_interrupted = matches!(ended, Err(HostError::Play(PlayError::Interrupted)));
        assert!(is_interrupted, "{ended:?}");
    });
    assert!(begun.elapsed() < Duration::from_secs(300));
    assert!(record.is_aborted && !record.is_completed);
    assert_eq!((record.states.len(), record.moves.len()), (1, 0));
    for fake in &fakes {
        assert_eq!((fake.count("ABORT"), fake.count("STOP")), (1, 0));
    }
}

#[test]
fn a_record_has_every_key() {
    let found = play(
        &matches(),
        &pair(&Manner::Says("nil")),
        &options(ENOUGH),
        true,
    );
    let json: serde_json::Value = serde_json::from_str(&found.to_json()).unwrap();
    for key in [
        "matchId",
        "randomToken",
        "startTime",
        "isCompleted",
        "isAborted",
        "states",
        "moves",
        "stateTimes",
        "errors",
        "goalValues",
        "previewClock",
        "startClock",
        "playClock",
        "playerNamesFromHost",
        "isPlayerHuman",
        "tournamentNameFromHost",
        "scrambled",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert_eq!(json["states"][0], "( ( left 5 ) ( turn ann ) )");
    assert_eq!(json["moves"][0][1], "wait");
    assert_eq!(json["errors"][0], serde_json::json!(["", ""]));
    assert_eq!(json["errors"][1], serde_json::json!(["IL nil", ""]));
    let again: MatchRecord = serde_json::from_value(json).unwrap();
    assert_eq!(again, found);
}

#[test]
fn a_preview_precedes_the_match_and_headers_name_it() {
    let fakes = pair(&Manner::Reference);
    let options = HostOptions {
        preview_clock: Some(1),
        headers: true,
        ..options(ENOUGH)
    };
    play(&matches(), &fakes, &options, false);
    let heard = fakes[0].heard();
    assert!(heard[0].contains("( PREVIEW (( role ann )") && heard[0].ends_with(" 1 )"));
    assert!(heard[1].contains("( START m.1 ann "));
    assert!(
        heard[3].contains("\r\nGGP-Match-ID: m.1\r\nGGP-Match-Step: 1\r\n"),
        "{}",
        heard[3]
    );
}

/// Plays `GGP_HOST_MATCHES` matches.
#[test]
fn matches_between_random_players_have_no_error() {
    let many = std::env::var("GGP_HOST_MATCHES").ok();
    let many: usize = many.map_or(20, |many| many.parse().expect("a number of matches"));
    let game = own_game("tic_tac_toe.kif");
    let fakes = pair(&Manner::Reference);
    let mut moves = 0;
    for number in 0..many {
        let found = play(&game, &fakes, &options(ENOUGH), number % 2 == 1);
        let wrong = found
            .errors
            .iter()
            .flatten()
            .find(|error| !error.is_empty());
        assert_eq!(wrong, None, "match {number}");
        moves += found.moves.len();
    }
    assert_eq!(fakes[0].count("PLAY"), moves);
    for fake in &fakes {
        assert_eq!((fake.count("STOP"), fake.finished()), (many, many));
    }
}

/// The record in a file, once it exists.
fn load(path: &Path) -> Option<MatchRecord> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).expect("records are replaced atomically"))
}

fn ggp(arguments: &[&str], players: &[Fake]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ggp"));
    command.arg("host");
    for player in players {
        command.args(["--player", &player.url()]);
    }
    command
        .args(["--start-clock", "60", "--play-clock", "60"])
        .args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn no_move_is_lost_when_the_host_is_killed() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("match.json");
    let path = file.to_str().unwrap();
    let slow = Manner::Slow(Duration::from_millis(100));
    let fakes = [Fake::new(slow), Fake::new(Manner::Reference)];
    let game = concat!(env!("CARGO_MANIFEST_DIR"), "/games/connect_four.kif");
    let mut child = ggp(&[game, "--save", path, "--scramble"], &fakes)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while load(&file).is_none_or(|record| record.moves.len() < 3) {
        assert!(
            begun.elapsed() < Duration::from_secs(300),
            "the match does not get on"
        );
        assert_eq!(child.try_wait().unwrap(), None, "the host has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let cut = load(&file).expect("the record is there");
    assert!(!cut.is_completed && cut.states.len() == cut.moves.len() + 1);
    // The player has answered every move in the record, and at most one more.
    let asked = fakes[0].count("PLAY");
    assert!(
        asked - cut.moves.len() <= 1,
        "{asked} asked, {} kept",
        cut.moves.len()
    );

    // One player is still in the match and may know one more move; another was never
    // reachable.
    let [busy, _] = fakes;
    let again = [busy, Fake::new(Manner::Reference)];
    let status = ggp(&["--resume", path], &again).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let whole = load(&file).expect("the record is there");
    assert!(whole.is_completed && whole.moves.len() > cut.moves.len());
    assert_eq!(whole.moves[..cut.moves.len()], cut.moves[..]);
    assert_eq!(whole.match_id, cut.match_id);
    assert_eq!((again[0].count("START"), again[0].count("ABORT")), (2, 1));
    assert_eq!(again[1].count("START"), 1);
    assert_eq!(again[1].count("PLAY"), whole.moves.len());
    let wrong = whole
        .errors
        .iter()
        .flatten()
        .find(|error| !error.is_empty());
    assert_eq!(wrong, None);
    let game = own_game("connect_four.kif");
    whole
        .replay(machine(&game), |_, _| ())
        .expect("the record is right");
}

/// The standard error and the exit code of a hosted match.
fn errors_and_code(manner: Manner, arguments: &[&str]) -> (String, Option<i32>) {
    let folder = TempDir::new().unwrap();
    let rules = folder.path().join("matches.kif");
    std::fs::write(&rules, RULES).unwrap();
    let fake = Fake::new(manner);
    let found = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .arg("host")
        .arg(rules)
        .args(["--player", &fake.url(), "--player", "first"])
        .args(["--start-clock", "0", "--play-clock", "60"])
        .args(arguments)
        .output();
    let found = found.unwrap();
    (
        String::from_utf8(found.stderr).unwrap(),
        found.status.code(),
    )
}

#[test]
fn addresses_need_no_scheme() {
    let folder = TempDir::new().unwrap();
    let rules = folder.path().join("matches.kif");
    std::fs::write(&rules, RULES).unwrap();
    let fake = Fake::new(Manner::Reference);
    let port = fake.address.port();
    for player in [
        format!("127.0.0.1:{port}"),
        format!("ann=localhost:{port}/"),
    ] {
        let found = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .arg("host")
            .arg(&rules)
            .args(["--player", &player, "--player", "first"])
            .args(["--start-clock", "0", "--play-clock", "60"])
            .output()
            .unwrap();
        assert!(found.status.success(), "{found:?}");
    }
    assert_eq!(fake.count("START"), 2);
}

#[test]
fn errors_of_players_are_reported_and_counted() {
    let (text, code) = errors_and_code(Manner::Says("nil"), &["--grace", "60"]);
    assert!(
        text.contains("ann: [IL] ") && text.contains(" times: no legal move"),
        "{text}"
    );
    assert_eq!(code, Some(1));
    let (text, code) = errors_and_code(Manner::Says("busy"), &["--grace", "60"]);
    for part in ["ann: [IL busy] ", " times: busy with another match"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(code, Some(1));
    let (text, code) = errors_and_code(Manner::SilentAt("START"), &["--grace", "2"]);
    assert!(
        text.contains("ann is not ready: no answer in time"),
        "{text}"
    );
    assert!(
        text.contains("ann: [TO] 1 time: no answer in time"),
        "{text}"
    );
    assert_eq!(code, Some(1));
    let (text, code) = errors_and_code(Manner::Reference, &["--grace", "60"]);
    assert!(!text.contains("ann"), "{text}");
    assert_eq!(code, Some(0));
}
