//! One goal value in place of several.
//!
//! In: a game in which a role may have several goal values in a state, which the language does
//! not allow. Out: the same game with rules that take the highest or the lowest of them. So every
//! part that runs games, from the reference evaluator to machine code over many lanes, agrees.
//! Values that are not integers from 0 to 100 are kept, as they are faults of another kind.

use std::fmt;
use std::str::FromStr;

use super::telling::add_relation;
use super::{Game, parse_score};
use crate::check::Keyword;
use crate::check::lower::Lowered;
use crate::program::{Atom, Functor, FunctorId, Literal, RelationId, Rule, Shape, Term, Variable};
use crate::span::Span;
use crate::terms::TermId;

/// The treatment of several goal values of one role in one state.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum GoalChoice {
    /// They are an error.
    #[default]
    Error,
    /// The highest is the score.
    Highest,
    /// The lowest is the score.
    Lowest,
}

impl GoalChoice {
    /// All choices.
    pub const ALL: [GoalChoice; 3] = [GoalChoice::Error, GoalChoice::Highest, GoalChoice::Lowest];

    /// The name: `error`, `highest` or `lowest`.
    pub fn name(self) -> &'static str {
        match self {
            GoalChoice::Error => "error",
            GoalChoice::Highest => "highest",
            GoalChoice::Lowest => "lowest",
        }
    }
}

impl fmt::Display for GoalChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for GoalChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = GoalChoice::ALL
            .into_iter()
            .find(|choice| choice.name() == text);
        found.ok_or_else(|| format!("`{text}` is not error, highest or lowest"))
    }
}

impl Game {
    /// The same game with rules that choose among several goal values. Its terms are those of this
    /// game: ids mean the same in both.
    ///
    /// ```
    /// # use ggp_gdl::game::{Game, GoalChoice};
    /// let rules = "(role a) (legal a x) (init p) terminal (goal a 20) (goal a 70)";
    /// let game = Game::from_text("rules", rules)?;
    /// let chosen = game.choosing_goals(GoalChoice::Highest);
    /// assert_eq!(chosen.goal_choice(), GoalChoice::Highest);
    /// assert!(chosen.as_written().is_same(&game));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn choosing_goals(&self, choice: GoalChoice) -> Game {
        let written = self.as_written();
        let (Some(all), false) = (written.keyword(Keyword::Goal), choice == GoalChoice::Error)
        else {
            return written.clone();
        };
        let mut lowered = written.inner.lowered.clone();
        choose(&mut lowered, all, choice);
        let (roles, sources) = (written.inner.roles.clone(), written.inner.sources.clone());
        let mut game = Game::new(lowered, roles, sources);
        let inner = std::sync::Arc::get_mut(&mut game.inner).expect("it is the only handle");
        inner.chosen = Some((choice, written.clone()));
        game
    }

    /// The choice among several goal values that the rules were completed with.
    pub fn goal_choice(&self) -> GoalChoice {
        let chosen = self.inner.chosen.as_ref();
        chosen.map_or(GoalChoice::Error, |(choice, _)| *choice)
    }

    /// The game without a choice among several goal values.
    pub fn as_written(&self) -> &Game {
        self.inner.chosen.as_ref().map_or(self, |(_, game)| game)
    }
}

/// The relation of all goal values gets another name, and there are new rules for `goal`: one for
/// each possible score, such as
///
/// ```text
/// goal(?role, 50) <- values(?role, 50), !values(?role, 70), !values(?role, 100)
/// ```
///
/// and one for all values that are not scores.
fn choose(lowered: &mut Lowered, values: RelationId, choice: GoalChoice) {
    let functor = lowered.relation_functor[values.index()];
    let (mut scores, others) = possible_values(lowered, values);
    if choice == GoalChoice::Lowest {
        scores.reverse();
    }
    // Places in messages are those of the first rule.
    let mut heads = lowered.rules.rules.iter().map(|rule| &rule.head);
    let span = heads.find(|head| head.relation == values);
    let span = span.map_or_else(Span::default, |head| head.span);
    let renamed = fresh_functor(lowered, choice);
    lowered.relation_functor[values.index()] = renamed;
    lowered.relations.insert(renamed, values);
    let goal = add_relation(lowered, functor, 2);
    lowered.relations.insert(functor, goal);
    let atom = |relation, value: &Term| Atom {
        relation,
        arguments: vec![Term::Variable(Variable::new(0)), value.clone()],
        span,
    };
    let mut add = |value: &Term, more: Vec<Literal>| {
        let body = std::iter::once(Literal::Positive(atom(values, value)));
        lowered.rules.rules.push(Rule {
            head: atom(goal, value),
            body: body.chain(more).collect(),
            variables: vec!["?role".into(), "?value".into()],
            span,
        });
    };
    for (at, value) in scores.iter().enumerate() {
        let better = scores[at + 1..].iter();
        let better = better.map(|better| Literal::Negative(atom(values, better)));
        add(value, better.collect());
    }
    if others == Others::Possible {
        let value = Term::Variable(Variable::new(1));
        let differ = scores.iter();
        let differ = differ.map(|score| Literal::Distinct(value.clone(), score.clone(), span));
        add(&value, differ.collect());
    }
}

/// Whether a role may have goal values that are not scores.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Others {
    Impossible,
    Possible,
}

/// The constants that may be goal values and are scores, ascending.
fn possible_values(lowered: &mut Lowered, goal: RelationId) -> (Vec<Term>, Others) {
    let rules = &lowered.rules;
    let facts = rules.facts.iter().filter(|fact| fact.relation == goal);
    let facts = facts.map(|fact| Term::Ground(fact.arguments[1]));
    let heads = rules.rules.iter().map(|rule| &rule.head);
    let heads = heads.filter(|head| head.relation == goal);
    let heads = heads.map(|head| head.arguments[1].clone());
    let mut others = Others::Impossible;
    let mut values: Vec<TermId> = Vec::new();
    for value in facts.chain(heads) {
        match value {
            Term::Ground(value) => values.push(value),
            _ => others = Others::Possible,
        }
    }
    if others == Others::Possible {
        // A variable has the value of some constant of the rules.
        let constants = lowered.functors.iter();
        let constants = constants.filter(|(_, functor)| functor.shape == Shape::Bare);
        let terms = &mut lowered.terms;
        values.extend(constants.filter_map(|(functor, _)| terms.get(functor, &[])));
    }
    values.sort_unstable();
    values.dedup();
    let mut scores = Vec::new();
    for value in values {
        let functor = lowered.functors.functor(lowered.terms.functor(value));
        match parse_score(lowered.symbols.name(functor.name)) {
            Ok(score) if functor.shape == Shape::Bare => scores.push((score, value)),
            _ => others = Others::Possible,
        }
    }
    scores.sort_unstable();
    let scores = scores.into_iter().map(|(_, value)| Term::Ground(value));
    (scores.collect(), others)
}

/// The functor of all goal values, with a name that the rules do not have. It tells the choices
/// apart where games are compared by their names.
fn fresh_functor(lowered: &mut Lowered, choice: GoalChoice) -> FunctorId {
    let mut name = format!("goals_before_{choice}");
    while lowered.symbols.get(&name).is_some() {
        name.push('_');
    }
    let name = lowered.symbols.intern(&name);
    let shape = Shape::Applied(2);
    lowered.functors.intern(Functor { name, shape })
}
