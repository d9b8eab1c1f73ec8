//! Files of values.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use hmac_sha256::Hash as Sha256;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{MAGIC, bucket};
use crate::planning::breadth_first::values::FAR;
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::holds;
use ggp_gdl::game::Game;
use ggp_verify::digest;

/// The most bytes of buckets that are kept in memory.
const MOST_BUCKETS: u64 = 1 << 26;
/// The bytes of entries that are read at once.
const READ: usize = 1 << 10;
/// The most bytes of a header.
const MOST_HEADER: u64 = 1 << 28;

/// The second line of a file, which is needed to read the rest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The [`digest`] of the rules.
    pub rules: String,
    /// The names of the roles that are not chance.
    pub players: Vec<String>,
    /// The facts that may hold, in the order of their bits.
    pub facts: Vec<String>,
    /// The number of positions.
    pub positions: u64,
    /// There are 2 to the power of this many buckets.
    pub bucket_bits: u32,
    /// The different values, by number and player: the score that the player can force, and the score
    /// that the others can force it down to. Where they differ, play never ends if all play well, or
    /// chance decides: the first score holds for all its outcomes, the second for its best ones.
    pub values: Vec<Vec<[u8; 2]>>,
    /// True if there are distances.
    pub has_distances: bool,
    /// True if there are expected scores.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_means: bool,
}

/// The proved upper bound of a value. It is a bound only where nobody else decides, or one other player who
/// knows the player's move and loses what that wins.
pub(super) fn upper_bound([_, most]: [u8; 2], is_exact: bool) -> Option<u8> {
    (is_exact || most == 100).then_some(most)
}

impl Header {
    pub(super) fn new(
        net: &Propnet,
        players: &[usize],
        positions: u64,
        bucket_bits: u32,
        values: Vec<Vec<[u8; 2]>>,
        has_distances: bool,
    ) -> Header {
        let (game, terms) = (net.game(), net.terms());
        let names = game.roles().map(|role| game.role_name(role).to_owned());
        let names: Vec<String> = names.collect();
        let facts = net.facts().iter();
        Header {
            rules: digest(game),
            players: players.iter().map(|role| names[*role].clone()).collect(),
            facts: facts.map(|fact| game.canonical(&terms, *fact)).collect(),
            positions,
            bucket_bits,
            values,
            has_distances,
            has_means: false,
        }
    }

    /// The proved upper bound of a value, if there is one.
    pub fn upper_bound(&self, value: [u8; 2]) -> Option<u8> {
        let is_exact = self.has_distances || self.has_means || self.players.len() == 1;
        upper_bound(value, is_exact)
    }

    /// Returns true if a player with this value delays the end, in a file with distances: if it has an
    /// opponent and gets the lowest of several scores.
    pub fn delays(&self, player: usize, value: [u8; 2]) -> bool {
        let values = self.values.iter().map(|values| values[player]);
        let exact = values
            .filter(|[least, most]| least == most)
            .map(|[score, _]| score);
        let lowest = exact.clone().min();
        self.players.len() > 1
            && value == [value[0]; 2]
            && Some(value[0]) == lowest
            && exact.max() > lowest
    }

    /// The bytes of the facts of a position.
    pub(super) fn key_bytes(&self) -> usize {
        self.facts.len().div_ceil(8)
    }

    /// The bytes of an entry.
    pub(super) fn entry_bytes(&self) -> usize {
        let distance = if self.has_distances { 2 } else { 0 };
        let means = if self.has_means {
            4 * self.players.len()
        } else {
            0
        };
        self.key_bytes() + 2 + distance + means
    }

    fn bucket_bytes(&self) -> u64 {
        4 * ((1_u64 << self.bucket_bits) + 1)
    }
}

/// The bytes that are collected before they are written.
const BLOCK: usize = 1 << 16;

/// Writes a file with the digest of its content.
pub(super) struct Writer<'o> {
    out: &'o mut dyn Write,
    block: Vec<u8>,
    digest: Sha256,
}

