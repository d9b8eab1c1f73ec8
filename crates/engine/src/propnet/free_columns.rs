//! Separation of rows that hold for every value of a column.
//!
//! In: a rule set. Out: an equivalent rule set with fewer possible rows. Rules such as
//! `(<= (free ?x ?ignored) (next ?x ?y) (value ?ignored))` derive a row for each value of
//! `?ignored`, although nothing but its domain `value` restricts it. The column is *free* in
//! such a rule: the row is derived once, in a relation without the column, and stays so through
//! all rules that only pass the column on. The relation itself keeps the rows of the other rules.
//! Where a literal or a second use of the variable needs the value, its domain is asked. A relation
//! such as `(<= (cell ?x ?y) (value ?x) (value ?y))` counts as the domains of its columns where
//! it alone restricts one.
//!
//! So a relation becomes several, one for each set of free columns, its *forms*, and a rule
//! becomes a rule for each choice of forms of the literals of its body.
//!
//! Source: this is evaluation with rows that have variables, Jaffar and Maher, "Constraint
//! logic programming: a survey", 1994, for constraints that are domains of single columns.

use rustc_hash::{FxHashMap, FxHashSet};

use ggp_gdl::datalog::ColumnValues;
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, RuleSet, Term, Variable};
use ggp_gdl::terms::TermId;

/// The free columns of a form, ascending, with their domains.
type Form = Vec<(usize, RelationId)>;

/// The most forms of a relation.
const MOST_FORMS: usize = 6;
/// The most rules that one rule becomes.
const MOST_CHOICES: usize = 64;
/// The most rules that all become, in addition to twice as many as there are.
const MOST_RULES: usize = 10_000;

/// Separates the rows with free columns of all relations that depend on the state but those that
/// are `fixed`.
pub(super) fn separate(
    rules: &RuleSet,
    dynamic: &[bool],
    values: &ColumnValues,
    fixed: impl IntoIterator<Item = RelationId>,
) -> RuleSet {
    let count = rules.arity.len();
    let mut is_whole: Vec<bool> = dynamic.iter().map(|dynamic| !dynamic).collect();
    for relation in fixed {
        is_whole[relation.index()] = true;
    }
    let (mut has_facts, mut has_rules) = (vec![false; count], vec![false; count]);
    for fact in &rules.facts {
        has_facts[fact.relation.index()] = true;
    }
    for rule in &rules.rules {
        has_rules[rule.head.relation.index()] = true;
    }
    let mut users = vec![Vec::new(); count];
    for (number, rule) in rules.rules.iter().enumerate() {
        for atom in positive(rule) {
            users[atom.relation.index()].push(number);
        }
    }
    let is_domain =
        |relation: usize| rules.arity[relation] == 1 && has_facts[relation] && !dynamic[relation];
    let is_domain: Vec<bool> = (0..count).map(is_domain).collect();
    let given = rules;
    let rules = &unfolded(rules, &has_facts, &is_domain);
    let mut separation = Separation {
        rules,
        values,
        domains: domains(rules),
        users,
        is_domain,
        is_given: (0..count).map(|r| has_facts[r] || !has_rules[r]).collect(),
        is_whole,
        forms: Vec::new(),
    };
    while !separation.find_forms() {}
    let count = |rule| separation.choices(rule).map_or(0, |choices| choices.len());
    if rules.rules.iter().map(count).sum::<usize>() > MOST_RULES + 2 * rules.rules.len() {
        return given.clone();
    }
    match separation
        .forms
        .iter()
        .any(|forms| forms.iter().any(|form| !form.is_empty()))
    {
        true => separation.rewritten(),
        false => given.clone(),
    }
}

