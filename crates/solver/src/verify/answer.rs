//! Answers as text, for people and programs.
//!
//! In: what a method came to. Out: the same with facts and moves as canonical
//! texts, to be written as JSON and read again.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::planning::{Outcome, Reason};
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::network::Node;
use ggp_gdl::game::Game;
use ggp_gdl::program::{Atom, FunctorId, Literal, Shape, Term};
use ggp_gdl::symbol::Case;
use ggp_gdl::terms::TermId;

/// An answer, and what it is an answer to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The game's name.
    pub game: String,
    /// The [`digest`] of its rules.
    pub rules: String,
    /// The facts that it begins with.
    pub start: Vec<String>,
    /// The least score that is wanted.
    pub target: u8,
    /// The answer.
    pub answer: Answer,
}

/// What came of a puzzle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// Each of these plans leads to the target.
    Solved {
        /// Moves, in order.
        plans: Vec<Vec<String>>,
        /// Whether it is claimed that no plan is shorter.
        optimal: bool,
        /// Whether it is claimed that there are no others that short.
        #[serde(default)]
        all: bool,
        /// Why no plan is shorter, unless it is to be seen by looking at all that are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        least: Option<Flips>,
    },
    /// These plans lead to different ends that are worth the target.
    Counted {
        /// Moves, in order.
        plans: Vec<Vec<String>>,
        /// Whether it is claimed that there are no other such ends.
        all: bool,
        /// Why, unless it is to be seen by looking at all positions: no other end
        /// has all this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<Given>,
    },
    /// Nothing leads to the target.
    Unsolvable {
        /// Why.
        proof: Proof,
    },
    /// No plan has so many moves or fewer.
    NoSolutionWithin {
        /// Moves.
        moves: u32,
    },
    /// It was not found out.
    OutOfBudget {
        /// No plan has so many moves or fewer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        no_solution_within: Option<u32>,
        /// The best end that was met.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best: Option<End>,
    },
}

/// An end that is not good enough.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// What it is worth.
    pub score: u8,
    /// The way there.
    pub plan: Vec<String>,
}

/// Facts that each move flips or leaves as they are, whatever the state: going by
/// them, no fewer moves lead to a solution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flips {
    /// The facts.
    pub facts: Vec<String>,
    /// What is taken for granted.
    #[serde(default, skip_serializing_if = "Given::is_empty")]
    pub given: Given,
}

impl Flips {
    /// Facts of a network, with what it takes for granted.
    pub fn of(net: &Propnet, facts: &[u32]) -> Flips {
        let terms = net.terms();
        let text = |&fact: &u32| net.game().canonical(&terms, net.facts()[fact as usize]);
        Flips {
            facts: facts.iter().map(text).collect(),
            given: Given::of(net),
        }
    }
}

/// What holds at the start and is kept by every move.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Of each list of facts, or negations of facts as `(not FACT)`, one holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<Vec<String>>,
    /// Facts of which no two hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusive: Vec<Vec<String>>,
}

impl Given {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty() && self.exclusive.is_empty()
    }

    /// What a network takes for granted of every state, and clauses over its facts.
    pub fn with(net: &Propnet, clauses: &[Vec<(u32, bool)>]) -> Given {
        let terms = net.terms();
        let mut given = Given::of(net);
        for clause in clauses {
            let clause = clause.iter().map(|&(fact, holds)| {
                let fact = net.game().canonical(&terms, net.facts()[fact as usize]);
                literal(fact, holds)
            });
            given.clauses.push(clause.collect());
        }
        given
    }

    /// What a network takes for granted of every state.
    fn of(net: &Propnet) -> Given {
        let terms = net.terms();
        let text = |fact: usize| net.game().canonical(&terms, net.facts()[fact]);
        let mut given = Given::default();
        for &(fact, equal) in net.assumed() {
            match net.network().node(equal.node()) {
                Node::Input(other) => {
                    for value in [true, false] {
                        let other = literal(text(other), value == equal.is_negated());
                        given.clauses.push(vec![literal(text(fact), value), other]);
                    }
                }
                _ => given
                    .clauses
                    .push(vec![literal(text(fact), equal.is_negated())]),
            }
        }
        for group in net.exclusive() {
            let facts: Vec<String> = group.facts.iter().map(|&fact| text(fact)).collect();
            if group.exact {
                given.clauses.push(facts.clone());
            }
            given.exclusive.push(facts);
        }
        given
    }
}

fn literal(fact: String, holds: bool) -> String {
    match holds {
        true => fact,
        false => format!("(not {fact})"),
    }
}

/// Why there is no plan; see [`Reason`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Proof {
    /// All positions were looked at.
    Exhausted {
        /// So many, if they were counted; not more than there are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        positions: Option<u64>,
    },
    /// A set of facts of which each move changes an even number.
    Parity {
        /// The facts.
        facts: Vec<String>,
        /// Sums that tell what can hold in a solution.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<Vec<(String, i64)>>,
        /// What is taken for granted.
        #[serde(default, skip_serializing_if = "Given::is_empty")]
        given: Given,
    },
    /// A sum that no move makes larger.
    Potential {
        /// Facts and their weights.
        weights: Vec<(String, i64)>,
        /// What is taken for granted.
        #[serde(default, skip_serializing_if = "Given::is_empty")]
        given: Given,
    },
    /// What holds at the start, is kept by every move, and holds in no solution.
    Invariant(Given),
    /// No play is longer, and none is a solution.
    Over {
        /// Moves.
        moves: u32,
    },
    /// Clauses that contradict each other.
    Refuted {
        /// Which, in words.
        what: String,
    },
}

