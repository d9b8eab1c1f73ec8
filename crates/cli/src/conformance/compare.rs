//! Comparison of a machine's answers with those of the corpus.
//!
//! In: a machine and the records of its game. Out: the comparisons made and the differences.
//! Only the first difference of each record is reported, as the rest mostly follows from it.

use std::fmt::Display;

use super::digest::{canonical_list, list_digest};
use super::record::{
    Answers, GoalRecord, LastRecord, LevelRecord, MovesRecord, PerftRecord, StepRecord, TraceRecord,
};
use super::report::{Difference, GameReport};
use ggp_engine::machine::{
    self, AnyMachine, Machine, PerftOptions, PlayError, PropnetState, perft,
};
use ggp_gdl::game::{Move, RoleId};

/// The reason why the comparison of a record ends early.
pub(super) enum End {
    /// A difference was found and recorded.
    Differs,
    /// The time is over.
    Interrupted,
}

/// The limits for the records of a game.
#[derive(Copy, Clone, Debug)]
pub(super) struct Budget {
    /// Joint moves made for one record of counts.
    pub paths: u64,
    /// Steps of one playout.
    pub steps: usize,
}

/// The comparison of one record.
pub(super) struct Comparison<'a> {
    machine: &'a mut AnyMachine,
    place: &'a str,
    report: &'a mut GameReport,
}

type Compared = Result<(), End>;

/// The texts of a state's facts as references write them: always in lower case.
fn canonical_facts(machine: &AnyMachine, state: &PropnetState) -> Vec<String> {
    lower(machine::canonical_facts(machine, state))
}

/// The texts of moves as references write them.
fn canonical_moves(machine: &AnyMachine, moves: &[Move]) -> Vec<String> {
    lower(machine::canonical_moves(machine, moves))
}

fn lower(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| text.to_lowercase()).collect()
}

impl<'a> Comparison<'a> {
    /// A comparison with the record at a place.
    pub fn new(machine: &'a mut AnyMachine, place: &'a str, report: &'a mut GameReport) -> Self {
        Comparison {
            machine,
            place,
            report,
        }
    }

    /// Compares the initial state, its legal moves and the counts by depth.
    pub fn perft(mut self, record: &PerftRecord, budget: Budget) -> Compared {
        self.roles(&record.roles)?;
        let state = self.answer("init", |m| m.initial())?;
        let facts = canonical_facts(self.machine, &state);
        let init = (record.init_count, &*record.init_sha256);
        self.list("init", init, record.init.as_deref(), &facts)?;
        let terminal = self.answer("init_terminal", |m| m.is_terminal(&state))?;
        self.equal("init_terminal", record.init_terminal, terminal)?;
        self.equal("init_legal", record.init_legal.len(), record.roles.len())?;
        for (role, expected) in self.machine.game().roles().zip(&record.init_legal) {
            self.initial_moves(&state, role, expected)?;
        }
        self.levels(&record.perft, budget)
    }

    /// Compares one of the two playouts.
    pub fn trace(mut self, record: &TraceRecord, budget: Budget) -> Compared {
        self.roles(&record.roles)?;
        let of = format!("playout {}", record.playout);
        let mut state = self.answer(&format!("{of} init"), |m| m.initial())?;
        for (index, step) in record.steps.iter().enumerate() {
            if index == budget.steps {
                return Ok(());
            }
            let at = format!("{of} step {index}");
            state = self.step(&at, &state, step)?;
            self.report.trace_steps += 1;
        }
        if let Some(last) = &record.last {
            self.last(&format!("{of} final"), &state, last, &record.end)?;
            self.report.trace_steps += 1;
        }
        Ok(())
    }

    /// Compares the initial state with the answers of another reasoner.
    pub fn answers(mut self, record: &Answers) -> Compared {
        let mut roles = record.roles.clone();
        let mut known = Vec::new();
        roles.retain(|role| {
            !known.contains(role) && {
                known.push(role.clone());
                true
            }
        });
        self.roles(&roles)?;
        let state = self.answer("init", |m| m.initial())?;
        let facts = canonical_facts(self.machine, &state);
        self.given_list("init", &record.init, &facts)?;
        let terminal = self.answer("terminal", |m| m.is_terminal(&state))?;
        self.equal("terminal", record.terminal, terminal)?;
        for (role, expected) in record.roles.iter().zip(&record.legal) {
            let index = roles.iter().position(|name| name == role);
            let id = self
                .machine
                .game()
                .roles()
                .nth(index.expect("a role of the record"));
            let found = self.moves("legal", &state, id.expect("as many roles as the record"))?;
            let found = canonical_moves(self.machine, &found);
            self.given_list(&format!("legal {role}"), expected, &found)?;
        }
        self.report.verdicts += 1;
        Ok(())
    }

