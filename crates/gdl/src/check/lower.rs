//! Translation of lists into facts and rules.
//!
//! In: the forms of all files. Out: a [`RuleSet`] with its names, and findings for
//! malformed forms. Relations are distinguished by functor here: `p`, `(p)` and `(p
//! a)` are three relations until [`arity`](super::arity) reports them. Not done here:
//! checks that need more than one form.

mod keyword_use;
mod lowered;
mod size;

use ggp_stop::Stop;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ReadOptions;
use super::alternatives::{self, Formula};
use super::foreign::{
    ARITHMETIC_HELP, ARROW_HELP, EQUALITY_HELP, Foreign, foreign, is_arrow, is_conditional,
    is_inequality, is_operator,
};
use super::keywords::{Keyword, interned_form};
use crate::counted::{counted, counted_phrase};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{
    Atom, Fact, Functor, Functors, Literal, Rule, RuleSet, Shape, Term, Variable,
};
use crate::span::{Sources, Span};
use crate::symbol::{Symbol, Symbols};
use crate::syntax::{self, Sexp, SexpKind};
use crate::terms::{TermId, TermOverflow, Terms};
use keyword_use::has_percepts;
pub use lowered::{Lowered, Position};
use size::{MAX_IN_RULE, rule_size};

/// Translates all forms, unless `stop` is over. The result is usable as a game only if
/// `stop` was not over and neither these nor later findings are errors.
pub fn lower(
    sources: &Sources,
    forms: &[Sexp],
    options: &ReadOptions,
    stop: &Stop,
) -> (Lowered, Vec<Diagnostic>) {
    let mut lowering = Lowering {
        sources,
        options,
        stop,
        has_percepts: has_percepts(sources, forms),
        is_fact: false,
        is_percept: false,
        size: 0,
        is_full: false,
        out: Lowered {
            symbols: Symbols::new(options.case),
            functors: Functors::default(),
            terms: Terms::new(options.terms),
            rules: RuleSet::default(),
            relation_functor: Vec::new(),
            uses: Vec::new(),
            term_functors: FxHashMap::default(),
            relations: FxHashMap::default(),
        },
        spellings: FxHashMap::default(),
        variables: Vec::new(),
        warned: FxHashSet::default(),
        findings: Vec::new(),
    };
    for (index, form) in forms.iter().enumerate() {
        if lowering.is_stopped() || lowering.is_full {
            break;
        }
        let before = lowering.findings.len();
        lowering.form(form);
        lowering.note_early_bracket(&forms[..=index], before);
        let count = lowering.out.rules.facts.len() + lowering.out.rules.rules.len();
        let most = options.rules;
        let (message, help) = match () {
            () if count > most => (
                format!("the number of facts and rules is more than {most}"),
                "if this is intended, raise the limit with --max-rules",
            ),
            () if lowering.size > options.size => (
                format!(
                    "the rules have more than {} literals and terms after alternatives are expanded",
                    options.size
                ),
                "define separate relations for alternatives, so that fewer need to be expanded",
            ),
            () => continue,
        };
        let finding = lowering.error(Code::TooManyRules, form.span, message);
        lowering.findings.push(finding.help(help));
        break;
    }
    (lowering.out, lowering.findings)
}

/// A form could not be read; a finding gives the reason.
struct Malformed;

struct Lowering<'s> {
    sources: &'s Sources,
    options: &'s ReadOptions,
    stop: &'s Stop,
    /// Whether a form defines `sees`.
    has_percepts: bool,
    /// Whether the form that is read is a fact.
    is_fact: bool,
    /// Whether the term that is read is a percept.
    is_percept: bool,
    /// Number of literals and terms so far.
    size: usize,
    /// Whether there are too many different terms.
    is_full: bool,
    out: Lowered,
    /// For each name in lower case: its spellings so far, and their places.
    spellings: FxHashMap<String, Vec<(&'s str, Span)>>,
    /// The variables of the current rule.
    variables: Vec<(Symbol, Box<str>)>,
    /// The warnings already given by [`Lowering::warn_once`].
    warned: FxHashSet<(Code, String)>,
    findings: Vec<Diagnostic>,
}

