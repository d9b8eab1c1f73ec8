//! A person at the terminal, or input from a file.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::rc::Rc;

use super::hint::Adviser;
use super::{hidden, reasons};
use crate::knowledge::Known;
use crate::position::prefix_notation;
use crate::{Context, format};
use ggp_engine::machine::{self, Machine};
use ggp_gdl::game::{Game, Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_picture::{DrawingLimits, Picture};
use ggp_play::{Brief, Choice, History, Player, PlayerError, Turn};

/// The help text.
const HELP: &str = "  \
  a number or a move   make this move; outer brackets may be left out
  moves                list the legal moves
  state                draw the position
  history              list the moves made so far
  hint                 show the move of the default agent, why, and what it expects to follow
  why FACT or MOVE     explain why a fact holds or a move is legal, or why not; a move may
                       be given by its number; a fact is traced over the moves made; `;`
                       separates questions
  undo                 go back to your last choice
  quit                 end the match (so does the end of the input)
  help                 show this
A word that is also a legal move is the move; /undo is always the command.";

/// The help text where the rules have `sees`.
const HIDDEN_HELP: &str = "  \
  a number or a move   make this move; outer brackets may be left out
  moves                list the legal moves
  state                show what you know of the state, with shares where it is open
  history              list your moves and what you saw
  hint                 show the move of the default agent for what you know
  why FACT or MOVE     tell whether you know that a fact holds or a move is legal; a move may be
                       given by its number; `;` separates questions
  undo                 go back to your last choice
  quit                 end the match (so does the end of the input)
  help                 show this
The state and the moves of others are shown when the match is over.
A word that is also a legal move is the move; /undo is always the command.";

/// The help text when the game is over.
const HELP_AT_END: &str = "  \
  undo                 go back to your last choice
  quit                 end the match (so does the end of the input, or an empty line)
  state                draw the last position
  history              list the moves made
  why FACT             explain why a fact holds, or why not; a fact is traced over the moves
                       made; `;` separates questions
  help                 show this";

/// The message while positions that fit are searched for.
const FINDING: &str = "finding the positions that fit what you know";

/// The codes that clear a terminal: what is shown, and the lines that were shown before.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

/// The maximum size of an input line in bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// The output of the match and the input of lines.
#[derive(Copy, Clone)]
pub struct Table<'a> {
    context: &'a Context,
    picture: &'a Picture,
}

/// The decision of a person when the game is over.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum After {
    /// Go back to the last choice.
    Undo,
    /// End the match.
    Quit,
}

impl<'a> Table<'a> {
    /// The terminal. With `--json`, standard output is reserved for the record.
    pub fn new(context: &'a Context, picture: &'a Picture) -> Self {
        Table { context, picture }
    }

    /// Returns true if states are shown that no person needs in order to choose.
    pub fn shows_states(&self) -> bool {
        !self.context.quiet() && !self.context.json()
    }

