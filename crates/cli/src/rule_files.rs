//! Rule files, the options for reading them, and the machine that runs them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};

use super::{Context, Reported, text_files};
use crate::rule_limits::EvaluationOptions;
use ggp_engine::machine::{AnyMachine, Backend, DatalogMachine, Limits, PlayError, PropnetMachine};
use ggp_engine::propnet::code::Engine;
use ggp_gdl::check::{self, Beginning, ReadOptions, Reading};
use ggp_gdl::counted::counted;
use ggp_gdl::diagnostic::{self, Code, Diagnostic, Severity, Strictness};
use ggp_gdl::game::{Game, GoalChoice};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::SyntaxLimits;
use ggp_gdl::text_grid::Grid;
use ggp_stop::Stop;

/// A rule set and the limits for reading and running it.
#[derive(clap::Args, Clone, Debug)]
pub struct RuleOptions {
    /// Rule files; several files form one rule set, `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub files: Vec<PathBuf>,
    /// Add the cells of a text grid to the rules, as facts (grid ROW COLUMN VALUE)
    #[arg(long, value_name = "FILE", help_heading = "Rules", long_help = GRID_HELP)]
    pub grid: Option<PathBuf>,
    /// Treat warnings about sloppy rules as errors
    #[arg(long, help_heading = "Rules")]
    pub strict: bool,
    /// Distinguish upper and lower case: `Cell` is not `cell`
    #[arg(long, help_heading = "Rules")]
    pub case_sensitive: bool,
    /// Backend that evaluates the rules
    #[arg(long, value_parser = backend_parser(), default_value = "auto", help_heading = "Rules")]
    pub backend: Backend,
    #[command(flatten)]
    pub(super) engine: EngineOptions,
    /// The treatment of several goal values.
    #[command(flatten)]
    pub goals: GoalOptions,
    /// Maximum size of the rules, in bytes
    #[arg(long, value_name = "N", default_value_t = SyntaxLimits::default().bytes)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    pub max_bytes: usize,
    /// The limits of reading and evaluating the rules.
    #[command(flatten)]
    pub evaluation: EvaluationOptions,
}

/// The treatment of several goal values of one role.
#[derive(clap::Args, Copy, Clone, Debug)]
pub struct GoalOptions {
    /// Score of a role that has several goal values in one state [default: that of a match record that
    /// is read, or else error]
    #[arg(long, value_parser = goals_parser(), help_heading = "Rules", hide_short_help = true)]
    pub goals: Option<GoalChoice>,
}

/// The engine that runs networks.
#[derive(clap::Args, Copy, Clone, Debug)]
pub struct EngineOptions {
    /// Interpret networks instead of compiling them to machine code
    #[arg(long, help_heading = "Rules")]
    pub no_jit: bool,
}

impl EngineOptions {
    /// The engine that the options select.
    pub fn engine(self) -> Engine {
        match self.no_jit {
            true => Engine::Interpreter,
            false => Engine::Auto,
        }
    }
}

/// The time limit for building a network unless one is given.
const GROUND_TIME: Duration = Duration::from_secs(5);

const GRID_HELP: &str = "\
Add the cells of a text grid to the rules, as facts (grid ROW COLUMN VALUE)

The rows are lines, or joined by `/`, or written [[1,2],[3,4]]. Cells are separated by spaces or \
commas; without separators, each character is a cell. Also added: (grid_rows R), (grid_columns C), \
(grid_row 1) ..., (grid_column 1) ..., (grid_next 1 2) ...";

/// The backends by their names on the command line.
const BACKENDS: &[(&str, Backend, &str)] = &[
    (
        "auto",
        Backend::Auto,
        "The backend that suits the command and the game",
    ),
    ("propnet", Backend::Propnet, "The propositional network"),
    (
        "mixed",
        Backend::Mixed,
        "Datalog for goals, and a network for the rest",
    ),
    (
        "datalog",
        Backend::Datalog,
        "The planned bottom-up evaluator",
    ),
    ("naive", Backend::Naive, "The slow and obvious evaluator"),
];

/// The backend of a name on the command line.
pub fn backend_named(name: &str) -> Option<Backend> {
    let row = BACKENDS.iter().find(|(known, ..)| *known == name);
    row.map(|(_, backend, _)| *backend)
}

