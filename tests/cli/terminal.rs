//! The command on a terminal.

use std::fs::File;
use std::io::{Read, Write};

use super::percepts::{COIN, SIDES};
use super::workplace::Workplace;

/// The output of a command on a terminal with this input.
fn run(place: &Workplace, line: &str, input: &str) -> String {
    let terminal = nix::pty::openpty(None, None).unwrap();
    let (mut outer, inner) = (File::from(terminal.master), File::from(terminal.slave));
    let mut command = place.command(line);
    // Without a kind of terminal there are no lines that change, as for `dumb`.
    command.env("TERM", "xterm");
    command.stdin(inner.try_clone().unwrap());
    command.stdout(inner.try_clone().unwrap()).stderr(inner);
    let mut child = command.spawn().unwrap();
    // The terminal ends when nobody holds its inner side.
    drop(command);
    outer.write_all(input.as_bytes()).unwrap();
    let mut out = Vec::new();
    // The end is an error on some systems.
    let _ = outer.read_to_end(&mut out);
    child.wait().unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_view_of_one_person_is_cleared_before_another_has_the_keyboard() {
    let place = Workplace::new();
    place.write("sides.kif", SIDES);
    let input = "\nheads\n\nheads\n\ntails\n\nheads\n";
    for line in [
        "play sides.kif --roles human,human",
        "--json play sides.kif --roles human,human",
    ] {
        let out = run(&place, line, input);
        let views: Vec<&str> = out.split("\x1b[2J\x1b[3J\x1b[H").collect();
        assert_eq!(views.len(), 4, "{out}");
        for (view, role) in views.iter().zip(["even", "odd", "even", "odd"]) {
            assert!(
                view.starts_with(&format!("pass the keyboard to {role}, who presses Enter> "))
                    || role == "even",
                "{out}"
            );
            assert!(view.contains(&format!(": {role} chooses")), "{out}");
        }
    }
    // One person has the keyboard all the time.
    place.write("coin.kif", COIN);
    let out = run(
        &place,
        "play coin.kif --roles human,random --seed 1",
        "1\n1\n",
    );
    assert!(
        !out.contains("keyboard") && !out.contains("\x1b[2J"),
        "{out}"
    );
}

#[test]
fn long_searches_show_what_they_do() {
    let place = Workplace::new();
    place.write("coin.kif", COIN);
    let out = run(&place, "prove coin.kif", "");
    for part in [
        "preparing the rules",
        "looking for the best plan by what guesser knows",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!run(&place, "prove coin.kif --quiet", "").contains("preparing"));
}
