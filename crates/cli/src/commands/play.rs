//! `ggp play`: a match on the terminal between people and agents.

mod hidden;
pub(super) mod hint;
mod human;
mod kind;
mod reasons;
mod saved;
mod thought;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::replay;
use crate::agent_limits::AgentLimits;
use crate::numbers::unknown_seed;
use crate::picture_options::PictureOptions;
use crate::position::PositionOptions;
use crate::record::{Facts, Record};
use crate::rule_files::RuleOptions;
use crate::value_files::ValueOptions;
use crate::{Context, Exit, format, kinds};
use ggp_engine::machine::{AnyMachine, Limits, Machine, PlayError, PropnetState};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_picture::Picture;
use ggp_play::record::MatchRecord;
use ggp_play::{AgentPlayer, Brief, Chance, History, Match, Player, PlayerError, Step, Turn};

use human::{After, Human, Table};
use kind::{Kind, Kinds, RolePlayer};
use thought::{Thought, Thoughts, listener};

/// The options of `ggp play`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  ggp play hanoi.kif                                  you play
  ggp play tic_tac_toe.kif                            you are the first role
  ggp play tic_tac_toe.kif --player nought=human --player cross=mcts
  ggp play tic_tac_toe.kif --player mcts:500 --seed 3   all roles, 500 iterations a move
  ggp play tic_tac_toe.kif --player cross=mcts:2s --player nought=first
  ggp play connect_four.kif --roles auto,human --play-clock 3
  ggp play tic_tac_toe.kif --save game.json; ggp play --resume game.json
  printf '(mark 2 2)\\n1\\nquit\\n' | ggp play tic_tac_toe.kif

Type a number or a move, or: help, state, moves, history, hint, why, undo, quit. A role with a
single legal move is not asked unless it is the only role. With --json the match is printed as
JSON at the end, and all other output goes to standard error.

Where the rules have `sees`, a person is shown the moves and percepts of its own role only, and
the whole match when it is over.")]
#[command(mut_arg("files", |files| files.required(false).required_unless_present("resume")))]
pub struct Options {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    picture: PictureOptions,
    /// Player of a role: human or an agent; without ROLE=, of all other roles
    ///
    /// Agents are auto (chosen for the game), mcts, ismcts, minimax, greedy, random and first (the first
    /// legal move); `ggp play GAME --player list` lists them. `mcts:5000` searches 5000
    /// iterations a move, `mcts:2s` two seconds. By default the first role without a player is
    /// human, unless another role is, and all others play at random. A role named random is chance
    /// and draws its moves, unless `random=` names a player.
    #[arg(long = "player", value_name = "[ROLE=]KIND")]
    #[arg(value_parser = kinds::OrList::<RolePlayer>::or_human())]
    players: Vec<RolePlayer>,
    /// Players of all roles in order, separated by commas
    ///
    /// The text after a comma is the next player if it names one, otherwise an option of the
    /// previous player: `human,mcts:500,exploration=2`.
    #[arg(long, value_name = "KIND,…", conflicts_with = "players")]
    #[arg(value_parser = kinds::OrList::<Kinds>::or_human())]
    roles: Option<Kinds>,
    /// Seconds for each move of an agent [default: that of the record with --resume, else none]
    #[arg(long, value_name = "SECONDS", value_parser = clock)]
    play_clock: Option<Duration>,
    /// Write the match to this file after each move, or between programs after several, where
    /// writing takes longer than playing
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    save: Option<PathBuf>,
    /// Resume the match in this file and write to it
    ///
    /// Rules, players and clock are those of the file unless given.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["state", "moves", "moves_file"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    values: ValueOptions,
    /// Maximum memory for the search tables of each agent, in MB
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    memory: u64,
    #[command(flatten)]
    agents: AgentLimits,
    /// Seed of random choices [default: that of the record with --resume, else a drawn one if a person
    /// plays with programs or chance, else 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Stop after this number of joint moves; those of --moves or --resume do not count
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    depth: usize,
    /// Also show what programs expect and what roles see; list all facts in JSON
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    position: PositionOptions,
}

