//! Checkpoints: files from which a search can be resumed.
//!
//! In: the state of a search between two steps, as numbers and bytes in an order
//! chosen by the method. Out: a file that identifies the method, the puzzle and the
//! version, followed by a checksum. It replaces an older file only once it is
//! complete.

use ggp_stop::Instant;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hmac_sha256::Hash as Sha256;

use super::Puzzle;

/// Location and interval of checkpoints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// The file.
    pub file: PathBuf,
    /// Minimum time between two checkpoints.
    pub every: Duration,
}

/// Errors in writing or reading a checkpoint, each with the file.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    File(PathBuf, io::Error),
    /// The file is not a checkpoint.
    Foreign(PathBuf),
    /// The checkpoint was written by another version of this program.
    Version(PathBuf),
    /// The checkpoint belongs to the method named first, but the second one reads
    /// it.
    Method(PathBuf, String, &'static str),
    /// The checkpoint belongs to other rules, another start or target, or other
    /// options.
    Puzzle(PathBuf),
    /// The checkpoint belongs to other rules.
    Rules(PathBuf),
    /// The file is damaged.
    Damaged(PathBuf),
    /// The file belongs to the checkpoint and is not there.
    Missing(PathBuf),
    /// Levels of the search are in files, and no folder of them is given.
    Levels(PathBuf),
    /// The search needs more memory than it is allowed.
    Memory(PathBuf),
    /// The checkpoint was written by a number of processes, and the search has another one.
    Processes(PathBuf, u64, u64),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, what) = match self {
            CheckpointError::File(file, error) => (file, error.to_string()),
            CheckpointError::Foreign(file) => {
                (file, "it is not a checkpoint of a search".to_owned())
            }
            CheckpointError::Version(file) => {
                let what = "it is a checkpoint of another version of this program";
                (file, what.to_owned())
            }
            CheckpointError::Method(file, method, own) => (
                file,
                format!("it is a checkpoint of another method: {method} instead of {own}"),
            ),
            CheckpointError::Puzzle(file) => {
                let what = "it is a checkpoint of another search: \
                            the start, the target score or the options differ";
                (file, what.to_owned())
            }
            CheckpointError::Rules(file) => {
                let what = "it is a checkpoint of another search: the rules differ";
                (file, what.to_owned())
            }
            CheckpointError::Missing(file) => {
                let what = "the checkpoint is damaged: this file of it is missing";
                (file, what.to_owned())
            }
            CheckpointError::Damaged(file) => (file, "the checkpoint is damaged".to_owned()),
            CheckpointError::Processes(file, written, own) => (
                file,
                format!(
                    "it was written by {written} processes, and this search has {own}; both must \
                     be equal"
                ),
            ),
            CheckpointError::Levels(file) => {
                let what =
                    "positions of this search are in other files; name their folder (--spill)";
                (file, what.to_owned())
            }
            CheckpointError::Memory(file) => {
                let what = "the search needs more memory than it is allowed";
                (file, what.to_owned())
            }
        };
        write!(f, "{}: {what}", file.display())
    }
}

impl std::error::Error for CheckpointError {}

/// The identity of the search that a checkpoint belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Name of the method.
    pub method: &'static str,
    rules: [u8; 32],
    digest: [u8; 32],
}

impl Identity {
    /// The identity of a method on a puzzle. `options` are further parameters that
    /// must agree, such as the layout of states.
    pub fn new(method: &'static str, puzzle: &Puzzle, options: &impl fmt::Debug) -> Identity {
        let add_to = |hash: &mut Sha256, text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        let net = &puzzle.net;
        let mut rules = Sha256::new();
        for source in net.game().sources().files() {
            add_to(&mut rules, source.text());
        }
        let mut hash = Sha256::new();
        let mut add = |text: &str| add_to(&mut hash, text);
        let terms = net.terms();
        for &fact in net.facts() {
            add(&net.game().canonical(&terms, fact));
        }
        for chosen in &net.moves()[0] {
            add(&net.game().canonical(&terms, chosen.term()));
        }
        add(&format!(
            "{:?} {:?} {} {options:?}",
            puzzle.start,
            puzzle.target,
            net.game().goal_choice()
        ));
        Identity {
            method,
            rules: rules.finalize(),
            digest: hash.finalize(),
        }
    }
}

#[cfg(feature = "distributed")]
impl Identity {
    /// The digest of the rules.
    pub(super) fn rules(&self) -> [u8; 32] {
        self.rules
    }

    /// The digest of the puzzle, without the rules, and the options.
    pub(super) fn digest(&self) -> [u8; 32] {
        self.digest
    }
}

/// Errors in the contents of a checkpoint.
#[derive(Debug)]
pub enum LoadError {
    /// The contents are invalid.
    Invalid,
    /// The contents do not fit into the allowed memory.
    Memory,
    /// The file cannot be read.
    Io(io::Error),
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        LoadError::Io(error)
    }
}

/// Returns true if a file begins as checkpoints do.
pub fn is_checkpoint(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok()) && &magic == MAGIC
}

const MAGIC: &[u8; 12] = b"ggp search\r\n";
/// Incremented whenever the format of any method changes.
const VERSION: u32 = 4;
const CHECKSUM: u64 = 32;

