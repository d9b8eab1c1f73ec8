//! Rules from texts and files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::errors::{Error, findings, play_error, rules_error};
use crate::game::{Game, seconds};
use crate::interrupt::interruptible;
use crate::shared::{Actions, Shared};
use ggp_engine::machine::{AnyMachine, Limits, Machine, PlayError};
use ggp_engine::propnet::NetworkCache;
use ggp_gdl::check::{ReadOptions, Reading, read_until};
use ggp_gdl::diagnostic::Strictness;
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_stop::Stop;
use ggp_web::bundled;

/// The bytes of the networks that are kept for the next run.
const CACHE: u64 = 1_000 << 20;

/// The options of [`load`].
#[derive(Clone, Copy, PartialEq)]
pub struct Options {
    pub strict: bool,
    pub case_sensitive: bool,
    pub ground_time: f64,
    pub cache: bool,
}

impl Options {
    /// The limits of a machine that ends with `stop`.
    pub fn limits(&self, stop: &Stop) -> Limits {
        let mut limits = Limits {
            stop: stop.clone(),
            ..Limits::default()
        };
        // It was checked when the rules were read.
        limits.ground.time = Some(Duration::from_secs_f64(self.ground_time));
        limits.ground.stop = stop.clone();
        limits.ground.cache = self.cache.then(|| NetworkCache::of_user(CACHE)).flatten();
        limits
    }
}

/// The games that are loaded, so that states that are pickled belong to the same one afterwards.
static LOADED: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// The names of the games that are part of the package, for `ggp.load`.
#[pyfunction]
pub fn games() -> Vec<String> {
    bundled::names()
}

/// Reads rules: text with a bracket in it, the path of a file, or a name of `ggp.games()`. Several paths
/// form one rule set.
///
/// With `strict`, sloppy rules are refused; with `case_sensitive`, `Cell` is not `cell`. The
/// network of the rules is built for at most `ground_time` seconds; without it, all is slower, and
/// there are no actions and no batches. With `cache`, networks are kept for the next run, in at most
/// a gigabyte of the folder that the environment variable `GGP_CACHE` names, or else of `ggp` in
/// the user's folder for caches; all of it can be deleted at any time.
///
/// Raises `RulesError` if the rules have errors, with all of them in `findings`, `OSError` if a file
/// cannot be read, and `LimitError` if the rules derive too much.
#[pyfunction]
#[pyo3(signature = (*sources, strict=false, case_sensitive=false, ground_time=5.0, cache=true))]
pub fn load(
    py: Python<'_>,
    sources: &Bound<'_, PyTuple>,
    strict: bool,
    case_sensitive: bool,
    ground_time: f64,
    cache: bool,
) -> PyResult<Game> {
    let options = Options {
        strict,
        case_sensitive,
        ground_time,
        cache,
    };
    made(py, read_all(py, sources)?, options)
}

/// The findings about rules, as `ggp.load` reads them, without a game: a list of dictionaries with
/// `code`, `severity`, `message`, `place`, `notes` and `help`.
#[pyfunction]
#[pyo3(signature = (*sources, strict=false, case_sensitive=false))]
pub fn check<'py>(
    py: Python<'py>,
    sources: &Bound<'py, PyTuple>,
    strict: bool,
    case_sensitive: bool,
) -> PyResult<Bound<'py, PyList>> {
    let options = Options {
        strict,
        case_sensitive,
        ground_time: 0.0,
        cache: false,
    };
    let sources = read_all(py, sources)?;
    let stop = Stop::new();
    let work = || read_until(Sources::new(sources), &read_options(options), &stop);
    findings(py, &interruptible(py, &stop, work)?)
}

/// Makes a game again from its texts, for `pickle`.
#[pyfunction]
pub fn _load_texts(
    py: Python<'_>,
    texts: Vec<(String, String)>,
    strict: bool,
    case_sensitive: bool,
    ground_time: f64,
    cache: bool,
) -> PyResult<Game> {
    let options = Options {
        strict,
        case_sensitive,
        ground_time,
        cache,
    };
    let is_same = |shared: &Arc<Shared>| {
        let files = shared.game.sources().files().iter();
        let own = files.map(|file| (file.name(), file.text()));
        shared.options == options && own.eq(texts.iter().map(|(name, text)| (&**name, &**text)))
    };
    // The latest: two games of the same text may be there.
    let loaded = loaded()
        .iter()
        .rev()
        .filter_map(Weak::upgrade)
        .find(is_same);
    if let Some(shared) = loaded {
        return Ok(Game { shared });
    }
    let sources = texts
        .into_iter()
        .map(|(name, text)| Source::new(name, text));
    made(py, sources.collect(), options)
}