impl<'s> Lowering<'s> {
    fn is_stopped(&self) -> bool {
        self.stop.is_over()
    }

    fn form(&mut self, form: &Sexp) {
        self.variables.clear();
        let result = match &form.kind {
            SexpKind::List(members) => match members.first() {
                Some(first) if self.is_arrow(first) => self.rule(form, members),
                Some(_) if members.get(1).is_some_and(|second| self.is_arrow(second)) => {
                    Err(self.malformed_rule(form.span, "the arrow must come first in a rule"))
                }
                Some(first) if self.is_foreign_rule(first, &members[1..]) => {
                    let text = self.sources.text(first.span);
                    let message = format!("{text} is not the arrow of a rule");
                    Err(self.malformed_rule(first.span, &message))
                }
                _ => self.fact(form),
            },
            SexpKind::Symbol if self.is_arrow(form) => {
                Err(self.malformed_rule(form.span, "an arrow alone is not a rule"))
            }
            _ => self.fact(form),
        };
        // The finding was recorded when the form was rejected.
        let _ = result;
    }

    /// Adds to the findings on the last form, starting with index `first`, that a
    /// bracket before it may be the cause.
    fn note_early_bracket(&mut self, forms: &[Sexp], first: usize) {
        let outside = |f: &&mut Diagnostic| {
            // Findings typical of a body literal at the top level.
            f.notes.is_empty() && matches!(f.code, Code::UnboundVariable | Code::KeywordInHead)
        };
        for finding in self.findings[first..].iter_mut().filter(outside) {
            if let Some(early) = syntax::closed_early(self.sources, forms) {
                let blamed = finding.clone().note(early, syntax::CLOSED_EARLY);
                *finding = blamed.help(syntax::CLOSED_EARLY_HELP);
            }
        }
    }

    fn fact(&mut self, form: &Sexp) -> Result<(), Malformed> {
        self.is_fact = true;
        let head = self.atom(form, Position::Head);
        self.is_fact = false;
        self.finish(form.span, head?, Formula::And(Vec::new()))
    }

    fn rule(&mut self, form: &Sexp, members: &[Sexp]) -> Result<(), Malformed> {
        let Some(head) = members.get(1) else {
            return Err(self.malformed_rule(form.span, "this rule has no head"));
        };
        let head = self.atom(head, Position::Head);
        // The body is read even if the head is wrong, to report its own findings.
        let body: Vec<_> = members[2..].iter().map(|m| self.formula(m, true)).collect();
        let body = body.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.finish(form.span, head?, Formula::And(body))
    }

    /// Adds the facts or rules of a form.
    fn finish(&mut self, span: Span, head: Atom, body: Formula) -> Result<(), Malformed> {
        let bodies = match alternatives::bodies(body, self.options.alternatives, self.stop) {
            Ok(bodies) => bodies,
            Err(limit) => {
                let message = format!("this rule expands to more than {}", counted(limit, "rule"));
                let finding = self
                    .error(Code::TooManyAlternatives, span, message)
                    .help("define a separate relation for an alternative, or raise the limit with --max-alternatives");
                return Err(self.give_up(finding));
            }
        };
        let sizes = bodies.iter().map(|body| rule_size(&head, body));
        let (size, most) = sizes.fold((0, 0), |(sum, most), size| (sum + size, most.max(size)));
        if most > MAX_IN_RULE {
            return Err(self.too_large(span));
        }
        self.size += size;
        let mut unbound = None;
        for body in bodies {
            if !body.is_empty() {
                self.out.rules.rules.push(Rule {
                    head: head.clone(),
                    body,
                    variables: self.variables.iter().map(|(_, n)| n.clone()).collect(),
                    span,
                });
                continue;
            }
            let ground: Option<Box<[TermId]>> = head
                .arguments
                .iter()
                .map(|argument| match argument {
                    Term::Ground(id) => Some(*id),
                    _ => None,
                })
                .collect();
            match ground {
                Some(arguments) => self.out.rules.facts.push(Fact {
                    relation: head.relation,
                    arguments,
                    span,
                }),
                None => unbound = Some(head.span),
            }
        }
        match unbound {
            None => Ok(()),
            Some(place) => {
                let names: Vec<&str> = self.variables.iter().map(|(_, n)| &**n).collect();
                let message = format!("a fact contains the variable {}", names.join(", "));
                let finding = self
                    .error(Code::UnboundVariable, place, message)
                    .help("a fact has no conditions: use a constant, or write a rule whose body binds the variable");
                Err(self.give_up(finding))
            }
        }
    }

