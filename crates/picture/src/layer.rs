//! Board layers: the facts of one shape, and the arguments that are their coordinates.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence::{Evidence, Facts, is_key};
use super::options::BoardOptions;
use super::shape::{Shape, Skeleton};
use ggp_gdl::check::Keyword;
use ggp_gdl::game::Game;
use ggp_gdl::program::{Fact, FunctorId, Literal, RelationId, Rule, Term};

/// Maximum number of constants on an axis.
const LONGEST: usize = 4096;
/// Maximum number of boards side by side.
const SHEETS: usize = 16;
/// A layer of a board: the facts of one shape, and the arguments that are their
/// coordinates.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub skeleton: Skeleton,
    /// The stand-in for the missing coordinate of a one-line board: the functor of the
    /// facts.
    pub line: FunctorId,
    pub first: Option<usize>,
    pub second: Option<usize>,
    pub sheets: Vec<usize>,
    /// The arguments that describe the content.
    pub rest: Vec<usize>,
    /// True if the facts say something about the content that another layer gives the cell.
    pub is_minor: bool,
    /// A prefix for the contents, where the content alone would be ambiguous.
    pub title: Option<String>,
}

impl Layer {
    /// The coordinates of a fact.
    pub fn at(&self, names: &[FunctorId]) -> [FunctorId; 2] {
        [self.first, self.second].map(|leaf| leaf.map_or(self.line, |leaf| names[leaf]))
    }
}

/// A layer with its axes and sheets, before boards are put together.
pub(super) struct Candidate {
    pub layer: Layer,
    pub shape: Shape,
    pub axes: [Vec<FunctorId>; 2],
    pub sheets: Vec<Vec<FunctorId>>,
    pub facts: Facts,
    pub board_options: Option<BoardOptions>,
}

impl Candidate {
    /// Returns whether the facts describe the content of most cells.
    pub fn is_full(&self) -> bool {
        let places = self.axes[0].len() * self.axes[1].len() * self.sheets.len();
        !self.layer.rest.is_empty() && 2 * self.facts[0].len() >= places
    }
}

/// The layer that the facts of a shape form, if they form one. Options may choose the
/// coordinates.
pub(super) fn candidate(
    evidence: &Evidence,
    shape: &Shape,
    facts: Facts,
    board_options: Option<&BoardOptions>,
) -> Option<Candidate> {
    let count = shape.leaves.len();
    if board_options.is_some_and(|board_options| {
        board_options.row.unwrap_or(0).max(board_options.column) >= count
    }) {
        return None;
    }
    let line = shape.skeleton[0]?;
    let only = match board_options {
        Some(board_options) => board_options.row.is_none().then_some(board_options.column),
        None => super::line::line(evidence, shape, &facts),
    };
    let (first, second) = match only {
        Some(column) => (None, column),
        None => coordinates(evidence, shape, &facts, board_options)
            .map(|(row, column)| (Some(row), column))?,
    };
    let place: Vec<usize> = first.into_iter().chain([second]).collect();
    let others: Vec<usize> = (0..count).filter(|k| !place.contains(k)).collect();
    let sheets = sheets(evidence, shape, &facts, &place, &others);
    let mut named: Vec<Vec<FunctorId>> = vec![Vec::new()];
    for &leaf in &sheets {
        let names = evidence.ordered(&shape.leaves[leaf]);
        let longer = |before: &Vec<FunctorId>, name: &FunctorId| [&before[..], &[*name]].concat();
        named = (named.iter())
            .flat_map(|before| names.iter().map(move |name| longer(before, name)))
            .collect();
    }
    let (first, second) = (first, Some(second));
    let axis = |leaf: Option<usize>| match leaf {
        Some(leaf) => evidence.ordered(&shape.leaves[leaf]),
        None => vec![line],
    };
    Some(Candidate {
        axes: [first, second].map(axis),
        sheets: named,
        layer: Layer {
            skeleton: shape.skeleton.clone(),
            line,
            first,
            second,
            rest: others.into_iter().filter(|k| !sheets.contains(k)).collect(),
            sheets,
            is_minor: false,
            title: None,
        },
        shape: shape.clone(),
        facts,
        board_options: board_options.cloned(),
    })
}

