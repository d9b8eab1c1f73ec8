//! Obfuscation of all names that have no predefined meaning, and restoration.
//!
//! Keywords and integers stay, as match hosts leave them. The order of forms,
//! literals and alternatives has no meaning, except for the order of roles, so it can
//! be shuffled.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::names::edited;
use super::tree::{Item, Node, Note, Tree};
use super::words::{Words, is_generated, is_reserved};
use crate::check::Keyword;
use crate::span::{Sources, Span};
use crate::symbol::Case;
use crate::syntax::{Sexp, SexpKind};

/// Options for scrambling.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Scramble {
    /// The seed of the new words and of the order.
    pub seed: u64,
    /// If true, forms and literals are shuffled.
    pub order: bool,
    /// If true, comments are kept.
    pub comments: bool,
    /// Treatment of names that differ only in letter case.
    pub case: Case,
}

/// Old names, in their first spelling, with the words that replace them.
pub type NameMap = BTreeMap<String, String>;

/// Scrambles a rule set.
pub fn scramble(tree: &mut Tree<'_>, options: Scramble) -> NameMap {
    let mut words = Vec::new();
    tree.items
        .iter()
        .for_each(|item| words_of(&item.node, &mut words));
    let renaming = Renaming::new(&words, options);
    tree.items.iter_mut().for_each(|item| renaming.item(item));
    renaming.notes(&mut tree.after);
    if options.order {
        // A separate random stream, so that shuffling does not change the words.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!options.seed);
        shuffle_forms(&mut tree.items, &mut random);
    }
    renaming.names
}

/// Scrambles only the names: the text of each file with nothing else changed, and the
/// replacements.
pub fn scrambled_in_place(
    forms: &[Sexp],
    sources: &Sources,
    options: Scramble,
) -> (Vec<String>, NameMap) {
    let places = words_in(forms);
    let words: Vec<&str> = places.iter().map(|place| sources.text(*place)).collect();
    let renaming = Renaming::new(&words, options);
    let edits = || (places.iter().copied()).zip(words.iter().map(|word| renaming.word(word)));
    let texts = (0..sources.files().len()).map(|file| edited(sources, file, edits()));
    (texts.collect(), renaming.names)
}

/// All words of a node, in the order of the text.
fn words_of<'n>(node: &'n Node<'_>, words: &mut Vec<&'n str>) {
    words.extend(node.word());
    node.items()
        .iter()
        .for_each(|item| words_of(&item.node, words));
}

/// The places of all words, in the order of the text.
fn words_in(forms: &[Sexp]) -> Vec<Span> {
    let mut places = Vec::new();
    let mut open: Vec<&Sexp> = forms.iter().rev().collect();
    while let Some(sexp) = open.pop() {
        match &sexp.kind {
            SexpKind::List(members) => open.extend(members.iter().rev()),
            _ => places.push(sexp.span),
        }
    }
    places
}

struct Renaming {
    options: Scramble,
    /// Replacement words by the compared form of the name.
    known: HashMap<String, String>,
    names: NameMap,
}

impl Renaming {
    fn new(all: &[&str], options: Scramble) -> Self {
        let mut keys = HashSet::new();
        let mut names: Vec<&str> = all.iter().copied().filter(|name| !stays(name)).collect();
        names.retain(|name| keys.insert(key(name, options.case)));
        // Different texts get different words, so that restoring with the wrong map
        // is detected (FNV-1a).
        let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
        let digest = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut words = Words::new(options.seed ^ digest);
        let mut renaming = Renaming {
            options,
            known: HashMap::new(),
            names: NameMap::new(),
        };
        for name in names {
            let word = words.replacement(name);
            renaming.known.insert(key(name, options.case), word.clone());
            renaming.names.insert(name.to_owned(), word);
        }
        renaming
    }

    fn word<'n>(&'n self, name: &'n str) -> &'n str {
        self.known
            .get(&key(name, self.options.case))
            .map_or(name, |word| word)
    }

    fn notes(&self, notes: &mut Vec<Note<'_>>) {
        let (comments, blanks) = (self.options.comments, !self.options.order);
        notes.retain(|note| {
            if *note == Note::Blank {
                blanks
            } else {
                comments
            }
        });
        notes.dedup_by(|next, before| *next == Note::Blank && *before == Note::Blank);
    }

