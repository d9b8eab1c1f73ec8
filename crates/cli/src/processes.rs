//! Work in several processes: the options, and the command that watches over them.
//!
//! The command starts itself once for each process on this machine, with the same arguments and
//! one more. If a process is lost, the others end; where there is a checkpoint, all are started
//! again from it. The first process prints the answer.

use ggp_gdl::counted::counted;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, anyhow, bail};
use rand::TryRng;
use rand::rngs::SysRng;
use serde::{Deserialize, Serialize};

use crate::{Context, Exit, rule_files};
use ggp_search::Budget;
use ggp_solver::planning::breadth_first::{
    BreadthFirstError, LinkError, Lost, MOST_PROCESSES, Processes, manifest,
};

/// Options of work in several processes.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Sharing {
    /// Share the work among N processes on this machine
    #[arg(long, value_name = "N", conflicts_with = "hosts")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=MOST_PROCESSES as i64))]
    processes: Option<u8>,
    /// Share the work among processes on several machines: one on each line of this file, as
    /// host:port
    #[arg(long, value_name = "FILE", requires = "process")]
    hosts: Option<PathBuf>,
    /// The line of --hosts that is this process, counted from 0; process 0 has the result
    #[arg(
        long,
        value_name = "N",
        requires = "hosts",
        conflicts_with = "processes"
    )]
    process: Option<usize>,
    /// Run one process, described as JSON
    #[arg(long, hide = true, value_name = "JSON")]
    member: Option<String>,
}

/// The facts about the work that the command that watches over processes needs.
pub(crate) struct Watch<'w> {
    /// The folder of checkpoints, if there is one.
    pub checkpoint: Option<&'w Path>,
    /// Prepares what the processes need, before they are started. The argument is true if process 0
    /// is one of them.
    pub prepare: &'w dyn Fn(bool) -> anyhow::Result<()>,
    /// The end of the message that a process is lost, if there is no checkpoint.
    pub advice: &'static str,
    /// The message at the end of commands without process 0, which has the result.
    pub elsewhere: &'static str,
}

/// The facts that a process must know and the command does not have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Member {
    index: usize,
    addresses: Vec<String>,
    #[serde(skip)]
    secret: String,
    /// Number of processes that share the memory that the command allows.
    sharing: u64,
    /// The time since the command began.
    elapsed: Duration,
    /// True to go on from the last checkpoint.
    resumes: bool,
}

/// The exit code of a process that ends because another one is lost, if it does not know which
/// one; otherwise its number is added to [`LOST_FIRST`].
const LOST: i32 = 98;
const LOST_FIRST: i32 = 100;
/// The same before the search began.
const LOST_EARLY: i32 = 99;
const LOST_LAST: i32 = LOST_FIRST + MOST_PROCESSES as i32 - 1;
/// A process that is lost sooner than this has achieved nothing.
const SOON: Duration = Duration::from_secs(10);
/// The number of processes from which the threads of their connections are many.
const MANY: usize = 16;
/// The number of losses in a row without achievement after which the search ends.
const MOST_LOSSES: u32 = 3;
/// The time between two looks at the processes.
const LOOK: Duration = Duration::from_millis(20);
/// The time that processes have to end by themselves when one of them is lost.
const GRACE: Duration = Duration::from_millis(500);
/// The name of the variable with the word that processes know, which nobody else sees there.
const SECRET: &str = "GGP_SECRET";
/// The time within which processes must end after a stop.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum size of the file of --hosts, in bytes.
const MOST_BYTES: usize = 1 << 16;
/// Number of lines kept of what a process reports.
const LINES: usize = 20;

impl Sharing {
    /// Whether the work is shared.
    pub fn are_several(&self) -> bool {
        self.processes.is_some() || self.hosts.is_some() || self.member.is_some()
    }

    /// The process that this one is, if it was started by another one.
    ///
    /// # Errors
    ///
    /// If the description is malformed.
    pub fn member(&self) -> anyhow::Result<Option<Member>> {
        let Some(text) = &self.member else {
            return Ok(None);
        };
        let mut member: Member = serde_json::from_str(text).context("--member")?;
        member.secret = std::env::var(SECRET).unwrap_or_default();
        if member.index >= member.addresses.len() || member.addresses.len() > MOST_PROCESSES {
            bail!("--member: there is no such process");
        }
        Ok(Some(member))
    }

    /// Refuses rules or positions from the standard input.
    ///
    /// # Errors
    ///
    /// If the work is shared and something is read there.
    pub fn refuse_stdin(&self, uses_stdin: bool) -> anyhow::Result<()> {
        match self.are_several() && uses_stdin {
            true => bail!("--processes and --hosts need rules in files: each process reads them"),
            false => Ok(()),
        }
    }

