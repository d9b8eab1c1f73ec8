use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

const DOORS: &str = "
    (role left) (role right) (init (at hall)) (door hall yard) (door yard street)
    (<= (legal left (go ?to)) (true (at ?from)) (door ?from ?to)) (legal left wait) (legal right wait)
    (<= (next (at ?to)) (does left (go ?to))) (<= (next (at ?x)) (does left wait) (true (at ?x)))
    (<= terminal (true (at street))) (<= (goal left 100) (true (at street))) (goal right 50)";

fn states() -> Vec<State> {
    let game = Game::from_text("doors", DOORS).expect("the rules are valid");
    [Backend::Propnet, Backend::Mixed, Backend::Datalog]
        .map(|backend| AnyMachine::new(&game, backend, Limits::default()))
        .map(|machine| State::of(machine.expect("the game is small")).expect("it has a start"))
        .into()
}

#[test]
fn what_is_refused_changes_nothing() {
    for mut state in states() {
        let wrong: [(&[&str], &str); 5] = [
            (&["(go street)", "wait"], "(go street)"),
            (&["fly", "wait"], "fly"),
            (&["wait", "(go yard)"], "(go yard)"),
            (&["wait"], "2"),
            (&["wait", "wait", "fly"], "2"),
        ];
        for (joint, expected) in wrong {
            let refused = state.play_named(joint).expect_err("it is wrong");
            assert!(refused.to_string().contains(expected), "{refused}");
            assert_eq!(state.to_string(), "(at hall)");
        }
        state
            .play_named(&["(GO  yard)", "wait"])
            .expect("it is legal");
        state
            .play_named(&["(go street)", "wait"])
            .expect("it is legal");
        for joint in [&["wait", "wait"][..], &["fly", "wait"], &[]] {
            assert_eq!(state.play_named(joint), Err(PlayError::GameOver));
        }
        assert_eq!(state.to_string(), "(at street)");
        state.restart().expect("it has a start");
        assert_eq!(state.to_string(), "(at hall)");
        let left = state.game().role_named("left").expect("it is declared");
        assert!(matches!(state.goal(left), Err(PlayError::NoGoal(_))));
    }
}

#[test]
fn playouts_of_all_backends_are_the_same() {
    let ends = states().into_iter().map(|mut state| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..20)
            .map(|_| {
                state.restart().expect("it has a start");
                let made = state.playout(4, &mut random).expect("the rules are right");
                (made, state.to_string())
            })
            .collect::<Vec<_>>()
    });
    let ends: Vec<_> = ends.collect();
    assert!(ends[0].iter().any(|end| end.0 == 4) && ends[0].iter().any(|end| end.0 < 4));
    assert!(ends.iter().all(|other| *other == ends[0]));
}

#[test]
fn a_raised_stop_ends_questions() {
    for mut state in states() {
        let stop = ggp_stop::Stop::new();
        state.machine().set_stop(&stop);
        stop.raise();
        assert_eq!(state.is_terminal(), Err(PlayError::Interrupted));
        assert_eq!(
            state.play_named(&["wait", "wait"]),
            Err(PlayError::Interrupted)
        );
    }
}