    fn roles(&mut self, expected: &[String]) -> Compared {
        let game = self.machine.game();
        let found: Vec<String> = game
            .roles()
            .map(|role| {
                game.canonical(game.terms(), game.role_term(role))
                    .to_lowercase()
            })
            .collect();
        self.equal("roles", expected.join(" "), found.join(" "))
    }

    fn initial_moves(
        &mut self,
        state: &PropnetState,
        role: RoleId,
        expected: &MovesRecord,
    ) -> Compared {
        let what = format!("init_legal {}", self.machine.game().role_name(role));
        let found = self.moves(&what, state, role)?;
        let found = canonical_moves(self.machine, &found);
        let list = (expected.count, &*expected.sha256);
        self.list(&what, list, expected.moves.as_deref(), &found)
    }

    /// Compares the depths whose counting needs few enough joint moves.
    fn levels(&mut self, levels: &[LevelRecord], budget: Budget) -> Compared {
        let within = affordable(levels, budget.paths);
        let Some(last) = levels[..within].last() else {
            return Ok(());
        };
        let mut options = PerftOptions::default();
        options.depth = last.d;
        let mut found = Vec::new();
        let outcome = match self.machine.initial() {
            Ok(from) => perft(self.machine, &from, options, |level| {
                found.push(level.clone())
            }),
            Err(error) => Err(error),
        };
        let mut sums = vec![0; self.machine.game().role_count()];
        let mut endings = 0;
        let mut counts = found.into_iter();
        for expected in &levels[..within] {
            let at = |field: &str| format!("perft depth {} {field}", expected.d);
            let Some(level) = counts.next() else {
                let found = match &outcome {
                    Err(PlayError::Interrupted) => return Err(End::Interrupted),
                    Err(error) => error.to_string(),
                    Ok(_) => "every state is terminal".to_owned(),
                };
                let expected = format!("{} paths", expected.paths);
                return self.differs(at("paths"), expected, found);
            };
            endings += level.terminal_paths;
            for (sum, more) in sums.iter_mut().zip(&level.goal_sums) {
                *sum += more;
            }
            self.equal(at("d"), expected.d, level.depth)?;
            self.equal(at("paths"), expected.paths.into(), level.paths)?;
            self.equal(at("distinct"), expected.distinct, level.distinct)?;
            let (theirs, ours) = (expected.terminal_paths, level.terminal_paths);
            self.equal(at("terminal_paths"), theirs.into(), ours)?;
            let (theirs, ours) = (expected.terminal_distinct, level.terminal_distinct);
            self.equal(at("terminal_distinct"), theirs, ours)?;
            let (theirs, ours) = (expected.goal_errors, level.goal_errors);
            self.equal(at("goal_errors"), theirs.into(), ours)?;
            let (theirs, ours) = (&expected.goal_sums, &level.goal_sums);
            self.equal(at("goal_sums"), show(theirs), show(ours))?;
            let theirs = expected.cum_terminal_paths;
            self.equal(at("cum_terminal_paths"), theirs.into(), endings)?;
            let theirs = show(&expected.cum_goal_sums);
            self.equal(at("cum_goal_sums"), theirs, show(&sums))?;
            self.report.perft_lines += 1;
        }
        Ok(())
    }