/// The two arguments that are the coordinates.
fn coordinates(
    evidence: &Evidence,
    shape: &Shape,
    facts: &Facts,
    board_options: Option<&BoardOptions>,
) -> Option<(usize, usize)> {
    let count = shape.leaves.len();
    let is_axis = |leaf: &usize| {
        let names = &shape.leaves[*leaf];
        (2..=LONGEST).contains(&names.len())
            && !evidence.are_roles(names)
            && evidence.chains.sorted(names).is_some()
    };
    let coordinates: Vec<usize> = (0..count).filter(is_axis).collect();
    let (first, second) = match full(shape, facts) {
        _ if board_options.is_some() => (board_options?.row?, board_options?.column),
        // Each pair of values of two arguments has one value of the third.
        Some((a, b))
            if coordinates.len() < 3 && !(coordinates.contains(&a) && coordinates.contains(&b)) =>
        {
            (a, b)
        }
        _ => {
            let pairs = coordinates
                .iter()
                .enumerate()
                .flat_map(|(k, &a)| coordinates[k + 1..].iter().map(move |&b| (a, b)));
            let pairs: Vec<(usize, usize)> = pairs.collect();
            let is_alike = |&&(a, b): &&(usize, usize)| shape.leaves[a] == shape.leaves[b];
            let keys = pairs.iter().filter(|(a, b)| is_key(facts, &[*a, *b]));
            let keys: Vec<&(usize, usize)> = keys.collect();
            let best = keys
                .iter()
                .copied()
                .find(is_alike)
                .or(keys.first().copied());
            let chosen = *best.or(pairs.iter().find(is_alike)).or(pairs.first())?;
            // Boards side by side are better than many facts in each cell.
            let has_boards = |&&(a, b): &&(usize, usize)| {
                let others: Vec<usize> = (0..count).filter(|k| *k != a && *k != b).collect();
                !sheets(evidence, shape, facts, &[a, b], &others).is_empty()
            };
            let is_bad = !is_key(facts, &[chosen.0, chosen.1])
                && is_crowded(facts, &[chosen.0, chosen.1])
                && !has_boards(&&chosen);
            match is_bad {
                true => *pairs.iter().find(has_boards).unwrap_or(&chosen),
                false => chosen,
            }
        }
    };
    // Facts that assign a number to each of some constants are a table, not a board.
    if board_options.is_none() && count == 2 && is_number_for_each(shape, facts) {
        return None;
    }
    Some((first, second))
}

/// Two of three arguments such that each state has one fact for each pair of their values.
fn full(shape: &Shape, facts: &Facts) -> Option<(usize, usize)> {
    if shape.leaves.len() != 3 {
        return None;
    }
    let is_full = |&(a, b): &(usize, usize)| {
        let [rows, columns] = [a, b].map(|leaf| shape.leaves[leaf].len());
        let is_each = |facts: &Vec<Vec<FunctorId>>| facts.len() == rows * columns;
        rows > 1 && columns > 1 && facts.iter().all(is_each) && is_key(facts, &[a, b])
    };
    [(0, 1), (0, 2), (1, 2)].into_iter().find(is_full)
}

/// Returns whether each state has exactly one fact for each value of the first argument.
fn is_number_for_each(shape: &Shape, facts: &Facts) -> bool {
    let all = shape.leaves[0].len();
    all > 1 && facts.iter().all(|facts| facts.len() == all) && is_key(facts, &[0])
}

/// The arguments that are needed, next to the coordinates, to tell facts apart, if each of
/// their values deserves a board of its own.
fn sheets(
    evidence: &Evidence,
    shape: &Shape,
    facts: &Facts,
    place: &[usize],
    others: &[usize],
) -> Vec<usize> {
    if is_key(facts, place) {
        return Vec::new();
    }
    // A piece that exists only once is identified by its name.
    if others.iter().any(|leaf| is_key(facts, &[*leaf])) {
        return Vec::new();
    }
    let is_sheet = |leaf: &usize| {
        let names = &shape.leaves[*leaf];
        !evidence.are_roles(names) && (2..=SHEETS).contains(&names.len())
    };
    let choices: Vec<usize> = others.iter().copied().filter(is_sheet).collect();
    let alone = choices.iter().map(|leaf| vec![*leaf]);
    let pairs = choices
        .iter()
        .enumerate()
        .flat_map(|(k, &a)| choices[k + 1..].iter().map(move |&b| vec![a, b]));
    let mut sets = alone.chain(pairs).filter(|set| {
        let boards: usize = set.iter().map(|leaf| shape.leaves[*leaf].len()).product();
        boards <= SHEETS && is_key(facts, &[place, set].concat())
    });
    let found = sets.next().unwrap_or_default();
    // Pieces that only sometimes share a cell do not need boards of their own.
    match found.len() == others.len() && !is_crowded(facts, place) {
        true => Vec::new(),
        false => found,
    }
}

/// Returns whether there is a state in which most cells with facts have several.
fn is_crowded(facts: &Facts, place: &[usize]) -> bool {
    facts.iter().any(|facts| {
        let mut counts: FxHashMap<Vec<FunctorId>, usize> = FxHashMap::default();
        for fact in facts {
            let at = place.iter().map(|leaf| fact[*leaf]).collect();
            *counts.entry(at).or_default() += 1;
        }
        let several = counts.values().filter(|count| **count > 1).count();
        2 * several > counts.len()
    })
}

