//! Checks files of the values of all positions, with code of its own that reads them.

use hmac_sha256::Hash as Sha256;
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::{Checked, Failure, Limits, digest};
use ggp_engine::machine::{DatalogMachine, Machine, joint_moves};
use ggp_gdl::counted::counted;
use ggp_gdl::game::{Game, Move};
use ggp_gdl::terms::TermId;

/// The distance that stands for an unknown one.
const UNKNOWN: u16 = u16::MAX;
/// The bytes that are read at once for the digest.
const BLOCK: usize = 1 << 20;
/// The bytes of the digest at the end.
const DIGEST: u64 = 32;

/// The second line of a file of values.
#[derive(Clone, Debug, Deserialize)]
pub struct TableClaim {
    rules: String,
    players: Vec<String>,
    facts: Vec<String>,
    positions: u64,
    bucket_bits: u32,
    values: Vec<Vec<[u8; 2]>>,
    has_distances: bool,
    #[serde(default)]
    has_means: bool,
}

impl TableClaim {
    /// The number of positions.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Returns true if it is about this game.
    pub fn is_of(&self, game: &Game) -> bool {
        self.rules == digest(game)
    }
}

/// A function that fills a slice with the bytes from a place on, or says why it cannot.
type Read<'f> = dyn FnMut(u64, &mut [u8]) -> Result<(), String> + 'f;

/// The bytes of a file of values.
pub struct TableBytes<'f> {
    /// The length of its first two lines.
    pub start: u64,
    /// The length of the file.
    pub length: u64,
    /// The function that reads them.
    pub read: &'f mut Read<'f>,
}

/// Checks a file of values: its digest, that it has the first position and all positions that follow those
/// that are checked, and for these positions that their values follow from those of the positions after
/// them. `picks` has the numbers of the entries to check, all if it is `None`.
///
/// # Errors
///
/// [`Failure`] if the file is wrong or could not be checked.
pub fn verify_table(
    game: &Game,
    claim: &TableClaim,
    bytes: TableBytes<'_>,
    picks: Option<&mut dyn Iterator<Item = u64>>,
    limits: &Limits,
) -> Result<Checked, Failure> {
    if !claim.is_of(game) {
        return Err(Failure::unchecked("it was made from other rules"));
    }
    let mut all = 0..claim.positions;
    let is_whole = picks.is_none();
    let picks: &mut dyn Iterator<Item = u64> = picks.unwrap_or(&mut all);
    let mut count: u64 = 0;
    let check = || {
        let mut checker = Checker::new(game, claim, bytes, limits)?;
        checker.digest()?;
        let first = checker.machine.initial()?;
        if checker.find(&first)?.is_none() {
            return Err(Failure::wrong("the first position is missing"));
        }
        for number in picks {
            if limits.is_over() {
                return Err(Failure::out_of_time());
            }
            checker.entry(number)?;
            count += 1;
        }
        Ok(checker.is_open)
    };
    let is_open = match check() {
        Err(Failure::Unchecked(_)) if limits.is_over() => {
            let what = format!(
                "the time is up after {count} of {}",
                counted(claim.positions, "position")
            );
            return Err(Failure::Unchecked(what));
        }
        checked => checked?,
    };
    let mut checked = Checked {
        how: vec![format!(
            "the values of {count} of {} follow from those of the positions after them",
            counted(claim.positions, "position")
        )],
        open: Vec::new(),
    };
    if !is_whole {
        checked.open.push("the other positions".to_owned());
    }
    if is_open {
        checked.open.push(
            "that play ends where no distance is known; it does where no position can repeat"
                .to_owned(),
        );
    }
    Ok(checked)
}

/// The most that an expected score may differ from the one that follows from those after it.
const PRECISION: f32 = 1e-3;

/// The value in an entry.
#[derive(Clone, PartialEq, Eq)]
struct Value {
    /// By player: the bits of the expected score.
    means: Vec<u32>,
    scores: Vec<[u8; 2]>,
    distance: u16,
}

