//! The environment of a command: streams, colours, interrupts, files.

use ggp_stop::Stop;
use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::bench::usage::cpu_time;
use super::text_files;
use ggp_gdl::diagnostic::Style;
use ggp_play::whole_file;

/// The reason why the lock on the list of rule files cannot be poisoned.
const UNBROKEN: &str = "no thread panics while it holds the list";

/// The longest time from an interrupt to the end of preparations.
const GRACE: Duration = Duration::from_millis(700);
/// The least CPU time that a process takes in that time if it is not blocked, even if it shares its
/// processor with many others.
const IDLE: Duration = Duration::from_millis(10);
/// The longest time for the last message.
const LAST_MESSAGE: Duration = Duration::from_millis(50);

/// The condition under which the output is coloured.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum ColourChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A failure whose messages have already been printed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Reported;

impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("see the messages above")
    }
}

impl std::error::Error for Reported {}

/// The environment of one command.
#[derive(Debug)]
pub struct Context {
    json: bool,
    quiet: bool,
    colour: ColourChoice,
    stop: Stop,
    /// Whether the command is waiting for input, which no flag can interrupt.
    waiting: Arc<AtomicBool>,
    /// Whether the command has nothing to show or to save yet.
    preparing: Arc<AtomicBool>,
    /// Whether the command waits for other processes, which look at the stop themselves.
    delegating: Arc<AtomicBool>,
    /// The rule files that were read.
    rules: Mutex<Vec<PathBuf>>,
    /// The option that limits the time of the command.
    time_option: &'static str,
}

impl Context {
    /// The environment of this process. From now on Ctrl-C raises [`Context::stop`]; a
    /// second Ctrl-C ends the process at once.
    pub(super) fn new(json: bool, quiet: bool, colour: ColourChoice) -> anyhow::Result<Self> {
        let context = Context {
            json,
            quiet,
            colour,
            stop: Stop::new(),
            waiting: Arc::default(),
            preparing: Arc::default(),
            delegating: Arc::default(),
            rules: Mutex::default(),
            time_option: "--budget-time",
        };
        let stop = context.stop.clone();
        let waiting = Arc::clone(&context.waiting);
        let preparing = Arc::clone(&context.preparing);
        let delegating = Arc::clone(&context.delegating);
        let mut first: Option<Instant> = None;
        ctrlc::set_handler(move || {
            stop.raise();
            // A sender that signals a whole process group sends some signals twice.
            let again = first.is_some_and(|first| first.elapsed() > Duration::from_millis(500));
            let is_first = first.is_none();
            first.get_or_insert_with(Instant::now);
            if again || waiting.load(Ordering::SeqCst) {
                leave("interrupted");
            }
            if is_first {
                let preparing = Arc::clone(&preparing);
                let delegating = Arc::clone(&delegating);
                let mut before = cpu_time();
                let wait = move || {
                    loop {
                        thread::sleep(GRACE);
                        // A command that does nothing waits for a pipe that nobody reads or writes.
                        let now = cpu_time();
                        let spent = now.zip(before).map(|(now, before)| now - before);
                        let is_idle = spent.is_some_and(|spent| spent < IDLE)
                            && !waits_for_disk()
                            && !delegating.load(Ordering::SeqCst);
                        if is_idle || preparing.load(Ordering::SeqCst) {
                            leave("interrupted");
                        }
                        before = now;
                    }
                };
                // Without a thread, the work that looks at the stop has to end by itself.
                let _ = thread::Builder::new().spawn(wait);
            }
        })
        .context("cannot handle Ctrl-C")?;
        Ok(context)
    }

    /// The same with another option that limits the time of the command.
    pub(super) fn with_time_option(self, time_option: &'static str) -> Self {
        Context {
            time_option,
            ..self
        }
    }

