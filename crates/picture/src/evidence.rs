//! Knowledge about a game that pictures are derived from: orders of constants, and states
//! of random matches.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use super::shape::{Shape, Skeleton, split};
use super::statics::Statics;
use ggp_gdl::analysis::chains::Chains;
use ggp_gdl::analysis::domains::Domains;
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::{FunctorId, Literal, RelationId, Term};
use ggp_gdl::terms::{TermId, Terms};

/// The facts of one shape for each state: their constants from left to right.
pub(super) type Facts = Vec<Vec<Vec<FunctorId>>>;

/// The data that pictures are derived from.
pub(super) struct Evidence<'a> {
    pub game: &'a Game,
    pub chains: Chains,
    /// States of a match, in order.
    pub states: Vec<FxHashMap<Skeleton, Vec<Vec<FunctorId>>>>,
    /// The constants of the roles, by role.
    pub roles: Vec<FunctorId>,
    /// Constants that belong to one role only.
    pub owners: FxHashMap<FunctorId, usize>,
    pub statics: Statics,
    /// Constants that are moves, if cells keep the last one that was made there.
    pub moves: FxHashSet<FunctorId>,
}

impl<'a> Evidence<'a> {
    pub fn new(game: &'a Game, domains: &Domains, terms: &Terms, states: &[Vec<TermId>]) -> Self {
        let states = states.iter().map(|facts| {
            let mut by_skeleton: FxHashMap<Skeleton, Vec<_>> = FxHashMap::default();
            for &fact in facts {
                if let Some((skeleton, names)) = split(terms, fact) {
                    by_skeleton.entry(skeleton).or_default().push(names);
                }
            }
            by_skeleton
        });
        let roles = game.roles().map(|role| game.role_term(role));
        let roles: Vec<FunctorId> = roles.map(|term| game.terms().functor(term)).collect();
        let chains = Chains::of(game);
        let owners = owners(game, &roles, &chains);
        let states: Vec<FxHashMap<Skeleton, Vec<_>>> = states.collect();
        let moves = game.keyword(Keyword::Legal);
        let mut moves: FxHashSet<FunctorId> = (moves.into_iter())
            .flat_map(|legal| domains.column(legal, 1))
            .collect();
        let has_move = |names: &&Vec<FunctorId>| names.iter().any(|name| moves.contains(name));
        let are_kept = (states.iter().flat_map(FxHashMap::values))
            .any(|facts| facts.iter().filter(has_move).count() > 1);
        if !are_kept {
            moves.clear();
        }
        Evidence {
            game,
            chains,
            states,
            roles,
            owners,
            moves,
            statics: Statics::new(game),
        }
    }

    /// Removes constants that the rules seem to allow but that are unordered relative to
    /// the constants in use, if those are ordered.
    pub fn narrow(&self, shape: &mut Shape, facts: &Facts) {
        for (leaf, names) in shape.leaves.iter_mut().enumerate() {
            if self.chains.sorted(names).is_some() {
                continue;
            }
            let mut seen: Vec<FunctorId> = facts.iter().flatten().map(|fact| fact[leaf]).collect();
            seen.sort_unstable();
            seen.dedup();
            if seen.len() > 1
                && let Some(sorted) = self.chains.sorted_with(names, &seen)
            {
                *names = sorted;
            }
        }
    }

    /// The facts of a shape, by state.
    pub fn facts(&self, shape: &Shape) -> Facts {
        let facts = |state: &FxHashMap<Skeleton, Vec<Vec<FunctorId>>>| {
            state.get(&shape.skeleton).cloned().unwrap_or_default()
        };
        self.states.iter().map(facts).collect()
    }

    /// Returns whether all constants are roles.
    pub fn are_roles(&self, names: &[FunctorId]) -> bool {
        names.iter().all(|name| self.roles.contains(name))
    }

    /// The constants in their order, or else in the order of the rules.
    pub fn ordered(&self, names: &[FunctorId]) -> Vec<FunctorId> {
        let sorted = self.chains.sorted(names);
        sorted.unwrap_or_else(|| names.to_vec())
    }
}

/// Returns whether no two facts of a state agree in all given arguments.
pub(super) fn is_key(facts: &Facts, leaves: &[usize]) -> bool {
    facts.iter().all(|facts| {
        let mut seen = FxHashSet::default();
        let key = |fact: &Vec<FunctorId>| leaves.iter().map(|k| fact[*k]).collect::<Vec<_>>();
        facts.iter().all(|fact| seen.insert(key(fact)))
    })
}

