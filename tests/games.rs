//! The games of our own: what was counted and solved without this program.
//!
//! Each `tests/games/NAME.txt` is about the rule file `games/NAME.kif`, or about
//! the board `games/instances/NAME.kif` with the rules it names. It has the
//! roles, the number of initial facts, and a table as of `ggp engine perft`, followed
//! by `all depths` if no path is longer. The numbers come from two other
//! evaluators of GDL and, for most games, from a simulator that knows the game.
//! Then there may be plans, a paragraph each, under a line that says what they
//! are: `shortest plans` are all of the least length, `only plan` is the only
//! way to the full score, and `plans` are merely right.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use ggp_engine::machine::{
    AnyMachine, Backend, Level, Limits, Machine, PerftEnd, PerftOptions, canonical_facts,
    canonical_moves, perft,
};
use ggp_gdl::check::{ReadOptions, Reading, read};
use ggp_gdl::diagnostic::{Strictness, Style};
use ggp_gdl::game::{Game, Move, Score};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::text_grid::{Grid, puzzles};
use ggp_search::{Coverage, Plans, Stats, Verdict};
use ggp_solver::solve::{Answer, Checker, SolveOptions, solve};

mod corpus_puzzles;
mod positions;
mod values;

type State = <AnyMachine as Machine>::State;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of a folder's files with an ending, without it.
fn names(folder: &str, ending: &str) -> BTreeSet<String> {
    fs::read_dir(root().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn rules(name: &str) -> PathBuf {
    root().join(format!("games/{name}.kif"))
}

fn board(name: &str) -> PathBuf {
    root().join(format!("games/instances/{name}.kif"))
}

/// The rules that a board is for, by its comment.
fn rules_of_board(name: &str) -> String {
    let text = text(&board(name));
    let (_, rest) = text.split_once("; Read with games/").expect(name);
    rest.split_once(".kif").expect(name).0.to_owned()
}

/// The rule files of a table, which is about a game or a board.
fn files(name: &str) -> Vec<PathBuf> {
    match rules(name).exists() {
        true => vec![rules(name)],
        false => vec![rules(&rules_of_board(name)), board(name)],
    }
}

fn reading(name: &str, strictness: Strictness) -> Reading {
    let source = |path: PathBuf| Source::new(path.to_string_lossy(), text(&path));
    let sources = Sources::new(files(name).into_iter().map(source).collect());
    let options = ReadOptions {
        strictness,
        ..ReadOptions::default()
    };
    read(sources, &options)
}

fn machine_of(reading: Reading, backend: Backend) -> AnyMachine {
    let Some(game) = &reading.game else {
        panic!("{:?}", reading.findings);
    };
    AnyMachine::new(game, backend, Limits::default()).unwrap()
}

fn machine(name: &str) -> AnyMachine {
    machine_of(reading(name, Strictness::Tolerant), Backend::Datalog)
}

/// A board that was read from text.
fn machine_on(rules_name: &str, grid: &Grid) -> AnyMachine {
    let source = Source::new(rules_name, text(&rules(rules_name)));
    let sources = Sources::new(vec![source, grid.to_source()]);
    machine_of(read(sources, &ReadOptions::default()), Backend::Datalog)
}

/// What `tests/games/NAME.txt` says.
struct Table {
    roles: String,
    facts: usize,
    /// The numbers of each depth, and whether these are all.
    levels: Vec<Vec<u128>>,
    is_whole: bool,
    /// What the plans are; empty without plans.
    kind: String,
    plans: Vec<String>,
}

fn table(name: &str) -> Table {
    let text = text(&root().join(format!("tests/games/{name}.txt")));
    let mut parts = text.split("\n\n");
    let mut lines = parts.next().unwrap_or_default().lines().peekable();
    let mut value = |key: &str| lines.next().and_then(|line| line.strip_prefix(key));
    let roles = value("roles ").expect(name).to_owned();
    let facts = value("facts ").expect(name).parse().expect(name);
    let is_whole = lines.clone().next_back() == Some("all depths");
    let levels = lines
        .skip(1)
        .filter(|line| *line != "all depths")
        .map(|line| line.split_whitespace().map(|n| n.parse().expect(name)))
        .map(Iterator::collect)
        .collect();
    let kind = parts.next().unwrap_or_default().trim().to_owned();
    let plans: Vec<String> = parts
        .map(|plan| plan.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    match (&kind[..], plans.len()) {
        ("", 0) | ("only plan", 1) | ("plans" | "shortest plans", 1..) => {}
        _ => panic!("{name}: {} plans under `{kind}`", plans.len()),
    }
    Table {
        roles,
        facts,
        levels,
        is_whole,
        kind,
        plans,
    }
}

fn moves(machine: &mut AnyMachine, text: &str) -> Vec<Move> {
    let game = machine.game().clone();
    let terms = game.parse_terms(machine.terms_mut(), text);
    let terms = terms.unwrap_or_else(|error| panic!("{text}: {error}"));
    terms.into_iter().map(Move::new).collect()
}

/// The state after joint moves, which must be legal: one move for each role
/// after the other.
fn after(machine: &mut AnyMachine, text: &str) -> State {
    let roles = machine.game().role_count();
    let mut state = machine.initial().unwrap();
    for joint in moves(machine, text).chunks(roles) {
        state = machine.play(&state, joint).unwrap();
    }
    state
}

/// Plays a plan, which must end the game with the full score.
fn check_plan(machine: &mut AnyMachine, plan: &str) -> State {
    let end = after(machine, plan);
    let role = machine.game().roles().next().unwrap();
    assert!(machine.is_terminal(&end).unwrap(), "{plan}");
    assert_eq!(machine.goal(&end, role).unwrap(), Score::MAX, "{plan}");
    end
}

/// Searches; plans found are played again by the machine alone, since the naive
/// evaluator is slow on large boards.
fn search(machine: &AnyMachine, method: &str, plans: Plans, nodes: u64) -> Answer {
    let mut options = SolveOptions::default();
    options.method = method.parse().unwrap();
    options.plans = plans;
    options.budget.nodes = nodes;
    options.checker = Checker::Datalog;
    solve(machine, &options, &mut Stats::default(), &mut ()).unwrap()
}

/// The plans of an answer as text, none if there is no solution.
fn told(machine: &AnyMachine, answer: &Answer) -> Vec<String> {
    let Verdict::Solved { plans, .. } = &answer.verdict else {
        return Vec::new();
    };
    let mut terms = machine.terms().clone();
    terms.refresh();
    let text = |m: &Move| machine.game().text(&terms, m.term());
    plans
        .iter()
        .map(|plan| plan.iter().map(text).collect::<Vec<_>>().join(" "))
        .collect()
}

/// All plans of the least length, which the search must say they are.
fn shortest(machine: &AnyMachine, method: &str) -> Vec<String> {
    let answer = search(machine, method, Plans::AllShortest { max: 200 }, 1_000_000);
    let Verdict::Solved {
        optimal, coverage, ..
    } = &answer.verdict
    else {
        panic!("{method:?}: {answer:?}");
    };
    assert_eq!((*optimal, *coverage), (true, Coverage::All), "{method:?}");
    told(machine, &answer)
}

/// Walks the whole tree of a game with one role. Returns the number of states
/// and, of each end with the full score, the facts.
fn all_solutions(machine: &mut AnyMachine) -> (usize, Vec<Vec<String>>) {
    let role = machine.game().roles().next().unwrap();
    let mut stack = vec![machine.initial().unwrap()];
    let (mut states, mut solutions) = (0, Vec::new());
    let mut legal = Vec::new();
    while let Some(state) = stack.pop() {
        states += 1;
        if machine.is_terminal(&state).unwrap() {
            if machine.goal(&state, role).unwrap() == Score::MAX {
                solutions.push(canonical_facts(machine, &state));
            }
            continue;
        }
        machine.legal(&state, role, &mut legal).unwrap();
        for chosen in &legal {
            stack.push(machine.next(&state, &[*chosen]).unwrap());
        }
    }
    (states, solutions)
}

#[test]
fn every_file_has_a_table() {
    let tables = names("tests/games", "txt");
    let boards = names("games/instances", "kif");
    let games = names("games", "kif");
    let with_boards: BTreeSet<String> = boards.iter().map(|name| rules_of_board(name)).collect();
    assert!(with_boards.is_subset(&games), "{with_boards:?}");
    let expected: BTreeSet<String> = games.difference(&with_boards).cloned().collect();
    assert!(expected.is_disjoint(&boards));
    assert_eq!(tables, &expected | &boards);
}

#[test]
fn every_file_begins_with_what_it_is() {
    let check = |path: PathBuf, parts: &[&str]| {
        let text = text(&path);
        let head: Vec<&str> = text.lines().take_while(|l| l.starts_with(';')).collect();
        assert!(head.len() > 3 && head[1] == ";", "{}", path.display());
        for part in parts {
            let found = head.iter().filter(|line| line.starts_with(part)).count();
            assert_eq!(found, 1, "{}: {part}", path.display());
        }
    };
    let of_games = ["; Players: ", "; Rules: ", "; Origin: ", "; Licence: "];
    for name in names("games", "kif") {
        check(rules(&name), &of_games);
    }
    for name in names("games/instances", "kif") {
        check(board(&name), &["; Read with games/", "; Licence: "]);
    }
}

#[test]
fn no_file_has_a_finding() {
    for name in names("tests/games", "txt") {
        for strictness in [Strictness::Tolerant, Strictness::Strict] {
            let reading = reading(&name, strictness);
            let shown =
                |f: &ggp_gdl::diagnostic::Diagnostic| f.render(&reading.sources, Style::Plain);
            let findings: String = reading.findings.iter().map(shown).collect();
            assert!(
                reading.findings.is_empty(),
                "{name} {strictness:?}\n{findings}"
            );
            assert!(reading.game.is_some());
        }
    }
}

#[test]
fn positions_are_as_many_as_were_counted_elsewhere() {
    for name in names("tests/games", "txt") {
        let expected = table(&name);
        let mut machine = machine(&name);
        let game = machine.game().clone();
        let roles: Vec<&str> = game.roles().map(|role| game.role_name(role)).collect();
        assert_eq!(roles.join(" "), expected.roles, "{name}");
        let start = machine.initial().unwrap();
        assert_eq!(machine.facts(&start).len(), expected.facts, "{name}");
        let mut options = PerftOptions::default();
        options.depth = expected.levels.len() as u32 - 1;
        options.threads = 2;
        let found = perft(&mut machine, &start, options, |_| ()).unwrap();
        let levels: Vec<Vec<u128>> = found.levels.iter().map(numbers).collect();
        assert_eq!(levels, expected.levels, "{name}");
        let errors = found.levels.iter().map(|level| level.goal_errors);
        assert_eq!(errors.sum::<u128>(), 0, "{name}");
        assert_eq!(
            found.stop == PerftEnd::Exhausted,
            expected.is_whole,
            "{name}"
        );
    }
}

fn numbers(level: &Level) -> Vec<u128> {
    let mut numbers = vec![
        level.depth.into(),
        level.paths,
        level.distinct.into(),
        level.terminal_paths,
        level.terminal_distinct.into(),
    ];
    numbers.extend(&level.goal_sums);
    numbers
}

/// States that the two backends are asked about in each game.
const COMPARED: usize = 40;
/// Joint moves made in each of them, spread over all.
const JOINTS: usize = 6;

#[test]
fn backends_agree_on_the_first_states() {
    for name in names("tests/games", "txt") {
        let game = reading(&name, Strictness::Tolerant).game.unwrap();
        let new = |backend| AnyMachine::new(&game, backend, Limits::default()).unwrap();
        let compared = match crate::common::is_large(&name) {
            true => crate::common::sized(1, COMPARED / 4),
            false => crate::common::sized(COMPARED / 8, COMPARED),
        };
        let backends = [Backend::Naive, Backend::Datalog, Backend::Propnet];
        let mut machines = backends.map(new);
        let mut level = vec![
            machines
                .each_mut()
                .map(|machine| machine.initial().unwrap()),
        ];
        let mut known = HashSet::new();
        while !level.is_empty() && known.len() < compared {
            let mut next = Vec::new();
            for states in level {
                let facts = canonical_facts(&machines[0], &states[0]);
                for (machine, state) in machines.iter().zip(&states) {
                    assert_eq!(canonical_facts(machine, state), facts, "{name}");
                }
                if known.len() == compared || !known.insert(facts) {
                    continue;
                }
                let answers: Vec<_> = (machines.iter_mut().zip(&states))
                    .map(|(machine, state)| answers(machine, state))
                    .collect();
                for found in &answers {
                    assert_eq!(found.texts, answers[0].texts, "{name} in {states:?}");
                }
                let joints = answers[0].joints.len();
                for joint in (0..joints).step_by(joints.div_ceil(JOINTS).max(1)) {
                    next.push(std::array::from_fn(|which| {
                        let joint = &answers[which].joints[joint];
                        machines[which].next(&states[which], joint).unwrap()
                    }));
                }
            }
            level = next;
        }
    }
}

/// What a machine says of a state: as text, and its joint moves.
#[derive(Default)]
struct Answers {
    texts: Vec<String>,
    joints: Vec<Vec<Move>>,
}

fn answers(machine: &mut AnyMachine, state: &State) -> Answers {
    let game = machine.game().clone();
    let mut answers = Answers::default();
    let is_terminal = machine.is_terminal(state).unwrap();
    answers.texts.push(format!("terminal: {is_terminal}"));
    answers.joints.push(Vec::new());
    for role in game.roles() {
        let name = game.role_name(role);
        let values = machine.goal_values(state, role).unwrap();
        let text = |term| game.text(machine.terms(), term);
        let values: Vec<String> = values.into_iter().map(text).collect();
        answers.texts.push(format!("{name} gets {values:?}"));
        let mut legal = Vec::new();
        if !is_terminal {
            machine.legal(state, role, &mut legal).unwrap();
        }
        // In the order of the machine, which is part of the answer.
        let text = |m: &Move| game.text(machine.terms(), m.term());
        let texts: Vec<String> = legal.iter().map(text).collect();
        answers.texts.push(format!("{name} may {texts:?}"));
        let with = |joint: &Vec<Move>, m: Move| [&joint[..], &[m]].concat();
        let joints = answers.joints.iter();
        answers.joints = joints
            .flat_map(|joint| legal.iter().map(move |m| with(joint, *m)))
            .collect();
    }
    answers
}

#[test]
fn known_plans_end_with_the_full_score() {
    for name in names("tests/games", "txt") {
        let mut machine = machine(&name);
        for plan in table(&name).plans {
            check_plan(&mut machine, &plan);
        }
    }
}

#[test]
fn all_shortest_plans_are_found() {
    for name in names("tests/games", "txt") {
        let table = table(&name);
        if table.kind != "shortest plans" {
            continue;
        }
        let machine = machine(&name);
        let expected: BTreeSet<String> = table.plans.into_iter().collect();
        for method in ["breadth-first", "iterative-deepening", "auto"] {
            let found = BTreeSet::from_iter(shortest(&machine, method));
            assert_eq!(found, expected, "{name} {method:?}");
        }
    }
}

#[test]
fn a_puzzle_with_one_solution_has_no_other() {
    for name in names("tests/games", "txt") {
        let table = table(&name);
        if table.kind != "only plan" {
            continue;
        }
        let mut machine = machine(&name);
        let end = check_plan(&mut machine, &table.plans[0]);
        let (_, solutions) = all_solutions(&mut machine);
        assert_eq!(solutions, [canonical_facts(&machine, &end)], "{name}");
        for method in ["breadth-first", "depth-first", "auto"] {
            let answer = search(&machine, method, Plans::First, 10_000);
            assert_eq!(told(&machine, &answer), table.plans, "{name} {method:?}");
        }
    }
}

/// The states in the tree of a sudoku board, and its solutions.
fn check_sudoku(board: &str, states: usize, solutions: usize) {
    let grid = Grid::read("board", board).unwrap();
    let (walked, found) = all_solutions(&mut machine_on("sudoku", &grid));
    assert_eq!((walked, found.len()), (states, solutions), "{board}");
}

#[test]
fn sudoku_boards_of_all_kinds_have_their_solutions() {
    // All full boards, and without boxes all Latin squares.
    check_sudoku("..../..../..../....", 2_657, 288);
    let grid = Grid::read("board", ".../.../...").unwrap();
    assert_eq!(all_solutions(&mut machine_on("sudoku", &grid)).1.len(), 12);
    // Full, and wrong or right from the start.
    check_sudoku("1234/3412/2143/4321", 1, 1);
    check_sudoku("1234/3412/2143/4312", 1, 0);
    check_sudoku("11../..../..../....", 1, 0);
}

#[test]
fn lights_go_out_by_the_least_presses_in_any_order() {
    for (name, orders) in [("lights_out_3x3", 120), ("lights_out_4x4", 24)] {
        let mut machine = machine(name);
        let mut presses: Vec<String> = Vec::new();
        for plan in table(name).plans {
            let plan = moves(&mut machine, &plan);
            presses = canonical_moves(&machine, &plan);
        }
        let found = shortest(&machine, "breadth-first");
        assert_eq!(found.len(), orders, "{name}");
        for plan in &found {
            let plan = moves(&mut machine, plan);
            assert_eq!(canonical_moves(&machine, &plan), presses, "{name}");
        }
        let deepened = shortest(&machine, "iterative-deepening");
        assert_eq!(deepened, found, "{name}");
    }
}

#[test]
fn lights_that_cannot_go_out_are_proved_so() {
    let machine = machine("lights_out_4x4_unsolvable");
    for method in ["breadth-first", "depth-first", "auto"] {
        let answer = search(&machine, method, Plans::First, 20_000);
        assert_eq!(answer.verdict, Verdict::Unsolvable, "{method:?}");
    }
}

#[test]
fn senku_ends_with_one_peg_in_the_centre() {
    let mut machine = machine("senku");
    for (method, nodes) in [("depth-first", 2_000), ("auto", 20_000)] {
        let answer = search(&machine, method, Plans::First, nodes);
        let plans = told(&machine, &answer);
        assert_eq!(plans.len(), 1, "{method:?}: {answer:?}");
        let end = check_plan(&mut machine, &plans[0]);
        assert_eq!(moves(&mut machine, &plans[0]).len(), 31);
        assert_eq!(canonical_facts(&machine, &end), ["(peg 4 4)"]);
    }
}
