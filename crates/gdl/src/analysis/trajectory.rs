//! The values of facts that depend on the number of steps alone, at each step.
//!
//! In: the rules for these facts. Out: the facts, step by step, up to a limit. Only
//! these rules, and the relations they use, are evaluated.

use std::collections::BTreeSet;

use ggp_stop::Stop;

use super::chase::{Chase, GaveUp, World};
use super::dependencies::Dependencies;
use crate::check::Keyword;
use crate::game::Game;
use crate::program::strata::{Group, stratify};
use crate::program::{Atom, FunctorId, RelationId, Rule, RuleSet, Term};
use crate::terms::{TermId, Terms};

/// Maximum number of steps followed.
const MAX_STEPS: usize = 10_000;
/// Maximum number of facts of all steps.
const MAX_FACTS: usize = 1_000_000;
/// Maximum number of matches tried in total.
const WORK: u64 = 20_000_000;

/// The rules to evaluate.
pub(super) struct Script<'g> {
    pub(super) game: &'g Game,
    pub(super) dependencies: &'g Dependencies<'g>,
    /// The functors of the facts that depend on the step alone.
    pub(super) functors: &'g BTreeSet<FunctorId>,
    /// The rules for their next values.
    pub(super) next: &'g [Rule],
    /// Conditions on them alone that end the game.
    pub(super) ends: &'g [Rule],
    /// The end of the evaluation.
    pub(super) stop: &'g Stop,
}

/// The facts of each step.
pub(super) struct Trajectory {
    /// Facts by step, each step sorted; entry 0 is the initial state.
    pub(super) steps: Vec<Vec<TermId>>,
    /// For each of [`Script::ends`], the first step at which it holds.
    pub(super) ends: Vec<Option<usize>>,
    /// True if the facts of the last step are those of an earlier one, so that they
    /// repeat from there on.
    pub(super) repeats: bool,
    /// A view that knows the terms of the facts.
    pub(super) terms: Terms,
}

