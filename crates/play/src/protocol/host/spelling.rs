//! The spelling of names for players: that of the rules, or scrambled.
//!
//! In: a game. Out: its rules as text for messages, and a mapping between its names and those
//! that players see. Keywords and integers do not change.

use std::collections::HashMap;

use crate::protocol::message::spaced;
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::{Words, is_reserved};
use ggp_gdl::symbol::Case;

/// A mapping between the names of a game and those that players see.
#[derive(Clone, Debug)]
pub struct Spelling {
    case: Case,
    /// The sent name by [`Spelling::key`]; other names do not change.
    sent: HashMap<String, String>,
    /// The name of the game by the received name in lower case.
    received: HashMap<String, String>,
    rules: String,
}

impl Spelling {
    /// The spelling of the first occurrence in the rules, so that case-sensitive players see
    /// one spelling for each name; keywords in lower case.
    pub fn plain(game: &Game, case: Case) -> Self {
        Spelling::new(game, case, |name| name.to_owned())
    }

    /// Meaningless random words, determined by a seed.
    pub fn scrambled(game: &Game, case: Case, seed: u64) -> Self {
        let mut words = Words::new(seed);
        Spelling::new(game, case, |name| words.replacement(name))
    }

    fn new(game: &Game, case: Case, mut word: impl FnMut(&str) -> String) -> Self {
        let texts = game.sources().files().iter().map(|file| file.text());
        let rules = spaced(&texts.collect::<Vec<_>>().join("\n"));
        let mut spelling = Spelling {
            case,
            sent: HashMap::new(),
            received: HashMap::new(),
            rules: String::new(),
        };
        for name in rules.split(' ') {
            let key = spelling.key(name);
            if is_bracket(name) || spelling.sent.contains_key(&key) {
                continue;
            }
            let lower = name.to_lowercase();
            let seen = match () {
                () if is_reserved(&lower) => lower,
                () if name.parse::<i64>().is_ok() => name.to_owned(),
                () => word(name),
            };
            spelling
                .received
                .entry(seen.to_lowercase())
                .or_insert(name.to_owned());
            spelling.sent.insert(key, seen);
        }
        spelling.rules = spelling.send(&rules);
        spelling
    }

    /// The text by which names are compared.
    fn key(&self, name: &str) -> String {
        match self.case {
            Case::Fold => name.to_lowercase(),
            Case::Keep => name.to_owned(),
        }
    }

    /// The rules for players, without the enclosing brackets.
    pub fn rules(&self) -> &str {
        &self.rules
    }

    /// A term in the spelling for players.
    pub fn send(&self, term: &str) -> String {
        self.each(term, |name| self.sent.get(&self.key(name)))
    }

    /// A player's term in the spelling of the rules. Unknown names do not change, and letter
    /// case is ignored unless names differ only by it.
    pub fn receive(&self, term: &str) -> String {
        self.each(term, |name| {
            let lower = name.to_lowercase();
            let known = self.received.get(&lower)?;
            // An exact match takes precedence.
            let exact = self.case == Case::Keep && self.sent.get(name).is_some_and(|s| s == name);
            (!exact).then_some(known)
        })
    }

    fn each<'s>(&'s self, term: &str, other: impl Fn(&str) -> Option<&'s String>) -> String {
        let spaced = spaced(term);
        let words = spaced.split(' ');
        let words = words.map(|name| other(name).map_or(name, String::as_str));
        words.collect::<Vec<_>>().join(" ")
    }
}

fn is_bracket(name: &str) -> bool {
    matches!(name, "(" | ")" | "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "
        (ROLE Ann) ; the only one
        (init (left 3)) (init (Left 007)) (base (left 1)) (input ann (take 1))
        (<= (legal ann (Take ?X)) (true (left ?x)) (distinct ?x 0) (not (true (left -1))))
        (<= (next (left 0)) (does ann (take ?y)))
        (<= terminal (true (left 0))) (goal ann 100)";

    fn game() -> Game {
        Game::from_text("rules", RULES).expect("the rules are valid")
    }

    #[test]
    fn names_are_replaced_and_words_of_the_language_and_numbers_are_not() {
        let spelling = Spelling::scrambled(&game(), Case::Fold, 5);
        let rules = spelling.rules();
        for kept in [
            "( role ",
            "( init ( ",
            " 3 )",
            " 007 )",
            "( base ( ",
            "( input ",
            "( <= ( legal ",
            "( distinct ?",
            "( not ( true ( ",
            " -1 )",
            " terminal ",
            "( does ",
            "( next ",
            " 100 )",
        ] {
            assert!(rules.contains(kept), "{kept:?} is not in {rules}");
        }
        for name in ["ann", "left", "take", "?x", "?y", "only"] {
            let has = rules.to_lowercase().split(' ').any(|word| word == name);
            assert!(!has, "{name} is in {rules}");
        }
        let sent = spelling.send("(take 2)");
        assert_eq!(spelling.receive(&sent.to_uppercase()), "( take 2 )");
        assert_eq!(spelling.receive("nobody"), "nobody");
        assert_eq!(sent, spelling.send("( TAKE 2)"));
    }

    #[test]
    fn scrambled_rules_are_the_same_game() {
        let (game, other) = (game(), Spelling::scrambled(&game(), Case::Fold, 9));
        let other = Game::from_text("other", other.rules()).expect("they are right, too");
        assert_eq!(game.role_count(), other.role_count());
        assert_eq!(
            game.functors().iter().count(),
            other.functors().iter().count()
        );
    }

    #[test]
    fn plain_names_have_one_spelling() {
        let spelling = Spelling::plain(&game(), Case::Fold);
        assert!(
            spelling
                .rules()
                .starts_with("( role Ann ) ( init ( left 3 ) )")
        );
        assert_eq!(spelling.send("(Take 1)"), "( take 1 )");
        assert_eq!(spelling.receive("( TAKE 1 )"), "( take 1 )");
    }

    #[test]
    fn names_that_differ_only_by_case_are_distinguished() {
        let rules = "(role a) (role b) (init up) (init Up) (legal a up) (legal b Up)";
        let game = Game::from_text(
            "rules",
            &format!("{rules} (<= terminal (true up)) (goal a 1)"),
        );
        let spelling = Spelling::plain(&game.expect("right"), Case::Keep);
        assert_eq!(spelling.receive("Up"), "Up");
        assert_eq!(spelling.receive("up"), "up");
        assert_eq!(spelling.receive("B"), "b");
    }
}