/// Constants that belong to a role: the roles themselves, constants that facts of the rules
/// list with one role only, and constants that only one role's moves depend on. Coordinates
/// and numbers are excluded.
fn owners(game: &Game, roles: &[FunctorId], chains: &Chains) -> FxHashMap<FunctorId, usize> {
    let mut owners: FxHashMap<FunctorId, usize> = FxHashMap::default();
    let role = |name: FunctorId| roles.iter().position(|role| *role == name);
    if roles.len() < 2 {
        return owners;
    }
    let mut shared = FxHashSet::default();
    let mut add = |name: FunctorId, owner: usize| {
        if *owners.entry(name).or_insert(owner) != owner {
            shared.insert(name);
        }
    };
    let terms = game.terms();
    let mut lists: FxHashMap<RelationId, Vec<Vec<FunctorId>>> = FxHashMap::default();
    for fact in &game.rules().facts {
        let names = fact.arguments.iter().map(|term| terms.functor(*term));
        lists
            .entry(fact.relation)
            .or_default()
            .push(names.collect());
    }
    for list in lists.values() {
        let columns = 0..list[0].len();
        let has_roles = |column: &usize| list.iter().all(|names| role(names[*column]).is_some());
        for of in columns.clone().filter(has_roles) {
            for (names, column) in list
                .iter()
                .flat_map(|names| columns.clone().map(move |c| (names, c)))
            {
                if column != of {
                    add(
                        names[column],
                        role(names[of]).expect("all constants of this column are roles"),
                    );
                }
            }
        }
    }
    let holds = game.keyword(Keyword::True);
    for rule in &game.rules().rules {
        if Some(rule.head.relation) != game.keyword(Keyword::Legal) {
            continue;
        }
        let Some(owner) = (rule.head.arguments[0].functor(terms)).and_then(role) else {
            continue;
        };
        for literal in &rule.body {
            if let Literal::Positive(atom) = literal
                && Some(atom.relation) == holds
            {
                let names = atom.arguments[0].arguments(terms);
                let names = names.iter().filter_map(|name| name.functor(terms));
                names.for_each(|name| add(name, owner));
            }
        }
    }
    owners.retain(|name, _| !shared.contains(name) && role(*name).is_none() && !chains.has(*name));
    owners.extend(roles.iter().enumerate().map(|(k, role)| (*role, k)));
    owners
}

/// The orientation of a board.
#[derive(Copy, Clone, Debug)]
pub(super) struct Orientation {
    /// True if the first of the two coordinates is the row.
    pub first_is_row: bool,
    /// True if rows are counted from the bottom.
    pub from_below: bool,
}

/// A fact on a board: its coordinates and its content.
pub(super) struct PlacedFact {
    pub at: [usize; 2],
    pub what: Vec<FunctorId>,
}

/// Derives the orientation of a board from its initial state. If the sides face each other,
/// they are placed at the top and the bottom, with the first role at the bottom.
pub(super) fn orientation(
    evidence: &Evidence,
    placed: &[PlacedFact],
    are_numbers: [bool; 2],
) -> Orientation {
    let apart = match evidence.roles.len() {
        0 | 1 => [0.0; 2],
        _ => [0, 1].map(|axis| share_between(placed, axis)),
    };
    let (first_is_row, is_sure) = match apart[0] - apart[1] {
        more if more > 0.25 => (true, true),
        more if more < -0.25 => (false, true),
        _ => (are_numbers != [false, true], false),
    };
    let row = usize::from(!first_is_row);
    let mean = |is_wanted: &dyn Fn(usize) -> bool| {
        let owner = |s: &PlacedFact| s.what.iter().find_map(|name| evidence.owners.get(name));
        let rows = placed
            .iter()
            .filter(|s| owner(s).is_some_and(|owner| is_wanted(*owner)))
            .map(|s| s.at[row] as f64);
        let rows: Vec<f64> = rows.collect();
        (!rows.is_empty()).then(|| rows.iter().sum::<f64>() / rows.len() as f64)
    };
    let order = match (mean(&|owner| owner == 0), mean(&|owner| owner > 0)) {
        (Some(own), Some(other)) if is_sure => own.partial_cmp(&other),
        _ => None,
    };
    let from_below = match order {
        Some(Ordering::Less) => true,
        Some(Ordering::Greater) => false,
        _ => !first_is_row,
    };
    Orientation {
        first_is_row,
        from_below,
    }
}

