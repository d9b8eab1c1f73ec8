//! The frame of the game: facts that no rule keeps from one position to the next, where
//! that is probably not intended.
//!
//! In: positions, each with a path to it. Out: facts that no rule keeps although they are
//! needed later. For facts that assign values to keys, see `fluents`.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::fluents::{Fluent, Fluents, Transition};
use super::tally::{Example, Path};
use ggp_gdl::analysis::{read_by, unkept, unread};
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::Bounds;
use ggp_gdl::game::Game;
use ggp_gdl::program::{FunctorId, Shape};
use ggp_gdl::terms::{TermId, Terms};

/// The facts of one functor.
#[derive(Debug)]
struct Kind {
    functor: FunctorId,
    /// True if no rule for these facts depends on any of them.
    is_unkept: bool,
    /// Number of these facts in the initial state.
    initially: usize,
    /// Maximum number of these facts in a later position.
    most: usize,
    is_kept: bool,
    is_gone: bool,
    /// A position with fewer of these facts than initially, if one was seen, and one with
    /// none.
    fewer: Option<Example<()>>,
    none: Option<Example<()>>,
}

/// The observations about facts that persist or not.
pub(super) struct Frame {
    kinds: Vec<Kind>,
    pub(super) fluents: Fluents,
    by_legal: FxHashSet<FunctorId>,
    by_ends: FxHashSet<FunctorId>,
}

impl Frame {
    /// Begins with the facts of the initial state.
    pub(super) fn new(game: &Game, terms: &Terms, initial: &[TermId], bounds: Bounds) -> Frame {
        let mut initially: FxHashMap<FunctorId, Vec<TermId>> = FxHashMap::default();
        for &fact in initial {
            initially.entry(terms.functor(fact)).or_default().push(fact);
        }
        let (unread, unkept) = (unread(game), unkept(game, &bounds.stop));
        let unread: FxHashSet<FunctorId> = unread.into_iter().collect();
        let mut functors: Vec<FunctorId> = initially.keys().chain(&unkept).copied().collect();
        functors.sort_unstable();
        functors.dedup();
        functors.retain(|functor| !unread.contains(functor));
        let kinds = functors.into_iter().map(|functor| Kind {
            functor,
            is_unkept: unkept.contains(&functor),
            initially: initially.get(&functor).map_or(0, Vec::len),
            most: 0,
            is_kept: false,
            is_gone: false,
            fewer: None,
            none: None,
        });
        let kinds = kinds.collect();
        let mut functors: Vec<FunctorId> = initially.keys().copied().collect();
        functors.sort_unstable();
        let fluents = (functors.into_iter())
            .filter_map(|functor| Fluent::new(game, &initially[&functor], terms));
        let fluents = Fluents::new(game, fluents.collect(), terms, bounds);
        let ends = [Keyword::Goal, Keyword::Terminal].map(|keyword| read_by(game, keyword));
        Frame {
            kinds,
            fluents,
            by_legal: read_by(game, Keyword::Legal).into_iter().collect(),
            by_ends: ends.into_iter().flatten().collect(),
        }
    }

    /// Visits a position after the initial one. `length` moves lead to it.
    pub(super) fn visit(
        &mut self,
        facts: &[TermId],
        terms: &Terms,
        length: usize,
        path: &dyn Fn() -> Path,
    ) {
        let is_shorter = |known: Option<usize>| known.is_none_or(|known| length < known);
        let mut counts: FxHashMap<FunctorId, usize> = FxHashMap::default();
        for fact in facts {
            *counts.entry(terms.functor(*fact)).or_default() += 1;
        }
        for kind in &mut self.kinds {
            let count = counts.get(&kind.functor).copied().unwrap_or(0);
            kind.most = kind.most.max(count);
            let fewer = (count < kind.initially).then_some(&mut kind.fewer);
            let none = (count == 0 && kind.initially > 0).then_some(&mut kind.none);
            for known in [fewer, none].into_iter().flatten() {
                if is_shorter(known.as_ref().map(|known| known.path.len())) {
                    *known = Some(Example {
                        what: (),
                        path: path().into(),
                    });
                }
            }
        }
        for fluents in &mut self.fluents.all {
            fluents.visit(facts, terms, length, path);
        }
    }

    /// Visits a transition.
    pub(super) fn step(&mut self, step: &Transition<'_>, terms: &Terms) {
        let kept = step.facts.intersection(step.after);
        let gone = step.facts.difference(step.after);
        self.changed(kept.copied(), gone.copied(), terms);
        self.fluents.step(step, terms);
    }

    /// Records the facts that a transition kept, and those that it removed.
    fn changed(
        &mut self,
        kept: impl Iterator<Item = TermId>,
        gone: impl Iterator<Item = TermId>,
        terms: &Terms,
    ) {
        let mut open: Vec<&mut Kind> = (self.kinds.iter_mut())
            .filter(|kind| !kind.is_kept || !kind.is_gone)
            .collect();
        if open.is_empty() {
            return;
        }
        for (fact, is_kept) in kept
            .map(|fact| (fact, true))
            .chain(gone.map(|fact| (fact, false)))
        {
            let functor = terms.functor(fact);
            for kind in open.iter_mut().filter(|kind| kind.functor == functor) {
                kind.is_kept |= is_kept;
                kind.is_gone |= !is_kept;
            }
        }
    }

    /// Facts that were probably meant to persist, whether no rule could keep any, and moves after which they
    /// are gone.
    /// `is_stuck` says whether some match reaches a position without moves, `is_lost`
    /// whether some role never won.
    pub(super) fn not_kept(
        &self,
        game: &Game,
        is_stuck: bool,
        is_lost: bool,
    ) -> Vec<(FunctorId, bool, Option<Arc<Path>>)> {
        let is_bare = |functor| game.functors().functor(functor).shape == Shape::Bare;
        let mut found = Vec::new();
        for kind in self.kinds.iter().filter(|kind| !is_bare(kind.functor)) {
            let (fewer, none) = (&kind.fewer, &kind.none);
            let never = kind.is_unkept || (kind.is_gone && !kind.is_kept);
            let dwindles = kind.initially > 1 && kind.most < kind.initially && fewer.is_some();
            let dies = kind.initially == 1 && kind.most == 0 && none.is_some();
            let stops = is_stuck && none.is_some() && self.by_legal.contains(&kind.functor);
            let is_wanted = is_lost && self.by_ends.contains(&kind.functor);
            let passes = kind.initially == 0 && kind.is_gone && !kind.is_kept && is_wanted;
            let path = |of: &Option<Example<()>>| of.as_ref().map(|known| known.path.clone());
            if kind.is_unkept && (stops || dies) {
                found.push((kind.functor, true, path(none)));
            } else if never && dwindles {
                found.push((kind.functor, kind.is_unkept, path(fewer)));
            } else if kind.is_unkept && passes {
                found.push((kind.functor, true, None));
            }
        }
        found
    }
}