/// The name of a backend on the command line.
pub fn backend_name(backend: Backend) -> &'static str {
    let row = BACKENDS.iter().find(|(_, known, _)| *known == backend);
    row.expect("every backend is in the table").0
}

/// Parses the name of a backend.
pub fn backend_parser() -> impl TypedValueParser<Value = Backend> {
    let values = BACKENDS
        .iter()
        .map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    let names = PossibleValuesParser::new(values);
    names.map(|name| backend_named(&name).expect("only names in the table are accepted"))
}

/// The reason why a file does not belong to a game, which `is_of` finds out for games.
pub fn other_rules(game: &Game, is_of: impl Fn(&Game) -> bool) -> String {
    let with = |choice: &GoalChoice| is_of(&game.choosing_goals(*choice));
    match GoalChoice::ALL.into_iter().find(with) {
        Some(choice) => format!("it was made with --goals {choice}"),
        None => "it was made from other rules, or is damaged".to_owned(),
    }
}

/// Parses the choice among several goal values.
fn goals_parser() -> impl TypedValueParser<Value = GoalChoice> {
    let values = GoalChoice::ALL.map(|choice| {
        PossibleValue::new(choice.name()).help(match choice {
            GoalChoice::Error => "Several goal values are an error",
            GoalChoice::Highest => "The highest of them",
            GoalChoice::Lowest => "The lowest of them",
        })
    });
    let names = PossibleValuesParser::new(values);
    names.map(|name| name.parse().expect("only names of choices are accepted"))
}

/// Rule options as a whole command line.
#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    rules: RuleOptions,
}

impl RuleOptions {
    /// Options for rule files with default limits.
    pub fn of(files: &[PathBuf]) -> Self {
        // After `--`, a name that begins with a hyphen is a file.
        let words = ["ggp", "--"].map(PathBuf::from);
        let alone = <Alone as clap::Parser>::try_parse_from(words.iter().chain(files));
        alone.expect("files alone are enough").rules
    }

    /// Reads and checks the rule set without printing anything. Errors in the rules are
    /// among the findings.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or the grid is malformed.
    pub fn read(&self, context: &Context) -> anyhow::Result<Reading> {
        self.read_until(context.stop(), context)
    }

    fn read_until(&self, stop: &Stop, context: &Context) -> anyhow::Result<Reading> {
        let grid = match &self.grid {
            Some(path) => Some(self.read_grid(path, context)?),
            None => None,
        };
        let beginning = self.beginning(stop, context)?;
        self.read_with(beginning, grid.as_ref(), stop, context)
    }

