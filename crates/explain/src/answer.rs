//! What is said of a question, as values.

use std::fmt;

use ggp_engine::machine::PlayError;
use ggp_gdl::program::{Atom, Literal, RelationId};
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

/// A relation applied to ground terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FactOf {
    /// The relation.
    pub relation: RelationId,
    /// As many terms as it has columns.
    pub arguments: Box<[TermId]>,
}

/// What is said of a question.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Facts match it.
    Holds {
        /// The first of them, explained.
        derivations: Vec<Derivation>,
        /// The others.
        others: Vec<FactOf>,
    },
    /// Nothing does.
    Fails(Missing),
    /// It is the negation of what this is the answer to.
    Not(Box<Answer>),
    /// It compares two terms.
    Test {
        /// Whether they are to be the same.
        equal: bool,
        /// One.
        left: TermId,
        /// The other.
        right: TermId,
    },
}

impl Answer {
    /// Whether what was asked holds.
    pub fn holds(&self) -> bool {
        match self {
            Answer::Holds { .. } => true,
            Answer::Fails(_) => false,
            Answer::Not(answer) => !answer.holds(),
            Answer::Test { equal, left, right } => *equal == (left == right),
        }
    }
}

/// Why a fact holds: facts that rest on each other, never in a circle.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The fact in question first, each but once.
    pub proofs: Vec<Proof>,
    /// Instances of rules that give the fact, as far as they were looked at.
    pub ways: usize,
    /// Whether no derivation is smaller when written as a tree. It may be where
    /// there were too many to look at.
    pub smallest: bool,
}

/// A fact and what it rests on.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The fact.
    pub fact: FactOf,
    /// Why it holds.
    pub reason: Reason,
}

/// Why a fact holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// The rules state it.
    Stated(Span),
    /// It is true in the state.
    InState,
    /// It is a move made.
    Made,
    /// A rule gives it.
    Rule {
        /// As an index into [`RuleSet::rules`](ggp_gdl::program::RuleSet::rules).
        rule: usize,
        /// The values of its variables; nothing for those it does not use.
        bindings: Box<[Option<TermId>]>,
        /// What its body rests on, in the order of its literals.
        premises: Vec<Premise>,
    },
}

/// Something that a rule's body rests on.
#[derive(Clone, PartialEq, Debug)]
pub enum Premise {
    /// A fact, as an index into [`Derivation::proofs`].
    Fact(usize),
    /// A fact that does not hold.
    Absent(FactOf),
    /// Two terms that are the same, or are not.
    Test {
        /// Whether they are to be the same.
        equal: bool,
        /// One.
        left: TermId,
        /// The other.
        right: TermId,
    },
}

impl Premise {
    pub(super) fn fact(&self) -> Option<usize> {
        match self {
            Premise::Fact(fact) => Some(*fact),
            _ => None,
        }
    }
}

/// An atom that no fact matches.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The atom.
    pub atom: Atom,
    /// The names of its variables.
    pub names: Box<[Box<str>]>,
    /// Why there is none.
    pub reason: Nothing,
    /// How much is missed: the price of all that the best rule misses, each in
    /// turn by its own best rule.
    pub cost: u32,
    /// Whether a rule asks for it in a form of which nothing ever makes a fact.
    pub never: bool,
}

/// Why no fact matches an atom.
#[derive(Clone, Debug)]
pub enum Nothing {
    /// No rule could give one: it is part of the state, a move, or stated. Facts
    /// that differ least.
    Given(Vec<FactOf>),
    /// It is what is being explained: it would rest on itself.
    Circle,
    /// As deep as was asked for. Facts that differ least.
    Cut(Vec<FactOf>),
    /// Each rule misses something.
    Rules {
        /// The rules that miss least, best first.
        attempts: Vec<Attempt>,
        /// Number of rules that are left out because they miss more.
        worse: usize,
        /// Rules of the relation whose heads are never of this form.
        apart: Vec<usize>,
        /// Facts that differ least, if all rules are such.
        nearest: Vec<FactOf>,
    },
}

/// What a rule misses to give a fact.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// As an index into [`RuleSet::rules`](ggp_gdl::program::RuleSet::rules).
    pub rule: usize,
    /// The names of the variables in the outcomes.
    pub names: Box<[Box<str>]>,
    /// What became of each literal, in the order of the body.
    pub outcomes: Vec<Outcome>,
    /// The price of what is missed.
    pub cost: u32,
}

/// A literal of a rule that does not apply.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The literal, bound variables replaced.
    pub literal: Literal,
    /// What is the matter with it.
    pub state: State,
    /// The price of going without it.
    pub cost: u32,
}

/// What is the matter with a literal.
#[derive(Clone, Debug)]
pub enum State {
    /// It holds.
    Holds,
    /// Its variables depend on what is missed.
    Open,
    /// There is too much to look at to say whether it holds.
    Unknown,
    /// No fact matches it.
    Missing(Box<Missing>),
    /// It is the negation of a fact that holds.
    Unwanted(Derivation),
    /// It compares terms, and they are not as it wants them.
    Fails,
    /// It is an alternative of which no branch holds.
    NoBranch(Vec<Vec<Outcome>>),
}

/// Why there is no explanation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExplainError {
    /// The question depends on moves, and none were given.
    NoMoves,
    /// More work than [`Options::work`](super::Options::work), the number.
    Large(u64),
    /// A fact of the model has no derivation: a defect of this program.
    Underivable,
    /// The rules derive too much, or an interrupt.
    Play(PlayError),
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainError::NoMoves => f.write_str("this depends on moves, and none are made"),
            ExplainError::Large(limit) => {
                write!(
                    f,
                    "more than {limit} facts and instances of rules to look at; raise --max-instances"
                )
            }
            ExplainError::Underivable => f.write_str("no derivation of a fact that holds"),
            ExplainError::Play(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExplainError {}

impl From<PlayError> for ExplainError {
    fn from(error: PlayError) -> Self {
        ExplainError::Play(error)
    }
}
