//! Random rule sets, as values that can be shrunk.

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;

// In a random rule set, each relation has a level. A rule may use relations of its
// own level or below, and negate relations of lower levels only. `e` relations are
// facts, `s` relations are parts of states, `d` relations are derived. Relations of
// one level may be recursive.

/// A term. There are few variables, so that they are often shared.
#[derive(Clone, Debug)]
enum Term {
    Variable(usize),
    Constant(usize),
    F(Box<Term>),
    G(Box<Term>, Box<Term>),
}

const VARIABLES: [&str; 4] = ["?x", "?y", "?z", "?u"];
const CONSTANTS: [&str; 3] = ["a", "b", "c"];

/// The relations of literals: name, arity and level.
const RELATIONS: [(&str, usize, usize); 12] = [
    ("e0", 1, 0),
    ("e1", 2, 0),
    ("s0", 0, 0),
    ("s1", 1, 0),
    ("s2", 2, 0),
    ("d0", 1, 1),
    ("d1", 2, 2),
    ("d2", 1, 2),
    ("d3", 2, 3),
    ("d4", 0, 3),
    ("d5", 3, 4),
    ("never", 1, 0),
];
const DERIVED: std::ops::Range<usize> = 5..11;

#[derive(Clone, Debug)]
struct Atom {
    relation: usize,
    terms: [Term; 3],
}

#[derive(Clone, Debug)]
enum Literal {
    Positive(Atom),
    Negative(Atom),
    Distinct(Term, Term),
    Same(Term, Term),
    Or(Vec<Vec<Literal>>),
    Neither(Vec<Literal>),
    Does(bool, Term),
}

#[derive(Clone, Debug)]
struct Rule {
    head: [Term; 3],
    body: Vec<Literal>,
}

/// A random rule set.
#[derive(Clone, Debug)]
pub struct Program {
    facts: Vec<(bool, usize, usize)>,
    initial: Vec<(usize, Term, Term)>,
    derived: Vec<(usize, Rule)>,
    next: Vec<(usize, Rule)>,
    legal: Vec<(bool, Rule)>,
    goal: Vec<(usize, Rule)>,
    terminal: Vec<Rule>,
    pub seed: u64,
}

/// Mostly without functions: few facts have functions, so literals with many would
/// never hold.
fn term() -> impl Strategy<Value = Term> {
    let plain = || {
        prop_oneof![
            3 => (0..VARIABLES.len()).prop_map(Term::Variable),
            1 => (0..CONSTANTS.len()).prop_map(Term::Constant),
        ]
    };
    let f = |t| Term::F(Box::new(t));
    prop_oneof![
        14 => plain(),
        2 => plain().prop_map(f),
        1 => (plain(), plain()).prop_map(|(s, t)| Term::G(Box::new(s), Box::new(t))),
        1 => plain().prop_map(move |t| f(f(t))),
    ]
}

fn atom() -> impl Strategy<Value = Atom> {
    (0..RELATIONS.len(), [term(), term(), term()])
        .prop_map(|(relation, terms)| Atom { relation, terms })
}

fn either(branch: impl Strategy<Value = Vec<Literal>>) -> impl Strategy<Value = Literal> {
    vec(branch, 1..4).prop_map(Literal::Or)
}

fn literal() -> impl Strategy<Value = Literal> {
    let simple = || {
        prop_oneof![
            8 => atom().prop_map(Literal::Positive),
            3 => atom().prop_map(Literal::Negative),
            2 => (term(), term()).prop_map(|(s, t)| Literal::Distinct(s, t)),
            1 => (term(), term()).prop_map(|(s, t)| Literal::Same(s, t)),
            2 => (any::<bool>(), term()).prop_map(|(role, t)| Literal::Does(role, t)),
        ]
    };
    prop_oneof![
        16 => simple(),
        2 => either(vec(simple(), 1..3)),
        1 => either(vec(prop_oneof![simple(), either(vec(simple(), 1..3))], 1..3)),
        1 => vec(simple(), 1..3).prop_map(Literal::Neither),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    ([term(), term(), term()], vec(literal(), 1..4)).prop_map(|(head, body)| Rule { head, body })
}

/// Any rule set.
pub fn program() -> impl Strategy<Value = Program> {
    let constant = 0..CONSTANTS.len();
    (
        vec((any::<bool>(), constant.clone(), constant), 3..9),
        vec((0..3usize, term(), term()), 2..7),
        vec((DERIVED, rule()), 2..12),
        vec((0..3usize, rule()), 1..5),
        vec((any::<bool>(), rule()), 0..4),
        vec((0..3usize, rule()), 0..3),
        vec(rule(), 0..2),
        any::<u64>(),
    )
        .prop_map(
            |(facts, initial, derived, next, legal, goal, terminal, seed)| Program {
                facts,
                initial,
                derived,
                next,
                legal,
                goal,
                terminal,
                seed,
            },
        )
}

/// True for rules that may use the moves being made.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Moves {
    Known,
    Unknown,
}