/// The content that marks an empty cell: the one that appears or disappears with every
/// change on the board, or else the one that most cells have. One of more than two must be named by the rules
/// for what is legal and what comes next.
pub(super) fn background(game: &Game, group: &[Candidate]) -> Option<Vec<FunctorId>> {
    let found = most_changing(group)?;
    let contents = group.iter().flat_map(|one| {
        let facts = one.facts.iter().flatten();
        facts.map(|fact| one.layer.rest.iter().map(|k| fact[*k]).collect::<Vec<_>>())
    });
    let are_few = contents.collect::<FxHashSet<_>>().len() <= 2;
    let is_named = || {
        let named = names_of_play(game);
        found.iter().any(|name| named.contains(name))
    };
    (are_few || is_named()).then_some(found)
}

/// The names in the rules for legal moves and next facts and in those that they read, and those in relations of
/// one fact that these read.
fn names_of_play(game: &Game) -> FxHashSet<FunctorId> {
    let rules = game.rules();
    let mut facts: FxHashMap<RelationId, Vec<&Fact>> = FxHashMap::default();
    for fact in &rules.facts {
        facts.entry(fact.relation).or_default().push(fact);
    }
    let mut by_head: FxHashMap<RelationId, Vec<&Rule>> = FxHashMap::default();
    for rule in &rules.rules {
        by_head.entry(rule.head.relation).or_default().push(rule);
    }
    let keywords = [Keyword::Legal, Keyword::Next].map(|keyword| game.keyword(keyword));
    let mut open: Vec<RelationId> = keywords.into_iter().flatten().collect();
    let mut seen: FxHashSet<RelationId> = open.iter().copied().collect();
    let mut named = FxHashSet::default();
    while let Some(relation) = open.pop() {
        if let Some([only]) = facts.get(&relation).map(|facts| &facts[..]) {
            let ground = only.arguments.iter().map(|term| Term::Ground(*term));
            ground.for_each(|term| add_names(game, &term, &mut named));
        }
        for rule in by_head.get(&relation).into_iter().flatten() {
            let mut literals: Vec<&Literal> = rule.body.iter().collect();
            let mut atoms = vec![&rule.head];
            while let Some(literal) = literals.pop() {
                match literal {
                    Literal::Positive(atom) | Literal::Negative(atom) => atoms.push(atom),
                    Literal::Distinct(a, b, _) | Literal::Same(a, b, _) => {
                        add_names(game, a, &mut named);
                        add_names(game, b, &mut named);
                    }
                    Literal::Any(branches) => literals.extend(branches.iter().flatten()),
                }
            }
            for atom in atoms {
                let arguments = atom.arguments.iter();
                arguments.for_each(|term| add_names(game, term, &mut named));
                if seen.insert(atom.relation) {
                    open.push(atom.relation);
                }
            }
        }
    }
    named
}

/// Adds the names in a term.
fn add_names(game: &Game, term: &Term, named: &mut FxHashSet<FunctorId>) {
    match term {
        Term::Variable(_) => {}
        Term::Ground(term) => {
            named.insert(game.terms().functor(*term));
            let arguments = game.terms().arguments(*term).iter();
            arguments.for_each(|term| add_names(game, &Term::Ground(*term), named));
        }
        Term::Apply(functor, arguments) => {
            named.insert(*functor);
            arguments
                .iter()
                .for_each(|term| add_names(game, term, named));
        }
    }
}