    fn step(
        &mut self,
        at: &str,
        state: &PropnetState,
        step: &StepRecord,
    ) -> Result<PropnetState, End> {
        let facts = canonical_facts(self.machine, state);
        self.list(&format!("{at} state"), (step.n, &step.s), None, &facts)?;
        let what = format!("{at} terminal");
        let terminal = self.answer(&what, |m| m.is_terminal(state))?;
        self.equal(what, false, terminal)?;
        let roles: Vec<RoleId> = self.machine.game().roles().collect();
        self.equal(format!("{at} legal"), step.legal.len(), roles.len())?;
        self.equal(format!("{at} move"), step.joint.len(), roles.len())?;
        let mut joint = Vec::new();
        for ((&role, (count, digest)), chosen) in roles.iter().zip(&step.legal).zip(&step.joint) {
            let what = format!("{at} legal {}", self.machine.game().role_name(role));
            let moves = self.moves(&what, state, role)?;
            let texts: Vec<String> = moves.iter().map(|m| self.text(*m)).collect();
            self.list(&what, (*count, digest), None, &texts)?;
            match texts.iter().position(|text| text == chosen) {
                Some(index) => joint.push(moves[index]),
                None => return self.differs(what, chosen.clone(), some(&texts)),
            }
        }
        if let Some(sees) = &step.sees {
            self.percepts(at, state, &joint, sees)?;
        }
        self.answer(&format!("{at} next"), |m| m.next(state, &joint))
    }

    /// Compares the percepts of each role of a joint move.
    fn percepts(
        &mut self,
        at: &str,
        state: &PropnetState,
        joint: &[Move],
        expected: &[Vec<String>],
    ) -> Compared {
        let roles: Vec<RoleId> = self.machine.game().roles().collect();
        self.equal(format!("{at} sees"), expected.len(), roles.len())?;
        for (role, expected) in roles.into_iter().zip(expected) {
            let what = format!("{at} sees {}", self.machine.game().role_name(role));
            let mut found = Vec::new();
            self.answer(&what, |m| m.percepts(state, joint, role, &mut found))?;
            let found: Vec<Move> = found.into_iter().map(Move::new).collect();
            let found = canonical_moves(self.machine, &found);
            self.given_list(&what, expected, &found)?;
            self.report.percepts += found.len() as u64;
        }
        Ok(())
    }

    fn last(&mut self, at: &str, state: &PropnetState, last: &LastRecord, end: &str) -> Compared {
        let facts = canonical_facts(self.machine, state);
        self.list(&format!("{at} state"), (last.n, &last.s), None, &facts)?;
        let what = format!("{at} terminal");
        let terminal = self.answer(&what, |m| m.is_terminal(state))?;
        self.equal(what, last.terminal, terminal)?;
        let roles: Vec<RoleId> = self.machine.game().roles().collect();
        if let Some(stuck) = end.strip_prefix("no_legal:") {
            let what = format!("{at} legal {stuck}");
            let Some(role) = self.machine.game().role_named(stuck) else {
                return self.differs(what, "a role".to_owned(), "no such role".to_owned());
            };
            let found = self.moves(&what, state, role)?;
            let found = canonical_moves(self.machine, &found);
            return self.given_list(&what, &[], &found);
        }
        let Some(goals) = last.goals.as_ref().filter(|_| last.terminal) else {
            return Ok(());
        };
        self.equal(format!("{at} goals"), goals.len(), roles.len())?;
        for (role, expected) in roles.into_iter().zip(goals) {
            let what = format!("{at} goal {}", self.machine.game().role_name(role));
            let values = self.answer(&what, |m| m.goal_values(state, role))?;
            let values: Vec<Move> = values.into_iter().map(Move::new).collect();
            let values = canonical_moves(self.machine, &values);
            // An invalid goal must be reported as an error, a valid one as its number.
            match expected {
                GoalRecord::Wrong(expected) => {
                    self.given_list(&what, expected, &values)?;
                    match self.machine.goal(state, role) {
                        Ok(score) => {
                            return self.differs(what, "an error".to_owned(), score.to_string());
                        }
                        Err(error) => self.no_interrupt(&error)?,
                    }
                }
                GoalRecord::Value(expected) => {
                    let score = self.answer(&what, |m| m.goal(state, role))?;
                    self.equal(what, *expected, i64::from(score.get()))?;
                }
            }
        }
        Ok(())
    }

    /// A role's legal moves; empty if it has none.
    fn moves(&mut self, what: &str, state: &PropnetState, role: RoleId) -> Result<Vec<Move>, End> {
        let mut moves = Vec::new();
        match self.machine.legal(state, role, &mut moves) {
            Err(PlayError::NoLegalMove(_)) => Ok(Vec::new()),
            Ok(()) => Ok(moves),
            Err(error) => self.answer(what, |_| Err(error)),
        }
    }

    fn text(&self, chosen: Move) -> String {
        self.machine.text(chosen).to_lowercase()
    }

