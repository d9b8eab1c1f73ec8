//! Games with hidden information: whether roles can find out what they must know.

use super::*;
use ggp_gdl::game::RoleId;
use ggp_playcheck::Severity;

/// Whether two matches look alike to a role, and yet differ for it.
pub(super) fn is_gap(game: &Game, role: RoleId, claim: &Claim, moves: &[String]) -> bool {
    let alike = claim.alike.as_ref().expect("there is another match");
    let [one, other] = [moves, &alike[..]].map(|moves| after(game, role, moves));
    one.0 == other.0 && one.1 != other.1
}

/// The memory of a role after moves, and what it must be able to find out: the legal moves, or the
/// score if the game is over.
fn after(game: &Game, role: RoleId, moves: &[String]) -> (Vec<String>, (bool, Vec<String>)) {
    let (mut machine, state, before) = replayed(game, moves);
    let mut memory = Vec::new();
    for (state, text) in before.iter().zip(moves) {
        let joint = game.parse_terms(machine.terms_mut(), text).unwrap();
        let joint: Vec<Move> = joint.into_iter().map(Move::new).collect();
        let mut told = Vec::new();
        machine.percepts(state, &joint, role, &mut told).unwrap();
        let told = told
            .iter()
            .map(|percept| game.text(machine.terms(), *percept));
        let told: Vec<String> = told.collect();
        memory.push(format!("{}: {told:?}", machine.text(joint[role.index()])));
    }
    let is_over = machine.is_terminal(&state).unwrap();
    let found = match is_over {
        true => machine.goal_values(&state, role).unwrap(),
        false => {
            let mut legal = Vec::new();
            machine.legal(&state, role, &mut legal).unwrap();
            legal.into_iter().map(Move::term).collect()
        }
    };
    let found = found
        .into_iter()
        .map(|term| game.text(machine.terms(), term));
    (memory, (is_over, found.collect()))
}

#[test]
fn roles_can_find_out_what_they_must_know_or_two_matches_show_that_they_cannot() {
    let rules = |percepts: &str| {
        game(&format!(
            "(role hider) (role seeker) (side left) (side right) (init hiding)
            (<= (legal hider ?s) (side ?s) (true hiding)) (<= (legal hider wait) (true seeking))
            (<= (legal seeker wait) (true hiding)) (<= (legal seeker ?s) (side ?s) (true seeking))
            (<= (next (hidden ?s)) (does hider ?s) (side ?s)) (<= (next seeking) (true hiding))
            (<= (next (hidden ?s)) (true (hidden ?s)))
            (<= (next (found ?s)) (does seeker ?s) (side ?s))
            (<= (next (found ?s)) (true (found ?s)))
            (<= terminal (true (found ?s)))
            (<= (goal seeker 100) (true (found ?s)) (true (hidden ?s)))
            (<= (goal seeker 0) (true (found ?s)) (not (true (hidden ?s))))
            (goal hider 50) {percepts}"
        ))
    };
    let told = "(<= (sees seeker hit) (does seeker ?s) (true (hidden ?s)))";
    let well = report(&rules(told), &options(1_000));
    let verdicts = |report: &Report| -> Vec<(ClaimVerdict, Basis)> {
        let claims = report
            .claims
            .iter()
            .filter(|claim| claim.subject == Subject::Knows);
        claims.map(|claim| (claim.verdict, claim.basis)).collect()
    };
    let proved = (ClaimVerdict::Holds, Basis::Positions);
    assert_eq!(verdicts(&well), [proved, proved]);
    // What was hidden is never shown; the same by random matches.
    for positions in [1_000, 2] {
        let silent = rules("(<= (sees hider noise) (does seeker ?s) (side ?s))");
        let shown = report(&silent, &options(positions));
        let found = verdicts(&shown);
        assert_eq!(found[1], (ClaimVerdict::Fails, Basis::Example), "{found:?}");
        for claim in &shown.claims {
            check_example(&silent, claim).unwrap();
        }
    }
}