impl<'o> Writer<'o> {
    pub fn new(out: &'o mut dyn Write, header: &Header) -> io::Result<Self> {
        let mut writer = Writer {
            out,
            block: Vec::with_capacity(BLOCK),
            digest: Sha256::new(),
        };
        writer.write(MAGIC.as_bytes())?;
        writer.write(serde_json::to_string(header)?.as_bytes())?;
        writer.write(b"\n")?;
        Ok(writer)
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.block.extend_from_slice(bytes);
        match self.block.len() < BLOCK {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.digest.update(&self.block);
        self.out.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(&self.digest.finalize())?;
        self.out.flush()
    }
}

/// The value of a position.
#[derive(Clone, PartialEq, Debug)]
pub struct TableValue {
    /// By player: the score that it can expect, a mean over the moves of chance; not a number where play can go
    /// on for ever. Empty in files without them.
    pub means: Vec<f32>,
    /// By player: the score that it can force, and the score that the others can force it down to.
    pub scores: Vec<[u8; 2]>,
    /// The number of joint moves to the end, if it is known.
    pub distance: Option<u16>,
}

/// The reason why a file cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableError {
    /// It cannot be read.
    Io(io::Error),
    /// It is not a file of values, or was damaged.
    Malformed(&'static str),
    /// It belongs to other rules.
    OtherRules,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Io(error) => error.fmt(f),
            TableError::Malformed(why) => write!(f, "not a file of `ggp tabulate`: {why}"),
            TableError::OtherRules => f.write_str("it was made from other rules, or is damaged"),
        }
    }
}

impl std::error::Error for TableError {}

impl From<io::Error> for TableError {
    fn from(error: io::Error) -> Self {
        TableError::Io(error)
    }
}

/// The order of the facts of a network in a file.
#[derive(Clone, Debug)]
pub struct FactOrder(Option<Vec<usize>>);

/// A file of values, in which positions are looked up one by one.
#[derive(Debug)]
pub struct Table {
    file: File,
    header: Header,
    /// The place of the buckets.
    start: u64,
    /// The first entries of all buckets, and the number of entries; empty if they are too many to be kept.
    buckets: Vec<u32>,
    #[cfg(not(unix))]
    turn: std::sync::Mutex<()>,
}

