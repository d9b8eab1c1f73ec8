//! Explains why something does not hold: for each rule that could derive it, the
//! match of its body that lacks least.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::matching::{Matching, extend, holds};
use super::model::{Bindings, Model};
use super::why::fact_of;
use super::{
    Attempt, ExplainError, Explainer, GroundAtom, LiteralOutcome, LiteralStatus, Missing,
    MissingReason,
};
use ggp_gdl::analysis::achievers::Achievers;
use ggp_gdl::program::unify::Unifier;
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, Term, Variable};
use ggp_gdl::terms::{TermId, Terms};

/// Costs of a missing literal. A literal that can never hold is probably the cause of
/// the question. Changing facts can become true in play; the others only change with
/// the rules.
const COST_NEVER: u32 = 1;
const COST_CHANGING: u32 = 2;
const COST_FIXED: u32 = 3;
/// Costs of conditions that no fact could satisfy: a test, a head that does not
/// match, a fact that would depend on itself.
const COST_TEST: u32 = 6;
const COST_NO_MATCH: u32 = 8;
const COST_CIRCULAR: u32 = 1_000;

/// A fact that should not hold costs as much as it has derivations, up to this
/// number.
const MAX_INSTANCES: usize = 10;

/// The weight of a repeated line, in steps of a search.
const REPEATED: u64 = 50;

/// Number of similar facts shown for a missing one.
const NEAREST: usize = 3;

/// Number of rules examined to find the best, as a multiple of the rules shown.
const LOOKED_INTO: usize = 2;
/// Maximum number of rows visited to answer one question about a relation derived on
/// demand.
const WORK: u64 = 2_000_000;

/// The explanation in progress, in one situation.
pub(super) struct Search<'m> {
    model: &'m mut Model,
    /// The atoms being explained, each a condition of the one before.
    above: Vec<Atom>,
    /// Finished explanations, with the number of atoms above them.
    known: FxHashMap<(GroundAtom, bool), (usize, Missing)>,
    /// Number of times that something would have depended on itself.
    circles: usize,
    spent: u64,
}

impl Explainer {
    /// The reason why no fact matches an atom, whose variables have these names.
    pub(super) fn missing(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        model: &mut Model,
    ) -> Result<Missing, ExplainError> {
        let work = model.set_work(WORK);
        let mut search = Search {
            model,
            above: Vec::new(),
            known: FxHashMap::default(),
            circles: 0,
            spent: 0,
        };
        let never =
            self.is_input(atom.relation) && self.never_holds(&Literal::Positive(atom.clone()));
        let missing = self.missed(atom, names, never, &mut search);
        model.set_work(work);
        missing
    }

    /// The reason why no fact matches an atom; `never` is true if nothing can ever
    /// achieve the condition of the rule.
    fn missed(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        never: bool,
        search: &mut Search<'_>,
    ) -> Result<Missing, ExplainError> {
        let fact = match is_ground(atom) {
            true => Some((fact_of(atom, &[], &mut self.terms), never)),
            false => None,
        };
        let depth = search.above.len();
        if let Some((above, known)) = fact.as_ref().and_then(|fact| search.known.get(fact))
            && *above <= depth
        {
            search.spent = search.spent.saturating_add(REPEATED * weight(known));
            return Ok(known.clone());
        }
        let circles = search.circles;
        let (reason, cost) = self.nothing(atom, names, never, search)?;
        let missing = Missing {
            atom: atom.clone(),
            names: names.into(),
            reason,
            cost,
            never,
        };
        // An atom that would depend on itself here may not do so elsewhere.
        if let Some(fact) = fact.filter(|_| search.circles == circles) {
            search.known.insert(fact, (depth, missing.clone()));
        }
        Ok(missing)
    }