    /// Converts a formula to negation normal form; `wanted` is false under an odd
    /// number of negations.
    fn formula(&mut self, sexp: &Sexp, wanted: bool) -> Result<Formula, Malformed> {
        let (name, arguments) = match &sexp.kind {
            SexpKind::Variable => return Err(self.variable_as_relation(sexp.span, None)),
            SexpKind::Symbol => (sexp, &[][..]),
            SexpKind::List(members) => match members.first() {
                Some(first) if matches!(first.kind, SexpKind::Symbol) => (first, &members[1..]),
                _ => return self.atom(sexp, Position::Body).map(|_| unreachable_atom()),
            },
        };
        if self.is_arrow(name) {
            return Err(self.malformed_rule(sexp.span, "a rule cannot contain another rule"));
        }
        let connective = self.keyword(name).filter(|k| k.is_connective());
        let Some(connective) = connective else {
            let atom = self.atom(sexp, Position::Body)?;
            return Ok(Formula::Literal(if wanted {
                Literal::Positive(atom)
            } else {
                Literal::Negative(atom)
            }));
        };
        self.check_keyword_arity(connective, sexp, arguments.len(), Position::Body)?;
        match connective {
            Keyword::Not => self.formula(&arguments[0], !wanted),
            Keyword::Distinct => {
                let left = self.term(&arguments[0]);
                let right = self.term(&arguments[1]);
                let (left, right) = (left?, right?);
                Ok(Formula::Literal(if wanted {
                    Literal::Distinct(left, right, sexp.span)
                } else {
                    Literal::Same(left, right, sexp.span)
                }))
            }
            _ => {
                if arguments.is_empty() {
                    let word = connective.as_str();
                    let meaning = match connective {
                        Keyword::Or => "false",
                        _ => "true",
                    };
                    let message = match sexp.kind {
                        SexpKind::Symbol => format!("{word} stands alone, so it is {meaning}"),
                        _ => format!("({word}) has no members, so it is {meaning}"),
                    };
                    let finding = self.error(Code::EmptyConnective, sexp.span, message);
                    let help = format!(
                        "write its members within its brackets: {}",
                        connective.form()
                    );
                    self.findings.push(finding.help(help));
                }
                let members: Vec<_> = arguments.iter().map(|m| self.formula(m, wanted)).collect();
                let members = members.into_iter().collect::<Result<Vec<_>, _>>()?;
                Ok(if (connective == Keyword::And) == wanted {
                    Formula::And(members)
                } else {
                    Formula::Or(members)
                })
            }
        }
    }

