//! Hostile rules from the network: the next match is played in time, and memory stays small.

use super::*;

/// The most bytes of rules.
const MOST: usize = 4 << 20;

/// Forms with a total number of bytes.
fn forms(bytes: usize, form: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes - 200 {
        text += &form(number);
        number += 1;
    }
    text
}

/// Rules that take very long to check: a cycle in reverse order, in which each pass resolves
/// only one more rule.
pub fn endless(bytes: usize) -> String {
    let chain = forms(bytes, |n| format!("(<= r{n} r{})", n + 1));
    let last = chain.matches("<=").count();
    format!("(role a) (init x) {chain}(<= r{last} r0)(<= r{last} (true x))")
}

/// A process that ends with the test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hostile() -> Vec<(&'static str, String)> {
    let game = "(role a) (init x) (legal a m) (goal a 0) (<= terminal (true x)) ";
    let whole = |text: String| format!("{game}{text}");
    vec![
        ("too long", whole(forms(15 << 20, |n| format!("(f {n})")))),
        (
            "deep",
            "(".repeat(190).repeat(10) + &")".repeat(190).repeat(10),
        ),
        ("pairs", "()".repeat(MOST / 2 - 100)),
        ("words", whole("w ".repeat(MOST / 2 - 100))),
        ("relations", whole(forms(MOST, |n| format!("(p{n})")))),
        ("roles", whole(forms(MOST, |n| format!("(role a{n})")))),
        (
            "undefined",
            whole(forms(MOST, |n| format!("(<=(p{n})(q{n}))"))),
        ),
        (
            "variables",
            whole(format!(
                "(<= (p ?x) {})",
                forms(MOST - 100, |n| format!("(q ?v{n})"))
            )),
        ),
        (
            "negations",
            whole(forms(MOST, |n| {
                format!("(<= (p ?x {n}) (not (p {n} ?x)) (q ?x))")
            })),
        ),
        (
            "state",
            whole(forms(MOST, |n| format!("(<= (r {n}) (true (f{n})))"))),
        ),
        (
            "alternatives",
            whole(forms(MOST, |_| {
                format!("(<= (p ?x) {})", "(or (q ?x) (r ?x))".repeat(13))
            })),
        ),
        ("circle", endless(MOST)),
    ]
}

#[test]
fn hostile_rules_do_not_block_the_next_match() {
    let child = Command::new(env!("CARGO_BIN_EXE_ggp"))
        .args(["player", "--port", "0", "--json", "--player", "first"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A test that fails leaves no player behind.
    let mut child = Killed(child);
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let first: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let address = first["address"].as_str().unwrap().parse().unwrap();
    let rest = std::thread::spawn(move || lines.count());
    let say = |message: &str| body(&exchange(address, &request(message)));
    let mut most = Duration::ZERO;
    let games = hostile();
    for (name, rules) in &games {
        let id = name.replace(' ', "_");
        // The host does not wait for the answer.
        let mut stream = connect(address);
        stream
            .write_all(&request(&start(&id, "a", rules, (600, 600))))
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let began = Instant::now();
        let said = say(&format!("( ABORT {id} )"));
        assert!(said == "aborted" || said == "busy", "{name}: {said}");
        drop(stream);
        let id = format!("good_{id}");
        // The previous rules may still be parsed.
        wait_until(|| {
            say(&start(&id, "Ann", SHOWS, (10, 10))) == "ready" || {
                // On a busy machine a match may begin after its ABORT, even an earlier one.
                for (name, _) in &games {
                    say(&format!("( ABORT {} )", name.replace(' ', "_")));
                }
                false
            }
        });
        assert_eq!(
            say(&format!("( PLAY {id} NIL )")),
            "( show Rock )",
            "{name}"
        );
        assert_eq!(say(&format!("( STOP {id} NIL )")), "done");
        println!(
            "{name}: {} bytes, the next match after {:?}",
            rules.len(),
            began.elapsed()
        );
        most = most.max(began.elapsed());
    }
    if let Some(kilobytes) = service::status(child.0.id(), "VmHWM:") {
        println!("at most {kilobytes} kB; {most:?}");
        assert!(kilobytes < 900_000, "{kilobytes} kB");
    }
    assert!(most < EVER, "{most:?}");
    drop(child);
    rest.join().unwrap();
}

#[test]
fn an_abort_ends_reading_rules_and_so_does_a_stop() {
    let player = Running::new(options("first"));
    let rules = endless(MOST);
    for end in ["( ABORT m1 )", "( STOP m1 NIL )"].repeat(3) {
        let mut starting = player.ask(&start("m1", "a", &rules, (600, 5)));
        wait_until(|| player.say("( INFO )") == BUSY);
        let said = player.say(end);
        assert!(["aborted", "done"].contains(&said.as_str()), "{said}");
        assert_eq!(body(&read(&mut starting)), "busy");
        assert_eq!(player.say("( INFO )"), AVAILABLE);
    }
    play(&player, SHOWS, 0, "m2");
    let mut limited = options("first");
    limited.reading.size = 100;
    let player = Running::new(limited);
    assert_eq!(player.start("m1", "cross", &tic_tac_toe(), (5, 5)), "busy");
    let reasons = player.wait_for(|event| match event {
        Event::Unplayable { reasons, .. } => Some(reasons.join("\n")),
        _ => None,
    });
    assert!(
        reasons.contains("more than 100 literals and terms"),
        "{reasons}"
    );
}

#[test]
fn large_messages_of_many_peers_are_bounded_and_small_ones_are_answered() {
    let mut few = options("first");
    few.message.bytes = 1 << 20;
    let player = Running::new(few);
    let crowd: Vec<TcpStream> = (0..12)
        .map(|_| {
            let mut stream = connect(player.address);
            stream.set_nonblocking(true).unwrap();
            let text = format!("POST / HTTP/1.0\r\n\r\n({}", "x".repeat(1_000_000));
            let _ = stream.write(text.as_bytes());
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(player.say("( INFO )"), AVAILABLE);
    }
    assert_eq!(player.start("m1", "Ann", SHOWS, (5, 5)), "ready");
    drop(crowd);
}