    fn item(&self, item: &mut Item<'_>) {
        self.notes(&mut item.before);
        if !self.options.comments {
            item.behind.clear();
        }
        match &mut item.node {
            Node::Word(word) => *word = Cow::Owned(self.word(word).to_owned()),
            Node::List { items, after } => {
                items.iter_mut().for_each(|item| self.item(item));
                self.notes(after);
            }
        }
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

/// Shuffles the forms, keeping the order of the roles.
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
    // The positions of the roles among the other forms are shuffled, too.
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

/// The text of a file with replacement words restored to their names; nothing else
/// changes.
pub fn restored(forms: &[Sexp], sources: &Sources, file: usize, names: &NameMap) -> String {
    let names = by_word(names);
    let places = words_in(forms).into_iter();
    let edits = places.filter_map(|place| Some((place, original(place, sources, &names)?)));
    edited(sources, file, edits)
}

/// A word that shows that a map belongs to another text, if there is one: a generated
/// word that the map does not have, or a name of rules that contain no words of the
/// map.
pub fn foreign_word(forms: &[Sexp], sources: &Sources, names: &NameMap) -> Option<Span> {
    let names = by_word(names);
    let mut others = words_in(forms);
    let count = others.len();
    others.retain(|place| original(*place, sources, &names).is_none());
    let is_foreign = others.len() == count && forms.iter().any(|form| is_of_rules(form, sources));
    others.into_iter().find(|place| {
        let word = sources.text(*place).to_lowercase();
        !stays(&word) && (is_foreign || is_generated(&word))
    })
}

/// True if a form begins like a form of a rule set.
fn is_of_rules(form: &Sexp, sources: &Sources) -> bool {
    let SexpKind::List(members) = &form.kind else {
        return false;
    };
    members.first().is_some_and(|first| {
        let word = sources.text(first.span);
        word == "<=" || Keyword::of(word).is_some()
    })
}

/// The parts of a text that may be words of a map, and the text between them. A word
/// is a sequence of letters, digits and `_`, including the `?` of a variable. JSON
/// escapes after `\` are not words.
fn parts(text: &str) -> Vec<(&str, bool)> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(start) = text[at..].find(is_of_word).map(|start| at + start) {
        let end = text[start..].find(|c| !is_of_word(c));
        let end = end.map_or(text.len(), |length| start + length);
        let before = &text[from..start];
        let escapes = before.len() - before.trim_end_matches('\\').len();
        let skipped = match text.as_bytes()[start] {
            b'u' if escapes % 2 == 1 => 5,
            b'n' | b't' | b'r' | b'b' | b'f' if escapes % 2 == 1 => 1,
            _ => 0,
        };
        let begin = match before.ends_with('?') {
            true => start - 1,
            false => (start + skipped).min(end),
        };
        if begin < end && text.is_char_boundary(begin) {
            parts.push((&text[from..begin], false));
            parts.push((&text[begin..end], true));
            from = end;
        }
        at = end;
    }
    parts.push((&text[from..], false));
    parts
}

/// A text other than rules, such as a program's answer, with all replacement words
/// restored to their names; in JSON, names are escaped.
pub fn restored_words(text: &str, names: &NameMap) -> String {
    let names = by_word(names);
    let values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let mut values = values.peekable();
    let is_json = values.peek().is_some() && values.all(|value| value.is_ok());
    let restored = parts(text).into_iter().map(|(part, is_word)| {
        let name = is_word.then(|| names.get(&*part.to_lowercase())).flatten();
        match name {
            Some(name) if is_json => {
                let quoted = serde_json::to_string(name).expect("a string is JSON");
                Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
            }
            Some(name) => Cow::Borrowed(*name),
            None => Cow::Borrowed(part),
        }
    });
    restored.collect()
}

/// A word that shows that a text other than rules belongs to another map: it looks
/// generated, and no word of the text is in the map. (Some English words look
/// generated, too.)
pub fn foreign_word_in_text<'t>(text: &'t str, names: &NameMap) -> Option<&'t str> {
    let names = by_word(names);
    let parts = parts(text).into_iter().filter(|(_, is_word)| *is_word);
    let mut drawn = None;
    for (word, _) in parts {
        let lower = word.to_lowercase();
        if names.contains_key(&*lower) {
            return None;
        }
        if drawn.is_none() && is_generated(&lower) {
            drawn = Some(word);
        }
    }
    drawn
}

