//! Other names for all that has no meaning of its own, and back.
//!
//! Words of the language and integers stay, as match hosts leave them. The order of
//! forms, literals and alternatives means nothing but for the roles, so it can be
//! drawn anew.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::names::edited;
use super::tree::{Item, Node, Note, Tree};
use super::words::{Words, is_reserved};
use crate::check::Keyword;
use crate::span::{Sources, Span};
use crate::symbol::Case;
use crate::syntax::{Sexp, SexpKind};

/// How rules are scrambled.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Scramble {
    /// What words and order are drawn by.
    pub seed: u64,
    /// Whether the order of forms and literals is drawn, too.
    pub order: bool,
    /// Whether comments stay.
    pub comments: bool,
    /// Whether letter case distinguishes names.
    pub case: Case,
}

/// Old names, as they were first spelled, and the words in their place.
pub type NameMap = BTreeMap<String, String>;

/// Scrambles a rule set.
pub fn scramble(tree: &mut Tree<'_>, how: Scramble) -> NameMap {
    let mut renaming = Renaming {
        how,
        words: Words::new(how.seed),
        known: HashMap::new(),
        names: NameMap::new(),
    };
    tree.items.iter_mut().for_each(|item| renaming.item(item));
    renaming.notes(&mut tree.after);
    if how.order {
        // Not the stream that words come from, so that they are the same.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!how.seed);
        shuffle_forms(&mut tree.items, &mut random);
    }
    renaming.names
}

struct Renaming {
    how: Scramble,
    words: Words,
    /// Words by what names are told apart by.
    known: HashMap<String, String>,
    names: NameMap,
}

impl Renaming {
    fn notes(&self, notes: &mut Vec<Note<'_>>) {
        let (comments, blanks) = (self.how.comments, !self.how.order);
        notes.retain(|note| {
            if *note == Note::Blank {
                blanks
            } else {
                comments
            }
        });
        notes.dedup_by(|next, before| *next == Note::Blank && *before == Note::Blank);
    }

    fn item(&mut self, item: &mut Item<'_>) {
        self.notes(&mut item.before);
        if !self.how.comments {
            item.behind.clear();
        }
        match &mut item.node {
            Node::Word(word) => *word = Cow::Owned(self.word(word)),
            Node::List { items, after } => {
                items.iter_mut().for_each(|item| self.item(item));
                self.notes(after);
            }
        }
    }

    fn word(&mut self, name: &str) -> String {
        if stays(name) {
            return name.to_owned();
        }
        let key = key(name, self.how.case);
        let words = &mut self.words;
        let names = &mut self.names;
        let word = self.known.entry(key).or_insert_with(|| {
            let word = words.instead_of(name);
            names.insert(name.to_owned(), word.clone());
            word
        });
        word.clone()
    }
}

fn stays(name: &str) -> bool {
    is_reserved(&name.to_lowercase()) || name.parse::<i64>().is_ok()
}

fn key(name: &str, case: Case) -> String {
    match case {
        Case::Fold => name.to_lowercase(),
        Case::Keep => name.to_owned(),
    }
}

/// The forms in another order, but the roles in theirs.
fn shuffle_forms(items: &mut Vec<Item<'_>>, random: &mut Xoshiro256PlusPlus) {
    let is_role =
        |item: &Item<'_>| item.node.functor().and_then(Keyword::of) == Some(Keyword::Role);
    items.iter_mut().for_each(|item| item.near = false);
    for item in items.iter_mut() {
        if item.node.is_rule()
            && let Node::List { items, .. } = &mut item.node
        {
            let head = items.len().min(2);
            shuffle_literals(&mut items[head..], random);
        }
    }
    let (roles, mut others): (Vec<_>, Vec<_>) = items.drain(..).partition(is_role);
    others.shuffle(random);
    // Where roles come among the others is drawn, too.
    let mut is_next: Vec<bool> = (0..roles.len() + others.len())
        .map(|place| place < roles.len())
        .collect();
    is_next.shuffle(random);
    let (mut roles, mut others) = (roles.into_iter(), others.into_iter());
    let next = |is_role| if is_role { roles.next() } else { others.next() };
    items.extend(is_next.into_iter().filter_map(next));
}

