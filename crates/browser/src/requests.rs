//! Requests by name, and their answers in JSON.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::queue::Queue;
use ggp_answers::editing::{self, AtPlace};
use ggp_answers::graph::GraphTask;
use ggp_answers::solving::SolveTask;
use ggp_answers::think::ThinkTask;
use ggp_answers::{Allowance, Content, GameDescription, Listener, LoadedGame, Refusal};
use ggp_answers::{RefusalKind, RuleSet, Rules, Tables};
use ggp_answers::{position, trial, values, why};
use ggp_stop::Stop;

/// Maximum number of games that are ready for use.
const GAMES: usize = 3;
/// Memory in bytes for all games. A browser gives 4 GB at most, and takes none back.
const GAMES_BYTES: usize = 512 << 20;
/// Memory in bytes for the tables of a player or solver.
const SEARCH_BYTES: u64 = 512 << 20;
/// Maximum time of a short answer.
const QUESTION: Duration = Duration::from_secs(30);
/// Maximum time of a player or solver.
const WORK: Duration = Duration::from_secs(300);

/// The games of one worker, and its work.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The games, the last one that was loaded first.
    games: VecDeque<Arc<LoadedGame>>,
    queue: Queue,
    tables: Arc<Tables>,
}

/// An answer, with a number of HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    status: u16,
    /// In JSON.
    content: String,
}

impl Answer {
    fn new(content: &impl Serialize) -> Self {
        Answer {
            status: 200,
            content: content.json(),
        }
    }

    /// The answer as JSON.
    pub(crate) fn text(&self) -> String {
        format!(
            "{{\"status\":{},\"content\":{}}}",
            self.status, self.content
        )
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Answer {
            status: refusal.kind.status(),
            content: refusal.json(),
        }
    }
}

/// The body of a request.
fn read<T: DeserializeOwned>(body: &str) -> Result<T, Refusal> {
    let body = serde_json::from_str(body);
    body.map_err(|error| Refusal::wrong(format!("the body does not fit this request: {error}")))
}

impl Requests {
    /// True if the game is loaded.
    pub(crate) fn has(&self, id: &str) -> bool {
        let mut games = self.games.iter();
        games.any(|game| game.rules.id == id && !game.is_stale())
    }

    /// Loads a rule set, under a name, or else one derived from its content.
    pub(crate) fn load(&mut self, id: Option<String>, rules: &str) -> Answer {
        self.loaded(id, rules).unwrap_or_else(Answer::from)
    }

    fn loaded(&mut self, id: Option<String>, rules: &str) -> Result<Answer, Refusal> {
        let set: RuleSet = read(rules)?;
        set.check_form()?;
        let is_own = id.is_none();
        let rules = match id {
            Some(id) => Rules {
                id,
                is_bundled: false,
                set,
            },
            None => Rules::uploaded(set),
        };
        // A name that was derived from the content says that it is the same.
        if is_own && self.has(&rules.id) {
            return Ok(Answer::new(&GameDescription::new(self.game(&rules.id)?)));
        }
        let stop = Stop::after(QUESTION);
        let game = match LoadedGame::new(Arc::new(rules), GAMES_BYTES, &stop) {
            Ok(game) => game,
            Err(_) if stop.is_over() => return Err(too_late()),
            Err(check) => {
                return Ok(Answer {
                    status: RefusalKind::Rules.status(),
                    content: check.json(),
                });
            }
        };
        game.check_picture()?;
        let answer = Answer::new(&GameDescription::new(&game));
        self.games.retain(|other| other.rules.id != game.rules.id);
        self.games.push_front(Arc::new(game));
        self.games.truncate(GAMES);
        Ok(answer)
    }

    /// Does work that waits for a free moment. Returns whether there was some.
    pub(crate) fn rest(&self) -> bool {
        self.queue.work()
    }

    /// Answers a request.
    pub(crate) fn ask(
        &self,
        what: &str,
        id: Option<&str>,
        body: &str,
        listener: impl Listener + 'static,
    ) -> Answer {
        let is_long = matches!(what, "think" | "solve" | "graph" | "learn");
        let most = if is_long { WORK } else { QUESTION };
        let stop = Stop::after(most);
        let answer = match id {
            None => self.general(what, body, &stop),
            Some(id) => {
                let allowance = self.allowance(&stop, most);
                self.about(id, what, body, Arc::new(listener), &allowance)
            }
        };
        match answer {
            // What was made after the end is not complete.
            _ if stop.is_over() && !is_long => too_late().into(),
            answer => answer.unwrap_or_else(Answer::from),
        }
    }