    /// Returns true if Ctrl-C was pressed.
    pub fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }

    /// Shows a note on standard error.
    pub fn note(&self, text: impl fmt::Display) {
        self.context.note(text);
    }

    /// Shows a text and a line break.
    pub fn say(&self, text: impl AsRef<str>) -> io::Result<()> {
        self.write(text.as_ref(), "\n")
    }

    fn write(&self, text: &str, end: &str) -> io::Result<()> {
        match self.context.json() {
            false => self.context.print_text(&format!("{text}{end}")),
            true => {
                // Errors of standard error are ignored.
                let _ = write!(io::stderr().lock(), "{text}{end}");
                Ok(())
            }
        }
    }

    /// Shows a state.
    pub fn state<M: Machine>(
        &self,
        machine: &M,
        state: &M::State,
        number: usize,
    ) -> io::Result<()> {
        let facts = machine.facts(state);
        let count = format::counted(facts.len(), "fact");
        self.say(format!("\nstate {number}: {count}"))?;
        self.facts(machine, &facts, false)
    }

    /// Shows what the role knows of the state.
    fn known<M: Machine>(
        &self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
        limits: machine::Limits,
        kept: &mut Option<Known>,
    ) -> anyhow::Result<String> {
        let known = hidden::belief(machine, turn, limits, kept)?;
        let drawn = known.drawing(machine, self.picture, DrawingLimits::default())?;
        let text = ggp_picture::text(&drawn.drawing);
        Ok(match drawn.note {
            Some(note) => format!("{text}\n{note}"),
            None => text,
        })
    }

    /// Shows facts, drawn on boards if there are any. If the game is over in their state, nobody is
    /// to move.
    pub fn facts<M: Machine>(
        &self,
        machine: &M,
        facts: &[TermId],
        is_over: bool,
    ) -> io::Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        let limits = DrawingLimits::default();
        let drawing = self.picture.draw(machine.terms(), facts, limits);
        let drawing = if is_over { drawing.at_end() } else { drawing };
        self.say(ggp_picture::text(&drawing))
    }

    /// Reads a line; `None` at the end of the input. The line is echoed unless the input is a
    /// terminal.
    fn ask(&self, prompt: &str) -> io::Result<Option<String>> {
        self.write(prompt, "> ")?;
        let mut line = Vec::new();
        let mut input = io::stdin().lock().take(LONGEST_LINE);
        self.context
            .waiting(|| input.read_until(b'\n', &mut line))?;
        if line.is_empty() {
            self.say("(end of input)")?;
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if !io::stdin().is_terminal() {
            self.say(&line)?;
        }
        Ok(Some(line))
    }

    /// Gives the terminal to the person of a role, after another one if `is_next`, whose view is
    /// cleared first, with all lines before it.
    fn hand_over(&self, role: &str, is_next: bool) -> io::Result<()> {
        let shows = match self.context.json() {
            false => io::stdout().is_terminal(),
            true => io::stderr().is_terminal(),
        };
        match (shows && io::stdin().is_terminal(), is_next) {
            (true, _) => {
                if is_next {
                    self.write(CLEAR, "")?;
                }
                self.ask(&format!("pass the keyboard to {role}, who presses Enter"))?;
            }
            (false, true) => {}
            (false, false) => self.context.note(
                "several people play, and what each of them knows stays visible: only a terminal is cleared \
                 between their turns",
            ),
        }
        Ok(())
    }

    /// Asks a role's person whether to undo or quit when the game is over, and answers questions about
    /// the match. The moves and the state must be open to the person.
    pub fn after<M: Machine>(
        &self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
        limits: &machine::Limits,
    ) -> io::Result<After> {
        loop {
            let Some(line) = self.ask("undo or quit")? else {
                return Ok(After::Quit);
            };
            let asked = Asked::of(line.strip_prefix('/').unwrap_or(&line));
            match asked {
                Some(Asked::Command(Command::Undo)) => return Ok(After::Undo),
                Some(Asked::Command(Command::Quit)) => return Ok(After::Quit),
                None if line.is_empty() => return Ok(After::Quit),
                Some(Asked::Command(Command::Help)) => self.say(HELP_AT_END)?,
                Some(Asked::Command(Command::State)) => {
                    self.facts(machine, &machine.facts(turn.history.state()), true)?;
                }
                Some(Asked::Command(Command::History)) => self.say(past(machine, turn.history))?,
                Some(Asked::Why(texts)) => {
                    let why =
                        |text: &String| reasons::why(machine, turn, limits.clone(), &[], text);
                    let answers: Vec<String> = texts.iter().map(why).collect();
                    self.say(answers.join("\n\n"))?;
                }
                Some(Asked::Wrong(message)) => self.say(message)?,
                Some(Asked::Command(Command::Moves | Command::Hint)) | None => {
                    self.say("the game is over, so there are no moves; type undo or quit, or help for help")?;
                }
            }
        }
    }
}

