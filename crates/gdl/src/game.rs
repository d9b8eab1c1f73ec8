//! A checked rule set.
//!
//! A [`Game`] exists only if every check passed. It is immutable and shared between
//! threads. The evaluators take a `Game`, so unchecked rules cannot be run.

#[doc(hidden)]
pub mod flat;
mod goal_choice;
mod telling;
mod text;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;

use crate::check::lower::Lowered;
use crate::check::{self, Keyword, ReadOptions, Reading, is_chance};
use crate::program::strata::for_each_body_atom;
use crate::program::{Atom, FunctorId, Functors, RelationId, RuleSet, Shape};
use crate::span::{Source, Sources};
use crate::symbol::Symbols;
use crate::terms::{TermId, Terms};

pub use goal_choice::GoalChoice;
pub use telling::Telling;
pub use text::ParseTermError;

/// A role of one [`Game`]; ids are dense, in the order of the rule file.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RoleId(u32);

impl RoleId {
    /// Position among [`Game::roles`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A move of one [`Game`]: the second argument of `legal` and `does`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Move(TermId);

impl Move {
    /// The move denoted by a term.
    pub fn new(term: TermId) -> Self {
        Move(term)
    }

    /// The term of the move.
    pub fn term(self) -> TermId {
        self.0
    }
}

/// The score of a role: 0 to 100.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(transparent)]
pub struct Score(u8);

impl Score {
    /// The maximum score.
    pub const MAX: Score = Score(100);

    /// A score, if `value` is at most 100.
    pub fn new(value: u8) -> Option<Score> {
        (value <= 100).then_some(Score(value))
    }

    /// The score as a number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The reason why a symbol is not a goal value.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BadScore {
    /// The symbol is not an integer.
    NotAnInteger,
    /// The integer is below 0 or above 100.
    OutOfRange,
}

/// Reads a goal value: decimal digits with an optional sign, from 0 to 100. `+50` and
/// `007` are accepted and mean 50 and 7.
pub fn parse_score(text: &str) -> Result<Score, BadScore> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadScore::NotAnInteger);
    }
    match text.parse::<i64>() {
        Ok(value @ 0..=100) => Ok(Score(value as u8)),
        _ => Err(BadScore::OutOfRange),
    }
}

/// A checked, immutable rule set.
#[derive(Clone, Debug)]
pub struct Game {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    lowered: Lowered,
    sources: Sources,
    roles: Vec<TermId>,
    keywords: Vec<Option<RelationId>>,
    /// The functors of facts; `None` if a rule has a variable for a whole fact.
    fact_functors: OnceLock<Option<FxHashSet<FunctorId>>>,
    /// A choice among goal values, and the game without it.
    chosen: Option<(GoalChoice, Game)>,
}

impl Game {
    pub(crate) fn new(lowered: Lowered, roles: Vec<TermId>, sources: Sources) -> Game {
        let keywords = Keyword::ALL
            .iter()
            .map(|keyword| lowered.keyword_relation(*keyword))
            .collect();
        Game {
            inner: Arc::new(Inner {
                lowered,
                sources,
                roles,
                keywords,
                fact_functors: OnceLock::new(),
                chosen: None,
            }),
        }
    }

    /// Reads one rule text with the default options.
    ///
    /// # Errors
    ///
    /// The [`Reading`] with all findings, if any of them is an error.
    pub fn from_text(name: &str, text: &str) -> Result<Game, Box<Reading>> {
        let mut reading = check::read(
            Sources::from(Source::new(name, text)),
            &ReadOptions::default(),
        );
        reading.game.take().ok_or_else(|| Box::new(reading))
    }

    /// The name of the first rule file without folder and extension.
    pub fn name(&self) -> String {
        let file = self.inner.sources.files().first();
        let path = Path::new(file.map_or("", |file| file.name()));
        let stem = path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// Number of roles.
    pub fn role_count(&self) -> usize {
        self.inner.roles.len()
    }

    /// All roles, in the order of the rule file.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = RoleId> + use<> {
        (0..self.inner.roles.len() as u32).map(RoleId)
    }

    /// The constant that names a role.
    pub fn role_term(&self, role: RoleId) -> TermId {
        self.inner.roles[role.index()]
    }