impl Table {
    /// Opens a file. Only its first lines and its length are checked.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not a file of values.
    pub fn open(path: &Path) -> Result<Table, TableError> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut reader = BufReader::new(io::Read::take(&file, MOST_HEADER));
        let (mut magic, mut line) = (String::new(), String::new());
        let read = reader.read_line(&mut magic);
        if read.is_err() || magic != MAGIC {
            return Err(TableError::Malformed("its first line is another one"));
        }
        let read = reader.read_line(&mut line).is_ok();
        let header: Option<Header> = serde_json::from_str(&line).ok().filter(|_| read);
        let header = header.ok_or(TableError::Malformed("its second line is wrong"))?;
        let players = header.players.len();
        let is_fair = |value: &Vec<[u8; 2]>| {
            value.len() == players && value.iter().all(|[low, high]| low <= high && *high <= 100)
        };
        if header.bucket_bits > 31 || !header.values.iter().all(is_fair) {
            return Err(TableError::Malformed("its second line is wrong"));
        }
        let start = (magic.len() + line.len()) as u64;
        let entries = header.positions.checked_mul(header.entry_bytes() as u64);
        let wanted = entries.map(|bytes| bytes.saturating_add(start + header.bucket_bytes() + 32));
        if wanted != Some(length) {
            return Err(TableError::Malformed(
                "its length is wrong, so it was cut off or changed; make it again",
            ));
        }
        let mut table = Table {
            file,
            header,
            start,
            buckets: Vec::new(),
            #[cfg(not(unix))]
            turn: std::sync::Mutex::default(),
        };
        if table.header.bucket_bytes() <= MOST_BUCKETS {
            let mut bytes = vec![0; table.header.bucket_bytes() as usize];
            table.read(start, &mut bytes)?;
            let (numbers, _) = bytes.as_chunks();
            table.buckets = numbers
                .iter()
                .map(|number| u32::from_le_bytes(*number))
                .collect();
        }
        Ok(table)
    }

    /// The second line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns true if the file was made from these rules.
    pub fn is_of(&self, game: &Game) -> bool {
        self.header.rules == digest(game)
    }

    /// The order of the facts of a network in the file.
    ///
    /// # Errors
    ///
    /// If the file was made from other rules.
    pub fn order(&self, net: &Propnet) -> Result<FactOrder, TableError> {
        let (game, terms) = (net.game(), net.terms());
        if !self.is_of(game) {
            return Err(TableError::OtherRules);
        }
        let facts = net.facts().iter().zip(0..);
        let facts = facts.map(|(fact, number)| (game.canonical(&terms, *fact), number));
        let numbers: FxHashMap<String, usize> = facts.collect();
        let order = self
            .header
            .facts
            .iter()
            .map(|fact| numbers.get(fact).copied());
        let order: Option<Vec<usize>> = order.collect();
        let order = order.ok_or(TableError::OtherRules)?;
        let is_same = order.len() == net.facts().len() && order.is_sorted();
        Ok(FactOrder((!is_same).then_some(order)))
    }

    /// The value of a position of a network, `None` if it is not in the table. `order` is the result of
    /// [`Table::order`] for the network.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or was damaged.
    pub fn look(&self, order: &FactOrder, state: &[u64]) -> Result<Option<TableValue>, TableError> {
        let bytes = self.header.key_bytes();
        let mut key = Vec::with_capacity(bytes + 8);
        match &order.0 {
            None => {
                for word in state {
                    key.extend_from_slice(&word.to_le_bytes());
                }
                key.truncate(bytes);
            }
            Some(order) => {
                key.resize(bytes, 0);
                for (bit, &fact) in order.iter().enumerate() {
                    key[bit / 8] |= u8::from(holds(state, fact)) << (bit % 8);
                }
            }
        }
        self.find(&key)
    }

    /// The first entry of a bucket, and the first one after it.
    fn entries_of(&self, bucket: u64) -> Result<[u64; 2], TableError> {
        let at = bucket as usize;
        if let Some(&[first, end]) = self.buckets.get(at..at + 2) {
            return Ok([first.into(), end.into()]);
        }
        let mut ends = [0; 8];
        self.read(self.start + 4 * bucket, &mut ends)?;
        let ends = u64::from_le_bytes(ends);
        Ok([ends & u64::from(u32::MAX), ends >> 32])
    }

    /// The value of the position whose facts are these bits.
    fn find(&self, key: &[u8]) -> Result<Option<TableValue>, TableError> {
        let header = &self.header;
        let [first, end] = self.entries_of(bucket(key, header.bucket_bits))?;
        if first > end || end > header.positions {
            return Err(TableError::Malformed("a bucket is wrong"));
        }
        let bytes = header.entry_bytes();
        let entries = self.start + header.bucket_bytes();
        let mut some = [0; READ];
        let at_once = (some.len() / bytes).max(1) as u64;
        let mut long = Vec::new();
        let mut at = first;
        while at < end {
            let count = (end - at).min(at_once);
            let length = count as usize * bytes;
            let part = match some.get_mut(..length) {
                Some(part) => part,
                None => {
                    long.resize(length, 0);
                    &mut long[..]
                }
            };
            self.read(entries + at * bytes as u64, part)?;
            for entry in part.chunks_exact(bytes) {
                if let Some(rest) = entry.strip_prefix(key) {
                    return self.value(rest).map(Some);
                }
            }
            at += count;
        }
        Ok(None)
    }

    /// The value at the end of an entry.
    fn value(&self, rest: &[u8]) -> Result<TableValue, TableError> {
        let number = |at: usize| u16::from_le_bytes([rest[at], rest[at + 1]]);
        let scores = self.header.values.get(usize::from(number(0)));
        let scores = scores.ok_or(TableError::Malformed("an entry has no value"))?;
        let distance = self.header.has_distances.then(|| number(2));
        let means = if self.header.has_means {
            let (means, _) = rest[rest.len() - 4 * self.header.players.len()..].as_chunks();
            means.iter().map(|mean| f32::from_le_bytes(*mean)).collect()
        } else {
            Vec::new()
        };
        Ok(TableValue {
            means,
            scores: scores.clone(),
            distance: distance.filter(|distance| *distance != FAR),
        })
    }

    #[cfg(unix)]
    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, out, at)
    }

    #[cfg(not(unix))]
    fn read(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        // The file has one place.
        let _turn = self.turn.lock();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(out)
    }
}