/// True if forms are rules rather than a program's answer: at least one begins like a
/// form of a rule set, and all are in brackets except for words of the map and
/// keywords.
pub fn are_rules(forms: &[Sexp], sources: &Sources, names: &NameMap) -> bool {
    let names = by_word(names);
    let is_known = |form: &Sexp| match &form.kind {
        SexpKind::List(_) => true,
        _ => {
            let word = sources.text(form.span);
            Keyword::of(word).is_some() || original(form.span, sources, &names).is_some()
        }
    };
    forms.iter().all(is_known) && forms.iter().any(|form| is_of_rules(form, sources))
}

fn by_word(names: &NameMap) -> HashMap<&str, &str> {
    names
        .iter()
        .map(|(name, word)| (&**word, &**name))
        .collect()
}

fn original<'n>(place: Span, sources: &Sources, names: &HashMap<&str, &'n str>) -> Option<&'n str> {
    // Some programs answer in capital letters.
    names.get(&*sources.text(place).to_lowercase()).copied()
}

#[cfg(test)]
mod tests {
    use ggp_stop::Stop;

    use super::*;
    use crate::rewrite::{Layout, laid_out};
    use crate::span::Source;
    use crate::syntax::{SyntaxLimits, read};

    const RULES: &str = "; ours\n(role ann) (role Bob) (p 7)\n(<= (next (p ?x)) ; why\n    (true (P ?X))\n    (or (q ?x) (not (q ANN)) r))\n";

    fn scrambled(seed: u64, order: bool, comments: bool) -> (String, NameMap) {
        let sources = Sources::from(Source::new("t", RULES));
        let stop = Stop::new();
        let mut tree = Tree::read(&sources, SyntaxLimits::default(), &stop).expect("right");
        let case = Case::Fold;
        let options = Scramble {
            seed,
            order,
            comments,
            case,
        };
        let names = scramble(&mut tree, options);
        (laid_out(&tree, Layout::default(), &stop), names)
    }

    fn back(text: &str, names: &NameMap) -> String {
        let sources = Sources::from(Source::new("t", text));
        let (forms, _) = read(&sources, SyntaxLimits::default());
        restored(&forms, &sources, 0, names)
    }

    #[test]
    fn names_are_restored() {
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
    fn in_place_only_names_change() {
        let sources = Sources::from(Source::new("t", RULES));
        let (forms, _) = read(&sources, SyntaxLimits::default());
        let options = Scramble {
            seed: 3,
            order: false,
            comments: true,
            case: Case::Keep,
        };
        let (texts, names) = scrambled_in_place(&forms, &sources, options);
        assert_ne!(texts[0], RULES);
        assert_eq!(back(&texts[0], &names), RULES);
    }

    #[test]
    fn a_map_of_another_text_is_detected() {
        let (text, names) = scrambled(3, false, false);
        let foreign_word = |text: &str, names: &NameMap| {
            let sources = Sources::from(Source::new("t", text));
            let (forms, _) = read(&sources, SyntaxLimits::default());
            foreign_word(&forms, &sources, names).map(|place| sources.text(place).to_owned())
        };
        assert_eq!(foreign_word(&text, &names), None);
        assert_eq!(foreign_word(&text.to_uppercase(), &names), None);
        assert_eq!(foreign_word("(role 1) terminal", &names), None);
        assert_eq!(foreign_word("unsolvable: no plan", &names), None);
        assert_eq!(foreign_word(RULES, &names), Some("ann".to_owned()));
        let sources = Sources::from(Source::new("t", "(role ann) (p 7)"));
        let (forms, _) = read(&sources, SyntaxLimits::default());
        let options = Scramble {
            seed: 3,
            order: false,
            comments: false,
            case: Case::Fold,
        };
        // The same seed, and the same number of names.
        let (_, others) = scrambled_in_place(&forms, &sources, options);
        assert!(foreign_word(&text, &others).is_some());
        let first = names.values().next().unwrap();
        assert_eq!(
            foreign_word(&format!("({first} 1)"), &others).as_ref(),
            Some(first)
        );
    }

    #[test]
    fn shuffling_keeps_the_order_of_roles() {
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