    /// Where the processes are, and which of them run on this machine.
    fn places(&self, context: &Context) -> anyhow::Result<(Vec<String>, Vec<usize>, String)> {
        if let (Some(path), Some(index)) = (&self.hosts, self.process) {
            if path.is_dir() {
                bail!("--hosts needs a file, and {} is a folder", path.display());
            }
            let bytes = rule_files::read_at_most(path, MOST_BYTES, context)?;
            let text = String::from_utf8_lossy(&bytes);
            let lines = text.lines().map(str::trim);
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            let addresses: Vec<String> = lines.map(str::to_owned).collect();
            let count = addresses.len();
            let file = path.display();
            for address in &addresses {
                let port = address
                    .rsplit_once(':')
                    .map(|(_, port)| port.parse::<u16>());
                if !matches!(port, Some(Ok(1..))) {
                    bail!("{file}: {address} is not of the form host:port");
                }
            }
            if count == 0 || count > MOST_PROCESSES {
                bail!(
                    "{file} has {} with processes; 1 to {MOST_PROCESSES} are possible",
                    counted(count, "line")
                );
            }
            let same = |(at, address): (usize, &String)| addresses[..at].contains(address);
            if let Some(at) = (0..count).find(|&at| same((at, &addresses[at]))) {
                bail!("{file}: {} is there twice", addresses[at]);
            }
            if index >= count {
                let lines = counted(count, "line");
                bail!("--process {index}: {file} has {lines}, counted from 0");
            }
            return Ok((addresses, vec![index], String::new()));
        }
        let count = usize::from(self.processes.unwrap_or(1));
        // All are kept until all are known, so that they differ.
        let listeners = (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0)));
        let listeners: Vec<TcpListener> = listeners
            .collect::<Result<_, _>>()
            .context("cannot listen on this machine")?;
        let addresses = listeners.iter().map(|l| Ok(l.local_addr()?.to_string()));
        let addresses = addresses.collect::<anyhow::Result<_>>()?;
        let secret = SysRng
            .try_next_u64()
            .context("the system has no random numbers")?;
        let secret = format!("{secret:016x}");
        Ok((addresses, (0..count).collect(), secret))
    }
}

impl Member {
    /// The process in the form in which a search needs it.
    pub fn processes(&self) -> Processes {
        Processes {
            index: self.index,
            addresses: self.addresses.clone(),
            secret: self.secret.clone(),
            goes_on: self.resumes,
        }
    }

    /// Whether this process prints the answer.
    pub fn is_first(&self) -> bool {
        self.index == 0
    }

    /// This process's part of what those on this machine share.
    pub fn part(&self, all: u64) -> u64 {
        all / self.sharing.max(1)
    }

    /// This process's share of a budget.
    pub fn share(&self, budget: &Budget) -> Budget {
        Budget {
            memory_bytes: self.part(budget.memory_bytes),
            time: (budget.time).map(|time| time.saturating_sub(self.elapsed)),
            ..budget.clone()
        }
    }

    /// Ends this process when the command that started it ends.
    pub fn follow(&self, context: &Context) {
        context.delegate();
        thread::spawn(|| {
            // Nothing is ever written there.
            let _ = std::io::stdin().read(&mut [0]);
            std::process::exit(LOST);
        });
    }

    /// Ends this process quietly if the error is that another one is lost.
    pub fn leave_if_lost(&self, error: &BreadthFirstError) {
        let lost = match error {
            BreadthFirstError::Lost(Lost(process)) => {
                process.map_or(LOST, |process| LOST_FIRST + process as i32)
            }
            BreadthFirstError::Link(LinkError::Lost(Lost(process))) => match process {
                Some(process) if self.secret.is_empty() => LOST_FIRST + *process as i32,
                _ => LOST_EARLY,
            },
            // Somebody else took the port, which was free a moment ago.
            BreadthFirstError::Link(LinkError::Listen(..)) if !self.secret.is_empty() => LOST_EARLY,
            _ => return,
        };
        std::process::exit(lost);
    }
}

/// One of the processes on this machine.
struct Running {
    index: usize,
    child: Child,
    /// The last lines of what it reported.
    report: Arc<Mutex<VecDeque<String>>>,
}

/// The end of the processes that were started together.
enum End {
    /// The first process on this machine ended with this code, and all others by themselves.
    Code(i32),
    /// A process failed; what it reported.
    Failed(usize, i32, String),
    /// A process is lost.
    Lost(Loss),
}

/// A process that is lost.
#[derive(Default)]
struct Loss {
    process: Option<usize>,
    /// The way it ended, if it was on this machine, and the last line that it reported.
    ended: Option<(ExitStatus, Option<String>)>,
    /// True if all processes are known to have been connected by then.
    has_begun: bool,
}