impl Term {
    fn variables(&self, out: &mut Vec<usize>) {
        match self {
            Term::Variable(v) => out.push(*v),
            Term::Constant(_) => {}
            Term::F(t) => t.variables(out),
            Term::G(s, t) => {
                s.variables(out);
                t.variables(out);
            }
        }
    }

    /// A copy without variables and with at most one function.
    fn ground(&self) -> Term {
        match self {
            Term::Variable(v) => Term::Constant(v % CONSTANTS.len()),
            Term::Constant(c) => Term::Constant(*c),
            Term::F(t) => Term::F(Box::new(t.flat(Term::ground))),
            Term::G(s, t) => Term::G(
                Box::new(s.flat(Term::ground)),
                Box::new(t.flat(Term::ground)),
            ),
        }
    }

    /// A copy without functions.
    fn flat(&self, leaf: fn(&Term) -> Term) -> Term {
        match self {
            Term::F(t) | Term::G(t, _) => t.flat(leaf),
            other => leaf(other),
        }
    }

    fn text(&self) -> String {
        match self {
            Term::Variable(v) => VARIABLES[*v].to_owned(),
            Term::Constant(c) => CONSTANTS[*c].to_owned(),
            Term::F(t) => format!("(f {})", t.text()),
            Term::G(s, t) => format!("(g {} {})", s.text(), t.text()),
        }
    }
}

fn applied(name: &str, terms: &[Term]) -> String {
    match terms {
        [] => name.to_owned(),
        _ => {
            let texts: Vec<String> = terms.iter().map(Term::text).collect();
            format!("({name} {})", texts.join(" "))
        }
    }
}

impl Atom {
    fn arguments(&self) -> &[Term] {
        &self.terms[..RELATIONS[self.relation].1]
    }

    fn level(&self) -> usize {
        RELATIONS[self.relation].2
    }

    fn text(&self) -> String {
        let (name, ..) = RELATIONS[self.relation];
        let text = applied(name, self.arguments());
        match name.starts_with('s') {
            true => format!("(true {text})"),
            false => text,
        }
    }
}

impl Literal {
    /// The part of the literal that is allowed in a body of this level; `None` if
    /// nothing is left.
    fn allowed(&self, level: usize, moves: Moves) -> Option<Literal> {
        match self {
            Literal::Positive(atom) if atom.level() > level => None,
            Literal::Negative(atom) if atom.level() >= level => None,
            Literal::Does(..) if moves == Moves::Unknown => None,
            Literal::Or(branches) => {
                let branches: Vec<Vec<Literal>> = branches
                    .iter()
                    .map(|b| b.iter().filter_map(|l| l.allowed(level, moves)).collect())
                    .filter(|b: &Vec<Literal>| !b.is_empty())
                    .collect();
                (!branches.is_empty()).then_some(Literal::Or(branches))
            }
            Literal::Neither(members) => {
                // Under a negation all atoms must be complete. One level lower is always
                // sufficient.
                let below = level.checked_sub(1)?;
                let members = members.iter().filter_map(|l| match l {
                    Literal::Or(_) | Literal::Neither(_) => None,
                    l => l.allowed(below, moves),
                });
                let members: Vec<Literal> = members.collect();
                (!members.is_empty()).then_some(Literal::Neither(members))
            }
            other => Some(other.clone()),
        }
    }

    fn variables(&self, out: &mut Vec<usize>) {
        match self {
            Literal::Positive(atom) | Literal::Negative(atom) => {
                atom.arguments().iter().for_each(|t| t.variables(out));
            }
            Literal::Distinct(s, t) | Literal::Same(s, t) => {
                s.variables(out);
                t.variables(out);
            }
            Literal::Or(branches) => {
                branches.iter().flatten().for_each(|l| l.variables(out));
            }
            Literal::Neither(members) => members.iter().for_each(|l| l.variables(out)),
            Literal::Does(_, t) => t.variables(out),
        }
    }

    /// The variables that the literal binds.
    fn binds(&self, out: &mut Vec<usize>) {
        if matches!(self, Literal::Positive(_) | Literal::Does(..)) {
            self.variables(out);
        }
    }