    fn nothing(
        &mut self,
        atom: &Atom,
        names: &[Box<str>],
        never: bool,
        search: &mut Search<'_>,
    ) -> Result<(MissingReason, u32), ExplainError> {
        let is_same =
            |other: &Atom| other.relation == atom.relation && other.arguments == atom.arguments;
        if search.above.iter().any(is_same) {
            search.circles += 1;
            return Ok((MissingReason::Circular, COST_CIRCULAR));
        }
        let literal_cost = match never {
            true => COST_NEVER,
            false => self.cost_of_relation(atom.relation),
        };
        let numbers = self.rules_of(atom.relation);
        if self.is_input(atom.relation) || numbers.is_empty() {
            return Ok((
                MissingReason::Given(self.nearest(atom, search.model)),
                literal_cost,
            ));
        }
        let depth = search.above.len();
        if depth >= self.options.depth
            || search.spent > self.options.work.saturating_mul(LOOKED_INTO as u64)
        {
            return Ok((
                MissingReason::DepthLimit(self.nearest(atom, search.model)),
                2 * literal_cost,
            ));
        }
        let game = self.game.clone();
        let mut found = Vec::new();
        let mut apart = Vec::new();
        for &number in numbers.iter() {
            let rule = &game.rules().rules[number];
            match resolved(rule, atom, names, &mut self.terms) {
                Some(rule) => {
                    let body = &game.rules().rules[number].body;
                    let (bindings, missed, cost) = self.nearest_match(&rule, body, search)?;
                    found.push((cost, number, rule, bindings, missed));
                }
                None => apart.push(number),
            }
        }
        let count = found.len();
        found.sort_by_key(|(cost, number, ..)| (*cost, *number));
        found.truncate(self.options.rules.saturating_mul(LOOKED_INTO).max(1));
        search.above.push(atom.clone());
        let mut attempts = Vec::new();
        for (_, number, rule, bindings, missed) in found {
            let bodies = (&rule.body[..], &game.rules().rules[number].body[..]);
            let outcomes = self.outcomes(bodies, Some(&missed), &rule, &bindings, search)?;
            attempts.push(Attempt {
                rule: number,
                names: rule.variables.into(),
                cost: total(&outcomes),
                outcomes,
            });
        }
        search.above.pop();
        // Rules of equal cost stay in the order of their directly missing literals.
        attempts.sort_by_key(|attempt| attempt.cost);
        let no_match_cost = if never { COST_NEVER } else { COST_NO_MATCH };
        let least = attempts.first().map_or(no_match_cost, |best| best.cost);
        if depth > 0 {
            let most = least.saturating_add(self.options.margin);
            attempts.retain(|attempt| attempt.cost <= most);
        }
        attempts.truncate(self.options.rules.max(1));
        let nearest = match count {
            0 => self.nearest(atom, search.model),
            _ => Vec::new(),
        };
        let reason = MissingReason::Rules {
            worse: count - attempts.len(),
            attempts,
            nearest,
            apart,
        };
        Ok((reason, least))
    }

    /// The match of a rule's body that lacks least, its missing literals and their
    /// cost; `written` is the body as in the rules.
    fn nearest_match(
        &mut self,
        rule: &Rule,
        written: &[Literal],
        search: &mut Search<'_>,
    ) -> Result<(Box<Bindings>, Vec<usize>, u32), ExplainError> {
        let costs: Vec<u32> = written.iter().map(|l| self.cost_of_literal(l)).collect();
        let total = costs.iter().sum();
        let mut bindings = vec![None; rule.variables.len()];
        self.budget.start();
        let mut nearest = None;
        for most in 0..=total {
            let mut matching = Matching {
                body: &rule.body,
                model: search.model,
                terms: &mut self.terms,
                budget: &mut self.budget,
                costs: &costs,
                most,
            };
            bindings.fill(None);
            let outcome = matching.run(&mut bindings, &mut |bindings, missed| {
                nearest = Some((Box::from(bindings), missed.to_vec(), most));
                ControlFlow::Break(())
            });
            match outcome {
                Err(ExplainError::Large(_)) => break,
                Err(error) => return Err(error),
                Ok(_) if nearest.is_some() => break,
                Ok(_) => {}
            }
        }
        search.spent = search.spent.saturating_add(self.budget.spent);
        match nearest {
            Some(nearest) => Ok(nearest),
            None => self.first_match(rule, &costs, search.model),
        }
    }

    /// A match of a body by the first matching fact, literal by literal.
    fn first_match(
        &mut self,
        rule: &Rule,
        costs: &[u32],
        model: &mut Model,
    ) -> Result<(Box<Bindings>, Vec<usize>, u32), ExplainError> {
        let mut bindings = vec![None; rule.variables.len()];
        let mut missed = Vec::new();
        for (place, literal) in rule.body.iter().enumerate() {
            if let Literal::Positive(atom) = literal
                && extend(atom, &mut bindings, model, &mut self.terms)? == Some(false)
            {
                missed.push(place);
            }
        }
        for (place, literal) in rule.body.iter().enumerate() {
            if !matches!(literal, Literal::Positive(_))
                && holds(literal, &bindings, model, &mut self.terms)? == Some(false)
            {
                missed.push(place);
            }
        }
        missed.sort_unstable();
        let cost = missed.iter().map(|&place| costs[place]).sum();
        Ok((bindings.into(), missed, cost))
    }

