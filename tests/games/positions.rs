//! Positions that the first moves do not reach, counted elsewhere.
//!
//! `tests/games/positions/NAME.txt` is about the rule file `games/NAME.kif`. Each paragraph has a
//! comment, the facts of a position, and a table as in `tests/games`. The numbers come from
//! python-chess and from simulators that know the games. Positions of chess with a FEN are
//! well-known tests of move generators.

use super::*;

/// A level with more paths is counted in long tests only.
const PATHS: u128 = 1_000;

struct Position {
    title: String,
    facts: String,
    levels: Vec<Vec<u128>>,
}

fn positions(name: &str) -> Vec<Position> {
    let text = text(&root().join(format!("tests/games/positions/{name}.txt")));
    let position = |paragraph: &str| {
        let (title, rest) = paragraph.split_once('\n').expect(name);
        let (facts, table) = rest.split_once("depth").expect(name);
        let number = |word: &str| word.parse().expect(title);
        let levels = table.lines().skip(1);
        Position {
            title: format!("{name}, {title}"),
            facts: facts.to_owned(),
            levels: levels
                .map(|line| line.split_whitespace().map(number).collect())
                .collect(),
        }
    };
    text.split("\n\n").map(position).collect()
}

#[test]
fn positions_are_as_many_after_any_position() {
    for name in names("tests/games/positions", "txt") {
        let reading = reading(&name, Strictness::Tolerant);
        let mut machine = machine_of(reading, Backend::Propnet);
        let game = machine.game().clone();
        for position in positions(&name) {
            let facts = game.parse_terms(machine.terms_mut(), &position.facts);
            let facts = facts.unwrap_or_else(|error| panic!("{}: {error}", position.title));
            let start = machine.state(&facts).unwrap();
            let most = crate::common::sized(PATHS, u128::MAX);
            let levels: Vec<Vec<u128>> = (position.levels.iter())
                .take_while(|level| level[1] <= most)
                .cloned()
                .collect();
            let mut options = PerftOptions::default();
            options.depth = levels.len() as u32 - 1;
            options.threads = 2;
            let found = perft(&mut machine, &start, options, |_| ()).unwrap();
            let errors = found.levels.iter().map(|level| level.goal_errors);
            assert_eq!(errors.sum::<u128>(), 0, "{}", position.title);
            let found: Vec<Vec<u128>> = found.levels.iter().map(numbers).collect();
            assert_eq!(found, levels, "{}", position.title);
        }
    }
}