/// The rules with domains in place of each relation that is a product of domains, where a
/// variable of its literal occurs in no other literal of the body.
fn unfolded(rules: &RuleSet, has_facts: &[bool], is_domain: &[bool]) -> RuleSet {
    let mut rule_of: Vec<Vec<&Rule>> = vec![Vec::new(); rules.arity.len()];
    for rule in &rules.rules {
        rule_of[rule.head.relation.index()].push(rule);
    }
    // By relation: for each domain literal of its only rule, the domain and the column.
    let product = |relation: usize| -> Option<Vec<(RelationId, usize)>> {
        let [rule] = *rule_of[relation] else {
            return None;
        };
        let columns = &rule.head.arguments;
        let of_column = |literal: &Literal| match literal {
            Literal::Positive(atom) if is_domain[atom.relation.index()] => {
                let column = columns.iter().position(|term| *term == atom.arguments[0]);
                column.map(|column| (atom.relation, column))
            }
            _ => None,
        };
        let domains: Vec<_> = rule.body.iter().map(of_column).collect::<Option<_>>()?;
        let is_restricted = |column: usize| domains.iter().any(|(_, of)| *of == column);
        let is_own = |(column, term): (usize, &Term)| {
            matches!(term, Term::Variable(_)) && !columns[..column].contains(term)
        };
        let is_product = !has_facts[relation]
            && columns.iter().enumerate().all(is_own)
            && (0..columns.len()).all(is_restricted);
        is_product.then_some(domains)
    };
    let products: Vec<_> = (0..rules.arity.len()).map(product).collect();
    let mut out = rules.clone();
    for rule in &mut out.rules {
        let mut uses = vec![0; rule.variables.len()];
        for literal in &rule.body {
            literal.for_each_variable(&mut |variable| uses[variable.index()] += 1);
        }
        let is_single = |term: &Term| match term {
            Term::Variable(variable) => uses[variable.index()] == 1,
            _ => false,
        };
        let replaced = |literal: Literal| match &literal {
            Literal::Positive(atom) if atom.arguments.iter().any(is_single) => {
                match &products[atom.relation.index()] {
                    Some(domains) => { domains.iter() }
                        .map(|&(domain, column)| test(domain, &atom.arguments[column]))
                        .collect(),
                    None => vec![literal],
                }
            }
            _ => vec![literal],
        };
        rule.body = { rule.body.drain(..) }.flat_map(replaced).collect();
    }
    out
}

struct Separation<'a> {
    rules: &'a RuleSet,
    /// The values that columns may have.
    values: &'a ColumnValues,
    /// The values of relations with one column that have no rules.
    domains: FxHashMap<RelationId, FxHashSet<TermId>>,
    /// By relation: the rules that have it in a positive literal.
    users: Vec<Vec<usize>>,
    /// By relation: true if it does not depend on the state and has one column and some row.
    is_domain: Vec<bool>,
    /// By relation: true if it has rows without rules.
    is_given: Vec<bool>,
    /// By relation: true if it has only the form without free columns.
    is_whole: Vec<bool>,
    /// By relation.
    forms: Vec<Vec<Form>>,
}

/// The uses of a variable in a rule.
#[derive(Default)]
struct Uses {
    /// The domains of the free columns and domain literals that have it.
    domains: Vec<RelationId>,
    /// True if something else in the body has it.
    is_needed: bool,
    /// The number of uses in the head.
    in_head: usize,
}