struct Checker<'c, 'f> {
    game: &'c Game,
    claim: &'c TableClaim,
    bytes: TableBytes<'f>,
    machine: DatalogMachine,
    /// The facts of the claim, and their numbers.
    facts: Vec<TermId>,
    numbers: FxHashMap<TermId, usize>,
    /// The numbers of the roles of the players.
    players: Vec<usize>,
    key_bytes: usize,
    entry_bytes: usize,
    /// By player: the lowest score if some player gets more elsewhere.
    lowest: Vec<Option<u8>>,
    /// True if some position that was checked has no distance.
    is_open: bool,
}

impl<'c, 'f> Checker<'c, 'f> {
    fn new(
        game: &'c Game,
        claim: &'c TableClaim,
        bytes: TableBytes<'f>,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let machine = DatalogMachine::new(game, limits.machine())?;
        let mut terms = game.terms().clone();
        let read = claim
            .facts
            .iter()
            .map(|fact| game.parse_term(&mut terms, fact));
        let facts: Result<Vec<TermId>, _> = read.collect();
        let facts = facts.map_err(|why| Failure::Wrong(format!("a fact cannot be read: {why}")))?;
        let numbers: FxHashMap<TermId, usize> = facts.iter().copied().zip(0..).collect();
        let roles = game.roles().filter(|role| !game.is_random(*role));
        let (players, names): (Vec<usize>, Vec<&str>) = { roles }
            .map(|role| (role.index(), game.role_name(role)))
            .unzip();
        let count = players.len();
        let key_bytes = claim.facts.len().div_ceil(8);
        let means = if claim.has_means { 4 * count } else { 0 };
        let entry_bytes = key_bytes + 2 + 2 * usize::from(claim.has_distances) + means;
        let buckets = 1_u64
            .checked_shl(claim.bucket_bits)
            .filter(|_| claim.bucket_bits < 32);
        let length = buckets.and_then(|buckets| {
            let entries = claim.positions.checked_mul(entry_bytes as u64)?;
            entries.checked_add(bytes.start + 4 * (buckets + 1) + DIGEST)
        });
        if numbers.len() < facts.len()
            || claim.players != names
            || claim.values.iter().any(|value| value.len() != count)
            || length != Some(bytes.length)
        {
            return Err(Failure::wrong("its first lines or its length are wrong"));
        }
        let lowest = (0..count).map(|player| {
            let values = claim.values.iter().map(|value| value[player]);
            let exact = values.filter(|[least, most]| least == most);
            let exact: Vec<u8> = exact.map(|[score, _]| score).collect();
            let (least, most) = (exact.iter().min()?, exact.iter().max()?);
            (least < most && count > 1).then_some(*least)
        });
        Ok(Checker {
            lowest: lowest.collect(),
            game,
            claim,
            bytes,
            machine,
            facts,
            numbers,
            players,
            key_bytes,
            entry_bytes,
            is_open: false,
        })
    }