    /// Reads the texts of the rule files without checking them, for one grid or for many.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn beginning(&self, stop: &Stop, context: &Context) -> anyhow::Result<Beginning> {
        let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";
        let inputs = self.files.iter().chain(&self.grid).filter(is_stdin).count();
        if inputs > 1 {
            bail!("standard input (`-`) can be read only once");
        }
        let mut sources = Vec::new();
        for path in &self.files {
            sources.push(self.read_source(path, context)?);
        }
        let (sources, options) = (Sources::new(sources), self.read_options());
        Ok(context.preparing(|| Beginning::read_until(sources, &options, stop)))
    }

    /// Checks the rule files together with a grid, ignoring `--grid`, without printing
    /// anything.
    ///
    /// # Errors
    ///
    /// If `stop` is over before the end.
    pub fn read_with(
        &self,
        beginning: Beginning,
        grid: Option<&Grid>,
        stop: &Stop,
        context: &Context,
    ) -> anyhow::Result<Reading> {
        let more = grid.map(Grid::to_source).into_iter().collect();
        let reading = context.preparing(|| beginning.with(more, stop));
        let mut reading = self.in_time(reading, stop, context)?;
        if grid.is_some() {
            // Rules need not use every fact of a grid.
            let file = self.files.len() as u32;
            let of_grid = |finding: &Diagnostic| finding.span.is_some_and(|s| s.file == file);
            let unused = |finding: &Diagnostic| finding.code == Code::Unused && of_grid(finding);
            reading.findings.retain(|finding| !unused(finding));
        } else {
            for finding in &mut reading.findings {
                let place = finding.span.filter(|_| finding.code == Code::Undefined);
                let atom = place.map_or("", |place| reading.sources.text(place));
                let name = atom.trim_start_matches('(').split_ascii_whitespace().next();
                if name.is_some_and(Grid::defines) {
                    finding.help = Some("a text grid provides it: --grid FILE".to_owned());
                }
            }
        }
        Ok(reading)
    }

    /// Reads and checks texts in memory, with these options.
    ///
    /// # Errors
    ///
    /// If `stop` is over before the end.
    pub fn read_sources(
        &self,
        sources: Sources,
        stop: &Stop,
        context: &Context,
    ) -> anyhow::Result<Reading> {
        let reading = context.preparing(|| check::read_until(sources, &self.read_options(), stop));
        self.in_time(reading, stop, context)
    }

    /// A reading, unless it was stopped. Its game has the choice among goal values.
    fn in_time(
        &self,
        mut reading: Reading,
        stop: &Stop,
        context: &Context,
    ) -> anyhow::Result<Reading> {
        if context.is_interrupted() {
            return Err(PlayError::Interrupted.into());
        }
        if stop.is_over() {
            bail!(
                "the time limit was reached before the rules were read; raise {}",
                context.time_option()
            );
        }
        let goals = self.goals.goals.unwrap_or_default();
        reading.game = reading.game.map(|game| game.choosing_goals(goals));
        Ok(reading)
    }

    /// The game of the rule set, accepted as by [`RuleOptions::accept`].
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or [`Reported`] if the rules have errors.
    pub fn game(&self, context: &Context) -> anyhow::Result<Game> {
        self.game_until(context.stop(), context)
    }

    /// As [`RuleOptions::game`], with a time limit.
    ///
    /// # Errors
    ///
    /// As [`RuleOptions::game`], or if `stop` is over before the rules are read.
    pub fn game_until(&self, stop: &Stop, context: &Context) -> anyhow::Result<Game> {
        self.accept(self.read_until(stop, context)?, context)
    }

    /// The game of a reading. Errors are printed on standard error; warnings are only counted there,
    /// since `ggp check` prints them.
    ///
    /// # Errors
    ///
    /// [`Reported`] if the rules have errors.
    pub fn accept(&self, reading: Reading, context: &Context) -> anyhow::Result<Game> {
        let has_warnings = (reading.findings.iter()).any(|f| f.severity == Severity::Warning);
        let mut summary = summary(&reading);
        if has_warnings {
            summary += &self.check_advice(&reading.sources);
        }
        match reading.game {
            Some(game) => {
                if has_warnings {
                    context.note(summary);
                }
                Ok(game)
            }
            None => {
                let errors = reading.findings.into_iter();
                let errors: Vec<Diagnostic> =
                    errors.filter(|f| f.severity == Severity::Error).collect();
                report(&errors, &reading.sources, context);
                if !context.json() {
                    let _ = writeln!(io::stderr(), "{summary}");
                }
                Err(Reported.into())
            }
        }
    }

    /// The end of a line about findings: the command line that prints all of them, or the origin
    /// of rules that no command line names.
    fn check_advice(&self, sources: &Sources) -> String {
        let names: Vec<&str> = sources.files().iter().map(Source::name).collect();
        let is_read = |path: &PathBuf| names.contains(&&*shown_name(path));
        if !self.files.iter().all(is_read) {
            return format!(" in {}", names.join(", "));
        }
        let line = self.check_line();
        let is_input = |path: &PathBuf| path.as_os_str() == "-";
        match (
            self.files.iter().any(is_input),
            self.grid.iter().any(is_input),
        ) {
            (true, _) => format!("; pass the rules to `{line}`"),
            (_, true) => format!("; pass the grid to `{line}`"),
            _ => format!("; see `{line}`"),
        }
    }

    fn check_line(&self) -> String {
        let mut line = "ggp check".to_owned();
        let files = self.files.iter().map(|path| ("", path));
        for (option, path) in files.chain(self.grid.iter().map(|path| (" --grid", path))) {
            let path = path.to_string_lossy();
            line += &if path.contains(char::is_whitespace) {
                format!("{option} '{path}'")
            } else {
                format!("{option} {path}")
            };
        }
        line
    }

    /// The game's machine for a question about one position.
    ///
    /// Unless a backend is named, Datalog evaluates the rules if no earlier run kept their network:
    /// building one takes longer than it saves on few states.
    ///
    /// # Errors
    ///
    /// As [`RuleOptions::machine`].
    pub fn machine_for_one_position(&self, context: &Context) -> anyhow::Result<AnyMachine> {
        self.machine_for_little(context, DatalogMachine::for_one_position)
    }

    /// The game's machine for a few hundred states, chosen as in
    /// [`RuleOptions::machine_for_one_position`].
    ///
    /// # Errors
    ///
    /// As [`RuleOptions::machine`].
    pub fn machine_for_few_states(&self, context: &Context) -> anyhow::Result<AnyMachine> {
        self.machine_for_little(context, DatalogMachine::for_few_states)
    }

    fn machine_for_little(
        &self,
        context: &Context,
        datalog: fn(&Game, Limits) -> Result<DatalogMachine, PlayError>,
    ) -> anyhow::Result<AnyMachine> {
        let game = self.game(context)?;
        if self.backend != Backend::Auto {
            return self.machine_for(&game, context);
        }
        let limits = self.limits(context);
        Ok(match PropnetMachine::kept(&game, limits.clone()) {
            Some(machine) => AnyMachine::Propnet(Box::new(machine)),
            None => {
                let machine = context.preparing(|| datalog(&game, limits))?;
                AnyMachine::Datalog(Box::new(machine))
            }
        })
    }

    /// The game and a machine for it.
    ///
    /// # Errors
    ///
    /// As [`RuleOptions::game`], or if the facts that hold in every state exceed the limits.
    pub fn machine(&self, context: &Context) -> anyhow::Result<AnyMachine> {
        let game = self.game(context)?;
        self.machine_for(&game, context)
    }

    /// A machine for a game.
    ///
    /// # Errors
    ///
    /// If the facts that hold in every state exceed the limits.
    pub fn machine_for(&self, game: &Game, context: &Context) -> anyhow::Result<AnyMachine> {
        Ok(self.machine_within(game, self.limits(context), context)?)
    }

    /// As [`RuleOptions::machine_for`], with other limits.
    ///
    /// # Errors
    ///
    /// As [`RuleOptions::machine_for`].
    pub fn machine_within(
        &self,
        game: &Game,
        limits: Limits,
        context: &Context,
    ) -> Result<AnyMachine, PlayError> {
        let spinner = context.spinner("preparing the rules");
        let made = context.preparing(|| match self.backend {
            Backend::Auto => AnyMachine::auto(game, limits),
            chosen => AnyMachine::new(game, chosen, limits).map(|m| (m, None)),
        });
        spinner.finish_and_clear();
        let (machine, why_not) = made?;
        if let Some(reason) = why_not {
            let what = match &machine {
                AnyMachine::Mixed(_) => "goals",
                _ => "the rules",
            };
            context.note(format_args!(
                "Datalog evaluates {what}; their network would exceed a limit: {reason}"
            ));
        }
        Ok(machine)
    }

    /// The limits of the machine.
    pub fn limits(&self, context: &Context) -> Limits {
        self.limits_within(None, context)
    }

    /// The limits of the machine for a search with a time limit. Grounding may take a quarter of
    /// that time where it is more than usual.
    pub fn limits_within(&self, time: Option<Duration>, context: &Context) -> Limits {
        let ground_time = time.map_or(GROUND_TIME, |time| GROUND_TIME.max(time / 4));
        self.evaluation
            .limits(ground_time, self.engine.engine(), context)
    }

    /// Whether the rules are read from standard input.
    pub fn uses_stdin(&self) -> bool {
        self.files
            .iter()
            .chain(&self.grid)
            .any(|path| path.as_os_str() == "-")
    }

    fn read_options(&self) -> ReadOptions {
        ReadOptions {
            strictness: match self.strict {
                true => Strictness::Strict,
                false => Strictness::Tolerant,
            },
            case: match self.case_sensitive {
                true => Case::Keep,
                false => Case::Fold,
            },
            ..self.evaluation.read_options(self.max_bytes)
        }
    }

    fn read_source(&self, path: &Path, context: &Context) -> anyhow::Result<Source> {
        let bytes = read_at_most(path, self.max_bytes, context)?;
        refuse_other_encodings(path, &bytes)?;
        let text = match bytes.len() > self.max_bytes {
            // The part read is long enough for the reader to refuse it.
            true => String::from_utf8_lossy(&bytes).into_owned(),
            false => as_text(path, bytes, context),
        };
        text_files::refuse_infix(path, &text)?;
        context.keep(path);
        let name = shown_name(path);
        refuse_other_text(&name, &text)?;
        Ok(Source::new(name, text))
    }

    fn read_grid(&self, path: &Path, context: &Context) -> anyhow::Result<Grid> {
        let text = read_text(path, self.max_bytes, context)?;
        Ok(Grid::read(&shown_name(path), &text)?)
    }
}