impl Separation<'_> {
    /// Finds the forms of all relations. Returns false if a relation has too many: from then
    /// on it has only one.
    fn find_forms(&mut self) -> bool {
        let first = |(&is_given, &is_whole): (&bool, &bool)| match is_given || is_whole {
            true => vec![Form::new()],
            false => Vec::new(),
        };
        self.forms = self
            .is_given
            .iter()
            .zip(&self.is_whole)
            .map(first)
            .collect();
        let rules = &self.rules.rules;
        let mut is_open: Vec<bool> = { rules.iter() }
            .map(|rule| !self.is_whole[rule.head.relation.index()])
            .collect();
        let mut open: Vec<usize> = (0..rules.len())
            .rev()
            .filter(|&rule| is_open[rule])
            .collect();
        while let Some(number) = open.pop() {
            is_open[number] = false;
            let rule = &rules[number];
            let head = rule.head.relation.index();
            let Some(choices) = self.choices(rule) else {
                self.limit(rule);
                return false;
            };
            let mut is_new = false;
            for choice in choices {
                let (form, _) = self.apply(rule, &choice);
                if !self.forms[head].contains(&form) {
                    self.forms[head].push(form);
                    is_new = true;
                }
            }
            if self.forms[head].len() > MOST_FORMS {
                self.is_whole[head] = true;
                return false;
            }
            if is_new {
                for &user in &self.users[head] {
                    let is_whole = self.is_whole[rules[user].head.relation.index()];
                    if !is_whole && !std::mem::replace(&mut is_open[user], true) {
                        open.push(user);
                    }
                }
            }
        }
        match rules.iter().find(|rule| self.choices(rule).is_none()) {
            Some(rule) => self.limit(rule),
            None => return true,
        }
        false
    }

    /// Leaves the relation with the most forms in a body whole.
    fn limit(&mut self, rule: &Rule) {
        let forms = |atom: &&Atom| self.forms[atom.relation.index()].len();
        let most = positive(rule).max_by_key(forms).expect("it has choices");
        self.is_whole[most.relation.index()] = true;
    }

    /// All choices of forms of the positive literals of a body. `None` if there are too many.
    fn choices(&self, rule: &Rule) -> Option<Vec<Vec<usize>>> {
        let forms = positive(rule).map(|atom| self.forms[atom.relation.index()].len());
        let forms: Vec<usize> = forms.collect();
        let mut choices: Vec<Vec<usize>> = vec![vec![0; forms.len()]];
        for (place, &forms) in forms.iter().enumerate().filter(|(_, forms)| **forms != 1) {
            let longer = choices.iter().flat_map(|choice| {
                (0..forms).map(move |form| {
                    let mut choice = choice.clone();
                    choice[place] = form;
                    choice
                })
            });
            choices = longer.collect();
            if choices.len() > MOST_CHOICES {
                return None;
            }
        }
        Some(choices)
    }

    /// The form of a rule's head, and its body, for a choice of forms. Relations are not yet
    /// replaced: atoms have the columns that remain.
    fn apply(&self, rule: &Rule, choice: &[usize]) -> (Form, Vec<Literal>) {
        let mut uses: Vec<Uses> = Vec::new();
        uses.resize_with(rule.variables.len(), Uses::default);
        let mut asked: Vec<(RelationId, &Term)> = Vec::new();
        let mut body = Vec::with_capacity(rule.body.len());
        let mut next = choice.iter();
        let need = |uses: &mut Vec<Uses>, variable: Variable| {
            uses[variable.index()].is_needed = true;
        };
        for literal in &rule.body {
            let Literal::Positive(atom) = literal else {
                literal.for_each_variable(&mut |variable| need(&mut uses, variable));
                body.push(literal.clone());
                continue;
            };
            let form = *next.next().expect("a form for each positive literal");
            if self.is_domain[atom.relation.index()] {
                asked.push((atom.relation, &atom.arguments[0]));
                continue;
            }
            let form = &self.forms[atom.relation.index()][form];
            let mut kept = Vec::with_capacity(atom.arguments.len());
            for (column, term) in atom.arguments.iter().enumerate() {
                match form.iter().find(|(free, _)| *free == column) {
                    Some((_, domain)) => asked.push((*domain, term)),
                    None => {
                        term.for_each_variable(&mut |variable, _| need(&mut uses, variable));
                        kept.push(term.clone());
                    }
                }
            }
            body.push(Literal::Positive(Atom {
                arguments: kept,
                ..atom.clone()
            }));
        }
        for (domain, term) in &asked {
            match term {
                Term::Variable(variable) => uses[variable.index()].domains.push(*domain),
                term => term.for_each_variable(&mut |variable, _| need(&mut uses, variable)),
            }
        }
        rule.head
            .for_each_variable(|variable, _| uses[variable.index()].in_head += 1);
        let is_whole = self.is_whole[rule.head.relation.index()];
        let is_free = |variable: Variable| {
            let uses = &uses[variable.index()];
            let one = uses.domains.first().filter(|_| !uses.is_needed);
            one.filter(|one| uses.domains.iter().all(|domain| domain == *one))
                .copied()
        };
        let mut form = Form::new();
        for (column, term) in rule.head.arguments.iter().enumerate() {
            if let Term::Variable(variable) = term
                && let Some(domain) = is_free(*variable)
                && !is_whole
                && uses[variable.index()].in_head == 1
            {
                form.push((column, domain));
            }
        }
        let mut domains: Vec<(RelationId, &Term)> = Vec::new();
        let first = asked.first().copied();
        let mut known: FxHashSet<(RelationId, &Term)> = FxHashSet::default();
        for (domain, term) in asked {
            let is_dropped = match term {
                Term::Variable(variable) if is_free(*variable).is_some() => {
                    let is_passed_on =
                        |(column, _): &(usize, RelationId)| rule.head.arguments[*column] == *term;
                    uses[variable.index()].in_head == 0 || form.iter().any(is_passed_on)
                }
                _ => false,
            };
            if !is_dropped && known.insert((domain, term)) {
                domains.push((domain, term));
            }
        }
        if body.is_empty() && domains.is_empty() {
            domains.extend(first);
        }
        body.extend(domains.into_iter().map(|(domain, term)| test(domain, term)));
        (form, body)
    }

    /// The rules with a relation for each form.
    fn rewritten(&self) -> RuleSet {
        let mut out = RuleSet {
            arity: self.rules.arity.clone(),
            facts: self.rules.facts.clone(),
            rules: Vec::new(),
        };
        let mut relations: Vec<Vec<RelationId>> = Vec::with_capacity(self.forms.len());
        for (relation, forms) in self.forms.iter().enumerate() {
            let add = |form: &Form| match form.len() {
                0 => RelationId::new(relation),
                free => out.add_relation(self.rules.arity[relation] - free),
            };
            relations.push(forms.iter().map(add).collect());
        }
        for rule in &self.rules.rules {
            let choices = self.choices(rule).expect("as many as before");
            for choice in choices {
                let (form, mut body) = self.apply(rule, &choice);
                // The remaining positive literals are in the order of the choice.
                let mut chosen = positive(rule)
                    .zip(&choice)
                    .filter(|(atom, _)| !self.is_domain[atom.relation.index()])
                    .map(|(atom, &form)| relations[atom.relation.index()][form]);
                for literal in &mut body {
                    if let Literal::Positive(atom) = literal
                        && let Some(relation) = chosen.next()
                    {
                        atom.relation = relation;
                    }
                }
                let body = self.with_forms(rule, body, &relations);
                let head = rule.head.relation.index();
                let number = self.forms[head].iter().position(|known| *known == form);
                let arguments = rule.head.arguments.iter().enumerate();
                let arguments = arguments
                    .filter(|(column, _)| form.iter().all(|(free, _)| free != column))
                    .map(|(_, term)| term.clone());
                out.rules.push(Rule {
                    head: Atom {
                        relation: relations[head][number.expect("the forms are complete")],
                        arguments: arguments.collect(),
                        span: rule.head.span,
                    },
                    body,
                    ..rule.clone()
                });
            }
        }
        out
    }

    /// A body whose negations and alternatives exclude or allow all forms.
    fn with_forms(
        &self,
        rule: &Rule,
        body: Vec<Literal>,
        relations: &[Vec<RelationId>],
    ) -> Vec<Literal> {
        let is_within = |domain: RelationId, term: &Term| {
            let Some(domain) = self.domains.get(&domain) else {
                return false;
            };
            match term {
                Term::Ground(value) => domain.contains(value),
                Term::Variable(variable) => {
                    let values = self.values.of_variable(&rule.body, *variable);
                    values.is_some_and(|values| values.is_subset(domain))
                }
                Term::Apply(..) => false,
            }
        };
        let mut out = Vec::with_capacity(body.len());
        for literal in body {
            match literal {
                Literal::Negative(atom) if self.is_split(&atom) => {
                    for mut branches in self.excluded(&atom, relations, &is_within) {
                        out.push(match (branches.len(), branches.pop()) {
                            (1, Some(only)) => only,
                            (_, last) => {
                                let all = branches.into_iter().chain(last);
                                Literal::Any(all.map(|literal| vec![literal]).collect())
                            }
                        });
                    }
                }
                Literal::Any(branches) => {
                    let branches = branches.into_iter();
                    let all =
                        branches.flat_map(|branch| self.branches(branch, relations, &is_within));
                    out.push(Literal::Any(all.collect()));
                }
                other => out.push(other),
            }
        }
        out
    }

    fn is_split(&self, atom: &Atom) -> bool {
        let forms = &self.forms[atom.relation.index()];
        forms.len() != 1 || !forms[0].is_empty()
    }

    /// The literals that together say that no form of a relation has a row: all must hold, each
    /// of them by one of its alternatives.
    fn excluded(
        &self,
        atom: &Atom,
        relations: &[Vec<RelationId>],
        is_within: &dyn Fn(RelationId, &Term) -> bool,
    ) -> Vec<Vec<Literal>> {
        let relation = atom.relation.index();
        let forms = self.forms[relation].iter().zip(&relations[relation]);
        forms
            .map(|(form, &relation)| {
                let (row, domains) = row_of(atom, form, relation);
                let mut any = vec![Literal::Negative(row)];
                for (domain, term) in domains {
                    if !is_within(domain, &term) {
                        any.push(Literal::Negative(domain_atom(domain, &term)));
                    }
                }
                any
            })
            .collect()
    }

    /// The branches that a branch of alternatives becomes.
    fn branches(
        &self,
        branch: Vec<Literal>,
        relations: &[Vec<RelationId>],
        is_within: &dyn Fn(RelationId, &Term) -> bool,
    ) -> Vec<Vec<Literal>> {
        let mut branches: Vec<Vec<Literal>> = vec![Vec::new()];
        let extend = |branches: &mut Vec<Vec<Literal>>, choices: Vec<Vec<Literal>>| {
            *branches = branches
                .iter()
                .flat_map(|branch| choices.iter().map(|more| [&branch[..], more].concat()))
                .collect();
        };
        for literal in branch {
            match literal {
                Literal::Positive(atom) if self.is_split(&atom) => {
                    let relation = atom.relation.index();
                    let forms = self.forms[relation].iter().zip(&relations[relation]);
                    let choices = forms.map(|(form, &relation)| {
                        let (row, domains) = row_of(&atom, form, relation);
                        let tests = domains.iter().map(|(domain, term)| test(*domain, term));
                        std::iter::once(Literal::Positive(row))
                            .chain(tests)
                            .collect()
                    });
                    extend(&mut branches, choices.collect());
                }
                Literal::Negative(atom) if self.is_split(&atom) => {
                    for any in self.excluded(&atom, relations, is_within) {
                        let choices = any.into_iter().map(|literal| vec![literal]);
                        extend(&mut branches, choices.collect());
                    }
                }
                other => extend(&mut branches, vec![vec![other]]),
            }
        }
        branches
    }
}

