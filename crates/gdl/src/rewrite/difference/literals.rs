//! Comparison of two forms, literal by literal.

use std::collections::{BTreeSet, HashMap};

use super::{Form, key};
use crate::check::Keyword;
use crate::rewrite::tree::{Item, Node};
use crate::symbol::Case;

/// Maximum number of attempts to prove two forms equal; beyond it they count as
/// different.
const MAX_ATTEMPTS: usize = 100_000;

/// Maximum product of the numbers of literals of two forms compared pairwise.
const MAX_PAIRS: usize = 100_000;

/// Maximum number of attempts for one literal.
const FEW_ATTEMPTS: usize = 1_000;

/// A part of two forms being compared; part 0 is the head.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// A part that both forms have.
    Same(usize, usize),
    /// Similar parts of both forms.
    Changed(usize, usize),
    /// A part that only the old form has.
    Removed(usize),
    /// A part that only the new form has.
    Added(usize),
}

/// Literals of two forms to be matched with each other in any order.
struct Group<'m, 's> {
    old: Vec<&'m Node<'s>>,
    new: Vec<&'m Node<'s>>,
    /// By new literal: true if it has been matched.
    taken: Vec<bool>,
}

impl<'m, 's> Group<'m, 's> {
    fn new(old: Vec<&'m Node<'s>>, new: Vec<&'m Node<'s>>) -> Self {
        let taken = vec![false; new.len()];
        Group { old, new, taken }
    }

    fn is_balanced(&self) -> bool {
        self.old.len() == self.new.len()
    }

    /// The pairs still to choose from, with the number of the group.
    fn open(&self, number: usize) -> Vec<(usize, usize)> {
        (0..self.old.len())
            .map(|literal| (number, literal))
            .collect()
    }
}

/// A literal that was matched, and the sizes of the stacks before that.
struct Choice {
    other: usize,
    bound: usize,
    groups: usize,
    open: usize,
}

/// The connective of a literal whose parts have no order.
fn connective(node: &Node<'_>) -> Option<Keyword> {
    let keyword = node.functor().and_then(Keyword::of);
    keyword.filter(|keyword| matches!(keyword, Keyword::Or | Keyword::And | Keyword::Not))
}

fn is_variable(word: &str) -> bool {
    word.starts_with('?')
}

/// The shape of a form, without names of variables and order of literals.
pub(super) fn shape(form: &Form<'_>, case: Case) -> Vec<String> {
    let (head, body) = form.parts.split_first().expect("a form has a head");
    let mut parts = vec![shape_of_node(head, false, case)];
    parts.extend(body.iter().map(|part| shape_of_node(part, true, case)));
    parts[1..].sort_unstable();
    parts.push(form.is_rule.to_string());
    parts
}

fn shape_of_node(node: &Node<'_>, is_literal: bool, case: Case) -> String {
    match node {
        Node::Word(word) if is_variable(word) => "?".to_owned(),
        Node::Word(word) => key(word, case).into_owned(),
        Node::List { items, .. } => {
            let is_joined = is_literal && connective(node).is_some();
            let parts = items
                .iter()
                .map(|item| shape_of_node(&item.node, is_joined, case));
            let mut parts: Vec<String> = parts.collect();
            if is_joined {
                parts[1..].sort_unstable();
            }
            format!("({})", parts.join(" "))
        }
    }
}

/// A matching of the variables and literals of two forms.
pub(super) struct Match<'m, 's> {
    old: &'m Form<'s>,
    new: &'m Form<'s>,
    case: Case,
    /// Variables of the old form and those of the new one, without repetition, in the
    /// order in which they were matched.
    bound: Vec<(String, String)>,
    /// For each part of the old form, the matched part of the new one, and whether
    /// both are equal.
    partner: Vec<Option<(usize, bool)>>,
    taken: Vec<bool>,
    /// The number of words that matched parts have in common.
    common: f64,
}

impl<'m, 's> Match<'m, 's> {
    fn new(old: &'m Form<'s>, new: &'m Form<'s>, case: Case) -> Self {
        Match {
            old,
            new,
            case,
            bound: Vec::new(),
            partner: vec![None; old.parts.len()],
            taken: vec![false; new.parts.len()],
            common: 0.0,
        }
    }

