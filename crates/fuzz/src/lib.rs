//! Targets, the inputs that they begin with, and changes of inputs.
//!
//! `ggp-fuzz` runs them with random changes alone. The package in `libfuzzer` runs them with
//! libFuzzer, which keeps the inputs that reach new code.

mod change;
mod json;
mod plays;
mod puzzles;
mod rules;
mod targets;

use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use targets::{Inputs, TARGETS, Target};

/// Texts to begin with.
pub struct Known {
    /// Rule texts, earlier finds first.
    pub texts: Vec<String>,
    /// The number of earlier finds among the texts.
    pub finds: usize,
    /// The bundled games: their names and rules.
    pub games: Vec<(String, String)>,
    /// Picture files.
    pub pictures: Vec<String>,
}

impl Known {
    /// The texts of this repository and of further folders.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn new(folders: &[PathBuf]) -> anyhow::Result<Known> {
        let bundled = texts(&folder().join("../../games"))?;
        let mut finds = texts(&folder().join("corpus"))?;
        for folder in folders {
            finds.extend(texts(folder)?);
        }
        let of_games = |(name, text): &(String, String)| {
            let name = name.strip_suffix(".kif")?;
            Some((name.to_owned(), text.clone()))
        };
        let pictures = bundled.iter().filter(|(name, _)| name.ends_with(".toml"));
        Ok(Known {
            games: bundled.iter().filter_map(of_games).collect(),
            pictures: pictures.map(|(_, text)| text.clone()).collect(),
            finds: finds.len(),
            texts: { finds.into_iter() }
                .chain(bundled)
                .map(|(_, text)| text)
                .collect(),
        })
    }

    /// The earlier finds of a target that makes its own inputs.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn own(&self, target: &Target) -> anyhow::Result<Vec<String>> {
        let folder = folder().join("corpus").join(target.name);
        let finds = match folder.is_dir() {
            true => texts(&folder)?,
            false => Vec::new(),
        };
        Ok(finds.into_iter().map(|(_, text)| text).collect())
    }
}

/// The seed for the choices of a target that is run with libFuzzer, by its input.
pub fn seed(input: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(input.as_bytes());
    hasher.finish()
}

impl Target {
    /// A new input.
    pub fn input(&self, known: &Known, random: &mut Xoshiro256PlusPlus) -> String {
        match self.inputs {
            Inputs::Own(make) => make(known, random),
            Inputs::Rules => rules::any(&known.texts, random),
        }
    }

    /// A changed copy of an input, or seldom a new input.
    pub fn changed(&self, input: &str, known: &Known, seed: u64) -> String {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        if random.random_range(0..8) == 0 {
            return self.input(known, &mut random);
        }
        let other = match self.inputs {
            Inputs::Own(make) => make(known, &mut random),
            Inputs::Rules => known.texts[random.random_range(0..known.texts.len())].clone(),
        };
        match self.inputs {
            Inputs::Rules => change::changed(&[input.to_owned(), other], &mut random),
            Inputs::Own(_) => crossed(input, &other, &mut random),
        }
    }
}

/// The lines of an input, some of them replaced by those of another, or damaged.
fn crossed(input: &str, other: &str, random: &mut impl Rng) -> String {
    let mut lines: Vec<String> = input.lines().map(str::to_owned).collect();
    let others: Vec<&str> = other.lines().collect();
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..=lines.len());
        let line = others.get(random.random_range(0..others.len().max(1)));
        match (random.random_range(0..4), line) {
            (0, Some(line)) => lines.insert(at, (*line).to_owned()),
            (1, Some(line)) if at < lines.len() => (*line).clone_into(&mut lines[at]),
            (2, _) if at < lines.len() => drop(lines.remove(at)),
            _ if at < lines.len() => lines[at] = change::damaged(&lines[at], random),
            _ => {}
        }
    }
    lines.join("\n")
}

/// The folder of this package.
fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names and texts of a folder's files, in the order of their names.
///
/// # Errors
///
/// If a file cannot be read.
pub fn texts(folder: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let cannot_read = || format!("cannot read {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot_read)? {
        let path = entry.with_context(cannot_read)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    let named = files.iter().map(|file| {
        let name = file.file_name().unwrap_or_default();
        Ok((name.to_string_lossy().into_owned(), text(file)?))
    });
    named.collect()
}

/// The text of a file.
///
/// # Errors
///
/// If it cannot be read.
pub fn text(file: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