    /// The literal as text. Variables that are not in `bound` are bound inside
    /// alternatives.
    fn text(&self, bound: &[usize], needed: &[usize]) -> String {
        match self {
            Literal::Positive(atom) => atom.text(),
            Literal::Negative(atom) => format!("(not {})", atom.text()),
            Literal::Distinct(s, t) => format!("(distinct {} {})", s.text(), t.text()),
            Literal::Same(s, t) => format!("(not (distinct {} {}))", s.text(), t.text()),
            Literal::Does(false, t) => format!("(does left {})", t.text()),
            Literal::Does(true, t) => format!("(does right {})", t.text()),
            Literal::Neither(members) => {
                let texts: Vec<String> = members.iter().map(|m| m.text(bound, &[])).collect();
                format!("(not (or {}))", texts.join(" "))
            }
            Literal::Or(branches) => {
                let texts = branches.iter().map(|b| body(b, bound, needed));
                let texts = texts.map(|b| match &b[..] {
                    [one] => one.clone(),
                    all => format!("(and {})", all.join(" ")),
                });
                format!("(or {})", texts.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// The texts of a conjunction in which all necessary variables are bound. `needed`
/// are the variables used outside of it.
fn body(literals: &[Literal], outer: &[usize], needed: &[usize]) -> Vec<String> {
    let mut bound = outer.to_vec();
    literals.iter().for_each(|l| l.binds(&mut bound));
    let choice = literals.iter().find_map(|l| match l {
        Literal::Or(branches) => Some(branches),
        _ => None,
    });
    // The variables used outside of the one alternative that may bind them.
    let mut free = needed.to_vec();
    let mut inside = Vec::new();
    for literal in literals {
        match (literal, choice) {
            (Literal::Or(branches), Some(first)) if std::ptr::eq(branches, first) => {
                literal.variables(&mut inside);
            }
            _ => literal.variables(&mut free),
        }
    }
    // Each branch of the alternative binds the variables that it shares with the
    // outside. All other variables are bound here.
    let shared: Vec<usize> = free
        .iter()
        .copied()
        .filter(|v| inside.contains(v) && !bound.contains(v))
        .collect();
    let mut texts: Vec<String> = Vec::new();
    let mut here = Vec::new();
    for v in free {
        if !bound.contains(&v) && !shared.contains(&v) {
            bound.push(v);
            here.push(format!("(domain {})", VARIABLES[v]));
        }
    }
    for literal in literals {
        match (literal, choice) {
            (Literal::Or(branches), Some(first)) if std::ptr::eq(branches, first) => {
                texts.push(literal.text(&bound, &shared));
            }
            (Literal::Or(_), _) => texts.push(literal.text(&[&bound[..], &shared].concat(), &[])),
            _ => texts.push(literal.text(&bound, &[])),
        }
    }
    texts.extend(here);
    texts
}

/// A rule for a head, or a fact if the body is empty.
fn rule_text(head: &str, terms: &[Term], literals: &[Literal]) -> String {
    let mut needed = Vec::new();
    terms.iter().for_each(|t| t.variables(&mut needed));
    let texts = body(literals, &[], &needed);
    match texts.is_empty() {
        true => format!("{head}\n"),
        false => format!("(<= {head} {})\n", texts.join(" ")),
    }
}

impl Program {
    /// The rules as the text of a file.
    pub fn text(&self) -> String {
        let mut out = String::from(
            "(role left) (role right)\n\
             (domain a) (domain b) (domain c) (domain (f a))\n\
             (legal left (m a)) (legal right stay)\n",
        );
        for (unary, x, y) in &self.facts {
            let (x, y) = (CONSTANTS[*x], CONSTANTS[*y]);
            let _ = match unary {
                true => writeln!(out, "(e0 {x})"),
                false => writeln!(out, "(e1 {x} {y})"),
            };
        }
        for (arity, s, t) in &self.initial {
            let terms = [s.ground(), t.ground()];
            let fact = applied(&format!("s{arity}"), &terms[..*arity]);
            let _ = writeln!(out, "(init {fact})");
        }
        for (relation, rule) in &self.derived {
            let (name, arity, level) = RELATIONS[*relation];
            let body = rule.body(level, Moves::Unknown);
            // A recursive rule must not nest its derived terms.
            let recursive = body.iter().any(|l| l.uses_level(level));
            let head: Vec<Term> = rule.head[..arity]
                .iter()
                .map(|t| {
                    if recursive {
                        t.flat(Term::clone)
                    } else {
                        t.clone()
                    }
                })
                .collect();
            out.push_str(&rule_text(&applied(name, &head), &head, &body));
        }
        for (arity, rule) in &self.next {
            let head = &rule.head[..*arity];
            let fact = applied(&format!("s{arity}"), head);
            let body = rule.body(9, Moves::Known);
            out.push_str(&rule_text(&format!("(next {fact})"), head, &body));
        }
        for (right, rule) in &self.legal {
            let head = &rule.head[..1];
            let role = if *right { "right" } else { "left" };
            let body = rule.body(9, Moves::Unknown);
            let legal = format!("(legal {role} (m {}))", head[0].text());
            out.push_str(&rule_text(&legal, head, &body));
        }
        out.push_str("(goal left 50)\n");
        for (value, rule) in &self.goal {
            let body = rule.body(9, Moves::Unknown);
            let goal = format!("(goal right {})", 50 * value);
            out.push_str(&rule_text(&goal, &[], &body));
        }
        out.push_str("(<= terminal (never end))\n");
        for rule in &self.terminal {
            out.push_str(&rule_text("terminal", &[], &rule.body(9, Moves::Unknown)));
        }
        out
    }
}

impl Rule {
    fn body(&self, level: usize, moves: Moves) -> Vec<Literal> {
        let allowed = self.body.iter().map(|l| l.allowed(level, moves));
        allowed.flatten().collect()
    }
}

impl Literal {
    fn uses_level(&self, level: usize) -> bool {
        match self {
            Literal::Positive(atom) => atom.level() == level,
            Literal::Or(branches) => branches.iter().flatten().any(|l| l.uses_level(level)),
            _ => false,
        }
    }
}