    /// True if two forms with the same shape differ only in the names of variables
    /// and the order of literals.
    pub fn is_same(old: &'m Form<'s>, new: &'m Form<'s>, case: Case) -> bool {
        let mut found = Match::new(old, new, case);
        if old.is_rule != new.is_rule || !found.bind(0, 0) {
            return false;
        }
        let mut same = |most| {
            let [old, new] = [old, new].map(|form| form.parts[1..].iter().collect());
            found.bind_any(old, new, most)
        };
        // For long rules in an unfavourable order, matching by shared words succeeds
        // at once.
        same(FEW_ATTEMPTS) || Match::near(old, new, case).is_whole() || same(MAX_ATTEMPTS)
    }

    /// True if each part is matched with an equal one.
    fn is_whole(&self) -> bool {
        let is_same = |partner: &Option<(usize, bool)>| partner.is_some_and(|(_, same)| same);
        self.partner.iter().all(is_same) && self.taken.iter().all(|taken| *taken)
    }

    /// Matches as many parts as possible in one pass.
    pub fn near(old: &'m Form<'s>, new: &'m Form<'s>, case: Case) -> Self {
        let mut found = Match::new(old, new, case);
        let is_same = found.bind(0, 0);
        if !is_same {
            found.bind_common(&old.parts[0], &new.parts[0]);
        }
        found.join(0, 0, is_same);
        while let Some((part, other)) = found.best_same() {
            found.bind(part, other);
            found.join(part, other, true);
        }
        while let Some((part, other)) = found.most_similar() {
            found.bind_common(&old.parts[part], &new.parts[other]);
            found.join(part, other, false);
        }
        found
    }

    /// The similarity of the forms, from 0 to 1.
    pub fn similarity(&self) -> f64 {
        self.common / self.partner.len().max(self.taken.len()) as f64
    }

