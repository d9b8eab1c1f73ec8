//! Rules that match whole facts of the state by a variable, as public rule sets have them, in games
//! with hidden information: they mean what they mean with a rule for each kind of fact.

use std::collections::{BTreeMap, BTreeSet};

use ggp_engine::machine::{AnyMachine, Backend, Limits, Machine};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_hidden::{BeliefLimits, World};
use rand::RngExt;

use crate::hidden::{Past, SMALL, belief, machine, random, shares, told};

/// Additions to rules, in which `ROLE` is a role of the game and `?f` any fact.
const IDIOMS: [&str; 5] = [
    "(<= (next ?f) (true ?f))",
    "(<= (next (zz seen)) (true ?f))",
    "(<= (sees ROLE ?f) (true ?f))",
    "(<= (sees ROLE (zz ?f)) (true ?f) (does ROLE ?m))",
    "(<= zz-busy (true ?f) (distinct ?f (zz seen))) (<= (legal ROLE zz-move) (not zz-busy))",
];

/// The idiom with each rule that has `?f` written once for each kind of fact.
fn written_out(idiom: &str, kinds: &BTreeSet<(String, usize)>) -> String {
    let rules = idiom
        .split_inclusive(')')
        .fold(vec![String::new()], |mut rules, part| {
            rules.last_mut().unwrap().push_str(part);
            let depth = |text: &str| text.matches('(').count() - text.matches(')').count();
            if depth(rules.last().unwrap()) == 0 {
                rules.push(String::new());
            }
            rules
        });
    let mut text = String::new();
    for rule in rules {
        if !rule.contains("?f") {
            text += &rule;
            continue;
        }
        for (name, arity) in kinds {
            let variables: String = (0..*arity).map(|number| format!(" ?f{number}")).collect();
            let fact = if *arity == 0 {
                name.clone()
            } else {
                format!("({name}{variables})")
            };
            text += &rule.replace("?f", &fact);
        }
    }
    text
}

/// The kinds of facts of a game, by name and number of arguments.
fn kinds(game: &Game) -> BTreeSet<(String, usize)> {
    let AnyMachine::Propnet(machine) = machine(game, Backend::Propnet) else {
        panic!("the game has a network");
    };
    let terms = machine.terms();
    let facts = machine.net().facts().iter();
    let kinds = facts.map(|fact| {
        let text = game.text(terms, *fact);
        let name = text.trim_matches(['(', ')']).split(' ').next().unwrap();
        (name.to_owned(), terms.arguments(*fact).len())
    });
    kinds.collect()
}

/// The percepts of a role, and the positions that fit with their shares.
type Knowledge = (Vec<String>, BTreeMap<Vec<String>, String>);

/// A match with legal moves, percepts, facts and beliefs as text.
struct Playthrough {
    machine: AnyMachine,
    world: World,
    pasts: Vec<Past>,
    state: ggp_engine::machine::PropnetState,
}

impl Playthrough {
    fn new(game: &Game, backend: Backend) -> Playthrough {
        let mut machine = machine(game, backend);
        let roles = game.roles().count();
        Playthrough {
            state: machine.initial().unwrap(),
            machine,
            world: World::new(game, backend, Limits::default()).unwrap(),
            pasts: vec![Past::new(); roles],
        }
    }

    fn texts(&self, terms: &[TermId]) -> Vec<String> {
        let game = self.machine.game();
        let texts = terms
            .iter()
            .map(|term| game.text(self.machine.terms(), *term));
        let mut texts: Vec<String> = texts.collect();
        texts.sort();
        texts
    }

    /// By role: the legal moves; none at the end.
    fn legal(&mut self) -> Vec<Vec<String>> {
        if self.machine.is_terminal(&self.state).unwrap() {
            return Vec::new();
        }
        let roles: Vec<RoleId> = self.machine.game().roles().collect();
        let legal = roles.into_iter().map(|role| {
            let mut legal = Vec::new();
            self.machine.legal(&self.state, role, &mut legal).unwrap();
            let legal: Vec<TermId> = legal.iter().map(|made| made.term()).collect();
            self.texts(&legal)
        });
        legal.collect()
    }

    /// Makes a joint move. By role: its percepts, and the positions that fit with their shares.
    fn play(&mut self, joint: &[String]) -> Vec<Knowledge> {
        let moves = joint
            .iter()
            .map(|text| self.machine.read_move(text).unwrap());
        let joint: Vec<Move> = moves.collect();
        let roles: Vec<RoleId> = self.machine.game().roles().collect();
        let mut percepts_of_roles = Vec::new();
        for role in &roles {
            let percepts = told(&mut self.machine, &self.state, &joint, *role);
            percepts_of_roles.push(self.texts(&percepts));
            self.pasts[role.index()].push((joint[role.index()], percepts));
        }
        self.state = self.machine.next(&self.state, &joint).unwrap();
        let beliefs = roles.iter().map(|role| {
            let (limits, mut random) = (BeliefLimits::default(), random());
            let past = &self.pasts[role.index()];
            let belief = belief(&mut self.world, *role, past, limits, false, &mut random).unwrap();
            let shares = shares(&self.world, belief.members());
            self.machine.terms_mut().refresh();
            let texts = shares.into_iter();
            texts
                .map(|(facts, share)| (self.texts(&facts), format!("{share:.9}")))
                .collect()
        });
        let beliefs: Vec<_> = beliefs.collect();
        percepts_of_roles.into_iter().zip(beliefs).collect()
    }
}

#[test]
fn whole_facts_are_no_percepts() {
    let mut random = random();
    let mut compared = 0;
    for name in SMALL {
        let path = format!("{}/games/{name}.kif", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let game = Game::from_text(name, &text).unwrap();
        let mut kinds = kinds(&game);
        kinds.insert(("zz".to_owned(), 1));
        let role = game.roles().find(|role| !game.is_random(*role)).unwrap();
        for idiom in IDIOMS {
            let idiom = idiom.replace("ROLE", game.role_name(role));
            let whole = Game::from_text("whole", &format!("{text}\n{idiom}")).unwrap();
            let out = written_out(&idiom, &kinds);
            let out = Game::from_text("written out", &format!("{text}\n{out}")).unwrap();
            for backend in [Backend::Propnet, Backend::Datalog] {
                let (mut whole, mut out) = (
                    Playthrough::new(&whole, backend),
                    Playthrough::new(&out, backend),
                );
                for _ in 0..3 {
                    let legal = out.legal();
                    let what = format!("{name}: {idiom} {backend:?}");
                    assert_eq!(whole.legal(), legal, "{what}");
                    if legal.is_empty() || legal.iter().any(Vec::is_empty) {
                        break;
                    }
                    let joint = legal.iter();
                    let joint =
                        joint.map(|legal| legal[random.random_range(0..legal.len())].clone());
                    let joint: Vec<String> = joint.collect();
                    assert_eq!(whole.play(&joint), out.play(&joint), "{what} {joint:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared >= 60, "{compared} joint moves were compared");
}