    fn general(&self, what: &str, body: &str, stop: &Stop) -> Result<Answer, Refusal> {
        let checked = || -> Result<RuleSet, Refusal> {
            let set: RuleSet = read(body)?;
            set.check_form()?;
            Ok(set)
        };
        let at_place = || -> Result<AtPlace, Refusal> {
            let asked: AtPlace = read(body)?;
            asked.check_form()?;
            Ok(asked)
        };
        Ok(match what {
            "check" => Answer::new(&editing::check(checked()?, stop)),
            "try" => match trial::try_rules(&checked()?, stop)? {
                Ok(report) => Answer::new(&report),
                Err(check) => Answer {
                    status: RefusalKind::Rules.status(),
                    content: check.json(),
                },
            },
            "hover" => Answer::new(&editing::hover(at_place()?, stop)?),
            "completion" => Answer::new(&editing::completion(at_place()?, stop)?),
            "definition" => Answer::new(&editing::definition(at_place()?, stop)?),
            _ => return Err(needs_server(what)),
        })
    }

    fn game(&self, id: &str) -> Result<&Arc<LoadedGame>, Refusal> {
        let mut games = self.games.iter();
        let game = games.find(|game| game.rules.id == id);
        game.ok_or_else(|| Refusal::missing(format!("there is no game `{id}`")))
    }

    fn allowance<'a>(&'a self, stop: &'a Stop, time: Duration) -> Allowance<'a> {
        Allowance {
            stop,
            memory_bytes: SEARCH_BYTES,
            time,
            tables: &self.tables,
            background: &self.queue,
        }
    }

    /// The values that were learned for a game, as text, if there are some.
    pub(crate) fn learned(&self, id: &str) -> Option<String> {
        let stop = Stop::after(QUESTION);
        let game = self.game(id).ok()?;
        values::learned(game, &self.allowance(&stop, QUESTION)).ok()?
    }

    /// Keeps values that another engine has learned. Returns whether they fit.
    pub(crate) fn teach(&self, id: &str, text: &str) -> bool {
        let stop = Stop::after(QUESTION);
        let game = self.game(id);
        let taught =
            game.and_then(|game| values::teach(game, text, &self.allowance(&stop, QUESTION)));
        taught.is_ok()
    }

    fn about(
        &self,
        id: &str,
        what: &str,
        body: &str,
        listener: Arc<dyn Listener>,
        allowance: &Allowance,
    ) -> Result<Answer, Refusal> {
        let game = self.game(id)?;
        let own = || Arc::clone(game);
        Ok(match what {
            "game" => Answer::new(&GameDescription::new(game)),
            "position" => Answer::new(&position::position(game, &read(body)?, allowance)?),
            "why" => Answer::new(&why::why(game, &read(body)?, allowance)?),
            "values" => Answer::new(&values::values(game, &read(body)?, allowance)?),
            "think" => {
                let task = ThinkTask::new(own(), read(body)?)?;
                Answer::new(&task.choose(allowance, Some(&listener))?)
            }
            "solve" => {
                let task = SolveTask::new(own(), read(body)?, WORK)?;
                Answer::new(&task.run(allowance, &*listener)?)
            }
            "graph" => {
                let task = GraphTask::new(own(), read(body)?, WORK)?;
                Answer::new(&task.run(allowance, &*listener)?)
            }
            "learn" => Answer::new(&values::learn(game, &read(body)?, allowance, &*listener)?),
            _ => return Err(needs_server(what)),
        })
    }
}

fn too_late() -> Refusal {
    let seconds = QUESTION.as_secs();
    Refusal::rules(format!("there was no answer within {seconds} s"))
}

