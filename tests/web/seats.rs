//! Positions as seats see them where the rules hide something.

use std::sync::Arc;
use std::time::Duration;

use ggp_answers::position::{self, Moves};
use ggp_answers::why::{self, Question};
use ggp_answers::{Allowance, LoadedGame, NoBackground, Refusal, RuleSet, Rules};
use ggp_gdl::game::Game;
use ggp_stop::Stop;
use rand::RngExt;
use serde_json::{Value, json};

use crate::common::{ggp, sized};
use crate::hidden::{SECRETS, alike, check_compared, hidden_games, random};

/// All that a seat gets after joint moves: its position, and whether it knows `fact`.
fn told(game: &LoadedGame, joints: &[Vec<String>], seat: usize, fact: &str) -> [Value; 2] {
    let asked = Moves::seen(joints.to_vec(), Some(seat), None);
    let known = Question::known(joints.to_vec(), Some(seat), fact.to_owned());
    [
        answer(|allowance| Ok(json!(position::position(game, &asked, allowance)?))),
        answer(|allowance| Ok(json!(why::why(game, &known, allowance)?))),
    ]
}

/// An answer as a client gets it.
fn answer(asked: impl Fn(&Allowance) -> Result<Value, Refusal>) -> Value {
    let stop = Stop::new();
    let allowance = Allowance {
        stop: &stop,
        memory_bytes: 64 << 20,
        time: Duration::from_secs(60),
        tables: &Arc::default(),
        background: &NoBackground,
    };
    asked(&allowance).unwrap_or_else(|refusal| panic!("{}", refusal.message))
}

/// A game as the page has it.
fn loaded(name: &str, text: &str) -> LoadedGame {
    let rules = Rules::uploaded(RuleSet::one(name, text));
    LoadedGame::new(Arc::new(rules), 64 << 20, &Stop::new()).expect("the rules have no errors")
}

#[test]
fn matches_that_look_alike_to_a_seat_are_shown_alike() {
    check_compared(&alike_matches_are_shown_alike(hidden_games()), &SECRETS);
}

/// See the test above; the public games are in `corpus.rs`.
pub(crate) fn alike_matches_are_shown_alike(games: Vec<(String, Game)>) -> Vec<String> {
    let mut random = random();
    let mut compared = Vec::new();
    for (name, game) in games {
        let text = game.sources().files()[0].text();
        for (seat, [left, right]) in alike(&game, sized(2, 60), &mut random) {
            // Each has a game of its own, so that no belief is left of the other.
            let games = [loaded(&name, text), loaded(&name, text)];
            let whole = Moves::seen(right.clone(), None, None);
            let whole =
                answer(|allowance| Ok(json!(position::position(&games[1], &whole, allowance)?)));
            let facts = whole["facts"].as_array().unwrap();
            let fact = format!("(true {})", facts[0].as_str().unwrap());
            let [a, b] = [(&games[0], &left), (&games[1], &right)]
                .map(|(game, joints)| told(game, joints, seat, &fact));
            assert_eq!(a, b, "{name}, seat {seat}: {left:?} and {right:?}");
            let view = &a[0]["seat"];
            assert_eq!(view["role"], seat, "{name}");
            // Certain and uncertain facts are all facts of a position that fits.
            let unsure = view["unsure"].as_array().unwrap();
            let is_listed = |fact: &Value| {
                let certain = a[0]["facts"].as_array().unwrap();
                certain.contains(fact) || unsure.iter().any(|one| one[0] == *fact)
            };
            if view["exact"] == true && unsure.len() < 1_000 {
                assert!(facts.iter().all(is_listed), "{name}: {facts:?}");
            }
            for one in unsure {
                let share = one[1].as_f64().unwrap();
                assert!(share > 0.0 && share < 1.0, "{name}: {one}");
            }
            compared.push(name.clone());
        }
    }
    compared
}

/// Random picks a number, and p hears its group. Fact `(kept i)` holds unless the number is one of the few of
/// list i, and `(met i)` if it is one.
fn picked(numbers: usize, groups: usize, lists: &[Vec<usize>]) -> String {
    let mut text = String::from("(role random) (role p) (init start)");
    for number in 0..numbers {
        text += &format!(" (in {number} g{})", number % groups);
    }
    for (list, few) in lists.iter().enumerate() {
        text += &format!(" (list l{list})");
        few.iter()
            .for_each(|number| text += &format!(" (few l{list} {number})"));
    }
    text + "
        (<= (legal random (pick ?n)) (true start) (in ?n ?g))
        (<= (legal random wait) (not (true start)))
        (legal p wait)
        (<= (sees p (group ?g)) (does random (pick ?n)) (in ?n ?g))
        (<= (next (kept ?l)) (does random (pick ?n)) (list ?l) (not (few ?l ?n)))
        (<= (next (met ?l)) (does random (pick ?n)) (few ?l ?n))
        (<= (next (picked ?n)) (does random (pick ?n))) (<= (next (picked ?n)) (true (picked ?n)))
        (<= (next (kept ?l)) (true (kept ?l))) (<= (next (met ?l)) (true (met ?l)))
        (<= (next over) (true (kept ?l))) (<= (next over) (true (met ?l)))
        (<= terminal (true over))
        (goal p 50) (goal random 50)"
}

