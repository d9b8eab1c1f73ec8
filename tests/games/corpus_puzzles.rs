//! Puzzles with known answers from the folder of `GGP_CORPUS`, since they are not ours to publish.

use super::*;

fn puzzle(name: &str) -> String {
    text(&crate::common::corpus().join("puzzles").join(name))
}

/// A file of hitori boards, and the file of their solutions, in which a shaded
/// cell is 0.
fn hitori(name: &str) -> Vec<(Grid, Vec<String>)> {
    let boards = puzzles(name, &puzzle(&format!("{name}.txt"))).unwrap();
    let solved = puzzles(name, &puzzle(&format!("{name}.solutions.txt"))).unwrap();
    assert_eq!(boards.len(), solved.len(), "{name}");
    boards.into_iter().zip(solved.iter().map(shaded)).collect()
}

fn shaded(solved: &Grid) -> Vec<String> {
    let mut facts = Vec::new();
    for (row, cells) in (1..).zip(solved.rows()) {
        for (column, cell) in (1..).zip(cells) {
            let is_shaded = cell == "0";
            facts.extend(is_shaded.then(|| format!("(shaded {row} {column})")));
        }
    }
    facts.sort();
    facts
}

fn only_shaded(facts: &[String]) -> Vec<String> {
    let shaded = facts.iter().filter(|fact| fact.starts_with("(shaded "));
    shaded.cloned().collect()
}

/// Compares all solutions of each board, and the states of all trees together.
fn check_hitori(name: &str, states: usize, several: &[usize]) {
    let boards = hitori(name);
    let mut walked = 0;
    for (number, (grid, expected)) in (1..).zip(&boards) {
        let mut machine = machine_on("hitori", grid);
        let (states, solutions) = all_solutions(&mut machine);
        walked += states;
        let found: Vec<Vec<String>> = solutions.iter().map(|s| only_shaded(s)).collect();
        assert!(found.contains(expected), "{name} {number}: {found:?}");
        let count = if several.contains(&number) { 4 } else { 1 };
        assert_eq!(found.len(), count, "{name} {number}");
    }
    assert_eq!(walked, states, "{name}");
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn hitori_puzzles_have_the_solutions_of_their_files() {
    check_hitori("hitori_sample_3to6", 628, &[7]);
    check_hitori("hitori_6x6", 451, &[]);
    check_hitori("hitori_challenge_9x9", 12_744, &[]);
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn hitori_puzzles_are_solved_by_depth_first_search() {
    // The seventh has several solutions, and its file one of them.
    check_solved("hitori_sample_3to6", |number| number != 7);
    check_solved("hitori_6x6", |_| true);
    check_solved("hitori_challenge_9x9", |number| {
        number <= 20 || number == 63
    });
    check_solved("hitori_12x12", |_| true);
    check_solved("hitori_20x20", |number| number == 1);
}

fn check_solved(name: &str, is_asked: impl Fn(usize) -> bool) {
    let boards = hitori(name);
    for (number, (grid, expected)) in (1..).zip(&boards) {
        if !is_asked(number) {
            continue;
        }
        let mut machine = machine_on("hitori", grid);
        let answer = search(&machine, "depth-first", Plans::First, 1_000);
        let plans = told(&machine, &answer);
        assert_eq!(plans.len(), 1, "{name} {number}: {answer:?}");
        let end = check_plan(&mut machine, &plans[0]);
        let facts = canonical_facts(&machine, &end);
        assert_eq!(only_shaded(&facts), *expected, "{name} {number}");
    }
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn lights_out_puzzles_have_the_least_presses_of_their_files() {
    for size in 3..=10 {
        let name = format!("lights_out_{size}x{size}.txt");
        let text = puzzle(&name);
        let boards = puzzles(&name, &text).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        for (number, (grid, line)) in (1..).zip(boards.iter().zip(lines)) {
            let words: Vec<&str> = line.split(' ').collect();
            let least: usize = words[1].parse().unwrap();
            let plan = presses(&Grid::read(&name, words[2]).unwrap());
            assert_eq!(plan.len(), least, "{name} {number}");
            let mut machine = machine_on("lights_out", grid);
            check_plan(&mut machine, &plan.join(" "));
            // Larger boards have too many states for a search that counts presses.
            if size == 3 || size == 4 && number <= 4 {
                let answer = search(&machine, "breadth-first", Plans::First, 20_000);
                let found = told(&machine, &answer);
                let length = moves(&mut machine, &found[0]).len();
                assert_eq!(length, least, "{name} {number}");
            }
        }
    }
}

fn presses(set: &Grid) -> Vec<String> {
    let mut presses = Vec::new();
    for (row, cells) in (1..).zip(set.rows()) {
        for (column, cell) in (1..).zip(cells) {
            let is_pressed = cell == "1";
            presses.extend(is_pressed.then(|| format!("(press {row} {column})")));
        }
    }
    presses
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn a_published_solution_of_senku_is_one() {
    let text = puzzle("senku_central.txt");
    let line = text.lines().find(|line| !line.starts_with('#')).unwrap();
    let mut jumps = Vec::new();
    // After the vacancy, the last cell and the number: `13>33`, row and column
    // from 0.
    for jump in line.split(' ').skip(3) {
        let digits: Vec<i8> = jump.bytes().map(|b| b as i8 - b'0' as i8).collect();
        let [row, column, _, to_row, to_column] = digits[..] else {
            panic!("{jump}");
        };
        let direction = match (to_row - row, to_column - column) {
            (-2, 0) => "up",
            (2, 0) => "down",
            (0, -2) => "left",
            _ => "right",
        };
        jumps.push(format!("(jump {} {} {direction})", row + 1, column + 1));
    }
    assert_eq!(jumps.len(), 31);
    check_plan(&mut machine("senku"), &jumps.join(" "));
}
