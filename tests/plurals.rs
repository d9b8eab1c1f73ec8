//! A noun after the number 1 is singular in everything that people read.

use crate::cli::workplace::Workplace;
use crate::common::sources;

/// A game of one role, one rule for its move, one move and one plan.
const ONE: &str = "
    (role me) (init start) (legal me go)
    (<= (next done) (does me go))
    (<= terminal (true done))
    (<= (goal me 1) (true done))";

/// The same with a second role, chance, a percept and a board.
const FEW: &str = "
    (role me) (role random) (init (cell 1 1 empty)) (legal random toss)
    (<= (legal me (mark ?x ?y)) (true (cell ?x ?y empty)))
    (<= (next (cell ?x ?y full)) (does me (mark ?x ?y)))
    (<= (next (cell ?x ?y full)) (true (cell ?x ?y full)))
    (<= terminal (true (cell 1 1 full)))
    (<= (goal me 100) (true (cell 1 1 full)))
    (<= (sees me toss) (does random toss))";

/// Words before a noun.
const ADJECTIVES: [&str; 12] = [
    "joint",
    "more",
    "other",
    "legal",
    "different",
    "shortest",
    "information",
    "bad",
    "wrong",
    "hidden",
    "new",
    "ending",
];
/// Words that end with s and are not plurals.
const SINGULAR: [&str; 13] = [
    "is", "was", "has", "as", "this", "plus", "plays", "sees", "gets", "holds", "leads", "takes",
    "class",
];

/// Each plural noun after a single 1, with the words around it.
fn plurals_after_one(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| {
        // An option such as --moves is not a noun.
        let word = word.trim_start_matches('(');
        word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())
            .to_owned()
    };
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_more = at > 1 && words[at - 2..at] == ["more", "than"];
        let is_end = at > 0 && ["to", "of", "than", "version"].contains(&words[at - 1]);
        if word.trim_start_matches('(') != "1" || is_end && !is_more {
            continue;
        }
        let mut after = words[at + 1..].iter().map(|word| bare(word));
        let mut noun = after.next().unwrap_or_default();
        if ADJECTIVES.contains(&&noun[..]) {
            noun = after.next().unwrap_or_default();
        }
        let is_word = noun.len() > 2 && noun.bytes().all(|byte| byte.is_ascii_lowercase());
        if is_word && noun.ends_with('s') && !SINGULAR.contains(&&noun[..]) {
            found.push(words[at.saturating_sub(3)..words.len().min(at + 4)].join(" "));
        }
    }
    found
}

#[test]
fn a_plural_after_one_is_found() {
    for text in [
        "play: 1 moves",
        "(1 plans lead to 1",
        "all 1 joint moves,",
        "more than 1 facts",
        "within 1 seconds",
    ] {
        assert_eq!(plurals_after_one(text).len(), 1, "{text}");
    }
    for text in [
        "1 move",
        "0 to 1 moves",
        "a 1 is",
        "1 1",
        "21 moves",
        "1 plays",
    ] {
        assert!(plurals_after_one(text).is_empty(), "{text}");
    }
}

#[test]
fn commands_have_no_plural_after_one() {
    let place = Workplace::new();
    place.write("one.kif", ONE);
    place.write("few.kif", FEW);
    place.write("wrong.kif", format!("{ONE} (legal me (a ?x)) (p) (p x)"));
    let mut count = 0;
    for game in ["one", "few", "wrong"] {
        for line in [
            "check GAME.kif",
            "check GAME.kif --play",
            "check GAME.kif --play --strict",
            "info GAME.kif",
            "legal GAME.kif",
            "state GAME.kif",
            "draw GAME.kif",
            "next GAME.kif --move go",
            "playout GAME.kif",
            "playout GAME.kif --count 1",
            "engine perft GAME.kif 0",
            "engine perft GAME.kif 1",
            "engine perft GAME.kif 1 --no-transpositions",
            "check GAME.kif --max-terms 1",
            "check GAME.kif --max-symbols 1",
            "check GAME.kif --max-facts 1",
            "engine perft GAME.kif 1 --max-facts 1 --backend datalog",
            "engine perft GAME.kif 1 --max-facts 1 --backend naive",
            "engine perft GAME.kif 1 --max-work 1",
            "why GAME.kif terminal --max-instances 1",
            "solve GAME.kif --goal best",
            "solve GAME.kif --goal 1 --all --answer GAME.json",
            "verify GAME.kif GAME.json",
            "solve GAME.kif --goal 1 --count 1 --answer GAME.count.json",
            "verify GAME.kif GAME.count.json",
            "solve GAME.kif --goal 2 --answer GAME.none.json",
            "verify GAME.kif GAME.none.json",
            "solve GAME.kif --goal 1 --method breadth-first-packed --whole",
            "solve GAME.kif --goal 1 --method iterative-deepening --budget-nodes 1",
            "solve GAME.kif --goal 1 --method sat-set",
            "solve GAME.kif --goal 1 --method mcts",
            "solve GAME.kif --goal 1 --method bidirectional",
            "solve GAME.kif --goal 1 --method algebra",
            "prove GAME.kif --role me",
            "prove GAME.kif --role me --budget-nodes 1",
            "tabulate GAME.kif --output GAME.table",
            "verify GAME.kif GAME.table",
            "play GAME.kif --roles mcts:1,random --verbose",
            "play GAME.kif --roles mcts:1 --verbose --save GAME.match",
            "replay GAME.match",
            "host GAME.kif --player first --save GAME.match",
            "replay GAME.match",
            "graph GAME.kif --output GAME.svg",
            "graph GAME.kif --most 1 --output GAME.svg",
            "export GAME.kif --efg",
            "engine bench GAME.kif --playouts 1",
            "learn GAME.kif --time 0.1 --output GAME.values",
            "why GAME.kif terminal",
        ] {
            let line = line.replace("GAME", game);
            let found = place.run(&line);
            let text = found.out + "\n" + &found.err;
            let plurals = plurals_after_one(&text);
            assert!(plurals.is_empty(), "{line}: {plurals:?}\n{text}");
            count += usize::from(found.code == Some(0));
        }
    }
    // Most of the lines must do something.
    assert!(count > 40, "{count}");
}