fn loaded() -> MutexGuard<'static, Vec<Weak<Shared>>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_all(py: Python<'_>, sources: &Bound<'_, PyTuple>) -> PyResult<Vec<Source>> {
    let mut all = Vec::new();
    for source in sources {
        read(py, &source, &mut all)?;
    }
    Ok(all)
}

/// Appends a rule text, the contents of the file that a path names, or those of a bundled game.
fn read(py: Python<'_>, source: &Bound<'_, PyAny>, all: &mut Vec<Source>) -> PyResult<()> {
    if let Ok(text) = source.cast::<PyString>() {
        let text = text.to_str()?;
        if text.contains('(') && !Path::new(text).is_file() {
            all.push(Source::new("rules", text));
            return Ok(());
        }
        if text.trim().is_empty() {
            return Err(PyValueError::new_err(
                "there are no rules: the text is empty",
            ));
        }
        if let (false, Some(rules)) = (Path::new(text).exists(), bundled::rules(text)) {
            let rules = rules.into_iter();
            all.extend(rules.map(|(name, text)| Source::new(name, text)));
            return Ok(());
        }
    }
    let path: PathBuf = source
        .extract()
        .map_err(|_| PyTypeError::new_err("a source is a rule text, or the path of a rule file"))?;
    let bytes = py.detach(|| std::fs::read(&path)).map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::NotFound => format!("{error}; ggp.games() lists the games of the package"),
            _ => error.to_string(),
        };
        PyOSError::new_err((error.raw_os_error(), reason, path.clone()))
    })?;
    let name = path.display().to_string();
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::new_err(format!("{name}: the text is not UTF-8 at byte {at}"))
    })?;
    all.push(Source::new(name, text));
    Ok(())
}

fn read_options(options: Options) -> ReadOptions {
    ReadOptions {
        strictness: match options.strict {
            true => Strictness::Strict,
            false => Strictness::default(),
        },
        case: match options.case_sensitive {
            true => Case::Keep,
            false => Case::default(),
        },
        ..ReadOptions::default()
    }
}

fn made(py: Python<'_>, sources: Vec<Source>, options: Options) -> PyResult<Game> {
    if sources.is_empty() {
        return Err(PyTypeError::new_err("a rule text or a path is needed"));
    }
    seconds(options.ground_time, "ground_time")?;
    let stop = Stop::new();
    let work = || -> Result<Shared, Result<Box<Reading>, PlayError>> {
        let mut reading = read_until(Sources::new(sources), &read_options(options), &stop);
        let Some(game) = reading.game.take() else {
            return Err(Ok(Box::new(reading)));
        };
        let limits = options.limits(&stop);
        let (mut machine, why_not) = AnyMachine::auto(&game, limits).map_err(Err)?;
        // Nothing stops the machine later, except the work that it is cloned for.
        machine.set_stop(&Stop::new());
        let network = match &machine {
            AnyMachine::Propnet(network) => {
                let moves = network.net().moves().to_vec();
                let numbers = moves.iter().map(|moves| {
                    let numbered = moves.iter().enumerate();
                    numbered.map(|(number, made)| (*made, number)).collect()
                });
                let numbers = numbers.collect();
                Some(((**network).clone(), Actions { moves, numbers }))
            }
            _ => None,
        };
        Ok(Shared {
            game,
            reading,
            machine: Mutex::new(machine),
            network,
            why_not: why_not.map_or_else(String::new, |error| error.to_string()),
            picture: Mutex::default(),
            world: Mutex::default(),
            percepts: OnceLock::new(),
            options,
        })
    };
    match interruptible(py, &stop, work)? {
        Ok(shared) => {
            let shared = Arc::new(shared);
            let mut loaded = loaded();
            loaded.retain(|game| game.strong_count() > 0);
            loaded.push(Arc::downgrade(&shared));
            Ok(Game { shared })
        }
        Err(Ok(reading)) => Err(rules_error(py, &reading)),
        Err(Err(error)) => Err(play_error(py, &error)),
    }
}