    fn cost_of_literal(&mut self, literal: &Literal) -> u32 {
        if self.never_holds(literal) {
            return COST_NEVER;
        }
        let mut literal_cost = COST_FIXED;
        literal.for_each_atom(&mut |atom, _| {
            literal_cost = literal_cost.min(self.cost_of_relation(atom.relation))
        });
        literal_cost
    }

    /// True if it is proved that a literal of a rule, as written, never holds.
    fn never_holds(&mut self, literal: &Literal) -> bool {
        let game = &self.game;
        let achievers = self.achievers.get_or_insert_with(|| Achievers::new(game));
        achievers.never_holds(literal, &self.terms)
    }

    fn cost_of_relation(&self, relation: RelationId) -> u32 {
        match self.changes(relation) {
            true => COST_CHANGING,
            false => COST_FIXED,
        }
    }

    /// The outcome of each literal of a body or branch, given with its written form.
    /// `missed` are the literals that a match lacks; if it is `None`, they are
    /// determined here.
    fn outcomes(
        &mut self,
        (body, written): (&[Literal], &[Literal]),
        missed: Option<&[usize]>,
        rule: &Rule,
        bindings: &Bindings,
        search: &mut Search<'_>,
    ) -> Result<Vec<LiteralOutcome>, ExplainError> {
        let mut outcomes = Vec::new();
        for (place, (literal, written)) in body.iter().zip(written).enumerate() {
            let holding = holds(literal, bindings, search.model, &mut self.terms)?;
            let failed = match missed {
                Some(missed) => missed.contains(&place),
                None => holding == Some(false),
            };
            let shown = substituted(literal, bindings, &mut self.terms);
            let mut is_open = false;
            shown.for_each_variable(&mut |_| is_open = true);
            let (state, cost) = match (failed, holding) {
                (false, Some(true)) => (LiteralStatus::Holds, 0),
                (false, _) if is_open => (LiteralStatus::Open, 0),
                (false, _) => (LiteralStatus::Unknown, 0),
                (true, _) => match &shown {
                    Literal::Positive(atom) => {
                        let never = self.never_holds(written);
                        let missing = self.missed(atom, &rule.variables, never, search)?;
                        let cost = missing.cost;
                        (LiteralStatus::Missing(Box::new(missing)), cost)
                    }
                    Literal::Negative(atom) => {
                        let fact = fact_of(atom, bindings, &mut self.terms);
                        let derivation = self.derive(&fact, search.model)?;
                        let instances = derivation.instances.clamp(1, MAX_INSTANCES) as u32;
                        let literal_cost = instances * self.cost_of_relation(atom.relation);
                        (LiteralStatus::Violated(derivation), literal_cost)
                    }
                    Literal::Distinct(..) | Literal::Same(..) => (LiteralStatus::Fails, COST_TEST),
                    Literal::Any(branches) => {
                        let mut found = Vec::new();
                        let Literal::Any(written) = written else {
                            unreachable!("a rule that is narrowed keeps its form");
                        };
                        for bodies in branches.iter().zip(written) {
                            let bodies = (&bodies.0[..], &bodies.1[..]);
                            found.push(self.outcomes(bodies, None, rule, bindings, search)?);
                        }
                        let least = found.iter().map(|branch| total(branch)).min();
                        (
                            LiteralStatus::NoBranch(found),
                            least.unwrap_or(COST_NO_MATCH),
                        )
                    }
                },
            };
            outcomes.push(LiteralOutcome {
                literal: shown,
                state,
                cost,
            });
        }
        Ok(outcomes)
    }

