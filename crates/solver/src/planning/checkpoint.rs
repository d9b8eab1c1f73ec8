//! A search's state in a file, so that it can go on another time.
//!
//! In: what a search holds between two steps, as numbers and bytes in an order
//! of its own. Out: a file that says which method wrote it, for which puzzle and
//! in which version, with a checksum behind. It takes the place of an older one
//! only when it is complete.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::Puzzle;

/// Where the state is written, and how often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// The file.
    pub file: PathBuf,
    /// Time between two writings, at least.
    pub every: Duration,
}

/// Why the state could not be written or read. Each has the file.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The system says no.
    File(PathBuf, io::Error),
    /// The file is no checkpoint.
    Foreign(PathBuf),
    /// The file is of another version of this program.
    Version(PathBuf),
    /// The file is of this other method, and not of the one that reads it.
    Method(PathBuf, String, &'static str),
    /// The file is of other rules, another start or target, or other options.
    Puzzle(PathBuf),
    /// The file is not as it was written.
    Damaged(PathBuf),
    /// The search needs more memory than it may take.
    Memory(PathBuf),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, what) = match self {
            CheckpointError::File(file, error) => (file, error.to_string()),
            CheckpointError::Foreign(file) => (file, "it is no checkpoint of a search".to_owned()),
            CheckpointError::Version(file) => {
                let what = "it is a checkpoint of another version of this program";
                (file, what.to_owned())
            }
            CheckpointError::Method(file, method, own) => (
                file,
                format!("it is a checkpoint of another strategy: {method} instead of {own}"),
            ),
            CheckpointError::Puzzle(file) => {
                let what = "it is a checkpoint of another search: \
                            the rules, the start, the score wanted or the options differ";
                (file, what.to_owned())
            }
            CheckpointError::Damaged(file) => (file, "the checkpoint is damaged".to_owned()),
            CheckpointError::Memory(file) => {
                let what = "the search takes more memory than it is allowed";
                (file, what.to_owned())
            }
        };
        write!(f, "{}: {what}", file.display())
    }
}

impl std::error::Error for CheckpointError {}

/// Whose state a file has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// What the method is called.
    pub method: &'static str,
    digest: [u8; 32],
}

impl Identity {
    /// Of a method on a puzzle. `options` is what else must be the same, such as
    /// how states are packed.
    pub fn new(method: &'static str, puzzle: &Puzzle, options: &impl fmt::Debug) -> Identity {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        let net = &puzzle.net;
        for source in net.game.sources().files() {
            add(source.text());
        }
        let terms = net.terms();
        for &fact in &net.facts {
            add(&net.game.canonical(&terms, fact));
        }
        for chosen in &net.moves[0] {
            add(&net.game.canonical(&terms, chosen.term()));
        }
        add(&format!(
            "{:?} {:?} {options:?}",
            puzzle.start, puzzle.target
        ));
        Identity {
            method,
            digest: hash.finalize().into(),
        }
    }
}

/// What is wrong with what was written.
#[derive(Debug)]
pub enum LoadError {
    /// It makes no sense.
    Nonsense,
    /// It does not fit into the memory allowed.
    Memory,
    /// It can not be read.
    Io(io::Error),
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        LoadError::Io(error)
    }
}

const MAGIC: &[u8; 12] = b"ggp search\r\n";
/// To be raised whenever what any method writes means something else.
const VERSION: u32 = 2;
const CHECKSUM: u64 = 32;

/// Writes a checkpoint.
pub struct Output {
    file: BufWriter<File>,
    hash: Sha256,
}

impl Output {
    /// Writes a number.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn number(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    /// Writes a list of numbers.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) -> io::Result<()> {
        self.number(numbers.len() as u64)?;
        numbers
            .into_iter()
            .try_for_each(|number| self.number(number))
    }

    /// Writes bytes, without their number.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.file.write_all(bytes)
    }
}

/// Reads a checkpoint.
pub struct Input {
    file: BufReader<File>,
    /// Bytes before the checksum.
    left: u64,
}

impl Input {
    /// Reads a number.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn number(&mut self) -> Result<u64, LoadError> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a number that is less than another.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn less_than(&mut self, end: u64) -> Result<u64, LoadError> {
        let number = self.number()?;
        match number < end {
            true => Ok(number),
            false => Err(LoadError::Nonsense),
        }
    }

    /// Reads a list of numbers.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn numbers(&mut self) -> Result<Vec<u64>, LoadError> {
        let len = self.less_than(self.left / 8)?;
        (0..len).map(|_| self.number()).collect()
    }

    /// Fills `out`.
    ///
    /// # Errors
    ///
    /// If there are not so many bytes.
    pub fn bytes(&mut self, out: &mut [u8]) -> Result<(), LoadError> {
        let left = self.left.checked_sub(out.len() as u64);
        self.left = left.ok_or(LoadError::Nonsense)?;
        Ok(self.file.read_exact(out)?)
    }
}