/// A writer of checkpoints.
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

    /// Writes bytes without a length.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.file.write_all(bytes)
    }
}

/// A reader of checkpoints.
pub struct Input {
    file: BufReader<File>,
    /// Number of bytes left before the checksum.
    left: u64,
}

impl Input {
    /// Reads a number.
    ///
    /// # Errors
    ///
    /// If the contents end before it or cannot be read.
    pub fn number(&mut self) -> Result<u64, LoadError> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a number less than `end`.
    ///
    /// # Errors
    ///
    /// If the contents end before it or cannot be read, or if it is too large.
    pub fn less_than(&mut self, end: u64) -> Result<u64, LoadError> {
        let number = self.number()?;
        match number < end {
            true => Ok(number),
            false => Err(LoadError::Invalid),
        }
    }

    /// Reads a list of numbers.
    ///
    /// # Errors
    ///
    /// If the contents end before its end or cannot be read.
    pub fn numbers(&mut self) -> Result<Vec<u64>, LoadError> {
        let len = self.less_than(self.left / 8)?;
        (0..len).map(|_| self.number()).collect()
    }

    /// Fills `out`.
    ///
    /// # Errors
    ///
    /// If fewer bytes are left or they cannot be read.
    pub fn bytes(&mut self, out: &mut [u8]) -> Result<(), LoadError> {
        let left = self.left.checked_sub(out.len() as u64);
        self.left = left.ok_or(LoadError::Invalid)?;
        Ok(self.file.read_exact(out)?)
    }
}

/// Writes a checkpoint, whose contents `save` writes, and replaces an existing
/// file.
///
/// # Errors
///
/// [`CheckpointError::File`]; the existing file is then unchanged.
pub fn write(
    path: &Path,
    identity: &Identity,
    save: impl FnOnce(&mut Output) -> io::Result<()>,
) -> Result<(), CheckpointError> {
    // A link stays, and its target is replaced; a device or a pipe must not be.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        let error = io::Error::other("it is not a regular file");
        return Err(CheckpointError::File(path.to_owned(), error));
    }
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
    out.bytes(&identity.rules)?;
    out.number(identity.method.len() as u64)?;
    out.bytes(identity.method.as_bytes())?;
    out.bytes(&identity.digest)?;
    save(&mut out)?;
    let checksum = out.hash.finalize();
    out.file.write_all(&checksum)?;
    // The file must be complete on disk before it is renamed, even if the machine
    // fails.
    out.file.into_inner()?.sync_all()
}

/// Reads a checkpoint, whose contents `load` reads.
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
    if hash.finalize() != checksum {
        return Err(damaged());
    }
    file.rewind().map_err(io)?;
    let mut input = Input {
        file,
        left: len - CHECKSUM,
    };
    let to_checkpoint_error = |error| match error {
        LoadError::Invalid => damaged(),
        LoadError::Memory => CheckpointError::Memory(path.to_owned()),
        LoadError::Io(error) => io(error),
    };
    let mut version = [0; 4];
    input.bytes(&mut magic).map_err(to_checkpoint_error)?;
    input.bytes(&mut version).map_err(to_checkpoint_error)?;
    if u32::from_le_bytes(version) != VERSION {
        return Err(CheckpointError::Version(path.to_owned()));
    }
    // What is said first is what matters most.
    let mut rules = [0; 32];
    input.bytes(&mut rules).map_err(to_checkpoint_error)?;
    if rules != identity.rules {
        return Err(CheckpointError::Rules(path.to_owned()));
    }
    let len = input.less_than(1 << 10).map_err(to_checkpoint_error)?;
    let mut method = vec![0; len as usize];
    input.bytes(&mut method).map_err(to_checkpoint_error)?;
    if method != identity.method.as_bytes() {
        let method = String::from_utf8_lossy(&method).into_owned();
        let own = identity.method;
        return Err(CheckpointError::Method(path.to_owned(), method, own));
    }
    let mut digest = [0; 32];
    input.bytes(&mut digest).map_err(to_checkpoint_error)?;
    if digest != identity.digest {
        return Err(CheckpointError::Puzzle(path.to_owned()));
    }
    let loaded = load(&mut input).map_err(to_checkpoint_error)?;
    match input.left {
        0 => Ok(loaded),
        _ => Err(damaged()),
    }
}

/// A timer for checkpoints.
#[derive(Clone, Debug)]
pub struct Timer {
    every: Duration,
    last: Instant,
}

/// Writing may take at most one part in `SHARE` of the total time.
const SHARE: u32 = 10;

impl Timer {
    /// Starts counting now.
    pub fn new(every: Duration) -> Timer {
        Timer {
            every,
            last: Instant::now(),
        }
    }

    /// True if a checkpoint is due.
    pub fn is_due(&self) -> bool {
        Instant::now().saturating_duration_since(self.last) >= self.every
    }

    /// Runs `write` and starts counting again.
    pub fn run<T>(&mut self, write: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let written = write();
        // The longer writing takes, the less often it is done.
        let took = began.elapsed();
        self.last = Instant::now() + (took * SHARE).saturating_sub(self.every);
        written
    }
}
