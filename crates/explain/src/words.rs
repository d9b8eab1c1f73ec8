//! Atoms, literals and places in the syntax of the rules.

use super::tree::RulePlace;
use super::{Explainer, GroundAtom};
use ggp_gdl::program::{Atom, Literal, Shape, Term};
use ggp_gdl::span::Span;
use ggp_gdl::terms::TermId;

impl Explainer {
    pub(super) fn rule_spot(&self, rule: usize) -> Option<RulePlace> {
        Some(self.spot(self.game.rules().rules[rule].span))
    }

    pub(super) fn spot(&self, span: Span) -> RulePlace {
        let sources = self.game.sources();
        let (line, column) = sources.line_column(span);
        RulePlace {
            file: sources.files()[span.file as usize].name().to_owned(),
            line,
            column,
            bytes: (span.start, span.end),
        }
    }

    /// A fact in the syntax of the rules.
    pub fn fact_text(&self, fact: &GroundAtom) -> String {
        let arguments = fact.arguments.iter().map(|term| Term::Ground(*term));
        let atom = Atom {
            relation: fact.relation,
            arguments: arguments.collect(),
            span: Span::default(),
        };
        self.atom_text(&atom, &[])
    }

    pub(super) fn term_text(&self, term: TermId) -> String {
        self.game.text(&self.terms, term)
    }

    pub(super) fn test_text(&self, equal: bool, left: TermId, right: TermId) -> String {
        let text = format!(
            "(distinct {} {})",
            self.term_text(left),
            self.term_text(right)
        );
        match equal {
            true => format!("(not {text})"),
            false => text,
        }
    }

    pub(super) fn atom_text(&self, atom: &Atom, names: &[Box<str>]) -> String {
        let functor = self.game.relation_functor(atom.relation);
        let shape = self.game.functors().functor(functor).shape;
        let name = self.game.relation_name(atom.relation);
        match shape {
            Shape::Bare => name.to_owned(),
            Shape::Applied(_) => {
                let mut out = format!("({name}");
                for argument in &atom.arguments {
                    out.push(' ');
                    self.write_term(&mut out, argument, names);
                }
                out + ")"
            }
        }
    }

    fn write_term(&self, out: &mut String, term: &Term, names: &[Box<str>]) {
        match term {
            Term::Ground(id) => out.push_str(&self.term_text(*id)),
            Term::Variable(v) => out.push_str(&names[v.index()]),
            Term::Apply(functor, arguments) => {
                let name = self.game.functors().functor(*functor).name;
                out.push('(');
                out.push_str(self.game.symbols().name(name));
                for argument in arguments {
                    out.push(' ');
                    self.write_term(out, argument, names);
                }
                out.push(')');
            }
        }
    }

    pub(super) fn literal_text(&self, literal: &Literal, names: &[Box<str>]) -> String {
        let pair = |left: &Term, right: &Term| {
            let mut out = "(distinct ".to_owned();
            self.write_term(&mut out, left, names);
            out.push(' ');
            self.write_term(&mut out, right, names);
            out + ")"
        };
        match literal {
            Literal::Positive(atom) => self.atom_text(atom, names),
            Literal::Negative(atom) => format!("(not {})", self.atom_text(atom, names)),
            Literal::Distinct(left, right, _) => pair(left, right),
            Literal::Same(left, right, _) => format!("(not {})", pair(left, right)),
            Literal::Any(branches) => {
                let branches = branches.iter().map(|branch| {
                    let texts = branch.iter().map(|l| self.literal_text(l, names));
                    match &texts.collect::<Vec<_>>()[..] {
                        [one] => one.clone(),
                        all => format!("(and {})", all.join(" ")),
                    }
                });
                format!("(or {})", branches.collect::<Vec<_>>().join(" "))
            }
        }
    }
}
