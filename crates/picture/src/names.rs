//! The optional reading of names as people read them.
//!
//! Everything else in this crate follows from the structure of the rules, and stays the same
//! under other names. This module looks at the names themselves: words for colours, chess men,
//! marks, walls, arrows and empty cells, and places such as `a1`. It is off
//! if [`PictureOptions::ignores_names`] is set; what options say explicitly goes before it.

pub(super) mod clues;
pub(super) mod compass;
mod drawings;
pub(super) mod places;

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Evidence;
use super::name;
use super::options::Shape;
use ggp_gdl::program::FunctorId;

#[allow(unused_imports)] // For the module comment.
use super::PictureOptions;

/// The colour of a content, and that of its outline.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Tint {
    fill: &'static str,
    outline: &'static str,
}

/// Colours by their names.
const COLOURS: &[(&[&str], Tint)] = &[
    (&["white"], tint("#ffffff", "#161616")),
    (&["black"], tint("#161616", "#e6e6e6")),
    (&["red"], tint("#d5402b", "#1a1a1a")),
    (&["blue"], tint("#2f6fd0", "#1a1a1a")),
    (&["green"], tint("#2f9a57", "#1a1a1a")),
    (&["yellow"], tint("#f2c200", "#1a1a1a")),
    (&["orange"], tint("#ef8a17", "#1a1a1a")),
    (&["purple", "violet"], tint("#8646b5", "#1a1a1a")),
    (&["pink", "magenta"], tint("#d9579f", "#1a1a1a")),
    (&["brown"], tint("#8a5a33", "#1a1a1a")),
    (&["grey", "gray", "silver"], tint("#8f8f8f", "#1a1a1a")),
    (&["teal", "cyan", "turquoise"], tint("#1f9ea3", "#1a1a1a")),
    (&["gold"], tint("#d4a017", "#1a1a1a")),
];
/// The colour of things whose names have no colour.
const PLAIN: Tint = tint("#fbf3df", "#1a1a1a");

/// Words for empty cells.
const EMPTY: &[&str] = &[
    "blank", "empty", "none", "nothing", "clear", "free", "vacant", "bare",
];
/// Number of different letters of chess men from which on letters mean them.
const MEN: usize = 3;
/// Maximum number of words of a name that is a thing.
const WORDS: usize = 3;

const fn tint(fill: &'static str, outline: &'static str) -> Tint {
    Tint { fill, outline }
}

/// The colours and drawings of contents, as options would name them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub colours: BTreeMap<String, String>,
    pub symbols: BTreeMap<String, Vec<Shape>>,
    /// The contents that are drawn across the sides of their cell.
    pub edges: BTreeSet<String>,
    /// Those that reach into the next cell, and its rows and columns from their own.
    pub links: BTreeMap<String, [isize; 2]>,
}