#[test]
fn chance_needs_no_goal() {
    let rules = "(role finder) (role random) (cup 1) (cup 2) (init hiding)
        (<= (legal random (hide ?c)) (cup ?c) (true hiding))
        (<= (legal random wait) (not (true hiding)))
        (<= (legal finder wait) (true hiding))
        (<= (legal finder (lift ?c)) (cup ?c) (not (true hiding)))
        (<= (next (under ?c)) (does random (hide ?c))) (<= (next (under ?c)) (true (under ?c)))
        (<= (next (lifted ?c)) (does finder (lift ?c))) (<= terminal (true (lifted ?c)))
        (<= (sees finder (ball ?c)) (true (under ?c)))
        (<= (goal finder 100) (true (under ?c)) (true (lifted ?c)))
        (<= (goal finder 0) (true (under ?c)) (not (true (lifted ?c))))";
    for positions in [1_000, 2] {
        let found = report(&game(rules), &options(positions));
        let of = |subject| found.claims.iter().filter(move |c| c.subject == subject);
        assert!(of(Subject::Goal).all(|claim| claim.role.as_deref() == Some("finder")));
        assert!(of(Subject::Goal).all(|claim| claim.verdict == ClaimVerdict::Holds));
        assert!(of(Subject::Winnable).all(|claim| claim.verdict == ClaimVerdict::Holds));
        assert_eq!(of(Subject::Winnable).count(), 1);
    }
}

#[test]
fn a_role_that_does_not_know_its_moves_is_shown_the_rule_that_allows_them() {
    let rules = "(role hider) (role seeker) (side left) (side right) (init hiding)
        (<= (legal hider ?s) (side ?s) (true hiding)) (<= (legal hider wait) (true seeking))
        (<= (legal seeker wait) (true hiding))
        (<= (legal seeker (to ?s)) (true (hidden ?s)))
        (<= (next (hidden ?s)) (does hider ?s) (side ?s))
        (<= (next seeking) (true hiding)) (<= (next over) (true seeking))
        (<= terminal (true over)) (goal hider 50) (goal seeker 50) (sees seeker noise)";
    for positions in [1_000, 2] {
        let found = report(&game(rules), &options(positions));
        let mut claims = found.claims.iter();
        let knows = |claim: &&Claim| {
            claim.subject == Subject::Knows && claim.role.as_deref() == Some("seeker")
        };
        let claim = claims.find(knows).expect("there is one for each role");
        assert_eq!(claim.verdict, ClaimVerdict::Fails);
        assert!(
            claim.text.contains("which moves are legal, such as (to "),
            "{}",
            claim.text
        );
        assert_eq!(claim.places, ["test.kif:4:13"]);
    }
}

#[test]
fn faults_of_the_rules_are_reported_with_moves_where_roles_have_percepts() {
    let rules = "(role hider) (role seeker) (role random) (side left) (side right) (init hiding)
        (<= (legal hider ?s) (side ?s) (true hiding)) (<= (legal hider wait) (true seeking))
        (<= (legal seeker wait) (true hiding)) (<= (legal seeker ?s) (side ?s) (true seeking))
        (<= (legal random wait) (role random))
        (<= (next (hidden ?s)) (does hider ?s) (side ?s)) (<= (next (hidden ?s)) (true (hidden ?s)))
        (<= (next seeking) (true hiding)) (<= (next over) (true seeking)) (<= terminal (true over))
        (<= (sees seeker ?s) (true (hidden ?s))) (goal hider 50) (goal seeker 50)";
    let faults = [
        "(<= (legal hider wait) (true seeking))",
        "(<= (legal seeker wait) (true hiding))",
        "(<= (legal random wait) (role random))",
        "(goal seeker 50)",
        "(<= (next over) (true seeking))",
    ];
    assert_eq!(
        report(&game(rules), &options(1_000)).count(Severity::Error),
        0
    );
    for fault in faults {
        let wrong = rules.replace(fault, "");
        for positions in [1_000, 2] {
            let found = report(&game(&wrong), &options(positions));
            let mut claims = found.claims.iter();
            let is_shown =
                |claim: &&Claim| claim.verdict == ClaimVerdict::Fails && claim.moves.is_some();
            let is_error = found.count(Severity::Error) > 0;
            assert!(is_error || fault.contains("over"), "{fault}");
            assert!(
                !is_error || claims.any(|claim| is_shown(&claim)),
                "{fault}: {:?}",
                found.claims
            );
        }
    }
}