fn shuffle_literals(literals: &mut [Item<'_>], random: &mut Xoshiro256PlusPlus) {
    literals.shuffle(random);
    for literal in literals {
        let keyword = literal.node.functor().and_then(Keyword::of);
        if let Some(Keyword::Not | Keyword::Or | Keyword::And) = keyword
            && let Node::List { items, .. } = &mut literal.node
        {
            shuffle_literals(&mut items[1..], random);
        }
    }
}

/// The text of a file with words replaced by the names that they stand for; all
/// else stays as it is.
pub fn restored(forms: &[Sexp], sources: &Sources, file: usize, names: &NameMap) -> String {
    let names: HashMap<&str, &str> = names
        .iter()
        .map(|(name, word)| (&**word, &**name))
        .collect();
    let mut edits = Vec::new();
    let mut open: Vec<&Sexp> = forms.iter().rev().collect();
    while let Some(sexp) = open.pop() {
        match &sexp.kind {
            SexpKind::List(members) => open.extend(members.iter().rev()),
            _ => edits.extend(original(sexp.span, sources, &names)),
        }
    }
    edited(sources, file, edits)
}

fn original<'n>(
    span: Span,
    sources: &Sources,
    names: &HashMap<&str, &'n str>,
) -> Option<(Span, &'n str)> {
    // Some programs answer in capitals.
    let word = sources.text(span).to_lowercase();
    names.get(&*word).map(|name| (span, *name))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::rewrite::{Layout, laid_out};
    use crate::span::Source;
    use crate::syntax::{SyntaxLimits, read};

    const RULES: &str = "; ours\n(role ann) (role Bob) (p 7)\n(<= (next (p ?x)) ; why\n    (true (P ?X))\n    (or (q ?x) (not (q ANN)) r))\n";

    fn scrambled(seed: u64, order: bool, comments: bool) -> (String, NameMap) {
        let sources = Sources::from(Source::new("t", RULES));
        let stop = AtomicBool::new(false);
        let mut tree = Tree::read(&sources, SyntaxLimits::default(), &stop).expect("right");
        let case = Case::Fold;
        let how = Scramble {
            seed,
            order,
            comments,
            case,
        };
        let names = scramble(&mut tree, how);
        (laid_out(&tree, Layout::default(), &stop), names)
    }

    fn back(text: &str, names: &NameMap) -> String {
        let sources = Sources::from(Source::new("t", text));
        let (forms, _) = read(&sources, SyntaxLimits::default());
        restored(&forms, &sources, 0, names)
    }

    #[test]
    fn names_go_and_come_back() {
        let (text, names) = scrambled(3, false, true);
        for name in ["ann", "Bob", "p", "q", "r", "?x"] {
            assert!(names.contains_key(name), "{name}");
            assert!(
                !text
                    .to_lowercase()
                    .split([' ', '(', ')'])
                    .any(|word| word == name),
                "{text}"
            );
        }
        assert_eq!(names.len(), 6);
        let expected = RULES.replace("P ?X", "p ?x").replace("ANN", "ann");
        assert_eq!(back(&text, &names), expected.replace(" ; why", "  ; why"));
        assert_eq!(
            back(&text.to_uppercase(), &names).to_lowercase(),
            back(&text, &names).to_lowercase()
        );
        assert!(text.contains("; why"));
        assert!(!scrambled(3, false, false).0.contains(';'));
        assert_eq!(scrambled(3, true, false).1, names);
        assert_ne!(scrambled(4, false, false).1, names);
    }

    #[test]
    fn another_order_keeps_roles_in_theirs() {
        let mut orders = std::collections::HashSet::new();
        for seed in 0..50 {
            let (text, names) = scrambled(seed, true, true);
            let text = back(&text, &names);
            let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
            assert!(place("(role ann)") < place("(role Bob)"));
            assert!(place("(<= (next (p ?x))") < place("(true (p ?x))"));
            assert_eq!(place("; ours") + "; ours\n".len(), place("(role ann)"));
            orders.insert(text);
        }
        assert!(orders.len() > 20);
    }
}