    /// The facts of an atom's relation that differ least from it.
    fn nearest(&mut self, atom: &Atom, model: &mut Model) -> Vec<GroundAtom> {
        let mut found: Vec<(u32, GroundAtom)> = Vec::new();
        let most: u32 = atom.arguments.iter().map(|t| size(t, &self.terms)).sum();
        for number in 0..model.count(atom.relation) as u32 {
            let row: Vec<TermId> = model.fact(atom.relation, number).to_vec();
            let distance = |(term, given): (&Term, &TermId)| distance(term, *given, &self.terms);
            let far: u32 = atom.arguments.iter().zip(&row).map(distance).sum();
            if far < most.max(2) {
                let fact = GroundAtom {
                    relation: atom.relation,
                    arguments: row.into(),
                };
                found.push((far, fact));
            }
        }
        found.sort_by(|(l, left), (r, right)| l.cmp(r).then_with(|| self.compare(left, right)));
        let least = found.first().map_or(0, |(far, _)| *far);
        found.retain(|(far, _)| *far == least);
        found.truncate(NEAREST);
        found.into_iter().map(|(_, fact)| fact).collect()
    }

    /// True if a relation depends on the state or the moves.
    pub(super) fn changes(&self, relation: RelationId) -> bool {
        self.changing[relation.index()]
    }
}

fn is_ground(atom: &Atom) -> bool {
    let mut ground = true;
    atom.for_each_variable(|_, _| ground = false);
    ground
}

/// Approximate number of lines in an explanation.
fn weight(missing: &Missing) -> u64 {
    fn of(outcomes: &[LiteralOutcome]) -> u64 {
        let weights = outcomes.iter().map(|outcome| match &outcome.state {
            LiteralStatus::Missing(missing) => weight(missing),
            LiteralStatus::Violated(derivation) => derivation.proofs.len() as u64,
            LiteralStatus::NoBranch(branches) => branches.iter().map(|branch| of(branch)).sum(),
            _ => 1,
        });
        weights.sum()
    }
    match &missing.reason {
        MissingReason::Rules { attempts, .. } => {
            1 + attempts
                .iter()
                .map(|attempt| of(&attempt.outcomes))
                .sum::<u64>()
        }
        _ => 1,
    }
}

/// The total cost of everything that a body lacks.
fn total(outcomes: &[LiteralOutcome]) -> u32 {
    (outcomes.iter()).fold(0, |sum, outcome| sum.saturating_add(outcome.cost))
}

/// Number of names in a term; variables do not count.
fn size(term: &Term, terms: &Terms) -> u32 {
    match term {
        Term::Variable(_) => 0,
        term => {
            1 + (term.arguments(terms).iter())
                .map(|t| size(t, terms))
                .sum::<u32>()
        }
    }
}

/// Number of places in which a term and a value differ; a variable differs from
/// nothing.
fn distance(term: &Term, given: TermId, terms: &Terms) -> u32 {
    match term {
        Term::Variable(_) => 0,
        Term::Ground(id) if *id == given => 0,
        term if term.functor(terms) == Some(terms.functor(given)) => {
            let pairs = term.arguments(terms);
            (pairs.iter().zip(terms.arguments(given)))
                .map(|(term, given)| distance(term, *given, terms))
                .sum()
        }
        term => size(term, terms),
    }
}

/// A rule specialized to what can derive an atom; `None` if it cannot derive such a
/// fact. The atom's variables come first.
fn resolved(rule: &Rule, atom: &Atom, names: &[Box<str>], terms: &mut Terms) -> Option<Rule> {
    let offset = names.len();
    let mut unifier = Unifier::new(offset + rule.variables.len(), terms);
    for (left, right) in atom.arguments.iter().zip(&rule.head.arguments) {
        // The rule's own names are kept where a variable is unified with another.
        if !unifier.unify((left, 0), (right, offset)) {
            return None;
        }
    }
    let body = rule.body.iter().map(|l| unifier.literal(l, offset));
    Some(Rule {
        body: body.collect::<Option<Vec<_>>>()?,
        head: unifier.atom(&rule.head, offset)?,
        variables: names.iter().chain(&rule.variables).cloned().collect(),
        span: rule.span,
    })
}

/// A literal with its bound variables replaced.
fn substituted(literal: &Literal, bindings: &Bindings, terms: &mut Terms) -> Literal {
    let mut unifier = Unifier::new(bindings.len(), terms);
    for (variable, value) in bindings.iter().enumerate() {
        if let Some(value) = value {
            let variable = Term::Variable(Variable::new(variable));
            unifier.unify((&variable, 0), (&Term::Ground(*value), 0));
        }
    }
    unifier
        .literal(literal, 0)
        .unwrap_or_else(|| literal.clone())
}
