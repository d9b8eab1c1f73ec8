//! The position that a command starts from: a state, and moves made from it.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail};

use super::Context;
use super::rule_files::{self, RuleOptions};
use ggp_engine::machine::{self, Machine, PlayError};
use ggp_gdl::game::{Game, Move, ParseTermError};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::syntax::{self, Sexp, SexpKind, SyntaxLimits};
use ggp_gdl::terms::TermId;

/// The position to start from: the initial state unless an option names another.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PositionOptions {
    /// Start from the state with the facts in this file; `-` is standard input
    ///
    /// The facts are written as `ggp state` prints them, with or without (true ...) around
    /// each.
    #[arg(long, value_name = "FILE", help_heading = "Position")]
    pub state: Option<PathBuf>,
    /// Make these joint moves first: "(mark 1 1) wait; wait (mark 2 2)"
    ///
    /// Joint moves are separated by `;` or line breaks. Each has one move for each role, in
    /// the order of the roles. Roles with a single legal move may be left out.
    #[arg(long, value_name = "MOVES", help_heading = "Position")]
    pub moves: Option<String>,
    /// Make the joint moves in this file first; `-` is standard input
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Position",
        conflicts_with = "moves"
    )]
    pub moves_file: Option<PathBuf>,
}

impl PositionOptions {
    /// Whether the position is read from standard input.
    pub fn uses_stdin(&self) -> bool {
        self.stdin_uses() > 0
    }

    fn stdin_uses(&self) -> usize {
        let paths = self.state.iter().chain(&self.moves_file);
        paths.filter(|path| path.as_os_str() == "-").count()
    }

    /// The state to start from.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, a text is not a fact or move of the game, or a move is not
    /// legal.
    pub fn state<M: Machine>(
        &self,
        machine: &mut M,
        rules: &RuleOptions,
        context: &Context,
    ) -> anyhow::Result<M::State> {
        let (start, history) = self.start_and_moves(machine, rules, context)?;
        Ok(history.into_iter().last().map_or(start, |(_, state)| state))
    }

    /// The state before the given moves, and each joint move with the state after it.
    ///
    /// # Errors
    ///
    /// As [`PositionOptions::state`].
    #[allow(clippy::type_complexity)] // A type of its own would have one use.
    pub fn start_and_moves<M: Machine>(
        &self,
        machine: &mut M,
        rules: &RuleOptions,
        context: &Context,
    ) -> anyhow::Result<(M::State, Vec<(Vec<Move>, M::State)>)> {
        let inputs = self.stdin_uses() + usize::from(rules.uses_stdin());
        if inputs > 1 {
            bail!("standard input (`-`) can be read only once");
        }
        let start = match &self.state {
            None => machine.initial()?,
            Some(path) => {
                let text = rule_files::read_text(path, rules.max_bytes, context)?;
                let facts = parse_facts(machine, &rule_files::shown_name(path), &text)?;
                machine.state(&facts)?
            }
        };
        let (name, text) = match (&self.moves, &self.moves_file) {
            (Some(text), _) => ("--moves".to_owned(), text.clone()),
            (None, Some(path)) => (
                rule_files::shown_name(path),
                rule_files::read_text(path, rules.max_bytes, context)?,
            ),
            (None, None) => return Ok((start, Vec::new())),
        };
        let mut made = Vec::new();
        let mut state = start.clone();
        let texts = text.split([';', '\n', '\r']).map(str::trim);
        for (number, text) in (1..).zip(texts.filter(|text| !text.is_empty())) {
            let place = || format!("{name}, move {number}, `{text}`");
            if machine.is_terminal(&state)? {
                return Err(PlayError::GameOver).with_context(place);
            }
            let joint = parse_joint(machine, &state, text).with_context(place)?;
            let next = machine.play(&state, &joint).map_err(anyhow::Error::from);
            let next = next.map_err(|error| {
                if has_outer_comma(text) {
                    error.context("joint moves are separated by `;`, not by commas")
                } else {
                    error
                }
            });
            state = next.with_context(place)?;
            made.push((joint, state.clone()));
        }
        Ok((start, made))
    }
}

/// Reads a joint move: one move for each role; roles with a single legal move may be left
/// out. Whether the moves are legal is not checked.
///
/// # Errors
///
/// If the text is not a list of terms of the game, or has too few or too many of them. The
/// message does not repeat the whole text.
pub fn parse_joint<M: Machine>(
    machine: &mut M,
    state: &M::State,
    text: &str,
) -> anyhow::Result<Vec<Move>> {
    let game = machine.game().clone();
    let terms = game.parse_terms(machine.terms_mut(), text);
    let terms = terms
        .or_else(|error| {
            let other = game.parse_terms(machine.terms_mut(), &prefix_notation(text));
            other.map_err(|_| error)
        })
        .map_err(|error| match error {
            ParseTermError::Malformed(part) if part == text.trim() => {
                anyhow!("this is not a term such as `noop` or `(f a 1)`, or a list of them")
            }
            error => error.into(),
        })?;
    let given = terms.into_iter().map(Move::new).collect();
    Ok(machine::completed(machine, state, given)?)
}

/// `(mark 1 1)` for `mark(1, 1)`: the notation of mathematics and of Prolog as that of the rules.
pub(crate) fn prefix_notation(line: &str) -> String {
    let mut text = String::new();
    let mut name = 0;
    for letter in line.chars() {
        match letter {
            '(' if name < text.len() => {
                text.insert(name, '(');
                text.push(' ');
            }
            ',' => text.push(' '),
            letter => text.push(letter),
        }
        if letter.is_whitespace() || "(),".contains(letter) {
            name = text.len();
        }
    }
    text
}

/// Whether a comma stands outside of all brackets.
fn has_outer_comma(text: &str) -> bool {
    let mut depth = 0;
    text.chars().any(|letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    })
}

/// Reads the facts of a state, with or without `(true ...)` around each. `name`
/// is shown in messages only.
///
/// # Errors
///
/// If the text is malformed or uses symbols that the rules do not have, with the place.
pub fn parse_facts<M: Machine>(
    machine: &mut M,
    name: &str,
    text: &str,
) -> anyhow::Result<Vec<TermId>> {
    let sources = Sources::from(Source::new(name, text));
    let (forms, findings) = syntax::read(&sources, SyntaxLimits::default());
    if let Some(finding) = findings.first() {
        return Err(match finding.span {
            Some(span) => anyhow!("{}: {}", sources.place(span), finding.message),
            None => anyhow!("{name}: {}", finding.message),
        });
    }
    let game: Game = machine.game().clone();
    let mut facts = Vec::with_capacity(forms.len());
    for form in &forms {
        let text = sources.text(inner_fact(form, &sources).span);
        let term = game.parse_fact(machine.terms_mut(), text);
        facts.push(
            term.with_context(|| format!("{}: not a fact of the game", sources.place(form.span)))?,
        );
    }
    Ok(facts)
}

/// The fact inside `(true ...)`, or the form itself.
fn inner_fact<'f>(form: &'f Sexp, sources: &Sources) -> &'f Sexp {
    match &form.kind {
        SexpKind::List(members) => match &members[..] {
            [word, fact] if sources.text(word.span).eq_ignore_ascii_case("true") => fact,
            _ => form,
        },
        _ => form,
    }
}