    /// The option that limits the time of the command.
    pub(super) fn time_option(&self) -> &'static str {
        self.time_option
    }

    /// Whether to print JSON instead of text.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Whether to print neither warnings nor progress.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// The flag that Ctrl-C raises; for [`Limits`](ggp_engine::machine::Limits) and budgets.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_interrupted(&self) -> bool {
        self.stop.is_raised()
    }

    /// Whether text on a stream is coloured.
    pub fn style(&self, stream: &impl IsTerminal) -> Style {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let colour = match self.colour {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto => stream.is_terminal() && !is_set("NO_COLOR") && !is_dumb(),
        };
        if colour { Style::Colour } else { Style::Plain }
    }

    /// The word `error:` for standard error.
    pub(super) fn error_word(&self) -> &'static str {
        match self.style(&io::stderr()) {
            Style::Plain => "error:",
            Style::Colour => "\x1b[1;91merror:\x1b[0m",
        }
    }

    /// Prints a text and a line break on standard output.
    ///
    /// # Errors
    ///
    /// Errors of writing; a broken pipe is passed on like any other.
    pub fn print(&self, text: impl AsRef<str>) -> io::Result<()> {
        self.print_lines([text])
    }

    /// Prints a text on standard output without a line break.
    ///
    /// # Errors
    ///
    /// As [`Context::print`].
    pub fn print_text(&self, text: &str) -> io::Result<()> {
        self.print_bytes(text.as_bytes())
    }

    /// Prints bytes on standard output.
    ///
    /// # Errors
    ///
    /// As [`Context::print`].
    pub fn print_bytes(&self, content: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        printed(out.write_all(content).and_then(|()| out.flush()))
    }

    /// Prints each text on a line of standard output.
    ///
    /// # Errors
    ///
    /// As [`Context::print`].
    pub fn print_lines<T: AsRef<str>>(&self, lines: impl IntoIterator<Item = T>) -> io::Result<()> {
        let is_terminal = io::stdout().is_terminal();
        let mut out = io::BufWriter::new(io::stdout().lock());
        let print = || {
            for line in lines {
                let line = match is_terminal {
                    true => harmless(line.as_ref()),
                    false => line.as_ref().into(),
                };
                out.write_all(line.as_bytes())?;
                out.write_all(b"\n")?;
            }
            out.flush()
        };
        printed(print())
    }

    /// Prints a value as one line of JSON on standard output.
    ///
    /// # Errors
    ///
    /// As [`Context::print`].
    pub fn print_json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut print = || {
            serde_json::to_writer(&mut out, value)?;
            out.write_all(b"\n")?;
            out.flush()
        };
        Ok(printed(print())?)
    }

    /// Prints a note on standard error, unless `--quiet` is given.
    pub fn note(&self, text: impl fmt::Display) {
        if !self.quiet {
            // A note that cannot be written is not worth failing for.
            let _ = writeln!(io::stderr(), "{}", harmless(&text.to_string()));
        }
    }

    /// A spinner with a message on standard error, shown only on a terminal. The caller may
    /// change the message.
    pub fn spinner(&self, message: impl Into<String>) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(None, self.draw_target());
        let style = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]");
        bar.set_style(style.expect("the template is well formed"));
        self.start(bar, message)
    }

    /// A progress bar on standard error for work of a known length, shown only on a
    /// terminal.
    pub fn bar(&self, length: u64, message: impl Into<String>) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(length), self.draw_target());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} [{eta}]");
        bar.set_style(style.expect("the template is well formed"));
        self.start(bar, message)
    }

    fn start(&self, bar: ProgressBar, message: impl Into<String>) -> ProgressBar {
        bar.set_message(message.into());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        bar
    }

    fn draw_target(&self) -> ProgressDrawTarget {
        if self.quiet || !io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        }
    }

    /// Runs `read`, which may wait for input; meanwhile the first Ctrl-C ends the process.
    pub fn waiting<T>(&self, read: impl FnOnce() -> T) -> T {
        self.waiting.store(true, Ordering::SeqCst);
        let result = read();
        self.waiting.store(false, Ordering::SeqCst);
        result
    }

    /// Runs `read`, which may wait for input. If it does so when the time is over, the process
    /// ends.
    pub fn waiting_at_most<T>(&self, time: Option<Duration>, read: impl FnOnce() -> T) -> T {
        let (running, ended) = mpsc::channel::<()>();
        let waiting = Arc::clone(&self.waiting);
        let watch = move |time: Duration| {
            let mut time = time;
            while ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                if waiting.load(Ordering::SeqCst) {
                    leave("error: the time limit was reached before all input came");
                }
                time = LAST_MESSAGE;
            }
        };
        if let Some(time) = time {
            // Without a thread, input is waited for.
            let _ = thread::Builder::new().spawn(move || watch(time));
        }
        let result = read();
        drop(running);
        result
    }

    /// Runs `work`, which has nothing to show or to save. It should end with the stop; if
    /// it does not end soon, the process ends without it.
    pub fn preparing<T>(&self, work: impl FnOnce() -> T) -> T {
        let outer = self.preparing.swap(true, Ordering::SeqCst);
        let result = work();
        self.preparing.store(outer, Ordering::SeqCst);
        result
    }

    /// From now on the command waits for other processes, which end by themselves after a stop.
    pub fn delegate(&self) {
        self.delegating.store(true, Ordering::SeqCst);
    }

    /// Checks early that a file can be written later, for results that take long to compute.
    ///
    /// # Errors
    ///
    /// If the parent folder does not exist, or the path is a folder.
    pub fn can_write(path: &Path) -> anyhow::Result<()> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let reason = match folder {
            _ if path.is_dir() => "it is a folder",
            Some(folder) if !folder.exists() => "its folder does not exist",
            Some(folder) if !folder.is_dir() => "what should be its folder is a file",
            _ => "",
        };
        if !reason.is_empty() {
            anyhow::bail!("cannot write {}: {reason}", path.display());
        }
        // Only an attempt shows whether it is allowed.
        whole_file::can_write(path).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Remembers a rule file, so that it is not overwritten.
    pub fn keep(&self, path: &Path) {
        if !text_files::is_stdin(path) {
            let mut rules = self.rules.lock().expect(UNBROKEN);
            if !rules.iter().any(|known| known == path) {
                rules.push(path.to_owned());
            }
        }
    }

    /// Writes a file as [`whole_file::write`] does.
    ///
    /// # Errors
    ///
    /// Errors of writing, with the file's name; or if the file is one of the rule files that
    /// were read.
    pub fn write_file(&self, path: &Path, content: &[u8]) -> anyhow::Result<()> {
        self.write_file_by(path, &mut |file| file.write_all(content))
    }

    /// Writes a file as [`Context::write_file`] does, with a function that writes its content.
    ///
    /// # Errors
    ///
    /// As [`Context::write_file`], and those of the function.
    pub fn write_file_by(
        &self,
        path: &Path,
        content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let rules: Vec<PathBuf> = self.rules.lock().expect(UNBROKEN).clone();
        let rules: Vec<&Path> = rules.iter().map(PathBuf::as_path).collect();
        text_files::keep_apart(&[path], &rules)?;
        let written = whole_file::write_by(path, content);
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// A text whose control characters, which can come from rules, are replaced by pictures, so that
/// they do nothing to a terminal. Line breaks, tabs and colours stay.
/// Very long names are cut.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let text = shortened(text);
    match without_controls(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown.into(),
    }
}