fn needs_server(what: &str) -> Refusal {
    Refusal::missing(format!("`{what}` needs a server: start one with `ggp web`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    use ggp_stop::Instant;

    /// The names of the events.
    #[derive(Clone, Default)]
    struct Heard(Arc<Mutex<Vec<&'static str>>>);

    impl Listener for Heard {
        fn offer(&self, name: &'static str, _content: &dyn Content) {
            self.0.lock().expect("no panic").push(name);
        }

        fn send_before(&self, name: &'static str, content: &dyn Content, _: Instant) -> bool {
            self.offer(name, content);
            true
        }
    }

    fn said(answer: &Answer) -> serde_json::Value {
        serde_json::from_str(&answer.text()).expect("it is JSON")
    }

    fn of(rules: &str) -> (Requests, String) {
        let mut requests = Requests::default();
        let set = serde_json::json!({ "files": [{ "name": "game.kif", "text": rules }] });
        let game = said(&requests.load(None, &set.to_string()));
        assert_eq!(game["status"], 200, "{game}");
        let id = game["content"]["id"].as_str().expect("a name").to_owned();
        (requests, id)
    }

    const RULES: &str = "(role a) (role b) (init (left 7)) (init (turn a))
        (<= (legal ?r (take ?n)) (true (turn ?r)) (true (left ?l)) (minus ?l ?n ?m))
        (<= (legal ?r rest) (role ?r) (not (true (turn ?r))))
        (<= (next (left ?m)) (true (left ?l)) (does ?r (take ?n)) (minus ?l ?n ?m))
        (<= (next (turn a)) (true (turn b))) (<= (next (turn b)) (true (turn a)))
        (<= terminal (true (left 0)))
        (<= (goal ?r 0) (true (turn ?r))) (<= (goal ?r 100) (role ?r) (not (true (turn ?r))))
        (minus 7 1 6) (minus 6 1 5) (minus 5 1 4) (minus 4 1 3) (minus 3 1 2) (minus 2 1 1)
        (minus 1 1 0) (minus 7 2 5) (minus 6 2 4) (minus 5 2 3) (minus 4 2 2) (minus 3 2 1)
        (minus 2 2 0)";

    #[test]
    fn all_requests_about_a_game_are_answered_on_one_thread() {
        let (requests, id) = of(RULES);
        let heard = Heard::default();
        let ask = |what: &str, body: &str| {
            let answer = said(&requests.ask(what, Some(&id), body, heard.clone()));
            assert_eq!(answer["status"], 200, "{what} {answer}");
            answer["content"].clone()
        };
        let position = ask("position", r#"{"moves": [["(take 1)"]]}"#);
        assert_eq!(position["legal"][1].as_array().map(Vec::len), Some(2));
        // Who leaves a multiple of three wins.
        for (player, seconds) in [("mcts", 0.3), ("minimax", 1.0), ("auto", 0.5)] {
            let body = format!(
                r#"{{"moves": [], "role": 0, "player": "{player}", "seconds": {seconds}}}"#
            );
            assert_eq!(ask("think", &body)["move"], "(take 1)", "{player}");
        }
        let events = heard.0.lock().expect("no panic");
        assert!(events.contains(&"thought"), "{events:?}");
        drop(events);
        assert_eq!(
            ask("why", r#"{"question": "(legal a (take 2))"}"#)["holds"],
            true
        );
        let graph = ask("graph", "{}");
        assert_eq!(graph["complete"], true);
        assert_eq!(
            ask("learn", r#"{"seconds": 0.2}"#)["games"]
                .as_u64()
                .map(|n| n > 0),
            Some(true)
        );
        assert_eq!(
            ask("values", "{}")["values"].as_array().map(Vec::len),
            Some(1)
        );
    }

    #[test]
    fn learned_values_go_to_another_engine() {
        let (one, id) = of(RULES);
        let (other, _) = of(RULES);
        assert_eq!(one.learned(&id), None);
        one.ask("learn", Some(&id), r#"{"seconds": 0.2}"#, Heard::default());
        let text = one.learned(&id).expect("values");
        assert!(other.teach(&id, &text) && !other.teach(&id, "{}"));
        let values = |requests: &Requests| {
            said(&requests.ask("values", Some(&id), "{}", Heard::default()))["content"].clone()
        };
        assert!(values(&one)["learned"]["games"].as_u64() > Some(0));
        assert_eq!(values(&one), values(&other));
    }

    #[test]
    fn a_plan_is_found() {
        let (requests, id) = of("(role r) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
            (<= (legal r up) (true (at ?x)) (succ ?x ?y)) (legal r stay)
            (<= (next (at ?y)) (does r up) (true (at ?x)) (succ ?x ?y))
            (<= (next (at ?x)) (does r stay) (true (at ?x)))
            (<= terminal (true (at 3))) (<= (goal r 100) (true (at 3))) (<= (goal r 0) (not (true (at 3))))");
        let answer = said(&requests.ask("solve", Some(&id), "{}", Heard::default()));
        let plan = answer["content"]["plan"].as_array().map(Vec::len);
        assert_eq!(
            (&answer["content"]["solved"], plan),
            (&true.into(), Some(3)),
            "{answer}"
        );
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        let (mut requests, id) = of(RULES);
        let ask = |what: &str, id: Option<&str>, body: &str| {
            said(&requests.ask(what, id, body, Heard::default()))["status"].as_u64()
        };
        assert_eq!(
            ask("position", Some(&id), r#"{"moves": [["(take 9)"]]}"#),
            Some(400)
        );
        assert_eq!(ask("position", Some(&id), "{"), Some(400));
        assert_eq!(ask("position", Some("other"), "{}"), Some(404));
        assert_eq!(ask("tables", None, "{}"), Some(404));
        assert_eq!(ask("check", None, r#"{"files": []}"#), Some(400));
        let bad = r#"{"files": [{"name": "a.kif", "text": "(role r"}]}"#;
        assert_eq!(said(&requests.load(None, bad))["status"], 422);
    }

    #[test]
    fn rules_that_are_loaded_again_keep_what_was_learned() {
        let (mut requests, id) = of(RULES);
        requests.ask("learn", Some(&id), r#"{"seconds": 0.2}"#, Heard::default());
        let set = serde_json::json!({ "files": [{ "name": "game.kif", "text": RULES }] });
        assert_eq!(
            said(&requests.load(None, &set.to_string()))["content"]["id"],
            id
        );
        assert!(requests.learned(&id).is_some());
    }

    #[test]
    fn few_games_are_kept() {
        let mut requests = Requests::default();
        let set =
            serde_json::json!({ "files": [{ "name": "game.kif", "text": RULES }] }).to_string();
        for id in ["one", "two", "three", "four"] {
            requests.load(Some(id.to_owned()), &set);
        }
        assert!(requests.has("four") && requests.has("two") && !requests.has("one"));
    }
}