/// Nouns that are counted in messages.
const NOUNS: [&str; 40] = [
    "moves",
    "positions",
    "rules",
    "roles",
    "facts",
    "steps",
    "plans",
    "games",
    "matches",
    "playouts",
    "points",
    "nodes",
    "states",
    "lines",
    "arguments",
    "turns",
    "solutions",
    "faults",
    "paths",
    "cells",
    "ends",
    "clauses",
    "groups",
    "rows",
    "files",
    "seconds",
    "minutes",
    "bytes",
    "terms",
    "symbols",
    "instances",
    "literals",
    "percepts",
    "players",
    "iterations",
    "characters",
    "names",
    "values",
    "threads",
    "sequences",
];

/// Words between a name and a noun.
const VERBS: [&str; 5] = ["of", "with", "the", "names", "to"];

/// Names of texts that can be a plural.
const NAMES: [&str; 2] = ["{what}", "{noun}"];

/// Literals in which the number is never 1, or has another meaning.
const KNOWN: [&str; 36] = [
    "{found} cells",
    "there are {count} such plans",
    "this list has {arguments} arguments",
    "all {count} positions that fit",
    "all {} positions were seen",
    "{plans} shortest solutions",
    "all {count} shortest plans",
    "{worse} other rules need",
    "({steps} steps)",
    "{count} moves lead back",
    "of {all} roles, only the first",
    "none of the {all} other moves",
    "of the {all} other moves",
    "{count} plans were played again",
    "{count} plans lead to {count} different ends",
    "has {roles} roles, and",
    "{name} has {roles} roles: more players are needed",
    "a board of {rows} by {columns} cells",
    "{name} has the results of {} matches",
    "{path} has matches of another tournament",
    "has matches of another tournament",
    "{lanes} matches take about",
    "a plan ends with {} points instead of 100",
    "{PICTURE} bytes",
    "{MOST_ARCS} moves was",
    "{MAX_IN_RULE} literals",
    "{SHAPES} paths",
    "({count} names)",
    "in {instances} instances",
    "{minutes} minutes",
    "({count} characters)",
    "more than {} literals and terms",
    "{places} {what}",
    "{} {what} instead of",
    "under {aim} {what}",
    "@ {place} {what} @@",
];

#[test]
fn numbers_before_nouns_are_written_by_one_function() {
    let mut wrong = Vec::new();
    for file in sources::rust_files() {
        if file.package() == "fuzz" || file.path.contains("/conformance/") {
            continue;
        }
        for literal in sources::split(file.without_tests()).literals {
            let text = &literal.text;
            let has_noun = text.match_indices('}').any(|(at, _)| {
                let opens = text[..at].rfind('{').is_some_and(|from| {
                    let name = &text[from + 1..at];
                    !name.contains(':')
                });
                let after: Vec<&str> = text[at + 1..].split_whitespace().take(2).collect();
                let is_noun = |word: Option<&&str>| {
                    let bare = |word: &&&str| {
                        let word = word.trim_end_matches(|c: char| !c.is_ascii_lowercase());
                        NOUNS.contains(&word)
                    };
                    word.as_ref().is_some_and(bare)
                };
                let is_adjective = after.first().is_some_and(|word| {
                    let is_small = |byte: u8| byte.is_ascii_lowercase();
                    word.bytes().all(is_small) && !SINGULAR.contains(word) && !VERBS.contains(word)
                });
                let is_name = after.first().is_some_and(|word| NAMES.contains(word));
                let follows = text[at + 1..].starts_with(' ');
                opens
                    && follows
                    && (is_noun(after.first()) || is_name || is_adjective && is_noun(after.get(1)))
            });
            if has_noun && !KNOWN.iter().any(|known| text.contains(known)) {
                wrong.push(format!("{}:{}: {text}", file.path, literal.line));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "use ggp_gdl::counted:\n{}",
        wrong.join("\n")
    );
}
