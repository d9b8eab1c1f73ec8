//! Rule coverage: the rules that fire, and the point at which dead rules fail.
//!
//! In: positions, one after the other. Each rule gets a proposition that holds if its body
//! is satisfied; rules that never fired get one for each prefix of their body. A rule that
//! does not fire even in the delete relaxation never fires at all: there, negations are
//! ignored, every fact that ever holds does so at once, and all moves are made at once.
//!
//! Source of the relaxation: Bonet and Geffner, Planning as heuristic search (2001), used
//! there for plans.

use ggp_stop::Instant;

use rustc_hash::FxHashSet;

use super::bodies::{alternatives, in_order, place_of, relaxed_body, with_body};
use super::dead_rules::needed_for;
use super::tally::{Path, SampledPosition};
use ggp_engine::machine::{Limits, PlayError};
use ggp_gdl::analysis::achievers::{Achiever, Achievers};
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::{Bounds, Evaluator, Failure, Layer, Query};
use ggp_gdl::game::{Game, Move};
use ggp_gdl::program::reach::dependents;
use ggp_gdl::program::{Atom, Literal, RelationId, Rule, RuleSet, Term, Variable};
use ggp_gdl::span::Span;
use ggp_gdl::terms::{TermId, Terms};

/// Maximum number of rules that fire which are searched for one that does not.
const LINKS: usize = 4;

/// The knowledge about the rules.
pub(super) struct Coverage {
    game: Game,
    terms: Terms,
    limits: Limits,
    deadline: Instant,
    /// The rules, once for each alternative of their body: the index among the rules of the
    /// game, and the body.
    units: Vec<(usize, Vec<Literal>)>,
    /// For each unit: whether it fired.
    fired: Vec<bool>,
    /// Number of positions visited.
    pub(super) positions: u64,
    /// A move or goal of something that is not a role: the relation, and the thing.
    pub(super) non_role: Option<(RelationId, TermId)>,
    /// True if every rule was evaluated in all positions.
    pub(super) is_exact: bool,
    /// Facts that held in all positions, and facts that held in any.
    pub(super) always: Option<FxHashSet<TermId>>,
    watch: Option<Watched>,
}

/// An evaluator that reports, for some rules, whether their bodies are satisfied.
struct Watched {
    evaluator: Evaluator,
    /// For each proposition: its relation, its query, and whether it depends on the moves.
    asked: Vec<(RelationId, Query, bool)>,
    /// The queries for moves and goals.
    heads: Vec<(RelationId, Query)>,
}

/// A rule that never fired.
pub(super) struct DeadRule {
    /// The index among the rules of the game.
    pub(super) rule: usize,
    /// Number of its literals, in the order of evaluation, that are ever satisfied
    /// together.
    pub(super) reached: usize,
    /// The first literal that was never satisfied together with those before it.
    pub(super) stops_at: Option<Span>,
    /// Whether `not` is before the atom at that place.
    pub(super) is_denied: bool,
    /// True if that literal was never satisfied on its own either.
    pub(super) alone: bool,
    /// True if it is proved that the rule never fires.
    pub(super) proved: bool,
    /// True if no fact, rule or move can ever satisfy that literal.
    pub(super) nothing: bool,
    /// The name probably intended there, if a similar name exists.
    pub(super) meant: Option<String>,
    /// The rules that could satisfy that literal, if none of them ever fires either.
    pub(super) achievers: Option<Vec<usize>>,
    /// Moves to a position in which the longest prefix is satisfied, including the moves
    /// made there if the prefix depends on them.
    pub(super) path: Option<Path>,
}

impl Coverage {
    /// Begins without knowledge. Everything not determined by the deadline stays unknown.
    pub(super) fn new(game: &Game, terms: &Terms, limits: &Limits, deadline: Instant) -> Self {
        // Rules that choose among goal values are not those of the author.
        let written = game.as_written().rules().rules.len();
        let rules = game.rules().rules[..written].iter().enumerate();
        let units = rules.flat_map(|(number, rule)| {
            let bodies = alternatives(rule).into_iter();
            bodies.map(move |body| (number, body))
        });
        let units: Vec<_> = units.collect();
        Coverage {
            game: game.clone(),
            terms: terms.clone(),
            limits: limits.clone(),
            deadline,
            fired: vec![false; units.len()],
            units,
            positions: 0,
            non_role: None,
            is_exact: true,
            always: None,
            watch: None,
        }
    }

