//! Rules with one mistake each, and the claim that finds it.

use super::*;

/// Each mistake, with the claim about it and its verdict.
fn mistakes() -> Vec<(Game, Subject, ClaimVerdict)> {
    let go = "(<= (legal ?r go) (true (turn ?r)) (true (at ?x)) (after ?x ?y))";
    vec![
        // A role is left without a move.
        (
            with(go, "(<= (legal ?r go) (true (turn ?r)) (true (at 1)))"),
            Subject::Legal,
            ClaimVerdict::Fails,
        ),
        // A terminal position without a goal, with two goals, and with an invalid one.
        (
            with(
                "(<= (goal ?r 0) (role ?r)",
                "(<= (goal ?r 0) (role ?r) (true (at 1))",
            ),
            Subject::Goal,
            ClaimVerdict::Fails,
        ),
        (
            with(
                "(<= (goal ?r 0) (role ?r) (not (true (turn ?r))))",
                "(<= (goal ?r 0) (role ?r))",
            ),
            Subject::Goal,
            ClaimVerdict::Fails,
        ),
        (
            with(
                "(<= (goal ?r 100)",
                "(worth 101) (<= (goal ?r ?n) (worth ?n)",
            ),
            Subject::Goal,
            ClaimVerdict::Fails,
        ),
        // A match goes in a cycle.
        (
            with(
                "(<= (next (at 3)) (does ?r jump))",
                "(<= (next (at 1)) (does ?r jump))",
            ),
            Subject::Ends,
            ClaimVerdict::Fails,
        ),
        // Nobody wins.
        (
            with("(<= (goal ?r 100)", "(<= (goal ?r 90)"),
            Subject::Winnable,
            ClaimVerdict::Fails,
        ),
        // Both roles move at once.
        (
            with(
                "(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))",
                "(<= (legal ?r wait) (role ?r) (not (true (turn ?r)))) (<= (legal ?r rest) (role ?r) (not (true (turn ?r))))",
            ),
            Subject::Turns,
            ClaimVerdict::Fails,
        ),
        // Both roles may get 100.
        (
            with(
                "(<= (goal ?r 0) (role ?r) (not (true (turn ?r))))",
                "(<= (goal ?r 100) (role ?r) (not (true (turn ?r))))",
            ),
            Subject::Sum,
            ClaimVerdict::Holds,
        ),
        // A role is not declared.
        (
            with("(role a) (role b)", "(role a) (player a) (player b)"),
            Subject::Roles,
            ClaimVerdict::Fails,
        ),
        // The roles are not symmetric.
        (
            with("(other a b)", "(other a b) (chief a)"),
            Subject::RoleSymmetry,
            ClaimVerdict::Open,
        ),
    ]
}

#[test]
fn mistakes_are_found_with_an_example() {
    for (game, subject, verdict) in mistakes() {
        for states in [0, 1_000] {
            // Without the complete state space, the cycle is not found.
            if states == 0 && subject == Subject::Ends {
                continue;
            }
            let report = report(&game, &options(states));
            let mut claims = report
                .claims
                .iter()
                .filter(|claim| claim.subject == subject);
            let found = claims.find(|claim| claim.verdict == verdict);
            let found = found.unwrap_or_else(|| panic!("{subject:?} {:#?}", report.claims));
            check_example(&game, found).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
