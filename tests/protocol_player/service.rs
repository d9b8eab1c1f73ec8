//! The server: its end, options and output.

use super::*;

#[test]
fn a_match_with_a_silent_host_is_aborted() {
    let player = Running::new(PlayerOptions {
        patience: Some(Duration::from_millis(100)),
        ..options("first")
    });
    assert_eq!(player.start("m1", "Ann", SHOWS, (0, 0)), "ready");
    let how = player.wait_for(|event| match event {
        Event::Ended { how, .. } => Some(*how),
        _ => None,
    });
    assert_eq!(how, "deserted");
    assert_eq!(player.say("( INFO )"), AVAILABLE);
}

#[test]
fn the_player_stops_after_its_number_of_matches() {
    let mut player = Running::new(PlayerOptions {
        matches: Some(2),
        ..options("first")
    });
    play(&player, SHOWS, 0, "m1");
    assert_eq!(player.start("m2", "Bob", SHOWS, (5, 5)), "ready");
    assert_eq!(player.say("( STOP m2 NIL )"), "done");
    assert_eq!(player.join(), 2);
    assert!(TcpStream::connect(player.address).is_err());
}

#[test]
fn an_interrupt_ends_a_search_with_the_move_found_so_far() {
    let player = Running::new(options(ENDLESS));
    assert_eq!(
        player.start("m1", "cross", &tic_tac_toe(), (1, 600)),
        "ready"
    );
    let mut asked = player.ask("( PLAY m1 NIL )");
    assert_eq!(player.say("( INFO )"), BUSY);
    // Let the search run for a while.
    std::thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    player.end();
    assert!(began.elapsed() < Duration::from_secs(10));
    let answer = body(&read(&mut asked));
    assert!(answer.starts_with("( mark "), "{answer}");
}

#[test]
fn an_interrupt_ends_reading_rules() {
    let player = Running::new(options("first"));
    let mut starting = player.ask(&start("m1", "a", &endless(4 << 20), (600, 5)));
    wait_until(|| player.say("( INFO )") == BUSY);
    let began = Instant::now();
    player.end();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(body(&read(&mut starting)), "busy");
}

#[test]
fn all_players_are_listed() {
    for line in [
        &["player", "--player", "list"][..],
        &["host", "--player", "list"],
        &["tournament", "--player", "list"],
        &["play", "--player", "list"],
        &["play", "--roles", "list"],
    ] {
        let found = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .args(line)
            .output()
            .unwrap();
        assert_eq!(found.status.code(), Some(0), "{line:?}");
        let said = String::from_utf8(found.stdout).unwrap();
        let is_play = line[0] == "play";
        assert!(said.contains("\n  mcts "), "{said}");
        assert_eq!(said.contains("\n  human "), is_play, "{said}");
    }
}

#[test]
fn the_next_free_port_is_the_default() {
    let here = Ipv4Addr::LOCALHOST.into();
    let first = Player::bind_default(here, options("first")).unwrap();
    let second = Player::bind_default(here, options("first")).unwrap();
    let (first, second) = (first.address().unwrap(), second.address().unwrap());
    assert!(second.port() > first.port());
}

#[test]
fn invalid_options_are_rejected_at_once() {
    for (options, reason) in [
        (["--listen", "203.0.113.1"], "cannot listen on 203.0.113.1"),
        (["--player", "wizard"], "unknown player `wizard`"),
        (["--player", "mcts:colour=3"], "unknown option `colour`"),
        (["--margin", "soon"], "expected a number of seconds"),
        (["--log", "/"], "cannot write /"),
    ] {
        let found = Command::new(env!("CARGO_BIN_EXE_ggp"))
            .args(["player", "--port", "0"])
            .args(options)
            .output()
            .unwrap();
        assert_eq!(found.status.code(), Some(2), "{options:?}");
        let said = String::from_utf8_lossy(&found.stderr);
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn events_are_printed_and_logged() {
    let folder = tempfile::TempDir::new().unwrap();
    let log = folder.path().join("log.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args(["player", "--port", "0", "--json", "--player", "first"])
        .args(["--matches", "1", "--log", log.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value {
        let line = lines.next().expect("there is more").unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let address = next()["address"].as_str().unwrap().parse().unwrap();
    let say = |message: &str| body(&exchange(address, &request(message)));
    assert_eq!(say("( WAIT )"), "unknown message `wait`");
    assert_eq!(say(&start("m1", "Ann", SHOWS, (5, 5))), "ready");
    assert_eq!(say("( PLAY m1 NIL )"), "( show Rock )");
    assert_eq!(say("( STOP m1 ((show Rock) (show Paper)) )"), "done");
    let begun = next();
    assert_eq!(begun["event"], "started");
    assert_eq!(begun["roles"], serde_json::json!(["Ann", "Bob"]));
    let chosen = next();
    assert_eq!(chosen["event"], "chose");
    assert_eq!(chosen["chosen"], "( show Rock )");
    let ended = next();
    assert_eq!(ended["event"], "ended");
    assert_eq!((&ended["match"], &ended["made"]), (&"m1".into(), &1.into()));
    assert!(child.wait().unwrap().success());
    let kept = std::fs::read_to_string(&log).unwrap();
    let count = |event: &str| kept.matches(&format!("{{\"event\":\"{event}\"")).count();
    let counts = [
        "listening",
        "refused",
        "answered",
        "started",
        "chose",
        "ended",
    ]
    .map(count);
    assert_eq!(counts, [1, 1, 3, 1, 1, 1], "{kept}");
}

/// The resource use of a process from /proc.
pub fn status(process: u32, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Plays `GGP_CYCLES` matches, some of them with a move.
#[test]
fn matches_leave_no_resources_behind() {
    let cycles = std::env::var("GGP_CYCLES").ok();
    let cycles: u32 = cycles.map_or(crate::common::sized(8, 200), |cycles| {
        cycles.parse().unwrap()
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args(["player", "--port", "0", "--json", "--player", "mcts:10"])
        .args(["--matches", &cycles.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let address = first["address"].as_str().unwrap().parse().unwrap();
    let rest = std::thread::spawn(move || lines.count());
    let say = |message: &str| body(&exchange(address, &request(message)));
    let rules = tic_tac_toe();
    let mut early = (None, None);
    for cycle in 1..=cycles {
        let id = format!("m{cycle}");
        assert_eq!(say(&start(&id, "cross", &rules, (1, 10))), "ready");
        if cycle % 10 == 0 {
            assert!(say(&format!("( PLAY {id} NIL )")).starts_with("( mark "));
        }
        if cycle == cycles / 5 {
            early = (status(child.id(), "VmRSS:"), status(child.id(), "Threads:"));
        }
        if cycle == cycles {
            let late = (status(child.id(), "VmRSS:"), status(child.id(), "Threads:"));
            println!(
                "kB and threads after {}: {early:?}, after {cycles}: {late:?}",
                cycles / 5
            );
            if let ((Some(early_kb), Some(early)), (Some(late_kb), Some(late))) = (early, late) {
                // One match is in progress, and up to three are ending.
                assert!(late <= early + 12, "{late} threads");
                assert!(late_kb < early_kb + 50_000, "{late_kb} kB");
            }
        }
        assert_eq!(say(&format!("( STOP {id} NIL )")), "done");
    }
    assert!(child.wait().unwrap().success());
    assert!(rest.join().unwrap() >= 2 * cycles as usize);
}
