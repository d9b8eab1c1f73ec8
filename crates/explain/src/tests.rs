//! On-demand derivation gives the same explanations as complete derivation.

use super::*;
use ggp_engine::machine::{AnyMachine, Backend, Machine};

/// Number of lines that a derivation unfolds to.
fn size(derivation: &Derivation) -> u64 {
    fn of(derivation: &Derivation, number: usize, known: &mut [Option<u64>]) -> u64 {
        if let Some(size) = known[number] {
            return size;
        }
        let size = match &derivation.proofs[number].reason {
            Reason::Rule { premises, .. } => premises.iter().fold(1, |sum: u64, premise| {
                sum.saturating_add(premise.fact().map_or(1, |fact| of(derivation, fact, known)))
            }),
            _ => 1,
        };
        known[number] = Some(size);
        size
    }
    of(derivation, 0, &mut vec![None; derivation.proofs.len()])
}

fn summary(answer: &Explanation) -> String {
    match answer {
        Explanation::Holds {
            derivations,
            others,
        } => format!(
            "{} {} {}",
            derivations[0].proofs.len() > 1,
            size(&derivations[0]),
            others.len()
        ),
        answer => format!("{}", answer.holds()),
    }
}

#[test]
fn on_demand_derivation_gives_the_same_explanations() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let mut asked = 0;
    for name in [
        "tic_tac_toe",
        "connect_four_small",
        "othello",
        "hanoi",
        "wolf_goat_cabbage",
    ] {
        let text = std::fs::read_to_string(folder.join(name).with_extension("kif")).unwrap();
        let game = Game::from_text(name, &text).unwrap();
        let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap();
        let mut state = machine.initial().unwrap();
        let mut explainers = [false, true].map(|on_demand| {
            let terms = machine.terms().clone();
            let options = ExplainOptions::default();
            let mut explainer = Explainer::new(&game, terms, Limits::default(), options);
            for rule in game.rules().rules.iter().filter(|_| on_demand) {
                explainer.is_on_demand[rule.head.relation.index()] = true;
            }
            explainer
        });
        for _ in 0..4 {
            let facts = machine.facts(&state);
            let mut joint = Vec::new();
            let mut questions = vec!["terminal".to_owned(), "(goal ?r ?v)".to_owned()];
            for role in game.roles() {
                let mut legal = Vec::new();
                machine.legal(&state, role, &mut legal).unwrap();
                joint.push(legal[legal.len() / 2]);
                let text = game.text(machine.terms(), legal[legal.len() / 2].term());
                questions.push(format!("(legal {} {text})", game.role_name(role)));
            }
            questions.push("(legal ?r ?m)".to_owned());
            questions.push("(next ?f)".to_owned());
            state = machine.next(&state, &joint).unwrap();
            for text in &questions {
                let [whole, on_demand] = explainers.each_mut().map(|explainer| {
                    let question = explainer.question(text).unwrap();
                    let situation = Situation {
                        facts: &facts,
                        joint: Some(&joint),
                    };
                    summary(&explainer.explain(&question, situation).unwrap())
                });
                assert_eq!(whole, on_demand, "{name}: {text}");
                asked += 1;
            }
        }
    }
    assert!(asked > 100);
}

#[test]
fn long_chains_of_reasons_are_cut() {
    let length = 15_000;
    let mut rules = String::from("(role r) (init (s 0)) (<= c0 (true (s 0)))");
    for number in 0..length {
        rules += &format!("(<= c{} c{number})\n", number + 1);
    }
    rules += &format!("(<= (legal r go) c{length}) (<= terminal c{length}) (goal r 100)");
    let game = Game::from_text("chain", &rules).unwrap();
    let mut machine = AnyMachine::new(&game, Backend::Datalog, Limits::default()).unwrap();
    let state = machine.initial().unwrap();
    let facts = machine.facts(&state);
    let situation = Situation {
        facts: &facts,
        joint: None,
    };
    let terms = machine.terms().clone();
    let options = ExplainOptions::default();
    let mut explainer = Explainer::new(&game, terms, Limits::default(), options);
    let question = explainer.question("(legal r go)").unwrap();
    let answer = explainer.explain(&question, situation).unwrap();
    let mut lines = 1;
    let mut tree = &explainer.trees(&answer)[0];
    while let Some(below) = tree.because.first() {
        (tree, lines) = (below, lines + 1);
    }
    assert_eq!(lines, 202);
    assert_eq!(tree.text, "14802 more facts below it: ask why it holds");
}
