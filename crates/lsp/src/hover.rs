//! Hover texts for names and variables.

use lsp_types::Position;

use super::rule_files::{RuleFiles, contains};
use ggp_gdl::analysis::domains::Domains;
use ggp_gdl::check::Keyword;
use ggp_gdl::counted::counted;
use ggp_gdl::game::Game;
use ggp_gdl::program::{
    Atom, Functor, FunctorId, Literal, RelationId, Rule, Shape, Term, Variable,
};
use ggp_gdl::rewrite::NameKind;
use ggp_gdl::span::Span;

/// Maximum number of names that are listed.
const SHOWN: usize = 12;

impl RuleFiles {
    /// The text that explains the name or variable at a position, in Markdown.
    pub fn hover(&self, position: Position) -> Option<(Span, String)> {
        match (self.connective_at(position), self.variable_at(position)) {
            (Some(connective), _) => Some(connective),
            (None, Some((variable, _))) => Some((variable, self.variable_facts(variable)?)),
            (None, None) => {
                let name = self.name_at(position)?;
                let keyword =
                    Keyword::of(self.word(name.span)).filter(|_| name.kind == NameKind::Relation);
                let text = match keyword {
                    Some(keyword) => format!("{} — {}", keyword.form(), keyword.meaning()),
                    None => self.name_facts(name.span, name.kind, name.arity)?,
                };
                Some((name.span, text))
            }
        }
    }

    fn name_facts(&self, span: Span, kind: NameKind, arity: usize) -> Option<String> {
        let game = self.last_game()?;
        let functor = functor_of(game, self.word(span), arity)?;
        let domains = Domains::of(game);
        let mut text = format!("`{}`", self.word(span));
        match kind {
            NameKind::Relation => {
                let relation = relation_of(game, functor)?;
                let set = game.rules();
                let facts = set
                    .facts
                    .iter()
                    .filter(|fact| fact.relation == relation)
                    .count();
                let rules = set
                    .rules
                    .iter()
                    .filter(|rule| rule.head.relation == relation)
                    .count();
                text += &format!(
                    " — relation, {}: {}, {}",
                    counted(arity, "argument"),
                    counted(facts, "fact"),
                    counted(rules, "rule")
                );
                if let Some(domains) = &domains {
                    for column in 0..arity {
                        let names = domains.column(relation, column);
                        text += &format!("\n- argument {}: {}", column + 1, names_of(game, &names));
                    }
                }
            }
            NameKind::Term => {
                text += match arity {
                    0 => " — constant",
                    _ => " — function",
                };
                if let Some(domains) = &domains {
                    for argument in 0..arity {
                        let names = domains.argument(functor, argument);
                        text +=
                            &format!("\n- argument {}: {}", argument + 1, names_of(game, &names));
                    }
                }
            }
        }
        Some(text)
    }

    /// The values of a variable as text.
    fn variable_facts(&self, variable: Span) -> Option<String> {
        let game = self.game()?;
        let name = self.word(variable);
        let mut rules = game.rules().rules.iter();
        let rule = rules.find(|rule| contains(rule.span, variable))?;
        let key = name.trim_start_matches('?');
        let number = (rule.variables.iter())
            .position(|other| other.trim_start_matches('?').eq_ignore_ascii_case(key))?;
        let names = values(&Domains::of(game)?, rule, Variable::new(number))?;
        Some(format!("`{name}` — {}", names_of(game, &names)))
    }
}

/// The functors of all values of a variable of a rule, as far as its positive literals
/// restrict them.
fn values(domains: &Domains, rule: &Rule, variable: Variable) -> Option<Vec<FunctorId>> {
    let mut found: Option<Vec<FunctorId>> = None;
    let mut meet = |names: Vec<FunctorId>| match &mut found {
        None => found = Some(names),
        Some(found) => found.retain(|name| names.contains(name)),
    };
    fn inside(
        term: &Term,
        variable: Variable,
        domains: &Domains,
        meet: &mut dyn FnMut(Vec<FunctorId>),
    ) {
        if let Term::Apply(functor, arguments) = term {
            for (place, argument) in arguments.iter().enumerate() {
                match argument {
                    Term::Variable(other) if *other == variable => {
                        meet(domains.argument(*functor, place))
                    }
                    other => inside(other, variable, domains, meet),
                }
            }
        }
    }
    let mut atom = |atom: &Atom| {
        for (column, argument) in atom.arguments.iter().enumerate() {
            match argument {
                Term::Variable(other) if *other == variable => {
                    meet(domains.column(atom.relation, column))
                }
                other => inside(other, variable, domains, &mut meet),
            }
        }
    };
    for literal in &rule.body {
        if let Literal::Positive(positive) = literal {
            atom(positive);
        }
    }
    found
}

/// The first names, and their number.
fn names_of(game: &Game, names: &[FunctorId]) -> String {
    let name = |functor: &FunctorId| {
        let functor = game.functors().functor(*functor);
        let name = game.symbols().name(functor.name);
        match functor.shape {
            Shape::Bare => format!("`{name}`"),
            Shape::Applied(_) => format!("`({name} …)`"),
        }
    };
    let shown: Vec<String> = names.iter().take(SHOWN).map(name).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        count if count > SHOWN => format!("{}, … ({count} names)", shown.join(", ")),
        1 => shown.join(", "),
        count => format!("{} ({count} names)", shown.join(", ")),
    }
}

/// The functor of a name with the given arity.
pub(super) fn functor_of(game: &Game, name: &str, arity: usize) -> Option<FunctorId> {
    let symbols = game.symbols();
    let name = symbols
        .get(name)
        .or_else(|| symbols.get(&name.to_lowercase()))?;
    let shape = match arity {
        0 => Shape::Bare,
        arity => Shape::Applied(u16::try_from(arity).ok()?),
    };
    let functor = |shape| game.functors().get(Functor { name, shape });
    functor(shape).or_else(|| functor(Shape::Applied(0)).filter(|_| arity == 0))
}

/// The relation of a functor, if it is one.
pub(super) fn relation_of(game: &Game, functor: FunctorId) -> Option<RelationId> {
    game.rules()
        .relations()
        .find(|relation| game.relation_functor(*relation) == functor)
}
