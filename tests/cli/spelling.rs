//! One spelling of each name in all output: the first one in the rules.

use super::workplace::Workplace;

/// Anke or Boris fills the cell; each name has a capital.
const RULES: &str = "
(role Anke) (role Boris) (Folgt Anke Boris) (Folgt Boris Anke)
(init (Zelle Eins Leer)) (init (Dran Anke))
(<= (legal ?r (Setze Eins)) (true (Dran ?r)))
(<= (legal ?r Warte) (role ?r))
(<= (next (Zelle Eins ?r)) (does ?r (Setze Eins)))
(<= Gesetzt (does ?r (Setze ?x)))
(<= (next (Zelle Eins Leer)) (not Gesetzt))
(<= (next (Dran ?o)) (true (Dran ?r)) (Folgt ?r ?o))
(<= (next (Schon Einmal)) (true (Dran ?r)))
(<= terminal (true (Zelle Eins ?r)) (role ?r))
(<= terminal (true (Schon Einmal)))
(<= (goal ?r 100) (true (Zelle Eins ?r)))
(<= (goal ?r 0) (role ?r) (not (true (Zelle Eins ?r))))";

/// The same with percepts.
const SEES: &str = "(<= (sees ?r (Gesehen ?x)) (role ?r) (does ?o (Setze ?x)))";

/// A puzzle.
const PUZZLE: &str = "
(role Carla) (init (Lampe Aus)) (legal Carla (Schalte Um))
(<= (next (Lampe An)) (does Carla (Schalte Um)))
(<= terminal (true (Lampe An))) (goal Carla 100)";

const NAMES: &[&str] = &[
    "Anke", "Boris", "Folgt", "Zelle", "Eins", "Leer", "Dran", "Setze", "Warte", "Gesetzt",
    "Schon", "Einmal", "Gesehen", "Carla", "Lampe", "Aus", "An", "Schalte", "Um",
];

/// The words of an output that are a name in another spelling.
fn misspelled(out: &str) -> Vec<&str> {
    let words = out.split(|c: char| !c.is_alphanumeric());
    let is_name = |word: &&str| NAMES.iter().any(|name| name.eq_ignore_ascii_case(word));
    let words = words.filter(is_name);
    // English words of messages are written in lower case.
    words
        .filter(|word| !NAMES.contains(word) && !["an", "um", "aus"].contains(word))
        .collect()
}

#[test]
fn every_command_spells_names_like_the_rules() {
    let place = Workplace::new();
    place.write("spiel.kif", RULES);
    place.write("sehen.kif", format!("{RULES}\n{SEES}"));
    place.write("puzzle.kif", PUZZLE);
    let lines: &[(&str, &[&str])] = &[
        ("check --play --playouts 10 spiel.kif", &[]),
        ("check --play --playouts 10 sehen.kif", &[]),
        ("info spiel.kif", &[]),
        ("legal spiel.kif", &[]),
        ("next spiel.kif --move", &["(setze eins) warte"]),
        ("next sehen.kif --move", &["(setze eins) warte"]),
        ("state spiel.kif", &[]),
        ("why spiel.kif", &["(zelle eins leer)"]),
        ("why spiel.kif", &["(legal boris (setze eins))"]),
        (
            "why spiel.kif",
            &["(zelle eins anke)", "--moves", "(setze eins) warte"],
        ),
        ("why sehen.kif --known-by boris", &["(Dran Anke)"]),
        ("engine perft spiel.kif 2", &[]),
        ("playout spiel.kif --seed 1", &[]),
        ("playout spiel.kif --count 5", &[]),
        (
            "play spiel.kif --roles first,random --save partie.json",
            &[],
        ),
        ("replay partie.json", &[]),
        ("draw spiel.kif", &[]),
        ("draw sehen.kif --known-by boris", &[]),
        (
            "tournament --games spiel.kif --player first --player random",
            &[],
        ),
        (
            "host spiel.kif --player first --player random --start-clock 1 --play-clock 1",
            &[],
        ),
        ("solve puzzle.kif --answer answer.json", &[]),
        ("verify puzzle.kif answer.json", &[]),
        ("prove spiel.kif --role anke", &[]),
        ("tabulate spiel.kif -o spiel.table", &[]),
        ("prove spiel.kif --table spiel.table --role anke", &[]),
        ("graph spiel.kif", &[]),
        ("learn spiel.kif --games 20 -o spiel.values", &[]),
        ("export spiel.kif --efg", &[]),
        ("engine bench spiel.kif --seconds 0.1", &[]),
    ];
    for (line, more) in lines {
        for json in ["", "--json "] {
            let found = place.run_with(&format!("--quiet {json}{line}"), more, "");
            assert_ne!(found.code, Some(2), "{json}{line} {more:?}\n{found:#?}");
            assert_eq!(
                misspelled(&found.out),
                [""; 0],
                "{json}{line} {more:?}\n{}",
                found.out
            );
        }
    }
}