/// The positive literals of a body that are not within alternatives.
fn positive(rule: &Rule) -> impl Iterator<Item = &Atom> {
    rule.body.iter().filter_map(|literal| match literal {
        Literal::Positive(atom) => Some(atom),
        _ => None,
    })
}

/// The rows of relations with one column that have no rules.
fn domains(rules: &RuleSet) -> FxHashMap<RelationId, FxHashSet<TermId>> {
    let mut domains: FxHashMap<RelationId, FxHashSet<TermId>> = FxHashMap::default();
    for fact in &rules.facts {
        if let [value] = *fact.arguments {
            domains.entry(fact.relation).or_default().insert(value);
        }
    }
    for rule in &rules.rules {
        domains.remove(&rule.head.relation);
    }
    domains
}

fn domain_atom(domain: RelationId, term: &Term) -> Atom {
    Atom {
        relation: domain,
        arguments: vec![term.clone()],
        span: ggp_gdl::span::Span::default(),
    }
}

fn test(domain: RelationId, term: &Term) -> Literal {
    Literal::Positive(domain_atom(domain, term))
}

/// The row of a form, and the values that must be in domains.
fn row_of(atom: &Atom, form: &Form, relation: RelationId) -> (Atom, Vec<(RelationId, Term)>) {
    let (mut arguments, mut domains) = (Vec::new(), Vec::new());
    for (column, term) in atom.arguments.iter().enumerate() {
        match form.iter().find(|(free, _)| *free == column) {
            Some((_, domain)) => domains.push((*domain, term.clone())),
            None => arguments.push(term.clone()),
        }
    }
    let row = Atom {
        relation,
        arguments,
        span: atom.span,
    };
    (row, domains)
}
