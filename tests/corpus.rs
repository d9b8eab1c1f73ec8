//! Tests of other modules on public games and puzzles, which are not part of this repository:
//! `GGP_CORPUS=FOLDER cargo test --test all -- --ignored corpus`. CONTRIBUTING.md says what the folder has.

use std::fs;
use std::path::{Path, PathBuf};

use ggp_gdl::game::Game;
use ggp_gdl::text_grid::puzzles;
use ggp_solver::planning::{Outcome, Reason};

use crate::algebra::{by_algebra, checked, puzzle, shipped};
use crate::common::{corpus, for_each, public_games, sized};
use crate::{agreement, beliefs, environments, hidden, hostile_rules, rewrite, scrambled, web};

fn text(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Names and texts of the rule files of a folder of the corpus.
fn rule_texts(folder: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(corpus().join(folder)).expect("the folder can be listed");
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "kif"));
    files.sort();
    let stem = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let named = files.iter().map(|path| (stem(path), text(path)));
    named.collect()
}

/// The public games with hidden information.
fn hidden_games() -> Vec<(String, Game)> {
    let read = |(name, text): (String, String)| {
        let game = Game::from_text(&name, &text).unwrap_or_else(|e| panic!("{name}: {e}"));
        (name, game)
    };
    let games = rule_texts("gdl2/games").into_iter().map(read);
    games.collect()
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn evaluators_agree_along_random_playouts() {
    let games = public_games().into_iter().step_by(sized(8, 1));
    agreement::evaluators_agree(&games.collect::<Vec<_>>());
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn matches_agree_with_single_states() {
    // All of them take minutes.
    let games: Vec<_> = public_games()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("chess"))
        .step_by(sized(24, 8))
        .collect();
    for_each(&games, |name, game| {
        environments::check(name, game, 30, 20);
        Ok(())
    });
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn renaming_and_reordering_change_no_answer() {
    scrambled::renaming_changes_no_answer(public_games(), sized(160, 1));
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn rewritten_files_are_restored() {
    let texts = rewrite::texts_in(&[corpus().join("conformance/games")]);
    rewrite::check_converted(texts.clone());
    rewrite::check_scrambled(texts.clone());
    rewrite::check_order(texts.clone());
    rewrite::check_layout(texts);
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn percepts_agree_in_all_backends_and_in_lanes() {
    hidden::percepts_agree(hidden_games());
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn percepts_and_beliefs_do_not_depend_on_names() {
    hidden::names_do_not_matter(hidden_games());
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn a_player_never_acts_on_what_it_cannot_know() {
    let compared = hidden::players_act_on_knowledge(hidden_games());
    assert!(!compared.is_empty(), "no two matches look alike");
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn players_answer_to_the_end_of_every_match() {
    hidden::players_answer(hidden_games());
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn what_is_certain_is_what_holds_in_all_positions_that_fit() {
    let compared = beliefs::certain_is_what_holds_everywhere(hidden_games());
    assert!(!compared.is_empty(), "no claim only seems certain");
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn matches_that_look_alike_to_a_seat_are_shown_alike() {
    let compared = web::seats::alike_matches_are_shown_alike(hidden_games());
    assert!(!compared.is_empty(), "no two matches look alike");
}

#[test]
#[ignore = "needs GGP_CORPUS"]
#[cfg(target_os = "linux")]
fn every_command_answers_or_names_a_limit() {
    hostile_rules::commands_answer(rule_texts("hostile"));
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn boards_have_their_least_plans() {
    for size in 3..=10 {
        let path = format!("puzzles/lights_out_{size}x{size}.txt");
        let text = text(&corpus().join(path));
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        let least: Vec<usize> = rows
            .map(|row| row.split_whitespace().nth(1).unwrap().parse().unwrap())
            .collect();
        let boards = puzzles("boards", &text).expect("they are grids");
        assert_eq!(boards.len(), least.len());
        for (board, least) in boards.iter().zip(least) {
            match by_algebra(&shipped("lights_out", Some(board))) {
                Outcome::Solved { plan, optimal } => {
                    assert_eq!((plan.len(), optimal), (least, true), "{size}");
                }
                outcome => panic!("{size}: {outcome:?}"),
            }
        }
    }
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn algebra_solves_or_refutes_public_puzzles() {
    let public = |name: &str| {
        let path = format!("conformance/games/{name}.kif");
        puzzle(&text(&corpus().join(path)))
    };
    let lights = public("lightsOut");
    let outcome = by_algebra(&lights);
    assert!(matches!(&outcome, Outcome::Solved { plan, optimal: true } if plan.len() == 9));
    assert_eq!(checked(&lights, &outcome), Ok(()));
    // The later version of the game also counts two pegs, which are possible.
    if let Some(peg) = sized(None, Some("pegEuro_at_v0")).map(public) {
        let outcome = by_algebra(&peg);
        assert!(
            matches!(&outcome, Outcome::Unsolvable(Reason::Parity { .. })),
            "{outcome:?}"
        );
        assert_eq!(checked(&peg, &outcome), Ok(()));
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs GGP_CORPUS"]
fn a_signal_ends_every_command_soon() {
    let files = fs::read_dir(corpus().join("conformance/games")).expect("the folder can be listed");
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "kif"));
    files.sort();
    crate::stops::check(&files, sized(40, 1_000), crate::common::seed());
}

#[test]
#[ignore = "needs GGP_CORPUS"]
fn every_fact_is_visible() {
    let games: Vec<_> = public_games().into_iter().step_by(sized(6, 1)).collect();
    for_each(&games, |name, game| {
        for ignores_names in [true, false] {
            let facts = crate::picture::visible::invisible(game, ignores_names);
            if !facts.is_empty() {
                return Err(format!("{name}, names ignored: {ignores_names}: {facts:?}"));
            }
        }
        Ok(())
    });
}