/// Starts the processes and waits for their end; starts them again when one is lost.
///
/// # Errors
///
/// If they cannot be started, or one fails.
pub(crate) fn run(flags: &Sharing, work: &Watch<'_>, context: &Context) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let (addresses, own, secret) = flags.places(context)?;
    let folder = work.checkpoint;
    let file = folder.map(manifest);
    (work.prepare)(own.contains(&0))?;
    let mut resumes = false;
    let mut losses = 0;
    context.delegate();
    if let (Some(_), &[index]) = (&flags.hosts, &own[..]) {
        let count = addresses.len();
        let address = &addresses[index];
        context.note(format_args!(
            "process {index} of 0 to {}, at {address}",
            count - 1
        ));
    }
    loop {
        let start = Instant::now();
        let before = file.as_deref().and_then(written);
        let mut all = Vec::new();
        for &index in &own {
            let member = Member {
                index,
                addresses: addresses.clone(),
                secret: secret.clone(),
                sharing: own.len() as u64,
                elapsed: began.elapsed(),
                resumes,
            };
            all.push(Running::start(&member)?);
        }
        match watch(&mut all, context)? {
            End::Code(code @ (0 | 1)) => {
                if own[0] != 0 {
                    context.note(work.elsewhere);
                }
                return Ok(if code == 0 {
                    Exit::Done
                } else {
                    Exit::Negative
                });
            }
            End::Code(code) => std::process::exit(code),
            End::Failed(index, code, report) => {
                // The first process reports by itself.
                if index != 0 {
                    context.note(report.trim_end());
                }
                std::process::exit(code);
            }
            End::Lost(_) if context.is_interrupted() => bail!("interrupted"),
            End::Lost(mut loss) => {
                loss.has_begun |= own.len() == 1 || start.elapsed() > SOON;
                let name = match loss.process {
                    Some(process) if flags.hosts.is_some() => {
                        format!("process {process} ({})", addresses[process])
                    }
                    Some(process) => format!("process {process}"),
                    None => "another process".to_owned(),
                };
                let how = match &loss.ended {
                    None => String::new(),
                    Some((status, None)) => format!(" ({status})"),
                    Some((status, Some(line))) => format!(" ({status}: {line})"),
                };
                let lost = format!("{name} is lost{how}");
                let Some(folder) = folder else {
                    return Err(match loss.has_begun {
                        true => anyhow!("{lost}{}", work.advice),
                        false => anyhow!("{lost}{}", room(own.len())),
                    });
                };
                let now = file.as_deref().and_then(written);
                let is_vain = start.elapsed() < SOON || own.contains(&0);
                losses = match is_vain && now == before {
                    true => losses + 1,
                    false => 0,
                };
                if losses >= MOST_LOSSES {
                    let room = match loss.has_begun {
                        true => String::new(),
                        false => room(own.len()),
                    };
                    return Err(anyhow!(
                        "{lost}, {losses} times in a row without progress{room}"
                    ));
                }
                let folder = folder.display();
                let from = match now {
                    Some(_) => format!("all go on from the last checkpoint in {folder}"),
                    None if own.contains(&0) => {
                        "all begin again, as no checkpoint was written yet".to_owned()
                    }
                    None => "all begin again, from the last checkpoint if there is one".to_owned(),
                };
                context.note(format_args!("note: {lost}; {from}"));
                if flags.hosts.is_some() && loss.ended.is_none() {
                    context.note(format_args!(
                        "note: if its command has ended, start it again within ten minutes, with \
                         --resume {folder}"
                    ));
                }
                resumes = true;
            }
        }
    }
}

/// The need of many processes, for the end of a message.
fn room(count: usize) -> String {
    match count {
        0..MANY => String::new(),
        _ => format!(
            "; {} need about {}",
            counted(count, "process"),
            counted(2 * count * count, "thread")
        ),
    }
}

/// When a file was written, if it exists.
fn written(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|data| data.modified()).ok()
}

impl Running {
    fn start(member: &Member) -> anyhow::Result<Running> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        command.arg("--member").arg(serde_json::to_string(member)?);
        command.env(SECRET, &member.secret);
        // Nothing is written to it; its end is that of this command.
        command.stdin(Stdio::piped());
        if !member.is_first() {
            command.stdout(Stdio::null()).stderr(Stdio::piped());
        }
        let index = member.index;
        let cannot = || {
            format!(
                "cannot start process {index}{}",
                room(member.addresses.len())
            )
        };
        let mut child = command.spawn().with_context(cannot)?;
        let report = Arc::default();
        if let Some(stream) = child.stderr.take() {
            let report = Arc::clone(&report);
            let keeper = thread::Builder::new();
            keeper
                .spawn(move || keep(BufReader::new(stream), &report))
                .with_context(cannot)?;
        }
        Ok(Running {
            index: member.index,
            child,
            report,
        })
    }

    fn report(&self) -> String {
        let lines = self.report.lock().expect("nothing panics while it is held");
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The last line that it reported which says something.
    fn last_line(&self) -> Option<String> {
        let lines = self.report.lock().expect("nothing panics while it is held");
        last_line(lines.iter().map(String::as_str))
    }
}