    /// Returns whether nothing more can be learned about the rules.
    pub(super) fn is_full(&self) -> bool {
        self.fired.iter().all(|fired| *fired)
    }

    /// Returns whether a rule at this source location fired.
    pub(super) fn has_fired(&self, place: Span) -> bool {
        let rules = &self.game.rules().rules;
        let mut units = self.units.iter().zip(&self.fired);
        units.any(|((rule, _), fired)| *fired && rules[*rule].span == place)
    }

    /// Visits a position and the joint moves made there.
    ///
    /// # Errors
    ///
    /// [`PlayError::Interrupted`]. Queries that take too much work are skipped.
    pub(super) fn visit(
        &mut self,
        facts: &[TermId],
        joints: &[Vec<Move>],
    ) -> Result<(), PlayError> {
        self.positions += 1;
        match &mut self.always {
            None => self.always = Some(facts.iter().copied().collect()),
            Some(always) => {
                let here: FxHashSet<TermId> = facts.iter().copied().collect();
                always.retain(|fact| here.contains(fact));
            }
        }
        if self.is_full() {
            return Ok(());
        }
        let mut watch = match self.watch.take() {
            Some(watch) => watch,
            None => {
                let bodies = self
                    .units
                    .iter()
                    .map(|(rule, body)| with_body(&self.game.rules().rules[*rule], body.clone()));
                match self.watching(bodies.collect()) {
                    Ok(watch) => watch,
                    Err(Failure::Interrupted) => return Err(PlayError::Interrupted),
                    Err(_) => {
                        self.is_exact = false;
                        self.positions -= 1;
                        return Ok(());
                    }
                }
            }
        };
        let mut fired = std::mem::take(&mut self.fired);
        let came = self.ask(&mut watch, facts, joints, &mut fired);
        self.fired = fired;
        self.watch = Some(watch);
        if Instant::now() >= self.deadline {
            // The position was not visited completely.
            self.positions -= 1;
        }
        came
    }