/// Prints errors on standard error.
pub fn report(findings: &[Diagnostic], sources: &Sources, context: &Context) {
    let style = context.style(&io::stderr());
    // Findings that cannot be written are not worth failing for.
    let mut out = io::stderr().lock();
    for finding in findings {
        if context.json() {
            let record = finding.to_record(sources);
            let text = serde_json::to_string(&record);
            let text = text.expect("strings and numbers are JSON");
            let _ = writeln!(out, "{text}");
        } else {
            let text = finding.render(sources, style);
            let _ = writeln!(out, "{text}\n");
        }
    }
}

/// The name of a file in messages.
pub fn shown_name(path: &Path) -> String {
    if path.as_os_str() == "-" {
        return "<stdin>".to_owned();
    }
    path.display().to_string()
}

/// The text of a file, or of standard input for `-`. Bytes that are not UTF-8 become U+FFFD,
/// with a note.
///
/// # Errors
///
/// If the file cannot be read or is larger than `--max-bytes`.
pub fn read_text(path: &Path, most: usize, context: &Context) -> anyhow::Result<String> {
    let bytes = read_bytes(path, most, context)?;
    refuse_other_encodings(path, &bytes)?;
    Ok(as_text(path, bytes, context))
}

/// Refuses bytes that are no text, or text with two bytes and more for each character, with one error in
/// place of hundreds.
///
/// # Errors
///
/// If they are encoded so.
pub fn refuse_other_encodings(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let first = &bytes[..bytes.len().min(1 << 10)];
    let share = |is_one: fn(&u8) -> bool| {
        first.iter().filter(|byte| is_one(byte)).count() as f64 / first.len().max(1) as f64
    };
    // Most characters of rules are letters of one byte: the others of a character are zero.
    let has_width = |width: usize| {
        let is_letter = |some: &&[u8]| {
            let zeros = some.iter().filter(|byte| **byte == 0).count();
            zeros + 1 == width
                && some
                    .iter()
                    .any(|byte| *byte == b'\n' || byte.is_ascii_graphic() || *byte == b' ')
        };
        let characters = first.chunks_exact(width);
        let count = characters.len();
        count > 0 && 2 * characters.filter(is_letter).count() > count
    };
    let has_mark = [[0xff, 0xfe], [0xfe, 0xff]]
        .iter()
        .any(|mark| bytes.starts_with(mark));
    let name = shown_name(path);
    if has_mark || has_width(2) || has_width(4) {
        bail!("{name} is in UTF-16 or UTF-32: save it as UTF-8");
    }
    if share(|byte| matches!(byte, 0..9 | 14..32)) > 0.05 {
        bail!("{name} is not a text file");
    }
    Ok(())
}