/// A player that asks a person.
pub struct Human<'a> {
    table: Table<'a>,
    /// The number of people that chose a move in the current step, shared by all.
    asked: Rc<Cell<usize>>,
    /// The role that was last shown what it knows, shared by all.
    viewer: Rc<Cell<Option<RoleId>>>,
    limits: machine::Limits,
    /// The positions that fit what the role knows, in games with hidden information.
    known: Option<Known>,
    adviser: Adviser,
    /// True if other people play, too.
    has_others: bool,
    /// The number of turns of which the person saw the view, in a game with `sees`.
    shown: usize,
}

impl<'a> Human<'a> {
    /// A person. All people share the counter of choices and the last viewer; the brief is for hints.
    pub fn new(
        table: Table<'a>,
        brief: Brief,
        (asked, viewer): (Rc<Cell<usize>>, Rc<Cell<Option<RoleId>>>),
        has_others: bool,
    ) -> Self {
        Human {
            table,
            asked,
            viewer,
            limits: brief.limits.clone(),
            known: None,
            adviser: Adviser::new(brief),
            has_others,
            shown: 0,
        }
    }

    /// Shows what the role knows, in a game with `sees`.
    fn view<M: Machine>(&mut self, machine: &M, turn: &Turn<'_, M::State>) -> io::Result<()> {
        let made = turn.history.len();
        let role = machine.game().role_name(turn.role);
        if self.has_others && self.viewer.get() != Some(turn.role) {
            self.table.hand_over(role, self.viewer.get().is_some())?;
            self.viewer.set(Some(turn.role));
        }
        self.table
            .say(format!("\nturn {}: {role} chooses", made + 1))?;
        // After an undo, the turn before is shown again.
        let shown = match self.has_others {
            true => 0,
            false => self.shown.min(made.saturating_sub(1)),
        };
        self.shown = made;
        let lines = hidden::view(machine, turn, shown);
        lines.iter().try_for_each(|line| self.table.say(line))
    }

    /// The answer to a question of `why`; some moves may be given by number.
    fn why<M: Machine>(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
        (numbered, text): (&[Move], &str),
    ) -> String {
        let game = machine.game();
        let limits = self.limits.clone();
        // The role random knows all.
        if !game.is_hidden() || game.is_random(turn.role) {
            return reasons::why(machine, turn, limits, numbered, text);
        }
        let spinner = self.table.context.spinner(FINDING);
        let answer = hidden::why(machine, turn, limits, &mut self.known, (numbered, text));
        spinner.finish_and_clear();
        answer.unwrap_or_else(|error| error.to_string())
    }