    /// An evaluator for these bodies.
    fn watching(&mut self, bodies: Vec<Rule>) -> Result<Watched, Failure> {
        let mut rules = self.game.rules().clone();
        let moving = moving(&self.game);
        let mut propositions = Vec::with_capacity(bodies.len());
        for mut rule in bodies {
            let mut moves = false;
            for literal in &rule.body {
                literal.for_each_atom(&mut |atom, _| moves |= moving[atom.relation.index()]);
            }
            rule.head = Atom {
                relation: rules.add_relation(0),
                arguments: Vec::new(),
                span: rule.head.span,
            };
            propositions.push((rule.head.relation, moves));
            rules.rules.push(rule);
        }
        let [state, does] =
            [Keyword::True, Keyword::Does].map(|keyword| self.game.keyword(keyword));
        let inputs = [(state, Layer::First), (does, Layer::Second)];
        let inputs: Vec<_> = inputs
            .into_iter()
            .filter_map(|(r, layer)| Some((r?, layer)))
            .collect();
        let heads = [Keyword::Legal, Keyword::Goal].map(|keyword| self.game.keyword(keyword));
        let heads: Vec<RelationId> = heads.into_iter().flatten().collect();
        let of_rules =
            (propositions.iter()).map(|(relation, moves)| (usize::from(*moves), vec![*relation]));
        let of_heads = heads.iter().map(|relation| (0, vec![*relation]));
        let queries: Vec<_> = of_rules.chain(of_heads).collect();
        let bounds = self.bounds();
        let (evaluator, asks) = Evaluator::new(rules, &inputs, &queries, &mut self.terms, bounds)
            .map_err(|error| error.failure)?;
        let heads = heads.into_iter().zip(asks[propositions.len()..].to_vec());
        let heads = heads.collect();
        let asked = propositions.into_iter().zip(asks);
        Ok(Watched {
            evaluator,
            heads,
            asked: asked
                .map(|((relation, moves), query)| (relation, query, moves))
                .collect(),
        })
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            facts: self.limits.facts,
            work: self.limits.work,
            stop: self.limits.stop.until(self.deadline),
            ..Bounds::default()
        }
    }

    /// Marks the bodies, among those unknown, that are satisfied here.
    fn ask(
        &mut self,
        watch: &mut Watched,
        facts: &[TermId],
        joints: &[Vec<Move>],
        known: &mut [bool],
    ) -> Result<(), PlayError> {
        let mut given = facts
            .iter()
            .copied()
            .chain(joints.iter().flatten().map(|m| m.term()));
        if given.any(|term| !self.terms.knows(term)) {
            self.terms.refresh();
        }
        let [state, does] =
            [Keyword::True, Keyword::Does].map(|keyword| self.game.keyword(keyword));
        let evaluator = &mut watch.evaluator;
        let begin = |evaluator: &mut Evaluator| {
            evaluator.begin(Layer::First);
            if let Some(state) = state {
                facts
                    .iter()
                    .for_each(|fact| evaluator.give(state, &[*fact]));
            }
        };
        begin(evaluator);
        let mut layers: Vec<Option<&Vec<Move>>> = vec![None];
        layers.extend(joints.iter().map(Some));
        for joint in layers {
            if let Some(joint) = joint {
                evaluator.begin(Layer::Second);
                if let Some(does) = does {
                    for (role, chosen) in self.game.roles().zip(joint) {
                        evaluator.give(does, &[self.game.role_term(role), chosen.term()]);
                    }
                }
            }
            for &(relation, query) in watch.heads.iter().filter(|_| joint.is_none()) {
                if self.non_role.is_none() && evaluator.ask(query, &mut self.terms).is_ok() {
                    let mut rows = evaluator.rows(relation);
                    let non_role = rows.find(|row| self.game.role_of(row[0]).is_none());
                    self.non_role = non_role.map(|row| (relation, row[0]));
                }
            }
            for (&(relation, query, moves), known) in watch.asked.iter().zip(known.iter_mut()) {
                if *known || moves != joint.is_some() {
                    continue;
                }
                match evaluator.ask(query, &mut self.terms) {
                    Ok(()) => *known = evaluator.count(relation) > 0,
                    Err(error) if error.failure == Failure::Interrupted => {
                        return Err(PlayError::Interrupted);
                    }
                    // The inputs must be set again; the remaining bodies are not evaluated
                    // here.
                    Err(_) => {
                        self.is_exact = false;
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// The rules that never fired, and the point at which they fail in these positions.
    ///
    /// # Errors
    ///
    /// [`PlayError::Interrupted`].
    pub(super) fn dead_rules(
        &mut self,
        positions: &[SampledPosition],
    ) -> Result<Vec<DeadRule>, PlayError> {
        let dead_rules: Vec<usize> = (0..self.fired.len())
            .filter(|&rule| !self.fired[rule])
            .collect();
        if dead_rules.is_empty() {
            return Ok(Vec::new());
        }
        let never = self.never_fire(&dead_rules)?;
        let orders: Vec<Vec<Literal>> = (dead_rules.iter())
            .map(|&unit| {
                let (rule, body) = &self.units[unit];
                in_order(&with_body(&self.game.rules().rules[*rule], body.clone()))
            })
            .collect();
        // For each literal: the body up to it, and the literal alone.
        let mut bodies = Vec::new();
        for (&rule, order) in dead_rules.iter().zip(&orders) {
            let rule = &self.game.rules().rules[self.units[rule].0];
            for end in 1..=order.len() {
                bodies.push(with_body(rule, order[..end].to_vec()));
                bodies.push(match &order[end - 1] {
                    literal @ Literal::Positive(_) => with_body(rule, vec![literal.clone()]),
                    // A test alone says nothing.
                    _ => with_body(rule, order[..end].to_vec()),
                });
            }
        }
        let mut reached = vec![false; bodies.len()];
        // For each body: a path to a position in which it is satisfied.
        let mut first: Vec<Option<Path>> = vec![None; bodies.len()];
        if let Ok(mut watch) = self.watching(bodies) {
            for (facts, joints, path) in positions {
                if Instant::now() >= self.deadline {
                    break;
                }
                self.ask(&mut watch, facts, joints, &mut reached)?;
                self.note(&mut watch, (facts, joints, path), &reached, &mut first)?;
            }
        }
        let mut pairs = reached.chunks_exact(2).zip(first.chunks_exact(2));
        let moving = moving(&self.game);
        let needs_moves = |order: &[Literal]| {
            let mut needs = false;
            for literal in order {
                literal.for_each_atom(&mut |atom, _| needs |= moving[atom.relation.index()]);
            }
            needs
        };
        let mut found = Vec::with_capacity(dead_rules.len());
        let achievers = Achievers::new(&self.game);
        let terms = self.game.terms();
        let mut own_terms = terms.clone();
        let fired = self
            .units
            .iter()
            .zip(&self.fired)
            .filter(|(_, fired)| **fired);
        let fired: FxHashSet<usize> = fired.map(|((rule, _), _)| *rule).collect();
        for ((unit, order), proved) in dead_rules.into_iter().zip(orders).zip(never) {
            if Instant::now() >= self.deadline {
                return Err(PlayError::Interrupted);
            }
            let (pairs, first): (Vec<&[bool]>, Vec<&[Option<Path>]>) =
                pairs.by_ref().take(order.len()).unzip();
            // A literal that nothing can satisfy is the cause, even if an earlier one fails
            // as well.
            let has_no_achiever = |one: &Literal| matches!(one, Literal::Positive(atom) if achievers.has_no_achiever(atom, terms));
            let nothing = order.iter().position(has_no_achiever);
            let never = |one| achievers.never_holds(one, terms);
            let nothing = nothing.or_else(|| order.iter().position(never));
            let reached = pairs.iter().take_while(|pair| pair[0]).count();
            let count = nothing.unwrap_or(reached);
            let missing = match order.get(count) {
                Some(Literal::Positive(atom)) if nothing.is_some() || !pairs[count][1] => {
                    Some(atom)
                }
                _ => None,
            };
            let achievers_of = missing.and_then(|atom| {
                self.dead_achievers(atom, (&achievers, &mut own_terms), &fired, LINKS)
            });
            let is_nothing = missing.is_some_and(|atom| achievers.has_no_achiever(atom, terms));
            let meant = missing.and_then(|atom| achievers.similar_name(atom, terms));
            found.push(DeadRule {
                rule: self.units[unit].0,
                reached: count,
                stops_at: order.get(count).and_then(place_of),
                is_denied: matches!(order.get(count), Some(Literal::Negative(_))),
                alone: missing.is_some(),
                proved: proved || nothing.is_some(),
                nothing: is_nothing,
                meant: meant.map(|(_, meant)| meant.to_owned()),
                achievers: achievers_of.filter(|_| !is_nothing),
                path: match reached.checked_sub(1) {
                    Some(last) if needs_moves(&order[..=last]) == needs_moves(&order) => {
                        first[last][0].clone()
                    }
                    Some(_) => None,
                    None => (!needs_moves(&order)).then(Path::new),
                },
            });
        }
        Ok(found)
    }

    /// Records paths for the bodies that are satisfied here for the first time.
    fn note(
        &mut self,
        watch: &mut Watched,
        (facts, joints, path): (&[TermId], &[Vec<Move>], &Path),
        reached: &[bool],
        first: &mut [Option<Path>],
    ) -> Result<(), PlayError> {
        let fresh: Vec<usize> = (0..reached.len())
            .filter(|&body| reached[body] && first[body].is_none())
            .collect();
        let (with, without): (Vec<usize>, Vec<usize>) =
            fresh.into_iter().partition(|&body| watch.asked[body].2);
        without
            .into_iter()
            .for_each(|body| first[body] = Some(path.clone()));
        for joint in joints {
            if with.iter().all(|&body| first[body].is_some()) || Instant::now() >= self.deadline {
                break;
            }
            let mut here = vec![false; reached.len()];
            self.ask(watch, facts, std::slice::from_ref(joint), &mut here)?;
            for &body in with.iter().filter(|&&body| here[body]) {
                first[body]
                    .get_or_insert_with(|| [&path[..], std::slice::from_ref(joint)].concat());
            }
        }
        Ok(())
    }

    /// The achievers of an atom, if there are any and none of them fired, or never for this
    /// atom. Frame rules, which only keep facts, do not count.
    fn dead_achievers(
        &self,
        atom: &Atom,
        (achievers, terms): (&Achievers, &mut Terms),
        fired: &FxHashSet<usize>,
        depth: usize,
    ) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        let of_atom: Vec<Achiever> = achievers.of(atom, terms).collect();
        for achiever in of_atom {
            match achiever {
                Achiever::Fact(_) => return None,
                Achiever::Rule(rule) if achievers.is_frame_rule(rule) => {}
                Achiever::Rule(rule) if !fired.contains(&rule) => found.push(rule),
                Achiever::Rule(_) if depth == 0 => return None,
                Achiever::Rule(rule) => {
                    let needed = needed_for(&self.game.rules().rules[rule], atom, terms);
                    let mut causes = needed.iter().filter_map(|atom| {
                        self.dead_achievers(atom, (achievers, terms), fired, depth - 1)
                    });
                    found.extend(causes.next()?);
                }
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Returns whether each of these rules never fires, as far as the relaxation proves it.
    fn never_fire(&mut self, of: &[usize]) -> Result<Vec<bool>, PlayError> {
        let (rules, propositions) = self.relaxed(of);
        let queries: Vec<_> = propositions
            .iter()
            .map(|relation| (0, vec![*relation]))
            .collect();
        let bounds = self.bounds();
        let made = Evaluator::new(rules, &[], &queries, &mut self.terms, bounds);
        match made {
            Ok((mut evaluator, asks)) => {
                let mut never = vec![false; of.len()];
                let asked = propositions.into_iter().zip(asks);
                for (never, (relation, query)) in never.iter_mut().zip(asked) {
                    if evaluator.ask(query, &mut self.terms).is_err() {
                        break;
                    }
                    *never = evaluator.count(relation) == 0;
                }
                Ok(never)
            }
            Err(error) if error.failure == Failure::Interrupted => Err(PlayError::Interrupted),
            Err(_) => Ok(vec![false; of.len()]),
        }
    }

    /// The relaxed rules, with a proposition for each of these rules.
    fn relaxed(&self, of: &[usize]) -> (RuleSet, Vec<RelationId>) {
        let game = &self.game;
        let inputs = [Keyword::True, Keyword::Does];
        let inputs = inputs
            .into_iter()
            .filter_map(|keyword| game.keyword(keyword));
        let changing = dependents(game.rules(), inputs);
        let mut rules = game.rules().clone();
        for rule in &mut rules.rules {
            rule.body = relaxed_body(&rule.body, &changing);
        }
        let mut link = |head: Keyword, body: Keyword, columns: usize| {
            if let (Some(head), Some(body)) = (game.keyword(head), game.keyword(body)) {
                let atom = |relation| Atom {
                    relation,
                    arguments: (0..columns)
                        .map(|column| Term::Variable(Variable::new(column)))
                        .collect(),
                    span: Span::default(),
                };
                rules.rules.push(Rule {
                    head: atom(head),
                    body: vec![Literal::Positive(atom(body))],
                    variables: vec!["".into(); columns],
                    span: Span::default(),
                });
            }
        };
        link(Keyword::True, Keyword::Init, 1);
        link(Keyword::True, Keyword::Next, 1);
        link(Keyword::Does, Keyword::Legal, 2);
        let mut propositions = Vec::with_capacity(of.len());
        for &unit in of {
            let (number, body) = &self.units[unit];
            let mut rule = with_body(&rules.rules[*number], relaxed_body(body, &changing));
            rule.head.relation = rules.add_relation(0);
            rule.head.arguments.clear();
            propositions.push(rule.head.relation);
            rules.rules.push(rule);
        }
        (rules, propositions)
    }
}

/// For each relation: whether it depends on the moves made.
pub(super) fn moving(game: &Game) -> Vec<bool> {
    dependents(game.rules(), game.keyword(Keyword::Does))
}