/// A time greater than zero.
fn clock(text: &str) -> Result<Duration, String> {
    match crate::numbers::seconds(text) {
        Ok(Duration::ZERO) => Err("no time to choose; omit the option for no clock".to_owned()),
        Ok(time) => Ok(time),
        Err(_) => Err("expected a number of seconds above 0, and at most 1000000000".to_owned()),
    }
}

/// The number of roles that are not chance.
fn deciding(game: &Game) -> usize {
    game.roles().filter(|role| !game.is_random(*role)).count()
}

/// The bits of a drawn seed, few enough to type its digits.
const SEED_BITS: u32 = 32;

/// A seed from the system, which a note shows.
fn drawn_seed(context: &Context) -> u64 {
    let seed = unknown_seed(SEED_BITS);
    context.note(format_args!(
        "--seed {seed} repeats the draws of this match"
    ));
    seed
}

/// Runs the command.
///
/// # Errors
///
/// If the rules, the position or the players are invalid, or an error in the rules appears
/// during play.
pub fn run(options: &Options, context: &Context) -> anyhow::Result<Exit> {
    if let (Some(resume), Some(_)) = (&options.resume, &options.save) {
        bail!(
            "--resume writes to {0} and cannot be combined with --save; to keep the original \
             file, copy it and resume the copy",
            resume.display()
        );
    }
    let resumed = options.resume.as_deref().map(replay::load).transpose()?;
    let game = replay::game(resumed.as_ref(), &options.rules, context)?;
    let machine = options.rules.machine_for(&game, context)?;
    let kinds = match &options.roles {
        None => {
            let before = resumed.as_ref().map_or(Vec::new(), kind::of_record);
            kind::assign(&game, &options.players, &before)?
        }
        Some(Kinds(kinds)) if kinds.len() == game.role_count() => kinds.clone(),
        Some(Kinds(kinds)) if kinds.len() == deciding(&game) => {
            let mut kinds = kinds.iter().cloned();
            let chance = || Kind::Agent("random".parse().expect("it is a player"));
            let each = game.roles().map(|role| match game.is_random(role) {
                true => chance(),
                false => kinds.next().expect("there is one for each"),
            });
            each.collect()
        }
        Some(Kinds(kinds)) => bail!(
            "--roles names {}, but there {} {}: {}",
            format::counted(kinds.len(), "player"),
            if game.role_count() == 1 { "is" } else { "are" },
            format::counted(game.role_count(), "role"),
            format::role_names(&game).join(", ")
        ),
    };
    let agents = kinds.iter().filter(|kind| **kind != Kind::Human);
    options.agents.check(agents.count())?;
    let humans: Vec<RoleId> = game
        .roles()
        .filter(|role| kinds[role.index()] == Kind::Human)
        .collect();
    let uses_stdin = options.rules.uses_stdin() || options.position.uses_stdin();
    if uses_stdin && !humans.is_empty() {
        bail!("standard input is used for moves; rules and positions must be in files");
    }
    let mut machine = machine;
    let (start, made) = options
        .position
        .start_and_moves(&mut machine, &options.rules, context)?;
    let facts = machine.facts(&start);
    let path = options.resume.as_ref().or(options.save.as_ref());
    let mut made: Vec<Vec<Move>> = made.into_iter().map(|(joint, _)| joint).collect();
    if let (Some(record), Some(path)) = (&resumed, &options.resume) {
        made = saved::moves(record, path, &machine)?;
    }
    let begun = resumed.unwrap_or_else(|| MatchRecord::begin(&game, None));
    let mut begun = begun.with_goals_of(&game);
    let clock = Some(begun.play_clock.into()).filter(|seconds| *seconds > 0);
    let play_clock = options.play_clock.or(clock.map(Duration::from_secs));
    // Records store whole seconds.
    begun.play_clock = play_clock.map_or(0, |clock| clock.as_secs_f64().ceil() as u32);
    // Where programs or chance draw, a person must not know the draws of the last match.
    let has_draws = !humans.is_empty() && humans.len() < kinds.len();
    let seed = options.seed.or(begun.seed);
    let seed = seed.unwrap_or_else(|| match has_draws {
        true => drawn_seed(context),
        false => 0,
    });
    begun.seed = Some(seed);
    begun.player_names_from_host = kinds.iter().map(Kind::to_string).collect();
    begun.is_player_human = kinds.iter().map(|kind| *kind == Kind::Human).collect();
    if let Some(path) = path {
        Context::can_write(path)?;
    }
    let drawing_options = options
        .picture
        .read(&options.rules, machine.game(), context)?;
    let picture = Picture::of(&mut machine, drawing_options)?;
    let table = Table::new(context, &picture);
    // Players need not make the network again.
    let ready = matches!(machine, AnyMachine::Propnet(_)).then(|| machine.clone());
    let mut session = Session {
        table,
        game: Match::new(machine, start),
        hides: game.is_hidden() && !humans.is_empty(),
        humans,
        verbose: options.verbose,
        limits: options.rules.limits(context),
        thoughts: Rc::default(),
        noted: BTreeSet::new(),
        asked: Rc::default(),
        saved: path.map(|path| (path.as_path(), begun)),
        began: Instant::now(),
        writing: Duration::ZERO,
    };
    for joint in made {
        session.game.play(joint)?;
    }
    session.save()?;
    let end = (session.game.history().len()).saturating_add(options.depth);
    let values = options.values.library(Some(&[&game]), context)?;
    let tables = options.values.tables(Some(&[&game]))?;
    let viewer = Rc::default();
    let mut players: Vec<Box<dyn Player<AnyMachine> + '_>> = Vec::new();
    for (role, kind) in game.roles().zip(&kinds) {
        if context.is_interrupted() {
            return Err(PlayError::Interrupted.into());
        }
        let brief = Brief {
            start: Some(facts.clone()),
            seed: seed.wrapping_add(role.index() as u64),
            play_clock,
            values: Arc::clone(&values),
            tables: Arc::clone(&tables),
            memory_bytes: options.memory.saturating_mul(1 << 20),
            limits: options.rules.limits(context),
            machine: ready.clone(),
            ..Brief::new(&game, role)
        };
        players.push(match kind {
            Kind::Human => {
                let has_others = session.humans.len() > 1;
                let shared = (Rc::clone(&session.asked), Rc::clone(&viewer));
                Box::new(Human::new(table, brief, shared, has_others))
            }
            // Chance draws from the moves of the true state.
            Kind::Agent(_) if game.is_hidden() && game.is_random(role) => {
                Box::new(Chance::new(seed))
            }
            Kind::Agent(spec) => {
                let name = game.role_name(role).to_owned();
                let player = AgentPlayer::new(brief, spec.clone())?;
                match spec.searches() {
                    true => Box::new(player.heard_by(listener(name, spec, &session.thoughts))),
                    false => Box::new(player),
                }
            }
        });
    }
    let ended = session.play(&mut players, end);
    session.save()?;
    let end = match &ended {
        Ok(end) => end,
        Err(_) if context.is_interrupted() => "interrupted",
        Err(_) => "error",
    };
    options.values.warn_of_gaps(&tables, context);
    let finished = session.finish(end, context);
    if let Err(error) = &ended
        && game.is_hidden()
        && matches!(error.downcast_ref(), Some(PlayError::IllegalMove { .. }))
    {
        context.note(
            "a role that cannot find out its legal moves by its percepts may choose others; `ggp check --play` \
             shows whether the rules are at fault",
        );
    }
    ended?;
    finished?;
    Ok(Exit::Done)
}

