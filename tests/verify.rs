//! Answers and their proofs against the checker: right ones stand, and nothing
//! else does.

mod plans;
mod proofs;
mod random;
mod shared;
mod tampered;

use ggp_verify::digest;
use shared::{WALK, game};

#[test]
fn digests_tell_rules_apart_and_nothing_else() {
    let one = digest(&game(WALK));
    let spaced = WALK
        .replace("(role r)", "(ROLE r) ; the only one\n")
        .replace("?x", "?from");
    assert_eq!(one, digest(&game(&spaced)));
    for (from, to) in [
        ("(way 1 back 0)", "(way 1 back 2)"),
        ("(init (at 0))", "(init (at 1))"),
        ("(goal r 0)", "(goal r 1)"),
        ("(not (true (at 3)))", "(true (at 2))"),
    ] {
        assert_ne!(one, digest(&game(&WALK.replace(from, to))), "{from}");
    }
}