/// Writes the state of a search, which `save` knows, to a file, in the place of
/// what was there.
///
/// # Errors
///
/// [`CheckpointError::File`]; what was there before is still there then.
pub fn write(
    path: &Path,
    identity: &Identity,
    save: impl FnOnce(&mut Output) -> io::Result<()>,
) -> Result<(), CheckpointError> {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".new");
    let new = path.with_file_name(name);
    let written = write_to(&new, identity, save).and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        CheckpointError::File(path.to_owned(), error)
    })
}

fn write_to(
    path: &Path,
    identity: &Identity,
    save: impl FnOnce(&mut Output) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = Output {
        file: BufWriter::with_capacity(1 << 18, File::create(path)?),
        hash: Sha256::new(),
    };
    out.bytes(MAGIC)?;
    out.bytes(&VERSION.to_le_bytes())?;
    out.number(identity.method.len() as u64)?;
    out.bytes(identity.method.as_bytes())?;
    out.bytes(&identity.digest)?;
    save(&mut out)?;
    let checksum = out.hash.finalize();
    out.file.write_all(&checksum)?;
    // Whole or not at all, also if the machine fails.
    out.file.into_inner()?.sync_all()
}

/// Reads the state of a search, as `load` understands it, from a file.
///
/// # Errors
///
/// [`CheckpointError`].
pub fn read<T>(
    path: &Path,
    identity: &Identity,
    load: impl FnOnce(&mut Input) -> Result<T, LoadError>,
) -> Result<T, CheckpointError> {
    let io = |error| CheckpointError::File(path.to_owned(), error);
    let damaged = || CheckpointError::Damaged(path.to_owned());
    let mut file = File::open(path).map_err(io)?;
    let len = file.metadata().map_err(io)?.len();
    let mut magic = [0; MAGIC.len()];
    let is_magic = len >= CHECKSUM && file.read_exact(&mut magic).is_ok() && &magic == MAGIC;
    if !is_magic {
        return Err(CheckpointError::Foreign(path.to_owned()));
    }
    file.rewind().map_err(io)?;
    let mut hash = Sha256::new();
    let mut file = BufReader::with_capacity(1 << 18, file);
    let mut left = len - CHECKSUM;
    let mut block = vec![0; 1 << 16];
    while left > 0 {
        let some = left.min(block.len() as u64) as usize;
        file.read_exact(&mut block[..some]).map_err(io)?;
        hash.update(&block[..some]);
        left -= some as u64;
    }
    let mut checksum = [0; CHECKSUM as usize];
    file.read_exact(&mut checksum).map_err(io)?;
    if hash.finalize().as_slice() != checksum {
        return Err(damaged());
    }
    file.rewind().map_err(io)?;
    let mut input = Input {
        file,
        left: len - CHECKSUM,
    };
    let told = |error| match error {
        LoadError::Nonsense => damaged(),
        LoadError::Memory => CheckpointError::Memory(path.to_owned()),
        LoadError::Io(error) => io(error),
    };
    let mut version = [0; 4];
    input.bytes(&mut magic).map_err(told)?;
    input.bytes(&mut version).map_err(told)?;
    if u32::from_le_bytes(version) != VERSION {
        return Err(CheckpointError::Version(path.to_owned()));
    }
    let len = input.less_than(1 << 10).map_err(told)?;
    let mut method = vec![0; len as usize];
    input.bytes(&mut method).map_err(told)?;
    if method != identity.method.as_bytes() {
        let method = String::from_utf8_lossy(&method).into_owned();
        let own = identity.method;
        return Err(CheckpointError::Method(path.to_owned(), method, own));
    }
    let mut digest = [0; 32];
    input.bytes(&mut digest).map_err(told)?;
    if digest != identity.digest {
        return Err(CheckpointError::Puzzle(path.to_owned()));
    }
    let loaded = load(&mut input).map_err(told)?;
    match input.left {
        0 => Ok(loaded),
        _ => Err(damaged()),
    }
}

/// Says when the next checkpoint is due.
#[derive(Clone, Debug)]
pub struct Timer {
    every: Duration,
    last: Instant,
}

/// What writing may take of all time: one part of so many.
const SHARE: u32 = 10;

impl Timer {
    /// Counts from now.
    pub fn new(every: Duration) -> Timer {
        Timer {
            every,
            last: Instant::now(),
        }
    }

    /// Runs `write` if it is due.
    ///
    /// # Errors
    ///
    /// Those of `write`.
    pub fn tick<E>(&mut self, write: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let began = Instant::now();
        if began.saturating_duration_since(self.last) < self.every {
            return Ok(());
        }
        write()?;
        // Where it takes long, it is done less often.
        let took = began.elapsed();
        self.last = Instant::now() + (took * SHARE).saturating_sub(self.every);
        Ok(())
    }
}