    /// The role named by a term.
    pub fn role_of(&self, term: TermId) -> Option<RoleId> {
        let index = self.inner.roles.iter().position(|role| *role == term)?;
        Some(RoleId(index as u32))
    }

    /// The role with a name. Letter case matters only if it does in the rules.
    pub fn role_named(&self, name: &str) -> Option<RoleId> {
        let symbol = self.symbols().get(name)?;
        self.roles().find(|role| {
            let functor = self.terms().functor(self.role_term(*role));
            self.functors().functor(functor).name == symbol
        })
    }

    /// The role's name as the rules write it.
    pub fn role_name(&self, role: RoleId) -> &str {
        let functor = self.terms().functor(self.role_term(role));
        self.symbols().name(self.functors().functor(functor).name)
    }

    /// True for the role `random`, whose moves are chosen uniformly at random.
    pub fn is_random(&self, role: RoleId) -> bool {
        is_chance(self.role_name(role))
    }

    /// The first role that is not chance, or the first one.
    pub fn first_player(&self) -> RoleId {
        let mut roles = self.roles().filter(|role| !self.is_random(*role));
        let first = roles.next().or_else(|| self.roles().next());
        first.expect("a game has roles")
    }

    /// The facts and rules.
    pub fn rules(&self) -> &RuleSet {
        &self.inner.lowered.rules
    }

    /// Whether some rule makes, lists or reads facts of this form in a state.
    fn has_facts_of(&self, functor: FunctorId) -> bool {
        let functors = self.inner.fact_functors.get_or_init(|| {
            let keywords = [Keyword::Init, Keyword::True, Keyword::Next, Keyword::Base];
            let relations = keywords.map(|keyword| self.keyword(keyword));
            let is_of_facts = |relation| relations.contains(&Some(relation));
            let (rules, terms) = (self.rules(), self.terms());
            let facts = rules.facts.iter().filter(|fact| is_of_facts(fact.relation));
            let mut functors: FxHashSet<FunctorId> =
                facts.map(|fact| terms.functor(fact.arguments[0])).collect();
            let mut has_variable = false;
            let mut visit = |atom: &Atom| {
                if is_of_facts(atom.relation) {
                    match atom.arguments[0].functor(terms) {
                        Some(functor) => _ = functors.insert(functor),
                        None => has_variable = true,
                    }
                }
            };
            for rule in &rules.rules {
                visit(&rule.head);
                for_each_body_atom(rule, |atom, _| visit(atom));
            }
            (!has_variable).then_some(functors)
        });
        functors
            .as_ref()
            .is_none_or(|functors| functors.contains(&functor))
    }

    /// The relation of a keyword, if the rules use it.
    pub fn keyword(&self, keyword: Keyword) -> Option<RelationId> {
        self.inner.keywords[keyword as usize]
    }

    /// The functor of a relation.
    pub fn relation_functor(&self, relation: RelationId) -> FunctorId {
        self.inner.lowered.relation_functor[relation.index()]
    }

    /// The name of a relation as the rules write it.
    pub fn relation_name(&self, relation: RelationId) -> &str {
        self.inner.lowered.relation_name(relation)
    }

    /// The functors of relations and terms.
    pub fn functors(&self) -> &Functors {
        &self.inner.lowered.functors
    }

    /// The terms of the rule text. Clone the view to create further terms.
    pub fn terms(&self) -> &Terms {
        &self.inner.lowered.terms
    }

    /// The names.
    pub fn symbols(&self) -> &Symbols {
        &self.inner.lowered.symbols
    }

    /// The rule files.
    pub fn sources(&self) -> &Sources {
        &self.inner.sources
    }

    /// The score denoted by a goal value.
    ///
    /// # Errors
    ///
    /// [`BadScore`] if the value is not an integer from 0 to 100.
    pub fn score(&self, terms: &Terms, value: TermId) -> Result<Score, BadScore> {
        let functor = self.functors().functor(terms.functor(value));
        match functor.shape {
            Shape::Bare => parse_score(self.symbols().name(functor.name)),
            Shape::Applied(_) => Err(BadScore::NotAnInteger),
        }
    }

    /// True if both values are handles of the same game, not only of equal games.
    pub fn is_same(&self, other: &Game) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}