impl Answer {
    /// What a method came to on a network.
    pub fn of(net: &Propnet, outcome: &Outcome) -> Answer {
        let terms = net.terms();
        let text = |fact: u32| net.game().canonical(&terms, net.facts()[fact as usize]);
        let fact = |&fact: &u32| text(fact);
        let facts = |facts: &Vec<u32>| facts.iter().map(fact).collect::<Vec<String>>();
        let sum = |weights: &Vec<(u32, i64)>| -> Vec<(String, i64)> {
            let weights = weights.iter();
            weights.map(|(one, weight)| (fact(one), *weight)).collect()
        };
        let proof = match outcome {
            Outcome::Solved { plan, optimal } => {
                let text = |&chosen: &u32| {
                    let chosen = net.moves()[0][chosen as usize];
                    net.game().canonical(&terms, chosen.term())
                };
                return Answer::Solved {
                    plans: vec![plan.iter().map(text).collect()],
                    optimal: *optimal,
                    all: false,
                    least: None,
                };
            }
            Outcome::NoPlanWithin(moves) => return Answer::NoSolutionWithin { moves: *moves },
            Outcome::Unknown => {
                return Answer::OutOfBudget {
                    no_solution_within: None,
                    best: None,
                };
            }
            Outcome::Unsolvable(Reason::Exhausted { positions }) => Proof::Exhausted {
                positions: Some(*positions),
            },
            // No state at all is a solution.
            Outcome::Unsolvable(Reason::Parity { facts, told })
                if facts.is_empty() && told.is_empty() =>
            {
                Proof::Invariant(Given::of(net))
            }
            Outcome::Unsolvable(Reason::Parity { facts: odd, told }) => Proof::Parity {
                facts: facts(odd),
                told: told.iter().map(sum).collect(),
                given: Given::of(net),
            },
            Outcome::Unsolvable(Reason::Potential { weights }) => Proof::Potential {
                weights: sum(weights),
                given: Given::of(net),
            },
            Outcome::Unsolvable(Reason::Invariant { clauses }) => {
                Proof::Invariant(Given::with(net, clauses))
            }
            Outcome::Unsolvable(Reason::Over { moves }) => Proof::Over { moves: *moves },
            Outcome::Unsolvable(Reason::Refuted { what }) => Proof::Refuted { what: what.clone() },
        };
        Answer::Unsolvable { proof }
    }
}

/// The SHA-256 of a game's facts and rules as they were understood, whatever the
/// names of its files and variables, and the blanks and comments in them.
pub fn digest(game: &Game) -> String {
    let mut text = String::new();
    let line = "a string takes all";
    for fact in &game.rules().facts {
        text.push_str(&name(game, game.relation_functor(fact.relation)));
        for &argument in &fact.arguments {
            write!(text, " {}", game.canonical(game.terms(), argument)).expect(line);
        }
        text.push_str(")\n");
    }
    for rule in &game.rules().rules {
        text.push_str("(<= ");
        write_atom(game, &rule.head, &mut text);
        rule.body
            .iter()
            .for_each(|literal| write_literal(game, literal, &mut text));
        text.push_str(")\n");
    }
    let mut digest = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        write!(digest, "{byte:02x}").expect(line);
    }
    digest
}

/// A functor as it is written before its arguments.
fn name(game: &Game, functor: FunctorId) -> String {
    let functor = game.functors().functor(functor);
    let name = game.symbols().name(functor.name);
    let name = match game.symbols().case() {
        Case::Fold => name.to_lowercase(),
        Case::Keep => name.to_owned(),
    };
    match functor.shape {
        Shape::Bare => format!("{name}("),
        Shape::Applied(_) => format!("({name}"),
    }
}

fn write_literal(game: &Game, literal: &Literal, text: &mut String) {
    let mut pair = |word: &str, left: &Term, right: &Term| {
        text.push_str(word);
        [left, right]
            .iter()
            .for_each(|term| write_term(game, term, text));
        text.push(')');
    };
    match literal {
        Literal::Distinct(left, right, _) => pair("(distinct", left, right),
        Literal::Same(left, right, _) => pair("(same", left, right),
        Literal::Positive(atom) => write_atom(game, atom, text),
        Literal::Negative(atom) => {
            text.push_str("(not");
            write_atom(game, atom, text);
            text.push(')');
        }
        Literal::Any(branches) => {
            text.push_str("(or");
            for branch in branches {
                text.push_str("(and");
                branch
                    .iter()
                    .for_each(|literal| write_literal(game, literal, text));
                text.push(')');
            }
            text.push(')');
        }
    }
}

fn write_atom(game: &Game, atom: &Atom, text: &mut String) {
    text.push_str(&name(game, game.relation_functor(atom.relation)));
    atom.arguments
        .iter()
        .for_each(|term| write_term(game, term, text));
    text.push(')');
}

fn write_term(game: &Game, term: &Term, text: &mut String) {
    text.push(' ');
    match term {
        Term::Ground(id) => text.push_str(&game.canonical(game.terms(), *id)),
        Term::Variable(variable) => {
            text.push('?');
            text.push_str(&variable.index().to_string());
        }
        Term::Apply(functor, arguments) => {
            text.push_str(&name(game, *functor));
            arguments
                .iter()
                .for_each(|term| write_term(game, term, text));
            text.push(')');
        }
    }
}

impl Record {
    /// An answer about a game that begins with these facts.
    pub fn new(game: &Game, start: &[TermId], target: u8, answer: Answer) -> Record {
        let mut terms = game.terms().clone();
        terms.refresh();
        let mut start: Vec<String> = (start.iter())
            .map(|&fact| game.canonical(&terms, fact))
            .collect();
        start.sort_unstable();
        Record {
            game: game.name(),
            rules: digest(game),
            start,
            target,
            answer,
        }
    }
}
