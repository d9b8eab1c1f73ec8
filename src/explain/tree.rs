//! Explanations as trees of lines: text, JSON, and HTML that folds.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde::Serialize;

use super::{
    Answer, Attempt, Change, Course, Derivation, Explainer, FactOf, Missing, Nothing, Outcome,
    Premise, Reason, State,
};
use crate::check::Keyword;
use crate::ground::TermId;
use crate::markup::escaped;
use crate::program::{Atom, Literal, Shape, Term};
use crate::span::Span;

/// What a line says of its literal or rule.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// It holds.
    Holds,
    /// It does not hold, and should.
    Fails,
    /// It depends on what does not hold.
    Open,
    /// Not a literal: a rule that does not apply, a branch, a time.
    Group,
}

/// A place in the rules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Spot {
    /// The file's name.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The bytes of the file that it covers.
    pub bytes: (u32, u32),
}

/// A line and the lines below it that say why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Tree {
    /// What it says of its text.
    pub mark: Mark,
    /// A literal, or words.
    pub text: String,
    /// The reason in words.
    pub note: String,
    /// The rule or fact of the rules that the reason speaks of.
    pub place: Option<Spot>,
    /// The values of the rule's variables, by name.
    pub bindings: Vec<(String, String)>,
    /// Whether it holds in every position.
    pub always: bool,
    /// Why.
    pub because: Vec<Tree>,
    /// Lines left out below this one.
    pub omitted: usize,
}

impl Tree {
    fn new(mark: Mark, text: impl Into<String>, note: impl Into<String>) -> Self {
        Tree {
            mark,
            text: text.into(),
            note: note.into(),
            place: None,
            bindings: Vec::new(),
            always: false,
            because: Vec::new(),
            omitted: 0,
        }
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        1 + self.because.iter().map(Tree::lines).sum::<usize>()
    }

    /// Leaves out why things hold that hold in every position, other than the
    /// one asked about.
    pub fn fold(&mut self) {
        for tree in &mut self.because {
            if tree.always && !tree.because.is_empty() {
                tree.note = format!("always: {}", tree.note);
                tree.because.clear();
            }
            tree.fold();
        }
    }

    /// Leaves out what lies deepest, until there are at most so many lines.
    pub fn cut(&mut self, most: usize) {
        let mut left = most.max(1);
        let mut open = VecDeque::from([self]);
        while let Some(tree) = open.pop_front() {
            left -= 1;
            let fits = tree.because.len() + open.len() <= left;
            if !fits {
                tree.omitted = tree.because.iter().map(Tree::lines).sum();
                tree.because.clear();
            }
            open.extend(tree.because.iter_mut());
        }
    }

