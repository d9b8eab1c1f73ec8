//! What becomes of facts from one position to the next, where it is likely not meant.
//!
//! In: positions, each with a way to it. Out: facts that no rule keeps, though they are
//! needed later; for places see `places`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::fluents::{AllPlaces, Places, Step};
use super::tally::{Example, Path};
use ggp_gdl::analysis::{read_by, unkept, unread};
use ggp_gdl::check::Keyword;
use ggp_gdl::datalog::Bounds;
use ggp_gdl::game::Game;
use ggp_gdl::program::{FunctorId, Shape};
use ggp_gdl::terms::{TermId, Terms};

/// Facts of one functor.
#[derive(Debug)]
struct Kind {
    functor: FunctorId,
    /// Whether no rule for them depends on any of them.
    is_unkept: bool,
    /// Number of them in the initial state.
    at_first: usize,
    /// Most of them in a later position.
    most: usize,
    is_kept: bool,
    is_gone: bool,
    /// Whether a position came with fewer than at first, and with none.
    fewer: Option<Example<()>>,
    none: Option<Example<()>>,
}

/// What was seen of facts.
pub(super) struct Keeping {
    kinds: Vec<Kind>,
    pub(super) places: AllPlaces,
    by_legal: FxHashSet<FunctorId>,
    by_ends: FxHashSet<FunctorId>,
}

impl Keeping {
    /// For a game whose initial state has these facts.
    pub(super) fn new(game: &Game, terms: &Terms, initial: &[TermId], bounds: Bounds) -> Keeping {
        let mut at_first: FxHashMap<FunctorId, Vec<TermId>> = FxHashMap::default();
        for &fact in initial {
            at_first.entry(terms.functor(fact)).or_default().push(fact);
        }
        let (unread, unkept) = (unread(game), unkept(game));
        let mut functors: Vec<FunctorId> = at_first.keys().chain(&unkept).copied().collect();
        functors.sort_unstable();
        functors.dedup();
        functors.retain(|functor| !unread.contains(functor));
        let kinds = functors.into_iter().map(|functor| Kind {
            functor,
            is_unkept: unkept.contains(&functor),
            at_first: at_first.get(&functor).map_or(0, Vec::len),
            most: 0,
            is_kept: false,
            is_gone: false,
            fewer: None,
            none: None,
        });
        let kinds = kinds.collect();
        let mut functors: Vec<FunctorId> = at_first.keys().copied().collect();
        functors.sort_unstable();
        let places = (functors.into_iter())
            .filter_map(|functor| Places::new(game, &at_first[&functor], terms));
        let places = AllPlaces::new(game, places.collect(), terms, bounds);
        let ends = [Keyword::Goal, Keyword::Terminal].map(|keyword| read_by(game, keyword));
        Keeping {
            kinds,
            places,
            by_legal: read_by(game, Keyword::Legal).into_iter().collect(),
            by_ends: ends.into_iter().flatten().collect(),
        }
    }

    /// Looks at a position after the initial one: `length` moves lead to it.
    pub(super) fn look(
        &mut self,
        facts: &[TermId],
        terms: &Terms,
        length: usize,
        path: &dyn Fn() -> Path,
    ) {
        let is_shorter = |known: Option<usize>| known.is_none_or(|known| length < known);
        for kind in &mut self.kinds {
            let count = facts
                .iter()
                .filter(|f| terms.functor(**f) == kind.functor)
                .count();
            kind.most = kind.most.max(count);
            let fewer = (count < kind.at_first).then_some(&mut kind.fewer);
            let none = (count == 0 && kind.at_first > 0).then_some(&mut kind.none);
            for known in [fewer, none].into_iter().flatten() {
                if is_shorter(known.as_ref().map(|known| known.path.len())) {
                    *known = Some(Example {
                        what: (),
                        path: path(),
                    });
                }
            }
        }
        for places in &mut self.places.all {
            places.look(facts, terms, length, path);
        }
    }

    /// Looks at a move.
    pub(super) fn step(&mut self, step: &Step<'_>, terms: &Terms) {
        let kept = step.facts.intersection(step.after);
        let gone = step.facts.difference(step.after);
        self.changed(kept.copied(), gone.copied(), terms);
        self.places.step(step, terms);
    }

    /// Looks at facts that a move left as they were, and at those it took away.
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

    /// Facts that were likely meant to be kept, with moves after which they are gone.
    /// `is_stuck` says whether some play comes to a position without moves, `is_lost`
    /// whether some role was never seen to win.
    pub(super) fn forgotten(
        &self,
        game: &Game,
        is_stuck: bool,
        is_lost: bool,
    ) -> Vec<(FunctorId, Option<Path>)> {
        let is_bare = |functor| game.functors().functor(functor).shape == Shape::Bare;
        let mut found = Vec::new();
        for kind in self.kinds.iter().filter(|kind| !is_bare(kind.functor)) {
            let (fewer, none) = (&kind.fewer, &kind.none);
            let never = kind.is_unkept || (kind.is_gone && !kind.is_kept);
            let dwindles = kind.at_first > 1 && kind.most < kind.at_first && fewer.is_some();
            let dies = kind.at_first == 1 && kind.most == 0 && none.is_some();
            let stops = is_stuck && none.is_some() && self.by_legal.contains(&kind.functor);
            let is_wanted = is_lost && self.by_ends.contains(&kind.functor);
            let passes = kind.at_first == 0 && kind.is_gone && !kind.is_kept && is_wanted;
            let path = |of: &Option<Example<()>>| of.as_ref().map(|known| known.path.clone());
            if kind.is_unkept && (stops || dies) {
                found.push((kind.functor, path(none)));
            } else if never && dwindles {
                found.push((kind.functor, path(fewer)));
            } else if kind.is_unkept && passes {
                found.push((kind.functor, None));
            }
        }
        found
    }
}
