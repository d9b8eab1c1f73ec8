//! The shapes of facts: the nesting of their functors, and the constants possible at each
//! leaf.

use rustc_hash::FxHashMap;

use ggp_gdl::analysis::domains::Domains;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::FunctorId;
use ggp_gdl::terms::{TermId, Terms};

/// Maximum number of leaves of a fact.
pub(super) const LEAVES: usize = 8;
/// Maximum number of shapes that are examined.
const SHAPES: usize = 512;

/// The functors of a fact from left to right; `None` marks a leaf.
pub(super) type Skeleton = Vec<Option<FunctorId>>;

/// Facts that differ only in their constants.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub skeleton: Skeleton,
    /// For each leaf, from left to right: the constants possible there, ascending.
    pub leaves: Vec<Vec<FunctorId>>,
}

/// Takes a fact apart into its skeleton and its constants. `None` if it has too many
/// leaves.
pub(super) fn split(terms: &Terms, fact: TermId) -> Option<(Skeleton, Vec<FunctorId>)> {
    let mut skeleton = Vec::new();
    let mut names = Vec::new();
    let mut open = vec![fact];
    while let Some(term) = open.pop() {
        let (functor, arguments) = (terms.functor(term), terms.arguments(term));
        if arguments.is_empty() && term != fact {
            skeleton.push(None);
            names.push(functor);
        } else {
            skeleton.push(Some(functor));
            open.extend(arguments.iter().rev());
        }
        if skeleton.len() > 4 * LEAVES || names.len() > LEAVES {
            return None;
        }
    }
    Some((skeleton, names))
}

/// The shapes that facts of a game may have, in the order of the rules.
pub(super) fn shapes(game: &Game, domains: &Domains) -> Vec<Shape> {
    let Some(holds) = game.keyword(Keyword::True) else {
        return Vec::new();
    };
    let mut shapes = Vec::new();
    for functor in domains.column(holds, 0) {
        shapes.extend(below(game, domains, functor, 3));
        shapes.truncate(SHAPES);
    }
    let mut seen = FxHashMap::default();
    shapes.retain(|shape| seen.insert(shape.skeleton.clone(), ()).is_none());
    shapes
}

/// The shapes of terms with a functor, nested at most `depth` levels deep.
fn below(game: &Game, domains: &Domains, functor: FunctorId, depth: usize) -> Vec<Shape> {
    let mut shapes = vec![Shape {
        skeleton: vec![Some(functor)],
        leaves: Vec::new(),
    }];
    for argument in 0..game.functors().functor(functor).arity() {
        let (bare, applied): (Vec<_>, Vec<_>) = domains
            .argument(functor, argument)
            .into_iter()
            .partition(|f| game.functors().functor(*f).arity() == 0);
        let mut choices = Vec::new();
        if !bare.is_empty() {
            choices.push(Shape {
                skeleton: vec![None],
                leaves: vec![bare],
            });
        }
        if depth > 1 {
            let applied = applied.into_iter();
            choices.extend(applied.flat_map(|f| below(game, domains, f, depth - 1)));
        }
        let pairs = shapes.iter().flat_map(|left| {
            choices.iter().map(|right| Shape {
                skeleton: [&left.skeleton[..], &right.skeleton].concat(),
                leaves: [&left.leaves[..], &right.leaves].concat(),
            })
        });
        shapes = pairs
            .filter(|shape| shape.leaves.len() <= LEAVES)
            .take(SHAPES)
            .collect();
    }
    shapes
}