    /// The tree in lines.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, "", "", true);
        out.truncate(out.trim_end().len());
        out
    }

    fn write(&self, out: &mut String, first: &str, rest: &str, top: bool) {
        let mark = match self.mark {
            _ if top => "",
            Mark::Holds => "✓ ",
            Mark::Fails => "✗ ",
            Mark::Open => "? ",
            Mark::Group => "",
        };
        let _ = writeln!(out, "{first}{mark}{}", self.line());
        let last = self.because.len() + usize::from(self.omitted > 0);
        for (number, tree) in (1..).zip(&self.because) {
            let (branch, below) = match number == last {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            tree.write(
                out,
                &format!("{rest}{branch}"),
                &format!("{rest}{below}"),
                false,
            );
        }
        if self.omitted > 0 {
            let _ = writeln!(out, "{rest}└─ … {} more lines (--lines)", self.omitted);
        }
    }

    fn line(&self) -> String {
        let mut line = self.text.clone();
        if !self.note.is_empty() {
            line.push_str(match line.is_empty() {
                true => "",
                false => "  ",
            });
            line.push_str(&self.note);
        }
        if let Some(place) = &self.place {
            let _ = write!(line, " {}:{}:{}", place.file, place.line, place.column);
        }
        if !self.bindings.is_empty() {
            let pairs = self
                .bindings
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            let _ = write!(line, " with {}", pairs.collect::<Vec<_>>().join(", "));
        }
        line
    }

    /// A page of its own, whose lines fold.
    pub fn page(title: &str, trees: &[Tree]) -> String {
        let mut out = String::from(HEAD);
        let title = escaped(title);
        let _ = write!(out, "<title>{title}</title></head><body><h1>{title}</h1>");
        trees.iter().for_each(|tree| tree.fragment(&mut out));
        out.push_str("</body></html>\n");
        out
    }

    /// The lines as nested `details`, for any page.
    pub fn fragment(&self, out: &mut String) {
        let class = match self.mark {
            Mark::Holds => "holds",
            Mark::Fails => "fails",
            Mark::Open => "open",
            Mark::Group => "group",
        };
        let line = escaped(&self.line());
        if self.because.is_empty() && self.omitted == 0 {
            let _ = write!(out, "<div class=\"{class}\">{line}</div>");
            return;
        }
        let open = if self.always { "" } else { " open" };
        let _ = write!(
            out,
            "<details{open} class=\"{class}\"><summary>{line}</summary>"
        );
        for tree in &self.because {
            tree.fragment(out);
        }
        if self.omitted > 0 {
            let _ = write!(
                out,
                "<div class=\"group\">… {} more lines</div>",
                self.omitted
            );
        }
        out.push_str("</details>");
    }
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><style>\
body{font:15px/1.5 ui-monospace,monospace;margin:2rem;color-scheme:light dark}\
h1{font-size:1.1rem}details,div{margin-left:1.2rem}summary{cursor:pointer}\
.holds>summary::before,div.holds::before{content:\"✓ \";color:#2a7d2a}\
.fails>summary::before,div.fails::before{content:\"✗ \";color:#c0392b}\
.open>summary::before,div.open::before{content:\"? \";color:#888}\
</style>";

impl Explainer {
    /// An answer in lines; several facts that match have a tree each.
    pub fn trees(&self, answer: &Answer) -> Vec<Tree> {
        match answer {
            Answer::Holds {
                derivations,
                others,
            } => {
                let mut trees: Vec<Tree> = derivations.iter().map(|d| self.holding(d)).collect();
                if !others.is_empty() {
                    let mut tree = Tree::new(Mark::Group, "also:", "");
                    let facts = others.iter().map(|fact| self.fact_text(fact));
                    tree.because = facts.map(|text| Tree::new(Mark::Holds, text, "")).collect();
                    trees.push(tree);
                }
                trees
            }
            Answer::Fails(missing) => {
                let mut tree = self.missing_tree(missing);
                let note = std::mem::take(&mut tree.note);
                tree.note = match note.is_empty() {
                    true => "does not hold".to_owned(),
                    false => format!("does not hold: {note}"),
                };
                vec![tree]
            }
        }
    }

    fn holding(&self, derivation: &Derivation) -> Tree {
        let mut tree = self.derivation_tree(derivation);
        tree.note = format!("holds: {}", tree.note);
        if !derivation.smallest {
            tree.note.push_str(" (there may be a smaller derivation)");
        }
        tree
    }

    /// The times of a fact in lines.
    pub fn course_tree(&self, course: &Course) -> Tree {
        let fact = self.atom_text(&course.question.atom, &course.question.names);
        if let Some(missing) = &course.never {
            let mut tree = Tree::new(Mark::Fails, fact, "was never true");
            tree.because.push(self.missing_tree(missing));
            return tree;
        }
        let mut tree = Tree::new(Mark::Group, fact, "over the moves:");
        for stay in &course.stays {
            let (text, derivation) = match &stay.change {
                Change::Start(derivation) => ("true from the start".to_owned(), derivation),
                Change::Move(derivation) => (format!("came by move {}", stay.from), derivation),
            };
            let mut came = Tree::new(Mark::Group, text, "");
            came.because.push(self.derivation_tree(derivation));
            tree.because.push(came);
            for (rule, times) in &stay.kept {
                let times = match times {
                    1 => "kept by 1 move,".to_owned(),
                    times => format!("kept by {times} moves,"),
                };
                let mut kept = Tree::new(Mark::Group, times, "rule at");
                kept.place = self.rule_spot(*rule);
                tree.because.push(kept);
            }
            if let Some(missing) = &stay.gone {
                let text = format!("gone after move {}", stay.to + 1);
                let mut gone = Tree::new(Mark::Group, text, "");
                gone.because.push(self.missing_tree(missing));
                tree.because.push(gone);
            }
        }
        tree
    }

    fn derivation_tree(&self, derivation: &Derivation) -> Tree {
        let mut shown = vec![false; derivation.proofs.len()];
        self.proof_tree(derivation, 0, &mut shown)
    }

    fn proof_tree(&self, derivation: &Derivation, number: usize, shown: &mut [bool]) -> Tree {
        let proof = &derivation.proofs[number];
        let mut tree = Tree::new(Mark::Holds, self.fact_text(&proof.fact), "");
        tree.always = !self.changing[proof.fact.relation.index()];
        match &proof.reason {
            Reason::Stated(span) => {
                tree.note = "stated at".to_owned();
                tree.place = Some(self.spot(*span));
            }
            Reason::InState => tree.note = "in the state".to_owned(),
            Reason::Made => tree.note = "the move made".to_owned(),
            Reason::Rule {
                rule,
                bindings,
                premises,
            } => {
                if shown[number] && !premises.is_empty() {
                    tree.note = "as above".to_owned();
                    return tree;
                }
                shown[number] = true;
                tree.note = "rule at".to_owned();
                tree.place = self.rule_spot(*rule);
                let names = &self.game.rules().rules[*rule].variables;
                tree.bindings = (names.iter().zip(bindings))
                    .filter_map(|(name, value)| Some((name.to_string(), self.term_text((*value)?))))
                    .collect();
                let lines = premises.iter().map(|premise| match premise {
                    Premise::Fact(fact) => self.proof_tree(derivation, *fact, shown),
                    Premise::Absent(fact) => {
                        let text = format!("(not {})", self.fact_text(fact));
                        Tree::new(Mark::Holds, text, "nothing gives it")
                    }
                    Premise::Test { equal, left, right } => {
                        let word = match equal {
                            true => "not (distinct",
                            false => "distinct",
                        };
                        let (left, right) = (self.term_text(*left), self.term_text(*right));
                        let close = match equal {
                            true => "))",
                            false => ")",
                        };
                        Tree::new(Mark::Holds, format!("({word} {left} {right}{close}"), "")
                    }
                });
                tree.because = lines.collect();
            }
        }
        tree
    }

    fn missing_tree(&self, missing: &Missing) -> Tree {
        let text = self.atom_text(&missing.atom, &missing.names);
        let mut tree = Tree::new(Mark::Fails, text, "");
        let near = |facts: &[FactOf]| {
            let texts = facts.iter().map(|fact| self.fact_text(fact));
            texts.collect::<Vec<_>>().join(" ")
        };
        match &missing.reason {
            Nothing::Given(nearest) => {
                tree.note = self.absence(&missing.atom).to_owned();
                if !nearest.is_empty() {
                    let _ = write!(tree.note, "; there is {}", near(nearest));
                }
            }
            Nothing::Above => tree.note = "as above".to_owned(),
            Nothing::Cut(nearest) => {
                tree.note = "not looked into (--depth)".to_owned();
                if !nearest.is_empty() {
                    let _ = write!(tree.note, "; there is {}", near(nearest));
                }
            }
            Nothing::Rules {
                attempts,
                worse,
                apart,
                nearest,
            } => {
                tree.because = attempts.iter().map(|a| self.attempt_tree(a)).collect();
                if attempts.is_empty() {
                    tree.note = "no rule can give it".to_owned();
                    if !nearest.is_empty() {
                        let _ = write!(tree.note, "; there is {}", near(nearest));
                    }
                    tree.because = (apart.iter().take(HEADS))
                        .map(|&rule| {
                            let head = &self.game.rules().rules[rule];
                            let text = self.atom_text(&head.head, &head.variables);
                            let mut line =
                                Tree::new(Mark::Group, text, "is what the rule gives at");
                            line.place = self.rule_spot(rule);
                            line
                        })
                        .collect();
                    tree.omitted = apart.len().saturating_sub(HEADS);
                } else if *worse > 0 {
                    let rules = match worse {
                        1 => "1 other rule misses".to_owned(),
                        worse => format!("{worse} other rules miss"),
                    };
                    let text = format!("{rules} more (--rules)");
                    tree.because.push(Tree::new(Mark::Group, text, ""));
                }
            }
        }
        tree
    }

    /// What it means that an atom of a relation without rules does not hold.
    fn absence(&self, atom: &Atom) -> &'static str {
        let is = |keyword| self.game.keyword(keyword) == Some(atom.relation);
        match () {
            () if is(Keyword::True) => "not in the state",
            () if is(Keyword::Does) => "not the move made",
            () => "not stated by the rules",
        }
    }

    fn attempt_tree(&self, attempt: &Attempt) -> Tree {
        let missed = (attempt.outcomes.iter())
            .filter(|outcome| !matches!(outcome.state, State::Holds | State::Open))
            .count();
        let mut tree = Tree::new(Mark::Group, "", "rule at");
        tree.place = self.rule_spot(attempt.rule);
        if missed > 1 {
            tree.note = format!("misses {missed}: rule at");
        }
        // What is missed stands first: it is what matters.
        let (missed, rest): (Vec<_>, Vec<_>) = (attempt.outcomes.iter())
            .map(|outcome| self.outcome_tree(outcome, &attempt.names))
            .partition(|tree| tree.mark == Mark::Fails);
        tree.because = missed.into_iter().chain(rest).collect();
        tree
    }

    fn outcome_tree(&self, outcome: &Outcome, names: &[Box<str>]) -> Tree {
        let text = self.literal_text(&outcome.literal, names);
        match &outcome.state {
            State::Holds => Tree::new(Mark::Holds, text, ""),
            State::Open => Tree::new(Mark::Open, text, "depends on what is missed"),
            State::Missing(missing) => self.missing_tree(missing),
            State::Unwanted(derivation) => {
                let mut tree = Tree::new(Mark::Fails, text, "but");
                tree.because.push(self.derivation_tree(derivation));
                tree
            }
            State::Fails => Tree::new(Mark::Fails, text, "is not so"),
            State::NoBranch(branches) => {
                let mut tree = Tree::new(Mark::Fails, text, "none of these holds");
                for (number, branch) in (1..).zip(branches) {
                    let mut lines: Vec<Tree> =
                        branch.iter().map(|o| self.outcome_tree(o, names)).collect();
                    match lines.len() {
                        1 => tree.because.append(&mut lines),
                        _ => {
                            let mut group = Tree::new(Mark::Group, format!("branch {number}"), "");
                            group.because = lines;
                            tree.because.push(group);
                        }
                    }
                }
                tree
            }
        }
    }

    fn rule_spot(&self, rule: usize) -> Option<Spot> {
        Some(self.spot(self.game.rules().rules[rule].span))
    }

    fn spot(&self, span: Span) -> Spot {
        let sources = self.game.sources();
        let (line, column) = sources.line_column(span);
        Spot {
            file: sources.files()[span.file as usize].name().to_owned(),
            line,
            column,
            bytes: (span.start, span.end),
        }
    }

    /// A fact as the rules write it.
    pub fn fact_text(&self, fact: &FactOf) -> String {
        let arguments = fact.arguments.iter().map(|term| Term::Ground(*term));
        let atom = Atom {
            relation: fact.relation,
            arguments: arguments.collect(),
            span: Span::default(),
        };
        self.atom_text(&atom, &[])
    }

    fn term_text(&self, term: TermId) -> String {
        self.game.text(&self.terms, term)
    }

    fn atom_text(&self, atom: &Atom, names: &[Box<str>]) -> String {
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

    fn literal_text(&self, literal: &Literal, names: &[Box<str>]) -> String {
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

/// Heads shown of rules that never give what is asked.
const HEADS: usize = 5;