/// A match on the terminal.
struct Session<'a> {
    table: Table<'a>,
    game: Match<AnyMachine>,
    humans: Vec<RoleId>,
    /// True if people must not see the state and the moves of others before the end.
    hides: bool,
    verbose: bool,
    limits: Limits,
    thoughts: Thoughts,
    /// The notes on moves without a search.
    noted: BTreeSet<String>,
    /// The number of people that chose a move in the current step.
    asked: Rc<Cell<usize>>,
    /// The file to write, and the header of its record.
    saved: Option<(&'a Path, MatchRecord)>,
    began: Instant,
    /// The time that writing the file took.
    writing: Duration,
}

/// The time for writing that every match has.
const WRITING: Duration = Duration::from_secs(1);

impl Session<'_> {
    /// Writes the match to its file, if there is one.
    fn save(&mut self) -> anyhow::Result<()> {
        let history = self.game.history().clone();
        let Some((path, begun)) = &self.saved else {
            return Ok(());
        };
        let started = Instant::now();
        let record = saved::record(self.game.machine(), &history, begun)?;
        let saved = record.save(path);
        self.writing += started.elapsed();
        saved.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes the match; between programs, unless writing it took half of the time so far and more than
    /// [`WRITING`]: the whole file is written each time, which for long matches is more work than to play them.
    fn save_in_turn(&mut self) -> anyhow::Result<()> {
        let is_slow = self.writing > WRITING && 2 * self.writing > self.began.elapsed();
        if self.humans.is_empty() && is_slow {
            return Ok(());
        }
        self.save()
    }

    /// Plays until the game is over, `most` joint moves are made in all, or a person ends the
    /// match. The result is that of [`Record::end`].
    fn play(
        &mut self,
        players: &mut [Box<dyn Player<AnyMachine> + '_>],
        most: usize,
    ) -> anyhow::Result<&'static str> {
        loop {
            if self.table.is_interrupted() {
                return Err(PlayError::Interrupted.into());
            }
            if self.game.history().len() >= most && !self.game.is_over()? {
                self.table
                    .say("the match is ended: it has as many joint moves as --depth allows")?;
                return Ok("depth");
            }
            let shows_state = self.humans.is_empty() && self.table.shows_states();
            if shows_state && !self.game.is_over()? {
                let state = self.game.history().state().clone();
                let number = self.game.history().len();
                self.table.state(self.game.machine(), &state, number)?;
            }
            self.asked.set(0);
            let step = self.game.step(players).map_err(failure)?;
            self.say_thoughts()?;
            match step {
                Step::Moved if self.hides => self.save_in_turn()?,
                Step::Moved => {
                    let history = self.game.history().clone();
                    let joint = &history.plies().last().expect("one was just made").joint;
                    let line = format::joint_line(self.game.machine(), joint);
                    self.table.say(format!("{}: {line}", history.len()))?;
                    self.say_sees(&history, history.len() - 1)?;
                    self.save_in_turn()?;
                }
                Step::Undo(_) if self.asked.get() > 0 => {
                    self.table
                        .say("the moves chosen in this state are taken back")?;
                }
                Step::Undo(_) => self.undo()?,
                Step::Quit(_) => return Ok("quit"),
                Step::Over if self.humans.is_empty() => return Ok("terminal"),
                Step::Over if self.hides => {
                    // After this, nobody can take a move back.
                    self.show_end()?;
                    return Ok("terminal");
                }
                Step::Over => {
                    self.show_end()?;
                    match self.ask_at_end()? {
                        After::Undo => self.undo()?,
                        After::Quit => return Ok("terminal"),
                    }
                }
            }
        }
    }

    /// Asks the first person whether to undo or quit when the game is over.
    fn ask_at_end(&mut self) -> io::Result<After> {
        let history = self.game.history().clone();
        let turn = Turn {
            role: self.humans[0],
            legal: &[],
            history: &history,
        };
        self.table.after(self.game.machine(), &turn, &self.limits)
    }

    /// Shows what agents thought: with `--verbose` unless a person must not know it. A move that was
    /// made without a search always has a note, the same note only once.
    fn say_thoughts(&mut self) -> anyhow::Result<()> {
        let thoughts = std::mem::take(&mut *self.thoughts.borrow_mut());
        for Thought { text, is_blind } in thoughts {
            if is_blind && self.noted.insert(text.clone()) {
                self.table.note(format!("note: {text}"));
            } else if self.verbose && !self.hides {
                self.table.say(format!("   {text}"))?;
            }
        }
        Ok(())
    }

    fn undo(&mut self) -> anyhow::Result<()> {
        match self.game.undo(&self.humans)? {
            0 => self.table.say("there is nothing to take back")?,
            count => {
                let moves = format::counted(count, "joint move");
                self.table.say(format!("took back {moves}"))?;
                if self.hides {
                    self.table.say(
                        "note: what you saw after that choice is no longer counted as known to you",
                    )?;
                }
                self.save()?;
            }
        }
        Ok(())
    }

    /// Shows what each role saw of the joint move after some others, with `--verbose` and in games
    /// with `sees`.
    fn say_sees(&mut self, history: &History<PropnetState>, before: usize) -> anyhow::Result<()> {
        let ply = history.plies().nth(before).expect("it was made");
        let machine = self.game.machine();
        if !self.verbose || !machine.game().is_hidden() {
            return Ok(());
        }
        let each = ply.percepts.iter();
        let sees: Vec<_> = each
            .map(|told| format::percept_texts(machine, told))
            .collect();
        let line = format::sees_line(machine.game(), &sees);
        Ok(self.table.say(format!("   {line}"))?)
    }

    /// Shows the last state and, if the game is over, the scores.
    fn show_end(&mut self) -> anyhow::Result<()> {
        let history = self.game.history().clone();
        let terminal = self.game.is_over()?;
        let moves = format::counted(history.len(), "joint move");
        if self.hides {
            for (number, ply) in (1..).zip(history.plies()) {
                let line = format::joint_line(self.game.machine(), &ply.joint);
                self.table.say(format!("{number}: {line}"))?;
                self.say_sees(&history, number - 1)?;
            }
        }
        let machine = self.game.machine();
        let facts = machine.facts(history.state());
        let count = format::counted(facts.len(), "fact");
        self.table.say(match terminal {
            true => format!("the game is over after {moves}: {count}"),
            false => format!("the match ends after {moves}: {count}"),
        })?;
        self.table.facts(machine, &facts, terminal)?;
        if terminal {
            let choice = machine.game().goal_choice();
            for goal in format::goals(machine, history.state())?.0 {
                self.table.say(goal.text(choice))?;
            }
        }
        Ok(())
    }

    /// Reports the end of the match.
    fn finish(&mut self, end: &'static str, context: &Context) -> anyhow::Result<()> {
        // A person has already seen the end of the game.
        if self.humans.is_empty() || end != "terminal" {
            self.show_end()?;
        }
        let history = self.game.history().clone();
        let facts = match self.verbose {
            true => Facts::Listed,
            false => Facts::Counted,
        };
        if context.json() {
            let record = Record::new(self.game.machine(), &history, facts, end)?;
            context.print_json(&record)?;
        }
        if end == "terminal" {
            // Missing or ambiguous scores are an error in the rules.
            self.game.scores()?;
        }
        Ok(())
    }
}

/// Converts the error of a player into that of the command.
fn failure(error: PlayerError) -> anyhow::Error {
    match error {
        PlayerError::Play(error) => error.into(),
        PlayerError::Other(error) => match error.downcast::<io::Error>() {
            Ok(error) => (*error).into(),
            Err(error) => anyhow::Error::from_boxed(error),
        },
        error => error.into(),
    }
}