/// The words of a name in lower case: `whitePawn_2` has the words white, pawn and 2.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for letter in name.chars() {
        let is_start = !before.is_alphanumeric()
            || (letter.is_uppercase() && before.is_lowercase())
            || letter.is_ascii_digit() != before.is_ascii_digit();
        if letter.is_alphanumeric() {
            if is_start {
                words.push(String::new());
            }
            let last = words.last_mut().expect("a word was begun");
            last.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

fn colour(word: &str) -> Option<Tint> {
    let found = COLOURS.iter().find(|(names, _)| names.contains(&word));
    found.map(|(_, tint)| *tint)
}

fn colour_of_name(name: &str) -> Option<Tint> {
    words(name).iter().find_map(|word| colour(word))
}

/// Returns whether a content is a word for an empty cell.
pub(super) fn is_empty(evidence: &Evidence, what: &[FunctorId]) -> bool {
    let [only] = what else {
        return false;
    };
    EMPTY.contains(&name(evidence.game, *only).to_lowercase().as_str())
}

/// The colours and drawings that the names of contents call for.
///
/// `heads` gives the names of the facts that may have a content.
pub(super) fn read(
    evidence: &Evidence,
    contents: &[(String, Vec<FunctorId>)],
    heads: impl Fn(&[FunctorId]) -> Vec<String>,
) -> Names {
    let mut names = Names::default();
    let roles: Vec<String> = evidence
        .roles
        .iter()
        .map(|role| name(evidence.game, *role))
        .collect();
    for role in &roles {
        if let Some(tint) = colour_of_name(role) {
            names.colours.insert(role.clone(), tint.fill.to_owned());
        }
    }
    let reader = Reader { evidence, roles };
    let letters = contents
        .iter()
        .filter_map(|(_, what)| reader.man_by_letter(what));
    let letters: BTreeSet<&str> = letters.collect();
    // A king and a pawn may also be those of draughts.
    let are_men = letters.len() >= MEN
        || (letters.len() > 1 && letters.contains("king") && !letters.contains("pawn"));
    let marks = |word| {
        contents
            .iter()
            .any(|(_, what)| reader.mark(what) == Some(word))
    };
    let are_marks = marks("x") && marks("o");
    for (text, what) in contents {
        let tint = reader.tint(what);
        if let Some(tint) = tint {
            names.colours.insert(text.clone(), tint.fill.to_owned());
        }
        let letter = reader.man_by_letter(what).filter(|_| are_men);
        // Facts without a content have their name as the text.
        let all = match what.is_empty() {
            true => words(text),
            false => [words(text), reader.words(what)].concat(),
        };
        let man = letter
            .map(str::to_owned)
            .into_iter()
            .chain(all.iter().cloned());
        let shade = tint.unwrap_or(PLAIN);
        let heads = heads(what).into_iter().flat_map(|head| words(&head));
        let mut drawn = drawings::side(&heads.chain(all.iter().cloned()).collect::<Vec<_>>());
        if drawn.is_none() && reader.is_move(what) {
            let link = drawings::link(&all);
            names
                .links
                .extend(link.as_ref().map(|(step, _)| (text.clone(), *step)));
            drawn = link.map(|(_, drawn)| drawn);
        }
        if drawn.is_some() {
            names.edges.insert(text.clone());
        } else {
            drawn = man.clone().find_map(|word| drawings::man(&word, &shade));
        }
        if drawn.is_none() && are_marks {
            drawn = reader.mark(what).and_then(drawings::thing);
        }
        // Long names are sentences, single letters are not words, and the name of a role is not a direction.
        let is_role = matches!(&what[..], [only] if evidence.roles.contains(only));
        let is_word = |word: &&String| {
            all.len() <= WORDS
                && word.chars().count() > 1
                && !(is_role && drawings::is_direction(word))
        };
        let long = all.iter().filter(is_word);
        let drawn = drawn.or_else(|| long.clone().find_map(|word| drawings::thing(word)));
        let disc = tint.filter(|_| reader.is_colour(what));
        let drawn = drawn.or_else(|| Some(drawings::disc(&disc?)));
        names
            .symbols
            .extend(drawn.map(|drawn| (text.clone(), drawn)));
    }
    names
}

/// The drawing of a filled cell.
pub(super) fn filled() -> Vec<Shape> {
    drawings::filled_cell()
}

/// Returns whether shapes are a filled cell, above which all others are drawn.
pub(super) fn is_filled(shapes: &[Shape]) -> bool {
    matches!(shapes, [only] if only.path == drawings::WALL)
}

struct Reader<'e, 'g> {
    evidence: &'e Evidence<'g>,
    roles: Vec<String>,
}

impl Reader<'_, '_> {
    fn words(&self, what: &[FunctorId]) -> Vec<String> {
        let names = what
            .iter()
            .map(|constant| name(self.evidence.game, *constant));
        names.flat_map(|name| words(&name)).collect()
    }

    /// The role that a name of one or two letters begins with, if just one role does.
    fn role_by_initial(&self, name: &str) -> Option<&str> {
        let first = name.chars().next()?.to_lowercase().next()?;
        let mut found = self
            .roles
            .iter()
            .filter(|role| role.to_lowercase().starts_with(first));
        match (found.next(), found.next()) {
            (Some(only), None) if name.chars().count() < 3 => Some(only),
            _ => None,
        }
    }

    /// The colour that a content names itself, or that the name of its role says.
    fn tint(&self, what: &[FunctorId]) -> Option<Tint> {
        let names: Vec<String> = what.iter().map(|f| name(self.evidence.game, *f)).collect();
        let own = names.iter().find_map(|name| colour_of_name(name));
        let owner = what.iter().find_map(|name| self.evidence.owners.get(name));
        let owner = owner.and_then(|owner| colour_of_name(&self.roles[*owner]));
        let by_initial = || {
            let roles = names.iter().filter_map(|name| self.role_by_initial(name));
            roles.filter_map(colour_of_name).next()
        };
        own.or(owner).or_else(by_initial)
    }

    /// The chess man that the second of two letters stands for, after a role's initial.
    fn man_by_letter(&self, what: &[FunctorId]) -> Option<&'static str> {
        let [only] = what else {
            return None;
        };
        let text = name(self.evidence.game, *only).to_lowercase();
        self.role_by_initial(&text)?;
        match text.chars().collect::<Vec<_>>()[..] {
            [_, letter] => drawings::man_of(letter),
            _ => None,
        }
    }

    /// Returns whether a content says nothing but a colour or a role.
    fn is_colour(&self, what: &[FunctorId]) -> bool {
        let name = |constant: &FunctorId| name(self.evidence.game, *constant);
        let is_colour = |text: &String| {
            self.roles.contains(text)
                || words(text).iter().all(|word| colour(word).is_some())
                || (text.chars().count() == 1 && self.role_by_initial(text).is_some())
        };
        !what.is_empty() && what.iter().map(name).all(|text| is_colour(&text))
    }

    /// Returns whether a content is a move: the last one that led away from its cell.
    fn is_move(&self, what: &[FunctorId]) -> bool {
        matches!(what, [only] if self.evidence.moves.contains(only))
    }

    /// The mark that a content is, or the role that is its only name: a cross or a nought.
    fn mark(&self, what: &[FunctorId]) -> Option<&'static str> {
        let [only] = what else {
            return None;
        };
        let text = name(self.evidence.game, *only).to_lowercase();
        match text
            .strip_suffix("player")
            .unwrap_or(&text)
            .trim_end_matches('_')
        {
            "x" | "cross" => Some("x"),
            "o" | "nought" | "naught" => Some("o"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_have_words() {
        let cases: [(&str, &[&str]); 4] = [
            ("whitePawn", &["white", "pawn"]),
            ("black_king", &["black", "king"]),
            ("WALL2", &["wall", "2"]),
            ("--", &[]),
        ];
        for (name, expected) in cases {
            assert_eq!(words(name), expected);
        }
    }
}