#[test]
fn what_is_the_same_in_a_sample_is_known_only_if_it_is_proved() {
    let mut random = random();
    let folder = tempfile::tempdir().unwrap();
    for (round, (numbers, groups)) in [(1_100, 2), (1_600, 3), (40, 4)].into_iter().enumerate() {
        // One number or none of each list is in the group.
        let pick = random.random_range(0..numbers);
        let mut draw = || loop {
            let number = random.random_range(0..numbers);
            if number != pick {
                return number;
            }
        };
        let lists: Vec<Vec<usize>> = (0..sized(4, 30)).map(|_| vec![draw()]).collect();
        let text = picked(numbers, groups, &lists);
        let game = loaded("picked", &text);
        let file = folder.path().join(format!("picked{round}.kif"));
        std::fs::write(&file, &text).unwrap();
        let joint = vec![format!("(pick {pick})"), "wait".to_owned()];
        let [position, _] = told(&game, std::slice::from_ref(&joint), 1, "(true (kept l0))");
        let is_exact = numbers / groups <= 500;
        assert_eq!(position["seat"]["exact"], is_exact, "{position}");
        let mut questions = Vec::new();
        for (list, few) in lists.iter().enumerate() {
            let is_known = few.iter().all(|one| one % groups != pick % groups);
            let [kept, met] = ["kept", "met"].map(|name| format!("({name} l{list})"));
            let listed = position["facts"].as_array().unwrap().contains(&json!(kept));
            assert_eq!(listed, is_known, "{kept}, {lists:?}: {position}");
            questions.extend([
                (format!("(true {kept})"), is_known.then_some(true)),
                (format!("(true {met})"), is_known.then_some(false)),
                (format!("(not (true {kept}))"), is_known.then_some(false)),
                (format!("(not (true {met}))"), is_known.then_some(true)),
            ]);
        }
        // What is the same in the sample alone is drawn with a share.
        let is_open = |few: &Vec<usize>| few.iter().any(|one| one % groups == pick % groups);
        let text = position["text"].as_str().unwrap();
        let values = text.lines().find(|line| line.contains("kept:")).unwrap();
        let values = values.split("kept:").nth(1).unwrap();
        let values = values.split("   ").next().unwrap();
        assert_eq!(values.contains('%'), lists.iter().any(is_open), "{text}");
        let (path, moves) = (file.to_str().unwrap(), joint.join(" "));
        let mut arguments = vec!["why", path, "--moves", &moves, "--known-by", "p"];
        arguments.extend(["--positions", "500", "--seed", "1", "--json"]);
        arguments.extend(questions.iter().map(|(fact, _)| &fact[..]));
        let answers: Vec<Value> = serde_json::from_slice(&ggp(&arguments).stdout).unwrap();
        assert_eq!(answers.len(), questions.len());
        for ((fact, knows), by_command) in questions.iter().zip(answers) {
            assert_eq!(by_command["known"], json!(knows), "{fact}: {by_command}");
            let question = Question::known(vec![joint.clone()], Some(1), fact.clone());
            let why = answer(|allowance| Ok(json!(why::why(&game, &question, allowance)?)));
            let text = why["text"].as_str().unwrap();
            let begins = match knows {
                Some(true) => "You know that it is true",
                Some(false) => "You know that it is not true",
                None => "You cannot know",
            };
            assert!(text.starts_with(begins), "{fact}, {lists:?}: {text}");
            assert_eq!(why["holds"], *knows == Some(true), "{fact}: {text}");
        }
    }
}

#[test]
fn what_a_seat_may_know_is_drawn_from_all_positions_that_fit() {
    // One of the numbers has another lamp, and all are drawn, as by the command.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lamp.kif");
    for (numbers, odd) in [(60, 7), (230, 8), (260, 255), (499, 2)] {
        let list: String = (1..=numbers).map(|n| format!(" (number {n})")).collect();
        let text = format!(
            "(role me) (role random) (init fresh) {list} (legal me wait)
            (<= (legal random (hide ?n)) (true fresh) (number ?n))
            (<= (legal random rest) (not (true fresh)))
            (<= (next (hidden ?n)) (does random (hide ?n)))
            (<= (next (lamp red)) (does random (hide {odd})))
            (<= (next (lamp green)) (does random (hide ?n)) (distinct ?n {odd}))
            (<= (sees me never) (true (lamp blue))) (<= terminal (true (lamp blue)))
            (<= (goal me 50) terminal)"
        );
        std::fs::write(&file, &text).unwrap();
        let joint = vec!["wait".to_owned(), format!("(hide {odd})")];
        let game = loaded("lamp", &text);
        let [position, _] = told(&game, std::slice::from_ref(&joint), 0, "(true (lamp red))");
        assert_eq!(position["seat"]["exact"], true);
        let drawn = ggp(&[
            "draw",
            file.to_str().unwrap(),
            "--moves",
            &joint.join(" "),
            "--known-by",
            "me",
        ]);
        let drawn = String::from_utf8(drawn.stdout).unwrap();
        assert!(drawn.contains("red") && drawn.contains("green"), "{drawn}");
        assert_eq!(
            position["text"].as_str().unwrap().trim_end(),
            drawn.trim_end()
        );
    }
}
