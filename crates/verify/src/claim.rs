//! Claims about games, with facts and moves as texts.
//!
//! A [`Record`] is the format of answer files: JSON that `ggp solve` writes and `ggp
//! verify` reads.

use std::error::Error;
use std::fmt::{self, Write as _};

use hmac_sha256::Hash as Sha256;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use ggp_gdl::game::{Game, Score};
use ggp_gdl::program::{Atom, FunctorId, Literal, Shape, Term};
use ggp_gdl::symbol::Case;
use ggp_gdl::terms::TermId;

/// A claim and the question that it answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The game's name.
    pub game: String,
    /// The [`digest`] of its rules.
    pub rules: String,
    /// The facts of the first state.
    pub start: Vec<String>,
    /// The least score that counts as solved.
    pub target: u8,
    /// The claim.
    pub answer: Claim,
}

/// A claim about the plans of a game with one role.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Claim {
    /// Each of these plans leads to the target.
    Solved {
        /// Moves, in order.
        plans: Vec<Vec<String>>,
        /// Whether it is claimed that no plan is shorter.
        optimal: bool,
        /// Whether it is claimed that there are no other plans of that length.
        all: bool,
        /// A proof that no plan is shorter; without it all shorter ones are searched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        least: Option<Flips>,
    },
    /// These plans lead to different ends with the target score.
    Counted {
        /// Moves, in order.
        plans: Vec<Vec<String>>,
        /// Whether it is claimed that there are no other ends with that score.
        all: bool,
        /// A proof: no other end with that score has all these properties. Without it all
        /// positions are searched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proof: Option<Given>,
    },
    /// No plan reaches the target.
    Unsolvable {
        /// The proof.
        proof: Proof,
    },
    /// No plan has at most this number of moves.
    NoSolutionWithin {
        /// Moves.
        moves: u32,
    },
    /// The search ended without an answer.
    OutOfBudget {
        /// No plan has at most this number of moves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        no_solution_within: Option<u32>,
        /// The best end that was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        best: Option<End>,
    },
}

/// An end whose score is below the target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Its score.
    pub score: u8,
    /// The moves that lead there.
    pub plan: Vec<String>,
}

/// Facts that each move flips or leaves unchanged, whatever the state. They prove that no
/// plan is shorter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flips {
    /// The facts.
    pub facts: Vec<String>,
    /// The assumptions of the proof.
    #[serde(default, skip_serializing_if = "Given::is_empty")]
    pub given: Given,
}

/// An invariant: it holds at the start and every move keeps it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Clauses: in each list of facts, or negations of facts as `(not FACT)`, one holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clauses: Vec<Vec<String>>,
    /// Groups of facts of which no two hold together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusive: Vec<Vec<String>>,
}

impl Given {
    /// Whether it contains nothing.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty() && self.exclusive.is_empty()
    }
}

/// A proof that there is no plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Proof {
    /// All reachable positions were searched.
    Exhausted {
        /// Their number, if they were counted; at most the number of reachable positions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        positions: Option<u64>,
    },
    /// Each move changes an even number of these facts; a solution needs an odd change.
    Parity {
        /// The facts.
        facts: Vec<String>,
        /// Weighted sums that restrict the facts of a solution.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<Vec<(String, i64)>>,
        /// The assumptions of the proof.
        #[serde(default, skip_serializing_if = "Given::is_empty")]
        given: Given,
    },
    /// No move makes this weighted sum larger, and a solution has a larger one.
    Potential {
        /// Facts and their weights.
        weights: Vec<(String, i64)>,
        /// The assumptions of the proof.
        #[serde(default, skip_serializing_if = "Given::is_empty")]
        given: Given,
    },
    /// An invariant that holds in no solution.
    Invariant(Given),
    /// No play is longer, and no play is a solution.
    Over {
        /// Moves.
        moves: u32,
    },
    /// Clauses of the solver contradict each other; they are not written down.
    Refuted {
        /// A description of the clauses.
        what: String,
    },
}

/// The SHA-256 of a game's facts and rules, as a hexadecimal number. It does not depend on
/// the names of files and variables, on blanks and on comments.
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
    for byte in Sha256::hash(text.as_bytes()) {
        write!(digest, "{byte:02x}").expect(line);
    }
    digest
}

/// The text of a functor before its arguments.
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
    /// A record of a claim about a game that begins with these facts.
    pub fn new(game: &Game, start: &[TermId], target: u8, answer: Claim) -> Record {
        let mut terms = game.terms().clone();
        terms.refresh();
        let mut start: Vec<String> = (start.iter())
            .map(|&fact| game.text(&terms, fact))
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

    /// The facts of the first state, and the least score that counts as solved.
    ///
    /// # Errors
    ///
    /// The reason why the record is not an answer about this game.
    pub fn question(&self, game: &Game) -> Result<(Vec<TermId>, Score), BadRecord> {
        if self.rules != digest(game) {
            return Err(BadRecord::OtherRules(self.game.clone()));
        }
        let target = Score::new(self.target).ok_or(BadRecord::Target)?;
        let mut terms = game.terms().clone();
        let facts = self.start.iter().map(|fact| {
            let term = game.parse_term(&mut terms, fact);
            term.map_err(|error| BadRecord::Fact(error.to_string()))
        });
        let facts = facts.collect::<Result<Vec<_>, _>>()?;
        let mut seen = FxHashSet::default();
        match self.start.iter().find(|fact| !seen.insert(*fact)) {
            Some(twice) => Err(BadRecord::Twice(twice.clone())),
            None => Ok((facts, target)),
        }
    }
}

/// The reason why a record is not an answer about a game.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadRecord {
    /// Its rules are those of a game of this name, or of another instance.
    OtherRules(String),
    /// The target is not a score from 0 to 100.
    Target,
    /// A fact of the first state cannot be read, for this reason.
    Fact(String),
    /// The first state has this fact more than once.
    Twice(String),
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadRecord::OtherRules(game) => {
                write!(
                    f,
                    "it is for other rules, or another grid: its game is {game}"
                )
            }
            BadRecord::Target => f.write_str("the target must be from 0 to 100"),
            BadRecord::Fact(why) => {
                write!(f, "the start state has a term that is not a fact: {why}")
            }
            BadRecord::Twice(fact) => write!(f, "the start state has {fact} twice"),
        }
    }
}

impl Error for BadRecord {}

ggp_gdl::debug_as_display!(BadRecord);
