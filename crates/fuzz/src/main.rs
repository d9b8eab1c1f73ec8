//! Feeds the crates with random and damaged input, and reports what breaks them.
//!
//! A *target* is a function of an input that returns an error if something is wrong. There
//! are two kinds of inputs. Rule texts are generated rule sets, and changed copies of known
//! texts: the bundled games and all earlier finds, in `corpus`. The other targets make their
//! own: requests, answers, changes of a checkpoint, or messages, as lines of text. Their
//! earlier finds are in a folder of `corpus` with the target's name, and run first.
//!
//! ```sh
//! cargo run -p ggp-fuzz -- --seconds 60 --seed 1
//! ```
//!
//! Targets take turns so that each gets the same time. The inputs of a target depend on
//! `--seed` alone, whatever the other targets do. The package in `libfuzzer` runs the same
//! targets with libFuzzer, which needs a nightly toolchain and keeps what reaches new code:
//!
//! ```sh
//! crates/fuzz/libfuzzer/run 60                   # seconds for each target
//! ```
//!
//! A find is an error, a panic on any thread, or an input that takes too long. It ends the
//! run with exit code 1, and its input stays in the folder of `--finds`. Inputs are written
//! there before they run, so the last one is there even if the process is killed; the name
//! of the file ends in the seed for the choices of the target. The message of a find has the
//! command that runs it again:
//!
//! ```sh
//! cargo run -p ggp-fuzz -- --target agree --replay target/fuzz/agree-12345.kif --seed 12345
//! ```

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use ggp_fuzz::{Inputs, Known, TARGETS, Target, seed, text};

/// Feed the crates with random and damaged input
#[derive(Parser)]
struct Options {
    /// Seconds of the run
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Seed of the random choices (1); with --replay, the seed of the input (that of libFuzzer)
    #[arg(long)]
    seed: Option<u64>,
    /// Run this target only
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Run the target on this input only
    #[arg(long, value_name = "FILE", requires = "target")]
    replay: Option<PathBuf>,
    /// Further folders of rule texts to begin with
    #[arg(long, value_name = "FOLDER")]
    corpus: Vec<PathBuf>,
    /// Write finds to this folder
    #[arg(long, value_name = "FOLDER", default_value = "target/fuzz")]
    finds: PathBuf,
}

/// The longest time for one input, in an unoptimized build on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);
/// The stack of the thread that runs a target, that of a usual main thread.
const STACK: usize = 8 << 20;

/// The message and the place of the first panic of an input, on any thread.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// A target in a run.
struct Turn {
    target: &'static Target,
    random: Xoshiro256PlusPlus,
    /// Earlier finds.
    finds: VecDeque<String>,
    /// Other known inputs.
    known: VecDeque<String>,
    inputs: u64,
    checked: u64,
    time: Duration,
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        // That of a generator, not of a target.
        if thread::current().name() == Some("main") {
            eprintln!("{panic}");
        }
        let mut first = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| panic.to_string());
    }));
    match run(&Options::parse()) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(find)) => {
            eprintln!("{find}");
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs the targets in turn, or one input. The result describes a find.
fn run(options: &Options) -> anyhow::Result<Option<String>> {
    let is_chosen = |target: &&Target| {
        let name = options.target.as_deref();
        name.is_none_or(|name| name == target.name)
    };
    let chosen: Vec<&'static Target> = TARGETS.iter().filter(is_chosen).collect();
    anyhow::ensure!(
        !chosen.is_empty(),
        "there is no such target; the targets are {}",
        TARGETS.each_ref().map(|target| target.name).join(", ")
    );
    if let Some(file) = &options.replay {
        let input = text(file)?;
        let seed = options.seed.unwrap_or_else(|| seed(&input));
        return Ok(match outcome(chosen[0], &input, seed) {
            Ok(checked) => {
                println!("{checked} answers compared, nothing found");
                None
            }
            Err(what) => Some(format!("{}: {what}", chosen[0].name)),
        });
    }
    let known = Known::new(&options.corpus)?;
    let mut turns = Vec::new();
    for target in chosen {
        let (finds, others) = match target.inputs {
            Inputs::Rules => known.texts.split_at(known.finds),
            Inputs::Own(_) => (&known.own(target)?[..], &[][..]),
        };
        let first = options.seed.unwrap_or(1);
        let name = target.name.bytes().fold(first, |seed, byte| {
            seed.wrapping_mul(257).wrapping_add(byte.into())
        });
        turns.push(Turn {
            target,
            random: Xoshiro256PlusPlus::seed_from_u64(name),
            finds: finds.to_vec().into(),
            known: others.to_vec().into(),
            inputs: 0,
            checked: 0,
            time: Duration::ZERO,
        });
    }
    std::fs::create_dir_all(&options.finds)
        .with_context(|| format!("cannot write to {}", options.finds.display()))?;
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < options.seconds {
        // Earlier finds first, then the target that had the least time.
        let next = turns
            .iter_mut()
            .min_by_key(|turn| (turn.finds.is_empty(), turn.time));
        let find = next
            .expect("there is a target")
            .run(&known, &options.finds)?;
        if find.is_some() {
            return Ok(find);
        }
    }
    for turn in turns {
        println!(
            "{}: {} inputs, {} answers compared in {:.0} s, nothing found",
            turn.target.name,
            turn.inputs,
            turn.checked,
            turn.time.as_secs_f64()
        );
    }
    Ok(None)
}

impl Turn {
    /// Runs the target on its next input. The result describes a find.
    fn run(&mut self, known: &Known, finds: &Path) -> anyhow::Result<Option<String>> {
        let began = Instant::now();
        let random = &mut self.random;
        let unchanged = self.finds.pop_front().or_else(|| self.known.pop_front());
        let input = match unchanged {
            Some(input) => input,
            None => self.target.input(known, random),
        };
        let seed = random.random();
        let ending = match self.target.inputs {
            Inputs::Rules => "kif",
            Inputs::Own(_) => "txt",
        };
        let name = self.target.name;
        let file = finds.join(format!("{name}-{seed}.{ending}"));
        let cannot_write = || format!("cannot write {}", file.display());
        std::fs::write(&file, &input).with_context(cannot_write)?;
        let outcome = outcome(self.target, &input, seed);
        self.time += began.elapsed();
        match outcome {
            Ok(checked) => {
                self.inputs += 1;
                self.checked += checked;
                std::fs::remove_file(&file).with_context(cannot_write)?;
                Ok(None)
            }
            Err(what) => {
                let file = file.display();
                let what: String = what.chars().take(SHOWN).collect();
                Ok(Some(format!(
                    "{name}: {what}\nrun it again with: \
                     ggp-fuzz --target {name} --replay {file} --seed {seed}"
                )))
            }
        }
    }
}

/// Maximum number of characters of a find that are printed; its file has the whole input.
const SHOWN: usize = 4_000;

/// Runs one target. The result is the number of answers that were compared, or what is
/// wrong.
fn outcome(target: &'static Target, input: &str, seed: u64) -> Result<u64, String> {
    let panic = || PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    panic();
    let (sender, receiver) = mpsc::channel();
    let input = input.to_owned();
    let work = thread::Builder::new().stack_size(STACK).spawn(move || {
        // The receiver is gone if this took too long.
        let _ = sender.send((target.run)(&input, seed));
    });
    work.map_err(|error| format!("no thread: {error}"))?;
    let ended = receiver.recv_timeout(LONGEST);
    match (panic(), ended) {
        (Some(what), _) => Err(what),
        (None, Ok(result)) => result,
        (None, Err(_)) => Err(format!("no end after {} s", LONGEST.as_secs())),
    }
}