    /// The machine's answer. An error of play where the corpus has an answer is a
    /// difference.
    pub(super) fn answer<T>(
        &mut self,
        what: &str,
        ask: impl FnOnce(&mut AnyMachine) -> Result<T, PlayError>,
    ) -> Result<T, End> {
        match ask(self.machine) {
            Ok(answer) => Ok(answer),
            Err(error) => {
                self.no_interrupt(&error)?;
                self.differs(what.to_owned(), "an answer".to_owned(), error.to_string())
            }
        }
    }

    pub(super) fn no_interrupt(&self, error: &PlayError) -> Compared {
        match error {
            PlayError::Interrupted => Err(End::Interrupted),
            _ => Ok(()),
        }
    }

    pub(super) fn equal<T: PartialEq + Display>(
        &mut self,
        what: impl Into<String>,
        expected: T,
        found: T,
    ) -> Compared {
        match expected == found {
            true => Ok(()),
            false => self.differs(what.into(), expected.to_string(), found.to_string()),
        }
    }

    /// Compares a list given by number and digest, perhaps with its members.
    fn list(
        &mut self,
        what: &str,
        (count, digest): (usize, &str),
        members: Option<&[String]>,
        found: &[String],
    ) -> Compared {
        let ours = list_digest(found);
        let number = canonical_list(found).len();
        if let Some(members) = members
            && (members.len() != count || list_digest(members) != digest)
        {
            let record = format!(
                "{} members with digest {}",
                members.len(),
                list_digest(members)
            );
            return self.differs(
                format!("{what} (the record itself)"),
                record,
                format!("{count} members with digest {digest}"),
            );
        }
        if ours == digest && number == count {
            return Ok(());
        }
        match members {
            Some(members) => self.given_list(what, members, found),
            None => {
                let expected = format!("{count} with digest {digest}");
                let found = format!("{number} with digest {ours}: {}", some(found));
                self.differs(what.to_owned(), expected, found)
            }
        }
    }

    /// Compares a list given by its members.
    fn given_list(&mut self, what: &str, expected: &[String], found: &[String]) -> Compared {
        let (expected, found) = (canonical_list(expected), canonical_list(found));
        if expected == found {
            return Ok(());
        }
        let only = |these: &[&str], those: &[&str]| -> Vec<String> {
            let lacking = these.iter().filter(|text| !those.contains(text));
            lacking.map(|text| (*text).to_owned()).collect()
        };
        let missing = only(&expected, &found);
        let extra = only(&found, &expected);
        self.differs(
            what.to_owned(),
            format!(
                "{}, of which these are missing: {}",
                expected.len(),
                some(&missing)
            ),
            format!(
                "{}, of which these are unexpected: {}",
                found.len(),
                some(&extra)
            ),
        )
    }

    pub(super) fn differs<T>(
        &mut self,
        what: String,
        expected: String,
        found: String,
    ) -> Result<T, End> {
        self.report.differences.push(Difference {
            game: self.report.game.clone(),
            place: self.place.to_owned(),
            what,
            expected,
            found,
        });
        Err(End::Differs)
    }
}

/// The number of levels that can be counted with `budget` joint moves, judged by the counts
/// themselves: each distinct state that is not terminal is expanded once, with the average
/// number of joint moves that continue a path to it.
fn affordable(levels: &[LevelRecord], budget: u64) -> usize {
    let mut spent = 0.0;
    for (index, pair) in levels.windows(2).enumerate() {
        let open = pair[0].distinct.saturating_sub(pair[0].terminal_distinct);
        let paths = pair[0].paths.saturating_sub(pair[0].terminal_paths);
        spent += open as f64 * (pair[1].paths as f64 / paths.max(1) as f64);
        if spent > budget as f64 {
            return index + 1;
        }
    }
    levels.len()
}

fn show<T: Display>(numbers: &[T]) -> String {
    let texts: Vec<String> = numbers.iter().map(T::to_string).collect();
    texts.join(" ")
}

/// The first few of a list.
fn some(list: &[String]) -> String {
    const MOST: usize = 8;
    let shown: Vec<&str> = list.iter().take(MOST).map(String::as_str).collect();
    match list.len() {
        0 => "nothing".to_owned(),
        n if n > MOST => format!("{} and {} more", shown.join(" "), n - MOST),
        _ => shown.join(" "),
    }
}