/// The last of some lines that says something. A panic ends with a note.
fn last_line<'l>(lines: impl DoubleEndedIterator<Item = &'l str>) -> Option<String> {
    let mut lines = lines.rev().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with("note: "))?;
    Some(line.trim_start_matches("error: ").to_owned())
}

/// Keeps the last lines of a stream.
fn keep(stream: impl BufRead, report: &Mutex<VecDeque<String>>) {
    for line in stream.lines().map_while(Result::ok) {
        let mut lines = report.lock().expect("nothing panics while it is held");
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// Waits until all processes have ended, or ends them after one failed or is lost.
fn watch(all: &mut [Running], context: &Context) -> anyhow::Result<End> {
    let mut ended: Vec<Option<ExitStatus>> = vec![None; all.len()];
    let mut told: Option<Instant> = None;
    loop {
        if context.is_interrupted() && told.is_none() {
            told = Some(Instant::now());
            all.iter().for_each(|running| interrupt(&running.child));
        }
        for (running, ended) in all.iter_mut().zip(&mut ended) {
            if ended.is_none() {
                *ended = running.child.try_wait()?;
            }
        }
        // What failed by itself comes before what that led to.
        let codes = all.iter().zip(&ended).filter_map(|(running, status)| {
            let status = (*status)?;
            Some((running, status))
        });
        let mut end = None;
        for (running, status) in codes {
            match status.code() {
                Some(0 | 1) => {}
                Some(LOST | LOST_EARLY) => {
                    end.get_or_insert(End::Lost(Loss::default()));
                }
                Some(code @ LOST_FIRST..=LOST_LAST) => {
                    end.get_or_insert(End::Lost(Loss {
                        process: Some((code - LOST_FIRST) as usize),
                        ..Loss::default()
                    }));
                }
                Some(code @ 2) => {
                    end = Some(End::Failed(running.index, code, running.report()));
                    break;
                }
                _ => {
                    if !matches!(end, Some(End::Failed(..))) {
                        end = Some(End::Lost(Loss {
                            process: Some(running.index),
                            ended: Some((status, running.last_line())),
                            has_begun: false,
                        }));
                    }
                }
            }
        }
        let is_late = told.is_some_and(|told| told.elapsed() > PATIENCE);
        if end.is_some() || is_late {
            // The others notice that one is lost, and remove what they were writing; what they report
            // first is what counts.
            let until = Instant::now() + GRACE;
            let mut is_running =
                |running: &mut Running| matches!(running.child.try_wait(), Ok(None));
            while Instant::now() < until && all.iter_mut().any(&mut is_running) {
                thread::sleep(LOOK);
            }
            for running in all.iter_mut() {
                let by_itself = running.child.try_wait()?;
                let _ = running.child.kill();
                let status = running.child.wait()?;
                match (&mut end, by_itself.and_then(|status| status.code())) {
                    (Some(End::Lost(loss)), Some(LOST | LOST_FIRST..=LOST_LAST)) => {
                        loss.has_begun = true;
                    }
                    // This is what the others have noticed.
                    (Some(other @ End::Lost(_)), Some(code @ 2)) => {
                        *other = End::Failed(running.index, code, running.report());
                    }
                    _ => {}
                }
                // What the first process says by itself is said once.
                if let (Some(End::Failed(index, ..)), 0, Some(2)) =
                    (&mut end, running.index, status.code())
                {
                    *index = 0;
                }
            }
        }
        match end {
            Some(end) => return Ok(end),
            None if is_late => bail!("interrupted"),
            None => {}
        }
        if let Some(first) = ended[0].filter(|_| ended.iter().all(Option::is_some)) {
            return Ok(End::Code(first.code().unwrap_or(2)));
        }
        thread::sleep(LOOK);
    }
}

/// Asks a process to stop.
#[cfg(unix)]
fn interrupt(child: &Child) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let id = Pid::from_raw(child.id() as i32);
    // It may have ended by itself.
    let _ = kill(id, Signal::SIGTERM);
}

/// A console signals all its processes by itself.
#[cfg(not(unix))]
fn interrupt(_: &Child) {}

#[cfg(test)]
mod tests {
    use super::last_line;

    #[test]
    fn the_last_line_says_what_failed() {
        for (lines, expected) in [
            (
                &["thread panicked", "no more threads", "note: a hint", ""][..],
                "no more threads",
            ),
            (&["a", "error: it is full"], "it is full"),
        ] {
            assert_eq!(last_line(lines.iter().copied()).unwrap(), expected);
        }
        assert_eq!(last_line(["", "note: a hint"].into_iter()), None);
    }
}