    /// The change of each part, in the order of the old form. The last part is one
    /// that both forms have, if possible.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for (part, partner) in self.partner.iter().enumerate() {
            parts.push(match partner {
                None => Part::Removed(part),
                Some((other, true)) => Part::Same(part, *other),
                Some((other, false)) => Part::Changed(part, *other),
            });
        }
        let added = self.taken.iter().enumerate().filter(|(_, taken)| !**taken);
        parts.extend(added.map(|(other, _)| Part::Added(other)));
        // The order of literals does not matter. A shared literal goes last, so that
        // both forms end on the same line.
        let is_shared = |part: &Part| matches!(part, Part::Same(..) | Part::Changed(..));
        if let Some(last) = parts[1..].iter().rposition(is_shared) {
            let part = parts.remove(1 + last);
            parts.push(part);
        }
        parts
    }

    /// New names for the variables of the old form when it is shown next to the new
    /// one: their names in the new form, and unused names for those that have none.
    pub fn variables(&self) -> HashMap<String, String> {
        let mut names: HashMap<String, String> = self.bound.iter().cloned().collect();
        let mut taken = variables_of(self.new, self.case);
        for old in variables_of(self.old, self.case) {
            if names.contains_key(&old) {
                continue;
            }
            let mut name = old.clone();
            while taken.contains(&name) {
                name.push('_');
            }
            taken.insert(name.clone());
            names.insert(old, name);
        }
        names
    }

    fn join(&mut self, part: usize, other: usize, is_same: bool) {
        self.common += self.node_similarity(&self.old.parts[part], &self.new.parts[other]);
        self.partner[part] = Some((other, is_same));
        self.taken[other] = true;
    }

    fn open(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let rest = |other: &usize| !self.taken[*other];
        let parts = (1..self.partner.len()).filter(|&part| self.partner[part].is_none());
        let few = self.partner.len() * self.taken.len() <= MAX_PAIRS;
        parts.flat_map(move |part| {
            let others = if few {
                1..self.taken.len()
            } else {
                part..(part + 1).min(self.taken.len())
            };
            others.filter(rest).map(move |other| (part, other))
        })
    }

    /// Two literals that can be equal; the pair that binds the fewest variables.
    fn best_same(&mut self) -> Option<(usize, usize)> {
        let before = self.bound.len();
        let mut best = None;
        for (part, other) in self.open().collect::<Vec<_>>() {
            if self.bind(part, other) {
                let more = self.bound.len() - before;
                self.bound.truncate(before);
                if best.is_none_or(|(least, _)| more < least) {
                    best = Some((more, (part, other)));
                }
                if more == 0 {
                    break;
                }
            }
        }
        best.map(|(_, pair)| pair)
    }

    /// The two most similar literals, if any are similar.
    fn most_similar(&self) -> Option<(usize, usize)> {
        let alike = |&(part, other): &(usize, usize)| {
            let node_similarity =
                self.node_similarity(&self.old.parts[part], &self.new.parts[other]);
            (node_similarity >= 0.5).then_some((node_similarity, (part, other)))
        };
        let mut best: Option<(f64, (usize, usize))> = None;
        for (node_similarity, pair) in self.open().collect::<Vec<_>>().iter().filter_map(alike) {
            if best.is_none_or(|(most, _)| node_similarity > most) {
                best = Some((node_similarity, pair));
            }
        }
        best.map(|(_, pair)| pair)
    }

    /// Binds further variables to make two parts equal; on failure, binds none.
    fn bind(&mut self, part: usize, other: usize) -> bool {
        let (old, new) = (&self.old.parts[part], &self.new.parts[other]);
        if part > 0 && other > 0 {
            return self.bind_any(vec![old], vec![new], FEW_ATTEMPTS);
        }
        let before = self.bound.len();
        // In a fact or head, a connective is a term.
        let is_same = self.bind_node(old, new, None);
        if !is_same {
            self.bound.truncate(before);
        }
        is_same
    }

    /// Binds further variables to make literals equal in some order, including those
    /// inside connectives; on failure, binds none. Backtracks up to `most` times.
    fn bind_any(&mut self, old: Vec<&'m Node<'s>>, new: Vec<&'m Node<'s>>, most: usize) -> bool {
        let before = self.bound.len();
        let mut groups = vec![Group::new(old, new)];
        let mut open: Vec<(usize, usize)> = groups[0].open(0);
        let mut chosen: Vec<Choice> = Vec::new();
        let mut from = 0;
        let is_balanced = groups[0].is_balanced();
        for _ in 0..if is_balanced { most } else { 0 } {
            let Some(&(group, literal)) = open.get(chosen.len()) else {
                return true;
            };
            let choice = Choice {
                other: 0,
                bound: self.bound.len(),
                groups: groups.len(),
                open: open.len(),
            };
            let (old, count) = (groups[group].old[literal], groups[group].new.len());
            let mut next = None;
            for other in from..count {
                let mut inner = Vec::new();
                if !groups[group].taken[other]
                    && self.bind_node(old, groups[group].new[other], Some(&mut inner))
                    && inner.iter().all(Group::is_balanced)
                {
                    next = Some((other, inner));
                    break;
                }
                self.bound.truncate(choice.bound);
            }
            match next {
                Some((other, inner)) => {
                    groups[group].taken[other] = true;
                    for more in inner {
                        open.extend(more.open(groups.len()));
                        groups.push(more);
                    }
                    chosen.push(Choice { other, ..choice });
                    from = 0;
                }
                None => {
                    let Some(last) = chosen.pop() else {
                        break;
                    };
                    self.bound.truncate(last.bound);
                    groups.truncate(last.groups);
                    open.truncate(last.open);
                    let (group, _) = open[chosen.len()];
                    groups[group].taken[last.other] = false;
                    from = last.other + 1;
                }
            }
        }
        self.bound.truncate(before);
        false
    }

    /// Binds variables to make two nodes equal. The parts of a connective have no
    /// order: they are added to `inner`, to be compared later; `inner` is `None` for
    /// terms.
    fn bind_node(
        &mut self,
        old: &'m Node<'s>,
        new: &'m Node<'s>,
        inner: Option<&mut Vec<Group<'m, 's>>>,
    ) -> bool {
        match (old, new) {
            (Node::Word(old), Node::Word(new)) => match (is_variable(old), is_variable(new)) {
                (true, true) => self.bind_variable(old, new),
                (false, false) => key(old, self.case) == key(new, self.case),
                _ => false,
            },
            (Node::List { items: a, .. }, Node::List { items: b, .. }) => {
                let connective = connective(old);
                match inner {
                    Some(inner) if connective.is_some() => {
                        // Another list may be empty.
                        if connective != self::connective(new) {
                            return false;
                        }
                        let parts = |items: &'m [Item<'s>]| {
                            items[1..].iter().map(|item| &item.node).collect()
                        };
                        inner.push(Group::new(parts(a), parts(b)));
                        true
                    }
                    _ => {
                        let mut both = a.iter().zip(b);
                        a.len() == b.len()
                            && both.all(|(a, b)| self.bind_node(&a.node, &b.node, None))
                    }
                }
            }
            _ => false,
        }
    }

    fn bind_variable(&mut self, old: &str, new: &str) -> bool {
        let (old, new) = (key(old, self.case), key(new, self.case));
        let known = self.bound.iter().find(|(a, b)| *a == *old || *b == *new);
        match known {
            Some((a, b)) => *a == *old && *b == *new,
            None => {
                self.bound.push((old.into_owned(), new.into_owned()));
                true
            }
        }
    }

    /// Binds the variables that occur in the same places of two parts.
    fn bind_common(&mut self, old: &Node<'_>, new: &Node<'_>) {
        match (old, new) {
            (Node::Word(old), Node::Word(new)) if is_variable(old) && is_variable(new) => {
                self.bind_variable(old, new);
            }
            _ => {
                for (a, b) in old.items().iter().zip(new.items()) {
                    self.bind_common(&a.node, &b.node);
                }
            }
        }
    }

    /// The similarity of two nodes, from 0 to 1.
    fn node_similarity(&self, old: &Node<'_>, new: &Node<'_>) -> f64 {
        let (common, all) = self.in_common(old, new);
        common / all
    }

    /// Number of common words, and number of words.
    fn in_common(&self, old: &Node<'_>, new: &Node<'_>) -> (f64, f64) {
        match (old, new) {
            (Node::Word(old), Node::Word(new)) => {
                let (old, new) = (key(old, self.case), key(new, self.case));
                let is_same = match is_variable(&old) && is_variable(&new) {
                    true => self.bound.iter().all(|(a, b)| (*a == *old) == (*b == *new)),
                    false => old == new,
                };
                (f64::from(u8::from(is_same)), 1.0)
            }
            (Node::List { items: old, .. }, Node::List { items: new, .. }) => {
                let both = old
                    .iter()
                    .zip(new)
                    .map(|(a, b)| self.in_common(&a.node, &b.node));
                let rest = old[old.len().min(new.len())..].iter();
                let rest = rest.chain(&new[new.len().min(old.len())..]);
                let missing = rest.map(|item| (0.0, words(&item.node)));
                let sum = |(a, b): (f64, f64), (c, d): (f64, f64)| (a + c, b + d);
                let found = both.chain(missing).fold((0.0, 0.0), sum);
                if found.1 == 0.0 { (1.0, 1.0) } else { found }
            }
            (old, new) => (0.0, words(old).max(words(new))),
        }
    }
}

fn words(node: &Node<'_>) -> f64 {
    match node {
        Node::Word(_) => 1.0,
        Node::List { items, .. } => items
            .iter()
            .map(|item| words(&item.node))
            .sum::<f64>()
            .max(1.0),
    }
}

/// The variables of a form, in a deterministic order.
fn variables_of(form: &Form<'_>, case: Case) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Node<'_>> = form.parts.iter().collect();
    while let Some(node) = open.pop() {
        match node {
            Node::Word(word) if is_variable(word) => {
                found.insert(key(word, case).into_owned());
            }
            other => open.extend(other.items().iter().map(|item| &item.node)),
        }
    }
    found
}