/// The content that takes part in every change, or that most cells have, on the first layer with one content
/// for each cell.
fn most_changing(group: &[Candidate]) -> Option<Vec<FunctorId>> {
    let one = group.iter().find(|one| {
        let layer = &one.layer;
        let place = layer.first.into_iter().chain(layer.second);
        let key: Vec<usize> = place.chain(layer.sheets.iter().copied()).collect();
        let count = one.facts[0].len();
        let places = one.axes[0].len() * one.axes[1].len() * one.sheets.len();
        let is_one_each = one.facts.iter().all(|facts| facts.len() == count);
        !layer.rest.is_empty() && 2 * count >= places && is_one_each && is_key(&one.facts, &key)
    })?;
    let what = |fact: &Vec<FunctorId>| -> Vec<FunctorId> {
        one.layer.rest.iter().map(|k| fact[*k]).collect()
    };
    let count = |facts: &Vec<Vec<FunctorId>>| {
        let mut counts: BTreeMap<Vec<FunctorId>, usize> = BTreeMap::new();
        facts
            .iter()
            .for_each(|fact| *counts.entry(what(fact)).or_default() += 1);
        counts
    };
    let mut changes = 0;
    let mut taking_part: BTreeMap<Vec<FunctorId>, usize> = BTreeMap::new();
    // The state after the end of a match is the initial state of the next one.
    let moves = one.facts.windows(2).filter(|pair| pair[1] != one.facts[0]);
    for pair in moves.clone() {
        let [before, after] =
            [&pair[0], &pair[1]].map(|facts| facts.iter().collect::<FxHashSet<_>>());
        let changed: FxHashSet<Vec<FunctorId>> = before
            .symmetric_difference(&after)
            .map(|fact| what(fact))
            .collect();
        changes += usize::from(!changed.is_empty());
        for what in changed {
            *taking_part.entry(what).or_default() += 1;
        }
    }
    let comes_and_goes = |what: &&Vec<FunctorId>| {
        let count = |facts| count(facts).get(*what).copied().unwrap_or(0);
        let pairs = one.facts.windows(2).filter(|pair| pair[1] != one.facts[0]);
        let turns: FxHashSet<_> = pairs
            .map(|pair| count(&pair[0]).cmp(&count(&pair[1])))
            .collect();
        turns.contains(&Ordering::Less) && turns.contains(&Ordering::Greater)
    };
    // The only one of its kind is an empty cell if it changes places with what it moves to.
    let cell = |fact: &Vec<FunctorId>| one.layer.at(fact);
    let is_mover = |wanted: &Vec<FunctorId>| {
        let of = |facts: &[Vec<FunctorId>]| -> Vec<[FunctorId; 2]> {
            let held = facts.iter().filter(|fact| what(fact) == *wanted);
            held.map(cell).collect()
        };
        let content =
            |facts: &[Vec<FunctorId>], at| facts.iter().find(|fact| cell(fact) == at).map(what);
        let is_swap = |pair: &[Vec<Vec<FunctorId>>]| match (&of(&pair[0])[..], &of(&pair[1])[..]) {
            ([from], [to]) => content(&pair[0], *to) == content(&pair[1], *from) || from == to,
            _ => true,
        };
        one.facts.iter().all(|facts| of(facts).len() == 1) && !moves.clone().all(is_swap)
    };
    let always = |what: &Vec<FunctorId>| taking_part.get(what) == Some(&changes) && !is_mover(what);
    let first = count(&one.facts[0]);
    let last = count(&one.facts[one.facts.len() - 1]);
    let all: usize = first.values().sum();
    let found: Vec<&Vec<FunctorId>> = match changes {
        0 => Vec::new(),
        _ => first.keys().filter(|what| always(what)).collect(),
    };
    match found[..] {
        [only] => Some(only.clone()),
        [] => first
            .into_iter()
            .find(|(_, count)| 2 * count > all)
            .map(|(what, _)| what),
        // The content of most cells in the final state; in the initial state, if it changes
        // by chance.
        _ => {
            let is_chance = found.iter().all(comes_and_goes);
            let counts = if is_chance && first.len() > 1 {
                &first
            } else {
                &last
            };
            let is_most = |what: &&&Vec<FunctorId>| 2 * counts.get(**what).unwrap_or(&0) > all;
            found.iter().find(is_most).map(|what| (*what).clone())
        }
    }
}

/// Returns whether moves name only the first of a layer's coordinates (`true`) or only the second
/// (`false`).
pub(super) fn gravity(game: &Game, one: &Candidate) -> Option<bool> {
    let next = game.keyword(Keyword::Next);
    let (first, second) = (one.layer.first?, one.layer.second?);
    let mut rules = game.rules().rules.iter();
    rules.find_map(|rule| match Some(rule.head.relation) == next {
        true => named_by_move(game, rule, &one.shape, first, second),
        false => None,
    })
}

/// Returns whether the argument of the move is only the first (`true`) or only the second (`false`)
/// coordinate of the fact that a rule derives.
fn named_by_move(
    game: &Game,
    rule: &Rule,
    shape: &Shape,
    first: usize,
    second: usize,
) -> Option<bool> {
    let Term::Apply(head, arguments) = &rule.head.arguments[0] else {
        return None;
    };
    if shape.skeleton[0] != Some(*head) || arguments.len() != shape.leaves.len() {
        return None;
    }
    let does = game.keyword(Keyword::Does)?;
    let chosen = rule.body.iter().find_map(|literal| match literal {
        Literal::Positive(atom) if atom.relation == does => match &atom.arguments[1] {
            Term::Apply(_, said) if said.len() == 1 => Some(&said[0]),
            _ => None,
        },
        _ => None,
    })?;
    let is_said = |k: usize| matches!(chosen, Term::Variable(_)) && arguments[k] == *chosen;
    match (is_said(first), is_said(second)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}