    fn atom(&mut self, sexp: &Sexp, position: Position) -> Result<Atom, Malformed> {
        let (name, arguments, bare) = match &sexp.kind {
            SexpKind::Variable => return Err(self.variable_as_relation(sexp.span, None)),
            SexpKind::Symbol => (sexp, &[][..], true),
            SexpKind::List(members) => {
                let first = self.list_head(sexp, members)?;
                if matches!(first.kind, SexpKind::Variable) {
                    return Err(self.variable_as_relation(first.span, members.get(1)));
                }
                (first, &members[1..], false)
            }
        };
        if self.is_arrow(name) {
            return Err(self.malformed_rule(sexp.span, "a rule cannot contain another rule"));
        }
        let mut shape = self.shape(sexp, arguments.len(), bare)?;
        if let Some(keyword) = self.keyword(name) {
            self.check_keyword_place(keyword, sexp, position)?;
            self.check_keyword_arity(keyword, sexp, arguments.len(), position)?;
            if keyword == Keyword::Terminal && !bare {
                shape = Shape::Bare;
                let message = "(terminal) is read as terminal".to_owned();
                self.warn(Code::BracketedName, sexp.span, message);
            }
        } else {
            self.odd_name(name, bare && position == Position::Head);
        }
        let symbol = self.symbol(name);
        self.is_percept = self.keyword(name) == Some(Keyword::Sees);
        let read: Vec<_> = arguments.iter().map(|a| self.term(a)).collect();
        self.is_percept = false;
        let arguments = read.into_iter().collect::<Result<Vec<_>, _>>()?;
        let functor = Functor {
            name: symbol,
            shape,
        };
        let functor = self.out.functors.intern(functor);
        let relation = match self.out.relations.get(&functor) {
            Some(relation) => *relation,
            None => {
                let relation = self.out.rules.add_relation(arguments.len());
                self.out.relations.insert(functor, relation);
                self.out.relation_functor.push(functor);
                relation
            }
        };
        self.out.uses.push((relation, position, sexp.span));
        Ok(Atom {
            relation,
            arguments,
            span: sexp.span,
        })
    }

    fn too_large(&mut self, span: Span) -> Malformed {
        let message = format!("this rule has more than {MAX_IN_RULE} literals and terms");
        let finding = self.error(Code::TooManyRules, span, message);
        self.give_up(finding.help("split it by defining a separate relation"))
    }

    fn term(&mut self, sexp: &Sexp) -> Result<Term, Malformed> {
        if self.is_stopped() || self.is_full {
            return Err(Malformed);
        }
        if self.variables.len() > MAX_IN_RULE {
            return Err(self.too_large(sexp.span));
        }
        let (name, arguments, bare) = match &sexp.kind {
            SexpKind::Variable => return Ok(Term::Variable(self.variable(sexp))),
            SexpKind::Symbol => (sexp, &[][..], true),
            SexpKind::List(members) => {
                let first = self.list_head(sexp, members)?;
                if matches!(first.kind, SexpKind::Variable) {
                    let message = "a variable cannot be used as a function name";
                    let finding = self.error(Code::BadListHead, first.span, message);
                    return Err(self.give_up(finding));
                }
                (first, &members[1..], false)
            }
        };
        let shape = self.shape(sexp, arguments.len(), bare)?;
        self.odd_name(name, false);
        // Percepts often repeat a fact or a move as the rules write it.
        if let (Some(keyword), false) = (self.keyword(name), bare || self.is_percept) {
            let message = format!("the keyword {} is used as a function", keyword.as_str());
            let help = match keyword {
                Keyword::True => "write the fact without true: only a literal of a body has it",
                Keyword::Not => {
                    "a fact that no rule for next derives is false in the next state: write no rule for that"
                }
                _ => "it has no special meaning there; use another name",
            };
            self.warn_once(
                Code::KeywordAsName,
                keyword.as_str(),
                name.span,
                message,
                help,
            );
        }
        let symbol = self.symbol(name);
        let functor = Functor {
            name: symbol,
            shape,
        };
        let functor = self.out.functors.intern(functor);
        self.out.term_functors.entry(functor).or_insert(sexp.span);
        let read: Vec<_> = arguments.iter().map(|a| self.term(a)).collect();
        let arguments = read.into_iter().collect::<Result<Vec<_>, _>>()?;
        let ground: Option<Vec<TermId>> = arguments
            .iter()
            .map(|argument| match argument {
                Term::Ground(id) => Some(*id),
                _ => None,
            })
            .collect();
        match ground {
            None => {
                self.calculation(name, sexp);
                Ok(Term::Apply(functor, arguments.into()))
            }
            Some(ground) => match self.out.terms.intern(functor, &ground) {
                Ok(id) => Ok(Term::Ground(id)),
                Err(overflow) => {
                    let (what, limit) = overflow.what();
                    let option = match overflow {
                        TermOverflow::Count(_) => "--max-terms",
                        TermOverflow::Depth(_) => "--max-nesting",
                        TermOverflow::Symbols { .. } => "--max-symbols",
                    };
                    self.is_full |= matches!(overflow, TermOverflow::Count(_));
                    let message = format!("more than {}", counted_phrase(limit, what));
                    let help = format!("if this is intended, raise the limit with {option}");
                    let finding = self.error(Code::TooManyRules, sexp.span, message);
                    let finding = finding.help(help);
                    Err(self.give_up(finding))
                }
            },
        }
    }