/// The share of the variance of a coordinate that the content explains.
fn share_between(placed: &[PlacedFact], axis: usize) -> f64 {
    let mut groups: FxHashMap<&[FunctorId], Vec<f64>> = FxHashMap::default();
    for one in placed {
        groups
            .entry(&one.what)
            .or_default()
            .push(one.at[axis] as f64);
    }
    if groups.len() < 2 || groups.len() == placed.len() {
        return 0.0;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let all: Vec<f64> = placed.iter().map(|one| one.at[axis] as f64).collect();
    let middle = mean(&all);
    let total: f64 = all.iter().map(|value| (value - middle).powi(2)).sum();
    // The summation order must not depend on hashes of names.
    let mut parts: Vec<f64> = groups
        .values()
        .map(|values| values.len() as f64 * (mean(values) - middle).powi(2))
        .collect();
    parts.sort_by(f64::total_cmp);
    match total > 0.0 {
        true => parts.iter().sum::<f64>() / total,
        false => 0.0,
    }
}

/// The shift to the right of each row against the row above, in halves of a cell, if the
/// rules define six neighbours: along the axes and on one diagonal.
pub(super) fn slant(evidence: &Evidence, axes: [&[FunctorId]; 2]) -> isize {
    let game = evidence.game;
    let rank = |axis: usize, name: FunctorId| axes[axis].iter().position(|other| *other == name);
    let mut rules: FxHashMap<RelationId, Option<FxHashSet<[isize; 2]>>> = FxHashMap::default();
    let mut steps = steps_along(game, axes[0]);
    steps.extend(steps_along(game, axes[1]));
    for fact in &game.rules().facts {
        if fact.arguments.len() != 4 {
            continue;
        }
        let names: Vec<_> = fact
            .arguments
            .iter()
            .map(|t| game.terms().functor(*t))
            .collect();
        let distance = |axis: usize| {
            let (from, to) = (rank(axis, names[axis])?, rank(axis, names[axis + 2])?);
            Some(to as isize - from as isize)
        };
        let found = distance(0).zip(distance(1)).map(|(a, b)| [a, b]);
        note(
            rules
                .entry(fact.relation)
                .or_insert_with(|| Some(FxHashSet::default())),
            found,
        );
    }
    for rule in &game.rules().rules {
        let [a, b, c, d] = &rule.head.arguments[..] else {
            continue;
        };
        let links = rule.body.iter().filter_map(|literal| match literal {
            Literal::Positive(atom) => {
                let step = *steps.get(&atom.relation)?;
                Some((&atom.arguments[0], &atom.arguments[1], step))
            }
            _ => None,
        });
        let links: Vec<(&Term, &Term, isize)> = links.collect();
        let distance = |from: &Term, to: &Term| {
            if from == to {
                return Some(0);
            }
            links.iter().find_map(|&(one, two, step)| match () {
                () if (one, two) == (from, to) => Some(step),
                () if (two, one) == (from, to) => Some(-step),
                () => None,
            })
        };
        let found = distance(a, c).zip(distance(b, d)).map(|(a, b)| [a, b]);
        note(
            rules
                .entry(rule.head.relation)
                .or_insert_with(|| Some(FxHashSet::default())),
            found,
        );
    }
    let sets: Vec<FxHashSet<[isize; 2]>> = rules.into_values().flatten().collect();
    let has = |with: [isize; 2]| {
        let six = FxHashSet::from_iter([[1, 0], [0, 1], with]);
        sets.contains(&six)
    };
    match (has([1, -1]), has([1, 1])) {
        (true, false) => 1,
        (false, true) => -1,
        _ => 0,
    }
}

/// Adds the step to a neighbour in normalized direction. A step that is not understood
/// invalidates the set.
fn note(set: &mut Option<FxHashSet<[isize; 2]>>, found: Option<[isize; 2]>) {
    match (set.as_mut(), found) {
        (Some(set), Some([a, b])) => {
            set.insert(if [a, b] < [0, 0] { [-a, -b] } else { [a, b] });
        }
        _ => *set = None,
    }
}

/// Relations that lead from each constant of an axis to the one a fixed number of steps
/// further.
pub(super) fn steps_along(game: &Game, axis: &[FunctorId]) -> FxHashMap<RelationId, isize> {
    let rank: FxHashMap<FunctorId, isize> = axis.iter().copied().zip(0..).collect();
    let mut steps: FxHashMap<RelationId, Option<isize>> = FxHashMap::default();
    for fact in &game.rules().facts {
        if let [from, to] = fact.arguments[..] {
            let at = |term: TermId| rank.get(&game.terms().functor(term)).copied();
            let Some((from, to)) = at(from).zip(at(to)) else {
                continue;
            };
            // Where the ends of an axis meet, a step leads back.
            let is_back = (to - from).unsigned_abs() + 1 == axis.len() && axis.len() > 2;
            if is_back {
                continue;
            }
            let step = steps.entry(fact.relation).or_insert(Some(to - from));
            *step = step.filter(|step| *step == to - from);
        }
    }
    let known = steps.into_iter();
    known
        .filter_map(|(relation, step)| Some((relation, step?)))
        .collect()
}