    fn converse<M: Machine>(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> anyhow::Result<Choice> {
        let table = self.table;
        let game = machine.game().clone();
        // The order does not depend on the backend.
        let mut legal = turn.legal.to_vec();
        let terms = machine.terms();
        legal.sort_by(|a, b| game.compare_terms(terms, a.term(), b.term()));
        let turn = &Turn {
            legal: &legal,
            ..*turn
        };
        let menu = Menu::new(machine, turn.legal);
        let is_hidden = game.is_hidden();
        // A state is shown to the first person that is asked.
        if is_hidden {
            self.view(machine, turn)?;
        } else if self.asked.get() == 0 {
            table.state(machine, turn.history.state(), turn.history.len())?;
        }
        table.say(menu.text())?;
        loop {
            let Some(line) = table.ask(game.role_name(turn.role))? else {
                return Ok(Choice::Quit);
            };
            match menu.read(machine, &line) {
                Input::Nothing => {}
                Input::Move(chosen) => {
                    self.asked.set(self.asked.get() + 1);
                    return Ok(Choice::Play(chosen));
                }
                Input::Wrong(message) | Input::Asked(Asked::Wrong(message)) => {
                    table.say(format!("{message}; type help for help"))?;
                }
                // The role random knows all.
                Input::Asked(Asked::Command(Command::State))
                    if is_hidden && !game.is_random(turn.role) =>
                {
                    let spinner = table.context.spinner(FINDING);
                    let limits = self.limits.clone();
                    let known = table.known(machine, turn, limits, &mut self.known);
                    spinner.finish_and_clear();
                    table.say(known.unwrap_or_else(|error| error.to_string()))?;
                }
                Input::Asked(Asked::Why(texts)) => {
                    let numbered = if menu.numbered { turn.legal } else { &[] };
                    let mut answers = Vec::new();
                    for text in &texts {
                        answers.push(self.why(machine, turn, (numbered, text)));
                    }
                    table.say(answers.join("\n\n"))?;
                }
                Input::Asked(Asked::Command(Command::Help)) if is_hidden => {
                    table.say(HIDDEN_HELP)?
                }
                Input::Asked(Asked::Command(Command::History)) if is_hidden => {
                    let lines = hidden::view(machine, turn, 0);
                    table.say(match lines.is_empty() {
                        true => "no moves yet".to_owned(),
                        false => lines.join("\n"),
                    })?;
                }
                Input::Asked(Asked::Command(Command::Undo)) if is_hidden && self.has_others => {
                    table.say("with several people, nothing is taken back: you would see again what others chose")?;
                }
                Input::Asked(Asked::Command(Command::Undo)) => return Ok(Choice::Undo),
                Input::Asked(Asked::Command(Command::Quit)) => return Ok(Choice::Quit),
                Input::Asked(Asked::Command(Command::Help)) => table.say(HELP)?,
                Input::Asked(Asked::Command(Command::Moves)) => table.say(menu.text())?,
                Input::Asked(Asked::Command(Command::State)) => {
                    table.state(machine, turn.history.state(), turn.history.len())?;
                }
                Input::Asked(Asked::Command(Command::History)) => {
                    table.say(past(machine, turn.history))?
                }
                Input::Asked(Asked::Command(Command::Hint)) => {
                    let spinner = table.context.spinner("looking for a move");
                    let text = self.adviser.hint(machine, turn);
                    spinner.finish_and_clear();
                    let text = text?;
                    table.say(text)?;
                }
            }
        }
    }
}

impl<M: Machine> Player<M> for Human<'_> {
    fn choose(
        &mut self,
        machine: &mut M,
        turn: &Turn<'_, M::State>,
    ) -> Result<Choice, PlayerError> {
        self.converse(machine, turn).map_err(|error| {
            let other = match error.downcast() {
                Ok(error) => return PlayerError::Play(error),
                Err(other) => other,
            };
            // The command needs to recognize a broken pipe.
            PlayerError::Other(match other.downcast::<io::Error>() {
                Ok(error) => Box::new(error),
                Err(other) => other.into(),
            })
        })
    }
}