    fn list_head<'m>(&mut self, list: &Sexp, members: &'m [Sexp]) -> Result<&'m Sexp, Malformed> {
        let Some(first) = members.first() else {
            let finding = self
                .error(
                    Code::EmptyList,
                    list.span,
                    "an empty list has no meaning here",
                )
                .help("remove it, or write the missing name");
            return Err(self.give_up(finding));
        };
        if !matches!(first.kind, SexpKind::List(_)) {
            return Ok(first);
        }
        let mut finding = self.error(
            Code::BadListHead,
            first.span,
            "a list cannot begin with another list",
        );
        finding = match members.get(1) {
            Some(second) if self.is_arrow(second) || self.is_conditional(second) => {
                finding.help("write the arrow of a rule first: (<= head literal ...)")
            }
            Some(second) if self.is_connective(second) => {
                let word = self.sources.text(second.span);
                finding.help(format!("write {word} first: ({word} LITERAL ...)"))
            }
            _ => finding.help("begin the list with the name of its relation or function"),
        };
        Err(self.give_up(finding))
    }

    fn shape(&mut self, sexp: &Sexp, arguments: usize, bare: bool) -> Result<Shape, Malformed> {
        if bare {
            return Ok(Shape::Bare);
        }
        match u16::try_from(arguments) {
            Ok(arity) if arity < u16::MAX => Ok(Shape::Applied(arity)),
            _ => {
                let message = format!(
                    "this list has {arguments} arguments; the limit is {}",
                    u16::MAX - 1
                );
                let finding = self.error(Code::TooManyRules, sexp.span, message);
                Err(self.give_up(finding))
            }
        }
    }

    fn variable(&mut self, sexp: &Sexp) -> Variable {
        let name = self.sources.text(sexp.span);
        let symbol = self.out.symbols.intern(name);
        if let Some(index) = self
            .variables
            .iter()
            .position(|(known, _)| *known == symbol)
        {
            let known = &self.variables[index].1;
            if **known != *name {
                let message = format!("{name} is the same variable as {known}");
                self.warn(Code::CaseDiffers, sexp.span, message);
            }
            return Variable::new(index);
        }
        self.variables.push((symbol, name.into()));
        Variable::new(self.variables.len() - 1)
    }

    /// Interns a name; warns if it was spelled differently before.
    fn symbol(&mut self, name: &Sexp) -> Symbol {
        let text = self.sources.text(name.span);
        if text
            .bytes()
            .any(|byte| !byte.is_ascii() || byte.is_ascii_uppercase())
            || self.spellings.contains_key(text)
        {
            self.check_spelling(text, name.span);
        } else {
            self.spellings
                .insert(text.to_owned(), vec![(text, name.span)]);
        }
        let form = interned_form(text, &self.out.symbols);
        self.out.symbols.intern(form)
    }

    fn check_spelling(&mut self, text: &'s str, span: Span) {
        if Keyword::of(text).is_some() {
            return;
        }
        let known = self.spellings.entry(text.to_lowercase()).or_default();
        if known.iter().any(|(spelling, _)| *spelling == text) {
            return;
        }
        known.push((text, span));
        if let [(first, place), .., _] = known[..] {
            let meaning = match self.out.symbols.case() {
                crate::symbol::Case::Fold => "the same name",
                crate::symbol::Case::Keep => "not the same name",
            };
            let message = format!("{text} is {meaning} as {first}");
            let finding =
                Diagnostic::new(Code::CaseDiffers, self.options.strictness, span, message)
                    .note(place, "first written here")
                    .help("spell the name the same way everywhere");
            self.findings.push(finding);
        }
    }

    /// Warns about the first name of each kind that is a word of another notation.
    fn odd_name(&mut self, name: &Sexp, is_form: bool) {
        let text = self.sources.text(name.span);
        if let Some(Foreign { kind, help }) = foreign(text, is_form) {
            let message = format!("{text} is read as an ordinary name");
            self.warn_once(Code::OddName, kind, name.span, message, help);
        }
    }

    /// Warns about the first term that looks like a calculation.
    fn calculation(&mut self, name: &Sexp, term: &Sexp) {
        if is_operator(self.sources.text(name.span)) {
            let shown = self.sources.text(term.span);
            let message = format!("{shown} is a term like any other: nothing is calculated");
            self.warn_once(
                Code::OddName,
                "calculation",
                term.span,
                message,
                ARITHMETIC_HELP,
            );
        }
    }

    /// Warns about the first occurrence only.
    fn warn_once(&mut self, code: Code, what: &str, place: Span, message: String, help: &str) {
        if self.warned.insert((code, what.to_owned())) {
            let finding = Diagnostic::new(code, self.options.strictness, place, message);
            self.findings.push(finding.help(help));
        }
    }

    fn is_arrow(&self, sexp: &Sexp) -> bool {
        matches!(sexp.kind, SexpKind::Symbol) && self.sources.text(sexp.span) == "<="
    }

    fn is_conditional(&self, sexp: &Sexp) -> bool {
        matches!(sexp.kind, SexpKind::Symbol) && is_conditional(self.sources.text(sexp.span))
    }

    fn is_connective(&self, sexp: &Sexp) -> bool {
        matches!(sexp.kind, SexpKind::Symbol)
            && self.keyword(sexp).is_some_and(Keyword::is_connective)
    }

    /// Whether a form is a rule with the arrow of another notation: a fact has no variables.
    fn is_foreign_rule(&self, first: &Sexp, rest: &[Sexp]) -> bool {
        fn has_variable(sexp: &Sexp) -> bool {
            match &sexp.kind {
                SexpKind::Variable => true,
                SexpKind::Symbol => false,
                SexpKind::List(members) => members.iter().any(has_variable),
            }
        }
        is_arrow(self.sources.text(first.span)) && rest.iter().any(has_variable)
    }

    fn keyword(&self, name: &Sexp) -> Option<Keyword> {
        Keyword::of(self.sources.text(name.span))
    }

    fn malformed_rule(&mut self, span: Span, message: &str) -> Malformed {
        let finding = self
            .error(Code::MalformedRule, span, message)
            .help(ARROW_HELP);
        self.give_up(finding)
    }

    /// `second` is what stands after the variable, as in `(?n >= 3)`.
    fn variable_as_relation(&mut self, span: Span, second: Option<&Sexp>) -> Malformed {
        let name = self.sources.text(span);
        let message = format!("variable {name} is used where a relation is expected");
        let second = second.map_or("", |sexp| self.sources.text(sexp.span));
        let help = if is_inequality(second) {
            "write (distinct TERM TERM)"
        } else if second == "=" {
            EQUALITY_HELP
        } else if is_operator(second) || second == "<=" {
            ARITHMETIC_HELP
        } else {
            "a variable can only stand for a term: write the name of the relation"
        };
        let finding = self
            .error(Code::VariableAsRelation, span, message)
            .help(help);
        self.give_up(finding)
    }

    fn error(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.options.strictness, span, message)
    }

    fn warn(&mut self, code: Code, span: Span, message: String) {
        self.findings.push(Diagnostic::new(
            code,
            self.options.strictness,
            span,
            message,
        ));
    }

    fn give_up(&mut self, finding: Diagnostic) -> Malformed {
        self.findings.push(finding);
        Malformed
    }
}

/// `atom` fails on a list that does not begin with a name.
fn unreachable_atom() -> Formula {
    unreachable!("a list that begins with no name is not an atom")
}
