//! Feeds the crates with random and damaged input, and reports what breaks them.
//!
//! A *target* is a function of an input that returns an error if something is wrong. Inputs
//! are generated rule sets, and changed copies of known texts: the bundled games and all
//! earlier finds, in `corpus`. A find (an error, a panic, or an input that takes too long)
//! is written to a file and ends the run with exit code 1.
//!
//! ```sh
//! cargo run -p ggp-fuzz -- --seconds 60 --seed 1
//! ```

mod change;
mod rules;
mod targets;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use targets::{TARGETS, Target};

/// Feed the crates with random and damaged input
#[derive(Parser)]
struct Options {
    /// Seconds of the run
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this target only
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Further folders of texts to begin with
    #[arg(long, value_name = "FOLDER")]
    corpus: Vec<PathBuf>,
    /// Write finds to this folder
    #[arg(long, value_name = "FOLDER", default_value = "target/fuzz")]
    finds: PathBuf,
}

/// The longest time for one input, in an unoptimized build on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

/// The message and the place of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        *PANIC
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = panic.to_string();
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

/// Runs the targets in turn. The result describes a find.
fn run(options: &Options) -> anyhow::Result<Option<String>> {
    let chosen: Vec<&Target> = TARGETS
        .iter()
        .filter(|target| {
            options
                .target
                .as_deref()
                .is_none_or(|name| name == target.name)
        })
        .collect();
    anyhow::ensure!(
        !chosen.is_empty(),
        "there is no such target; the targets are {}",
        TARGETS.map(|target| target.name).join(", ")
    );
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![own.join("corpus"), own.join("../../games")];
    folders.extend(options.corpus.iter().cloned());
    let mut known = Vec::new();
    for folder in &folders {
        known.extend(texts(folder)?);
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut tallies: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let began = Instant::now();
    // Known texts come first, as they are; this is also what tests earlier finds.
    let mut unchanged = known.iter();
    while began.elapsed().as_secs_f64() < options.seconds {
        let text = match unchanged.next() {
            Some(text) => text.clone(),
            None if random.random_bool(0.3) => rules::generate(&mut random),
            None => change::changed(&known, &mut random),
        };
        for target in &chosen {
            let tally = tallies.entry(target.name).or_default();
            match outcome(target, &text, random.random()) {
                Ok(checked) => {
                    tally.0 += 1;
                    tally.1 += checked;
                }
                Err(what) => {
                    let file = options
                        .finds
                        .join(format!("{}-{}.kif", target.name, tally.0));
                    std::fs::create_dir_all(&options.finds)
                        .and_then(|()| std::fs::write(&file, &text))
                        .with_context(|| format!("cannot write {}", file.display()))?;
                    let find = format!(
                        "{}: {what}\nthe input is in {}",
                        target.name,
                        file.display()
                    );
                    return Ok(Some(find));
                }
            }
        }
    }
    for (name, (inputs, checked)) in tallies {
        println!("{name}: {inputs} inputs, {checked} answers compared, nothing found");
    }
    Ok(None)
}

/// Runs one target. The result is the number of answers that were compared, or what is
/// wrong.
fn outcome(target: &Target, text: &str, seed: u64) -> Result<u64, String> {
    let began = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(text, seed)));
    let took = began.elapsed();
    match ended {
        Err(_) => Err(PANIC
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()),
        Ok(Ok(_)) if took > LONGEST => Err(format!("took {:.1} s", took.as_secs_f64())),
        Ok(result) => result,
    }
}

/// The texts of a folder, in the order of their names.
fn texts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let cannot_read = || format!("cannot read {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot_read)? {
        let path = entry.with_context(cannot_read)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let bytes =
            std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(texts)
}