    /// Fills a slice with the bytes from a place on.
    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), Failure> {
        let read = (self.bytes.read)(at, out);
        read.map_err(|error| Failure::Unchecked(format!("it cannot be read: {error}")))
    }

    /// Checks the digest at the end.
    fn digest(&mut self) -> Result<(), Failure> {
        let mut digest = Sha256::new();
        let end = self.bytes.length - DIGEST;
        let mut block = vec![0; BLOCK];
        let mut at = 0;
        while at < end {
            let part = &mut block[..(end - at).min(BLOCK as u64) as usize];
            self.read(at, part)?;
            digest.update(&*part);
            at += part.len() as u64;
        }
        let mut claimed = [0; DIGEST as usize];
        self.read(end, &mut claimed)?;
        match digest.finalize() == claimed {
            true => Ok(()),
            false => Err(Failure::wrong("its digest is another one: it was damaged")),
        }
    }

    /// The first entry of a bucket, or of the one after the last.
    fn first_of(&mut self, bucket: u64) -> Result<u64, Failure> {
        let mut number = [0; 4];
        self.read(self.bytes.start + 4 * bucket, &mut number)?;
        Ok(u32::from_le_bytes(number).into())
    }

    /// The bits of the facts of an entry, and its value.
    fn at(&mut self, entry: u64) -> Result<(Vec<u8>, Value), Failure> {
        let entries = self.bytes.start + 4 * ((1 << self.claim.bucket_bits) + 1);
        let mut bytes = vec![0; self.entry_bytes];
        self.read(entries + entry * self.entry_bytes as u64, &mut bytes)?;
        let rest = bytes.split_off(self.key_bytes);
        let number = |at: usize| u16::from_le_bytes([rest[at], rest[at + 1]]);
        let scores = self.claim.values.get(usize::from(number(0)));
        let scores = scores.ok_or_else(|| Failure::Wrong(format!("entry {entry} has no value")))?;
        let means = 2 + 2 * usize::from(self.claim.has_distances);
        let (means, _) = rest[means..].as_chunks();
        let value = Value {
            means: means.iter().map(|mean| u32::from_le_bytes(*mean)).collect(),
            scores: scores.clone(),
            distance: if self.claim.has_distances {
                number(2)
            } else {
                UNKNOWN
            },
        };
        Ok((bytes, value))
    }

    /// The value of a position, `None` if it is missing.
    fn find(
        &mut self,
        state: &<DatalogMachine as Machine>::State,
    ) -> Result<Option<Value>, Failure> {
        let mut key = vec![0; self.key_bytes];
        for fact in self.machine.facts(state) {
            let Some(&number) = self.numbers.get(&fact) else {
                return Ok(None);
            };
            key[number / 8] |= 1 << (number % 8);
        }
        let bucket = bucket(&key, self.claim.bucket_bits);
        let (first, end) = (self.first_of(bucket)?, self.first_of(bucket + 1)?);
        if end > self.claim.positions {
            return Err(Failure::Wrong(format!("bucket {bucket} is wrong")));
        }
        for entry in first..end {
            let (found, value) = self.at(entry)?;
            if found == key {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Checks an entry.
    fn entry(&mut self, entry: u64) -> Result<(), Failure> {
        let (key, value) = self.at(entry)?;
        let holds = |number: &usize| key[number / 8] >> (number % 8) & 1 == 1;
        let facts = (0..self.facts.len())
            .filter(holds)
            .map(|number| self.facts[number]);
        let facts: Vec<TermId> = facts.collect();
        let state = self.machine.state(&facts)?;
        let names = |what: &str, facts: &[TermId]| {
            let mut terms = self.game.terms().clone();
            terms.refresh();
            let facts = facts.iter().map(|fact| self.game.text(&terms, *fact));
            Failure::Wrong(format!("{what} of {}", facts.collect::<Vec<_>>().join(" ")))
        };
        let wrong = |what: &str| Err(names(what, &facts));
        if self.find(&state)?.as_ref() != Some(&value) {
            return wrong("an entry in the wrong bucket, or a second one, for the position");
        }
        let (expected, distance, means) = match self.machine.is_terminal(&state)? {
            true => {
                let mut scores = Vec::new();
                for role in self.game.roles().filter(|role| !self.game.is_random(*role)) {
                    scores.push([self.machine.goal(&state, role)?.get(); 2]);
                }
                let means = scores.iter().map(|[score, _]| f32::from(*score)).collect();
                (scores, 0, means)
            }
            false => match self.after(&state)? {
                Some(after) => after,
                None => return wrong("a position is missing after that"),
            },
        };
        if expected != value.scores {
            return wrong("another value");
        }
        if self.claim.has_distances && distance != value.distance {
            return wrong("another distance");
        }
        for (bits, mean) in value.means.iter().zip(&means) {
            let claimed = f32::from_bits(*bits);
            if !claimed.is_nan() && (claimed - mean).abs() > PRECISION {
                return wrong("another expected score");
            }
        }
        self.is_open |= value.distance == UNKNOWN;
        Ok(())
    }

    /// The value and the distance of a position by those of the positions after it; `None` if one of
    /// them is missing.
    #[expect(clippy::type_complexity, reason = "it is used once")]
    fn after(
        &mut self,
        state: &<DatalogMachine as Machine>::State,
    ) -> Result<Option<(Vec<[u8; 2]>, u16, Vec<f32>)>, Failure> {
        let mut legal: Vec<Vec<Move>> = Vec::new();
        for role in self.game.roles() {
            let mut moves = Vec::new();
            self.machine.legal(state, role, &mut moves)?;
            legal.push(moves);
        }
        // By player, own move and those of the other players: what chance leaves.
        type Left = FxHashMap<Move, FxHashMap<Vec<Move>, [u8; 2]>>;
        let mut left: Vec<Left> = vec![Left::default(); self.players.len()];
        // In the same way: the sums of expected scores, and the number of outcomes.
        type Sums = FxHashMap<Move, FxHashMap<Vec<Move>, (f32, f32)>>;
        let mut sums: Vec<Sums> = vec![Sums::default(); self.players.len()];
        let mut children = Vec::new();
        for joint in joint_moves(&legal) {
            let next = self.machine.next(state, &joint)?;
            let Some(value) = self.find(&next)? else {
                return Ok(None);
            };
            for (player, role) in self.players.iter().enumerate() {
                let [low, high] = value.scores[player];
                let others = self.players.iter().filter(|other| *other != role);
                let others: Vec<Move> = others.map(|other| joint[*other]).collect();
                if let Some(bits) = value.means.get(player) {
                    let sums = sums[player].entry(joint[*role]).or_default();
                    let (sum, count) = sums.entry(others.clone()).or_default();
                    (*sum, *count) = (*sum + f32::from_bits(*bits), *count + 1.0);
                }
                let of_own = left[player].entry(joint[*role]).or_default();
                let known = of_own.entry(others).or_insert([low, high]);
                *known = [known[0].min(low), known[1].max(high)];
            }
            children.push(value);
        }
        let best = left.iter().map(|left| {
            let least = |of_own: &FxHashMap<_, [u8; 2]>, at: usize| {
                of_own.values().map(|value| value[at]).min().unwrap_or(0)
            };
            let most = |at: usize| {
                left.values()
                    .map(|of_own| least(of_own, at))
                    .max()
                    .unwrap_or(0)
            };
            [most(0), most(1)]
        });
        let scores: Vec<[u8; 2]> = best.collect();
        let means = sums.into_iter().map(|sums| {
            let of_moves = sums.into_values().map(|of_own| {
                let means = of_own.into_values().map(|(sum, count)| sum / count);
                means.fold(f32::INFINITY, |a, b| known(a, b, f32::min))
            });
            of_moves.fold(f32::NEG_INFINITY, |a, b| known(a, b, f32::max))
        });
        let means: Vec<f32> = means.collect();
        let mut choosers = (0..).zip(&legal).filter(|(_, moves)| moves.len() > 1);
        let role = choosers.next().map_or(0, |(role, _)| role);
        let Some(player) = self.players.iter().position(|own| *own == role) else {
            return Ok(Some((scores, UNKNOWN, means)));
        };
        let [least, most] = scores[player];
        let kept = children
            .iter()
            .filter(|child| child.scores[player] == [least, most]);
        let distances = kept.map(|child| child.distance);
        let distance = match self.lowest[player] == Some(least) {
            true => distances.max(),
            false => distances.min(),
        };
        let distance = match distance {
            Some(distance) if distance != UNKNOWN && least == most => {
                (distance + 1).min(UNKNOWN - 1)
            }
            _ => UNKNOWN,
        };
        Ok(Some((scores, distance, means)))
    }
}

/// The choice between two expected scores; not a number if either is not a number.
fn known(a: f32, b: f32, choose: fn(f32, f32) -> f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        choose(a, b)
    }
}

/// The bucket of a position with these bits of facts.
fn bucket(key: &[u8], bits: u32) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in key {
        hash ^= u64::from(*byte);
        hash = hash.wrapping_mul(0x0100_0000_01b3);
    }
    match bits {
        0 => 0,
        bits => hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits),
    }
}
