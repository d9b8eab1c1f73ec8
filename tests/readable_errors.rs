//! The errors of the library, as a program prints them whose `main` returns them.

use std::error::Error;

use ggp::{
    AgentSpec, AnyMachine, Backend, Brief, Claim, ExplainOptions, Explainer, Game, GroundLimits,
    Limits, Machine, Propnet, Score, Situation, SolveOptions, Stats, Stop, VerifyLimits, solve,
    verify,
};

type Tried = Result<(), Box<dyn Error>>;

fn game(name: &str) -> Game {
    let path = format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
    Game::from_text(name, &std::fs::read_to_string(path).unwrap()).unwrap()
}

fn machine(name: &str) -> AnyMachine {
    AnyMachine::new(&game(name), Backend::Datalog, Limits::default()).unwrap()
}

/// Checks what a program prints after `Error: `.
fn check(part: &str, tried: impl FnOnce() -> Tried) {
    let error = tried().expect_err(part);
    let printed = format!("{error:?}");
    assert_eq!(printed, error.to_string());
    assert!(printed.contains(part), "{printed}");
    assert!(
        !printed.contains(" { ") && !printed.contains("(\""),
        "{printed}"
    );
}

#[test]
fn a_program_that_returns_an_error_prints_what_a_person_reads() {
    check("error[G102]: variable ?x is not bound", || {
        Game::from_text("bad.kif", "(role a) (<= (legal a ?x) p) (p)")?;
        Ok(())
    });
    check("  |              ^^", || {
        Game::from_text("bad.kif", "(role a)\n(<= (legal a ?x) p)\n(p)")?;
        Ok(())
    });
    check("may not play", || {
        let mut machine = machine("tic_tac_toe");
        let start = machine.initial()?;
        let game = machine.game().clone();
        let action = game.parse_term(machine.terms_mut(), "(mark 1 1)")?;
        machine.play(&start, &[ggp::Move::new(action); 2])?;
        Ok(())
    });
    check("`mork`", || {
        let mut machine = machine("tic_tac_toe");
        let game = machine.game().clone();
        game.parse_term(machine.terms_mut(), "(mork 1 1)")?;
        Ok(())
    });
    check("this one has 2 roles", || {
        let machine = machine("tic_tac_toe");
        solve(
            &machine,
            &SolveOptions::default(),
            &mut Stats::default(),
            &mut (),
        )?;
        Ok(())
    });
    check("interrupted", || {
        let limits = GroundLimits {
            stop: Stop::raised(),
            ..GroundLimits::default()
        };
        Propnet::ground(&game("tic_tac_toe"), &limits)?;
        Ok(())
    });
    check("unknown player `mtcs`", || {
        let spec: AgentSpec = "mtcs".parse()?;
        Err(format!("{spec}").into())
    });
    check("unknown option `speed`", || {
        let game = game("nim");
        let spec: AgentSpec = "mcts:speed=3".parse()?;
        spec.agent(Brief::new(&game, game.roles().next().unwrap()))?;
        Ok(())
    });
    check("wrong: ", || {
        let mut machine = machine("wolf_goat_cabbage");
        let start = machine.initial()?;
        let start = machine.facts(&start);
        let claim = Claim::Solved {
            plans: vec![vec![]],
            optimal: false,
            all: false,
            least: None,
        };
        let limits = VerifyLimits::default();
        verify(machine.game(), &start, Score::MAX, &claim, &limits)?;
        Ok(())
    });
    check("mork", || {
        let machine = machine("tic_tac_toe");
        let (game, terms) = (machine.game(), machine.terms().clone());
        let limits = Limits::default();
        let mut explainer = Explainer::new(game, terms, limits, ExplainOptions::default());
        explainer.question("(mork 1 1)")?;
        Ok(())
    });
    check("none are given", || {
        let mut machine = machine("tic_tac_toe");
        let start = machine.initial()?;
        let facts = machine.facts(&start);
        let (game, terms) = (machine.game(), machine.terms().clone());
        let limits = Limits::default();
        let mut explainer = Explainer::new(game, terms, limits, ExplainOptions::default());
        let question = explainer.question("(next (turn nought))")?;
        let situation = Situation {
            facts: &facts,
            joint: None,
        };
        explainer.explain(&question, situation)?;
        Ok(())
    });
}
