//! Explanations as values.

use std::fmt;

use ggp_engine::machine::PlayError;
use ggp_gdl::counted::counted;
use ggp_gdl::program::{Atom, Literal, RelationId};
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

/// A relation applied to ground terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GroundAtom {
    /// The relation.
    pub relation: RelationId,
    /// One term for each column of the relation.
    pub arguments: Box<[TermId]>,
}

/// The answer to a question, with its explanation.
#[derive(Clone, Debug)]
pub enum Explanation {
    /// At least one fact matches the question.
    Holds {
        /// Derivations of the first matching facts.
        derivations: Vec<Derivation>,
        /// The other matching facts.
        others: Vec<GroundAtom>,
    },
    /// No fact matches the question.
    Fails(Missing),
    /// The question is a negation; this is the explanation of the negated question.
    Not(Box<Explanation>),
    /// The question compares two terms.
    Test {
        /// True if the question is whether they are equal, false if whether they
        /// differ.
        equal: bool,
        /// The first term.
        left: TermId,
        /// The second term.
        right: TermId,
    },
}

impl Explanation {
    /// True if the answer to the question is yes.
    pub fn holds(&self) -> bool {
        match self {
            Explanation::Holds { .. } => true,
            Explanation::Fails(_) => false,
            Explanation::Not(answer) => !answer.holds(),
            Explanation::Test { equal, left, right } => *equal == (left == right),
        }
    }
}

/// An acyclic proof of a fact.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The proven fact first; each fact occurs once.
    pub proofs: Vec<Proof>,
    /// Number of rule instances that derive the fact, as far as they were examined.
    pub instances: usize,
    /// True if no derivation is smaller when written as a tree. False if there were
    /// too many derivations to compare.
    pub smallest: bool,
}

/// A fact and the reason why it holds.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The fact.
    pub fact: GroundAtom,
    /// The reason.
    pub reason: Reason,
}

/// The reason why a fact holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// It is a fact of the rules, at this place.
    Stated(Span),
    /// It is true in the state.
    InState,
    /// It is a move made.
    Made,
    /// A rule derives it.
    Rule {
        /// An index into [`RuleSet::rules`](ggp_gdl::program::RuleSet::rules).
        rule: usize,
        /// The values of the rule's variables; `None` for those not used.
        bindings: Box<[Option<TermId>]>,
        /// The premises of its body, in the order of its literals.
        premises: Vec<Premise>,
    },
}

/// A premise of a rule instance.
#[derive(Clone, PartialEq, Debug)]
pub enum Premise {
    /// A fact that holds, as an index into [`Derivation::proofs`].
    Fact(usize),
    /// A fact that does not hold.
    Absent(GroundAtom),
    /// A comparison of two terms.
    Test {
        /// True if they are equal, false if they differ.
        equal: bool,
        /// The first term.
        left: TermId,
        /// The second term.
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

/// An atom that no fact matches, with the reason.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The atom.
    pub atom: Atom,
    /// The names of its variables.
    pub names: Box<[Box<str>]>,
    /// The reason.
    pub reason: MissingReason,
    /// The total cost of everything missing in the best rule, where each missing atom
    /// in turn costs as much as its own best rule.
    pub cost: u32,
    /// True if a rule asks for the atom in a form that no fact can ever have.
    pub never: bool,
}

/// The reason why no fact matches an atom.
#[derive(Clone, Debug)]
pub enum MissingReason {
    /// No rule could derive one: the relation consists of facts of the state, moves
    /// or stated facts. The most similar facts are given.
    Given(Vec<GroundAtom>),
    /// It is being explained already: it would depend on itself.
    Circular,
    /// The depth limit was reached. The most similar facts are given.
    DepthLimit(Vec<GroundAtom>),
    /// Every rule lacks something.
    Rules {
        /// The rules that lack least, best first.
        attempts: Vec<Attempt>,
        /// Number of rules left out because they lack more.
        worse: usize,
        /// Rules of the relation whose heads never match the atom.
        apart: Vec<usize>,
        /// The most similar facts, if no head matches.
        nearest: Vec<GroundAtom>,
    },
}

/// A rule that does not derive a fact, with what it lacks.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// An index into [`RuleSet::rules`](ggp_gdl::program::RuleSet::rules).
    pub rule: usize,
    /// The names of the variables in the outcomes.
    pub names: Box<[Box<str>]>,
    /// The outcome of each literal, in the order of the body.
    pub outcomes: Vec<LiteralOutcome>,
    /// The total cost of the missing literals.
    pub cost: u32,
}

/// A literal of a rule that does not apply, with its status.
#[derive(Clone, Debug)]
pub struct LiteralOutcome {
    /// The literal, with bound variables replaced.
    pub literal: Literal,
    /// Its status.
    pub state: LiteralStatus,
    /// The cost if it is missing.
    pub cost: u32,
}

/// The status of a literal.
#[derive(Clone, Debug)]
pub enum LiteralStatus {
    /// It holds.
    Holds,
    /// Its variables depend on missing literals.
    Open,
    /// There is too much to examine to decide whether it holds.
    Unknown,
    /// No fact matches it.
    Missing(Box<Missing>),
    /// It is the negation of a fact that holds.
    Violated(Derivation),
    /// It is a comparison that fails.
    Fails,
    /// It is a disjunction of which no branch holds.
    NoBranch(Vec<Vec<LiteralOutcome>>),
}

/// The reason why there is no explanation.
#[derive(Clone, PartialEq, Eq)]
pub enum ExplainError {
    /// The question depends on moves, and none were given.
    NoMoves,
    /// The work limit [`ExplainOptions::work`](super::ExplainOptions::work) was
    /// exceeded; the number is the limit.
    Large(u64),
    /// A fact of the model has no derivation, which is a defect of this program.
    Underivable,
    /// The rules could not be evaluated, for example because of a limit or an
    /// interrupt.
    Play(PlayError),
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainError::NoMoves => {
                f.write_str("the question depends on the moves made, but none are given")
            }
            ExplainError::Large(limit) => {
                let most = counted(limit, "fact or rule instance");
                write!(f, "more than {most} to examine; raise --max-instances")
            }
            ExplainError::Underivable => {
                f.write_str("internal error: a fact that holds has no derivation")
            }
            ExplainError::Play(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExplainError {}

ggp_gdl::debug_as_display!(ExplainError);

impl From<PlayError> for ExplainError {
    fn from(error: PlayError) -> Self {
        ExplainError::Play(error)
    }
}