impl Script<'_> {
    /// Evaluates the facts step by step until they repeat, the game is over or a
    /// limit is reached; `None` if the initial facts cannot be computed.
    pub(super) fn follow(&self) -> Option<Trajectory> {
        let game = self.game;
        let (init, next) = (game.keyword(Keyword::Init)?, game.keyword(Keyword::Next));
        let truth = game.keyword(Keyword::True);
        let mut terms = game.terms().clone();
        terms.refresh();
        let slice = self.slice(init, &terms);
        let groups = stratify(&slice.rules, &terms).ok()?;
        let mut chase = Chase::new(
            game,
            slice.rules.arity.len(),
            World::Closed,
            WORK,
            self.stop,
        );
        for fact in &slice.rules.facts {
            chase.add(fact.relation, ground(&fact.arguments));
        }
        self.close(&slice, &groups, &mut chase, Part::Fixed).ok()?;
        let mut table = Trajectory {
            steps: Vec::new(),
            ends: vec![None; self.ends.len()],
            repeats: false,
            terms,
        };
        let mut known = BTreeSet::new();
        let mut count = 0;
        let mut facts = self.facts_of(&chase, init);
        loop {
            table.repeats = !known.insert(facts.clone());
            count += facts.len();
            table.steps.push(facts);
            let step = table.steps.len() - 1;
            for relation in &slice.moving {
                chase.clear(*relation);
            }
            for fact in &slice.rules.facts {
                if slice.moving.contains(&fact.relation) {
                    chase.add(fact.relation, ground(&fact.arguments));
                }
            }
            if let Some(truth) = truth {
                chase.clear(truth);
                for fact in &table.steps[step] {
                    chase.add(truth, vec![Term::Ground(*fact)]);
                }
            }
            let closed = self.close(&slice, &groups, &mut chase, Part::Moving);
            if closed.is_err() {
                break;
            }
            let mut over = false;
            for (end, relation) in table.ends.iter_mut().zip(&slice.ends) {
                if !chase.of(*relation).is_empty() {
                    *end = end.or(Some(step));
                    over = true;
                }
            }
            let is_long = table.steps.len() >= MAX_STEPS || count >= MAX_FACTS;
            if over || table.repeats || is_long {
                break;
            }
            facts = next.map_or_else(Vec::new, |next| self.facts_of(&chase, next));
        }
        table.terms = chase.into_terms();
        Some(table)
    }

    /// The rules needed, with a separate relation for each end condition.
    fn slice(&self, init: RelationId, terms: &Terms) -> Slice {
        let game = self.game;
        let all = game.rules();
        let is_ours = |term: &Term| match term.functor(terms) {
            Some(functor) => self.functors.contains(&functor),
            None => true,
        };
        let mut rules = RuleSet {
            arity: all.arity.clone(),
            facts: Vec::new(),
            rules: self.next.to_vec(),
        };
        let mut ends = Vec::new();
        for end in self.ends {
            let relation = rules.add_relation(0);
            ends.push(relation);
            rules.rules.push(Rule {
                head: Atom {
                    relation,
                    arguments: Vec::new(),
                    span: end.head.span,
                },
                ..end.clone()
            });
        }
        let starts = |rule: &&Rule| rule.head.relation == init && is_ours(&rule.head.arguments[0]);
        rules.rules.extend(all.rules.iter().filter(starts).cloned());
        let own = [Keyword::Init, Keyword::Next].map(|keyword| game.keyword(keyword));
        let mut needed = BTreeSet::new();
        let mut seen = 0;
        while seen < rules.rules.len() {
            let mut fresh = Vec::new();
            for literal in &rules.rules[seen].body {
                literal.for_each_atom(&mut |atom, _| {
                    if !own.contains(&Some(atom.relation)) && needed.insert(atom.relation) {
                        fresh.push(atom.relation);
                    }
                });
            }
            for relation in fresh {
                let own = self.dependencies.rules_of(relation);
                rules.rules.extend(own.cloned());
            }
            seen += 1;
        }
        for fact in &all.facts {
            let starts = fact.relation == init && is_ours(&Term::Ground(fact.arguments[0]));
            let goes_on = Some(fact.relation) == game.keyword(Keyword::Next)
                && is_ours(&Term::Ground(fact.arguments[0]));
            if starts || goes_on || needed.contains(&fact.relation) {
                rules.facts.push(fact.clone());
            }
        }
        let mut moving: BTreeSet<RelationId> = rules
            .rules
            .iter()
            .filter(|rule| !self.dependencies.is_fixed(rule))
            .map(|rule| rule.head.relation)
            .collect();
        moving.extend(game.keyword(Keyword::Next));
        Slice {
            rules,
            ends,
            moving,
        }
    }

    fn close(
        &self,
        slice: &Slice,
        groups: &[Group],
        chase: &mut Chase,
        part: Part,
    ) -> Result<(), GaveUp> {
        for group in groups {
            let rules = group.rules.iter().map(|index| &slice.rules.rules[*index]);
            let chosen = rules.filter(|rule| {
                let moves = slice.moving.contains(&rule.head.relation);
                moves == (part == Part::Moving)
            });
            chase.close(chosen)?;
        }
        Ok(())
    }

    fn facts_of(&self, chase: &Chase, relation: RelationId) -> Vec<TermId> {
        let mut facts: Vec<TermId> = chase
            .of(relation)
            .iter()
            .filter_map(|arguments| match arguments[0] {
                Term::Ground(fact) => Some(fact),
                _ => None,
            })
            .filter(|fact| self.functors.contains(&chase.terms().functor(*fact)))
            .collect();
        facts.sort_unstable();
        facts
    }
}

/// The rules needed, ready for evaluation.
struct Slice {
    rules: RuleSet,
    /// The relation of each end condition.
    ends: Vec<RelationId>,
    /// The relations that change from step to step.
    moving: BTreeSet<RelationId>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Part {
    Fixed,
    Moving,
}

fn ground(arguments: &[TermId]) -> Vec<Term> {
    arguments.iter().map(|term| Term::Ground(*term)).collect()
}