/// The longest name in a text for people, and the beginning that is shown of longer ones.
const LONGEST_NAME: usize = 2_000;
const BEGINNING: usize = 60;

/// A text in which names that nobody can read are cut.
fn shortened(text: &str) -> Cow<'_, str> {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'));
    if !text.split(is_end).any(|name| name.len() > LONGEST_NAME) {
        return text.into();
    }
    let pieces = text.split_inclusive(is_end).map(|piece| {
        let name = piece.trim_end_matches(is_end);
        if name.len() <= LONGEST_NAME {
            return piece.to_owned();
        }
        let beginning: String = name.chars().take(BEGINNING).collect();
        let count = name.chars().count();
        format!("{beginning}… ({count} characters){}", &piece[name.len()..])
    });
    pieces.collect::<String>().into()
}

fn without_controls(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(acts) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        let (before, after) = rest.split_at(at);
        shown.push_str(before);
        let colour = colour(after);
        if colour > 0 {
            shown.push_str(&after[..colour]);
            rest = &after[colour..];
            continue;
        }
        let control = after.chars().next().expect("one was found");
        let picture = match u32::from(control) {
            code @ 0..0x20 => char::from_u32(0x2400 + code),
            0x7f => Some('\u{2421}'),
            _ => None,
        };
        shown.push(picture.unwrap_or('\u{FFFD}'));
        rest = &after[control.len_utf8()..];
    }
    shown.push_str(rest);
    shown.into()
}

/// The length of the sequence for a colour that a text begins with; 0 if there is none.
fn colour(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else {
        return 0;
    };
    let is_digit = |c: char| c.is_ascii_digit() || c == ';';
    let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
    match rest[end..].starts_with('m') {
        true => text.len() - rest.len() + end + 1,
        false => 0,
    }
}

/// True if a thread waits for a disk, so that what it writes would be lost. Known on Linux only.
fn waits_for_disk() -> bool {
    let waits = |task: io::Result<fs::DirEntry>| {
        let stat = fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
        // The state follows the name, which is in brackets.
        let state = stat.rsplit_once(") ")?.1;
        Some(state.starts_with('D'))
    };
    let tasks = fs::read_dir("/proc/self/task");
    tasks.is_ok_and(|mut tasks| tasks.any(|task| waits(task) == Some(true)))
}

/// Ends the process with a message, which is lost if standard error is blocked.
fn leave(message: &'static str) -> ! {
    let (sender, written) = mpsc::channel();
    let write = move || {
        let _ = writeln!(io::stderr(), "{message}");
        let _ = sender.send(());
    };
    if thread::Builder::new().spawn(write).is_ok() {
        let _ = written.recv_timeout(LAST_MESSAGE);
    }
    std::process::exit(2);
}

/// The result of writing to standard output, whose error says so.
pub(super) fn printed(result: io::Result<()>) -> io::Result<()> {
    result.map_err(|error| {
        let message = format!("cannot write to standard output: {error}");
        io::Error::new(error.kind(), message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_names_do_nothing() {
        for (text, shown) in [
            ("(cell 1 1)\tb\n", "(cell 1 1)\tb\n"),
            ("\x1b[1;91merror:\x1b[0m a", "\x1b[1;91merror:\x1b[0m a"),
            ("a\x1b[2J\x1b]0;b\x07", "a\u{241B}[2J\u{241B}]0;b\u{2407}"),
            (
                "\r\x7f\u{9b}2J\x1b[1",
                "\u{240D}\u{2421}\u{FFFD}2J\u{241B}[1",
            ),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn names_that_nobody_can_read_are_cut() {
        let long = "é".repeat(3_000);
        let shown = format!("(at {}… (3000 characters)) b", "é".repeat(60));
        assert_eq!(harmless(&format!("(at {long}) b")), shown);
        let short = format!("(at {})", "a-".repeat(1_000));
        assert_eq!(harmless(&short), short);
    }
}