fn past<M: Machine>(machine: &M, history: &History<M::State>) -> String {
    if history.is_empty() {
        return "no moves yet".to_owned();
    }
    let lines = (1..).zip(history.plies()).map(|(number, ply)| {
        let line = format::joint_line(machine, &ply.joint);
        format!("{number}: {line}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A command.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Command {
    Help,
    Moves,
    State,
    History,
    Hint,
    Undo,
    Quit,
}

impl Command {
    fn of(word: &str) -> Option<Command> {
        Some(match &word.to_ascii_lowercase()[..] {
            "help" | "?" => Command::Help,
            "moves" | "legal" => Command::Moves,
            "state" => Command::State,
            "history" => Command::History,
            "hint" => Command::Hint,
            "undo" => Command::Undo,
            "quit" | "exit" => Command::Quit,
            _ => return None,
        })
    }
}

/// A line that is a command with its arguments.
enum Asked {
    Command(Command),
    /// The questions of `why`, at least one.
    Why(Vec<String>),
    Wrong(String),
}

impl Asked {
    /// The command of a line, if its first word is one.
    fn of(line: &str) -> Option<Asked> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word.eq_ignore_ascii_case("why") {
            let parts = rest.split(';').map(|part| part.trim().to_owned());
            let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
            // Without a question, the answer is how to ask one.
            let is_empty = parts.is_empty();
            return Some(Asked::Why(if is_empty {
                vec![String::new()]
            } else {
                parts
            }));
        }
        let command = Command::of(word)?;
        Some(if rest.is_empty() {
            Asked::Command(command)
        } else {
            Asked::Wrong(format!("{word} takes no argument"))
        })
    }
}

/// The meaning of a line.
enum Input {
    Nothing,
    Move(Move),
    Asked(Asked),
    /// The line is not understood.
    Wrong(String),
}

/// The list of legal moves.
struct Menu {
    game: Game,
    moves: Vec<(Move, String)>,
    /// True if a move may be chosen by its number. False if a move is itself a number.
    numbered: bool,
}

impl Menu {
    fn new<M: Machine>(machine: &M, legal: &[Move]) -> Self {
        let texts = legal.iter().map(|m| (*m, format::move_text(machine, *m)));
        let moves: Vec<(Move, String)> = texts.collect();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        Menu {
            game: machine.game().clone(),
            numbered: !moves.iter().any(|(_, text)| is_number(text)),
            moves,
        }
    }

    fn text(&self) -> String {
        let words = (1..)
            .zip(&self.moves)
            .map(|(number, (_, text))| match self.numbered {
                true => format!("[{number}] {text}"),
                false => text.clone(),
            });
        format::wrapped(&words.collect::<Vec<_>>(), 100)
    }

    fn read<M: Machine>(&self, machine: &mut M, line: &str) -> Input {
        if line.is_empty() {
            return Input::Nothing;
        }
        if let Some(word) = line.strip_prefix('/') {
            return match Asked::of(word) {
                Some(asked) => Input::Asked(asked),
                None => Input::Wrong(format!("unknown command {word}")),
            };
        }
        let inner = line
            .strip_prefix('(')
            .and_then(|line| line.strip_suffix(')'));
        let prefix = prefix_notation(inner.unwrap_or(line));
        let texts = [line, &format!("({line})"), &prefix, &format!("({prefix})")];
        let parse = |text: &&str| self.game.parse_term(machine.terms_mut(), text);
        let read = texts.iter().map(parse).collect::<Vec<_>>();
        let is_legal = |term: &TermId| self.moves.iter().any(|(legal, _)| legal.term() == *term);
        if let Some(term) = read.iter().flatten().find(|term| is_legal(term)) {
            return Input::Move(Move::new(*term));
        }
        if let Some(asked) = Asked::of(line) {
            return Input::Asked(asked);
        }
        if self.numbered
            && let Ok(number) = line.parse::<usize>()
        {
            return match number.checked_sub(1).and_then(|i| self.moves.get(i)) {
                Some((chosen, _)) => Input::Move(*chosen),
                None => Input::Wrong(format!("move numbers are 1 to {}", self.moves.len())),
            };
        }
        let understood = texts.iter().zip(&read).find(|(_, term)| term.is_ok());
        // A name with arguments was meant where there are several words.
        let is_term = prefix.starts_with('(') || !prefix.trim_end().contains(' ');
        let meant = if is_term { &read[2] } else { &read[3] };
        Input::Wrong(match (understood, meant) {
            (Some(_), _) if self.game.is_hidden() || line.contains(';') => {
                format!("`{line}` is not a legal move here")
            }
            (Some((text, _)), _) => {
                format!("`{line}` is not a legal move here (`why {text}` explains)")
            }
            (None, Err(error)) => {
                let (_, example) = &self.moves[0];
                format!("{error}; a move is written like `{example}`")
            }
            (None, Ok(_)) => unreachable!("one of the texts was understood"),
        })
    }
}