/// Refuses a text that is not one of rules: an object of JSON, such as a match record, or a program.
///
/// # Errors
///
/// If it is no text of rules.
pub fn refuse_other_text(name: &str, text: &str) -> anyhow::Result<()> {
    /// Names outside of brackets, of which there are hardly any in rules.
    const MANY: usize = 10;
    let inside = text.trim_start().strip_prefix('{');
    if inside.is_some_and(|text| text.trim_start().starts_with('"')) {
        bail!(
            "{name} is JSON, not rules: `ggp replay` reads match records, and `ggp verify` answers"
        );
    }
    let (mut names, mut lists, mut depth) = (0, 0, 0_usize);
    for line in text.lines() {
        let line = line.split(';').next().unwrap_or_default();
        let mut is_name = false;
        for sign in line.chars() {
            let is_bracket = matches!(sign, '(' | ')');
            let is_new = depth == 0 && !is_name && !is_bracket && !sign.is_whitespace();
            names += usize::from(is_new);
            is_name = !is_bracket && !sign.is_whitespace();
            lists += usize::from(depth == 0 && sign == '(');
            depth = match sign {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
        }
    }
    if names >= MANY && names > lists {
        let names = counted(names, "name");
        bail!("{name} is not a text of rules: it has {names} outside of brackets");
    }
    Ok(())
}

fn as_text(path: &Path, bytes: Vec<u8>, context: &Context) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let at = error.utf8_error().valid_up_to();
        let name = shown_name(path);
        context.note(format_args!(
            "{name} is not UTF-8 from byte {at} on; unreadable bytes are shown as \u{FFFD}"
        ));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

/// The bytes of a file, or of standard input for `-`.
///
/// # Errors
///
/// If the file cannot be read or is larger than `--max-bytes`.
pub fn read_bytes(path: &Path, most: usize, context: &Context) -> anyhow::Result<Vec<u8>> {
    let bytes = read_at_most(path, most, context)?;
    if bytes.len() > most {
        let name = shown_name(path);
        let most = counted(most, "byte");
        bail!("{name} has more than {most}; raise the limit with --max-bytes");
    }
    Ok(bytes)
}

/// As [`read_bytes`], but of a larger file only the first `most` + 1 bytes.
pub(super) fn read_at_most(path: &Path, most: usize, context: &Context) -> anyhow::Result<Vec<u8>> {
    if path.as_os_str().is_empty() {
        bail!("the name of a file is empty");
    }
    let name = shown_name(path);
    let mut bytes = Vec::new();
    let more = (most as u64).saturating_add(1);
    let read = if path.as_os_str() == "-" {
        context.waiting(|| io::stdin().lock().take(more).read_to_end(&mut bytes))
    } else {
        // To open a named pipe is to wait, too.
        let file = context.waiting(|| File::open(path));
        let file = file.with_context(|| {
            if name.starts_with('(') {
                format!(
                    "{name} is not the name of a file; moves follow --moves, or --move of ggp next, \
                     and `-` reads the text from standard input"
                )
            } else {
                format!("cannot open {name}")
            }
        })?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            bail!("{name} is a folder; give the files of one game");
        }
        context.waiting(|| file.take(more).read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read {name}"))?;
    Ok(bytes)
}

/// `2 errors, 1 warning`.
pub fn summary(reading: &Reading) -> String {
    let findings = &reading.findings;
    let count = |severity, word| {
        let count = findings.iter().filter(|f| f.severity == severity).count();
        (count > 0).then(|| counted(count, word))
    };
    let counts = [
        count(Severity::Error, "error"),
        count(Severity::Warning, "warning"),
    ];
    let mut counts: Vec<String> = counts.into_iter().flatten().collect();
    if reading.omitted > 0 {
        counts.push(counted(reading.omitted, "more finding"));
    }
    if counts.is_empty() {
        "no errors".to_owned()
    } else {
        counts.join(", ")
    }
}

/// Whether a reading has a game and no errors.
pub fn is_usable(reading: &Reading) -> bool {
    reading.game.is_some() && !diagnostic::has_errors(&reading.findings)
}
/// The files of each rule set: the given ones, and all in folders, ordered by name.
///
/// # Errors
///
/// If a file is missing, or a folder cannot be listed or has no rule file.
pub fn rule_sets(arguments: &[PathBuf]) -> anyhow::Result<Vec<Vec<PathBuf>>> {
    let mut games = Vec::new();
    for argument in arguments {
        let name = argument.display();
        if argument.is_dir() {
            let entries =
                std::fs::read_dir(argument).with_context(|| format!("cannot list {name}"))?;
            let mut files = Vec::new();
            for entry in entries {
                let path = entry.with_context(|| format!("cannot list {name}"))?.path();
                let is_rules = path.extension().is_some_and(|ending| ending == "kif");
                files.extend((is_rules && path.is_file()).then_some(path));
            }
            if files.is_empty() {
                bail!("{name} contains no rule file (.kif)");
            }
            files.sort();
            games.extend(files.into_iter().map(|file| vec![file]));
        } else if argument.as_os_str() == "-" {
            bail!("standard input (`-`) cannot be read by several processes; give a file");
        } else if argument.exists() {
            games.push(vec![argument.clone()]);
        } else {
            let parts = name.to_string();
            let parts: Vec<PathBuf> = parts.split('+').map(PathBuf::from).collect();
            if let Some(missing) = parts.iter().find(|part| !part.is_file()) {
                bail!("the file {} does not exist", missing.display());
            }
            games.push(parts);
        }
    }
    Ok(games)
}
