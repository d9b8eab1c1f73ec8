//! Keys of children on their way to the processes that own them.
//!
//! In: the portions of a round. Out: for each process one parcel of bytes: the code of a child,
//! if there is any, the numbers of the pieces whose children it holds, then for each shard of
//! the receiver how many keys each piece has, and the keys. The parcels of all processes together give each shard its keys in
//! the order of their pieces, which does not depend on the processes.

use super::peers::Lost;
use super::shards::{Halt, SHARDS, key_words};
use super::workers::Portion;
use crate::planning::expand::states::words_of;

/// Bytes of a number in a parcel.
const NUMBER: usize = 4;

/// Packs the keys of some shards of another process. `numbers` gives the numbers of the pieces by portion.
pub(super) fn pack(
    portions: &[Portion],
    numbers: &[Vec<u32>],
    bits: usize,
    shards: impl Iterator<Item = usize> + Clone,
) -> Vec<u8> {
    let (words, size) = (key_words(bits), bits.div_ceil(8));
    let pieces: usize = numbers.iter().map(Vec::len).sum();
    let keys: usize = (shards.clone())
        .map(|shard| portions.iter().map(|p| p.of(shard).len()).sum::<usize>())
        .sum();
    let numbers_of_pieces = (1 + shards.clone().count()) * pieces;
    let mut bytes = Vec::with_capacity(NUMBER * (2 + numbers_of_pieces) + keys * size);
    let child = first_child(portions);
    bytes.extend((child.len() as u32).to_le_bytes());
    bytes.extend(child.iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend((pieces as u32).to_le_bytes());
    for number in numbers.iter().flatten() {
        bytes.extend(number.to_le_bytes());
    }
    for shard in shards {
        for counts in portions.iter().flat_map(|portion| &portion.counts) {
            bytes.extend(counts[shard].to_le_bytes());
        }
        for key in portions
            .iter()
            .flat_map(|p| p.of(shard).chunks_exact(words))
        {
            // Whole words are copied, and what follows the key is overwritten.
            let end = bytes.len() + size;
            key.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            bytes.truncate(end);
        }
    }
    bytes
}

/// The code of one child, if there is any.
pub(super) fn first_child(portions: &[Portion]) -> &[u64] {
    let child = portions.iter().find(|portion| !portion.child.is_empty());
    child.map_or(&[], |portion| &portion.child)
}

/// The keys that all processes have for this one.
pub(super) struct Parcels {
    own: Vec<Portion>,
    /// By piece of this process: its portion, and its position there.
    own_pieces: Vec<(u32, u32)>,
    /// The parcels of the others.
    all: Vec<Parcel>,
    /// The code of one child, if there is any.
    pub child: Vec<u64>,
    /// All pieces in order: their numbers, the parcel, or [`OWN`], and the position there.
    order: Vec<(u32, u32, u32)>,
    /// By shard: its position among the shards of this process.
    place: Box<[usize; SHARDS]>,
    bits: usize,
}

const OWN: u32 = u32::MAX;

struct Parcel {
    bytes: Vec<u8>,
    child: Vec<u64>,
    /// Where the numbers of the pieces begin.
    numbers: usize,
    /// By shard of this process: where its counts begin.
    counts: Vec<usize>,
    /// Number of pieces.
    pieces: usize,
}

impl Parcel {
    fn number(&self, at: usize) -> u32 {
        let bytes = self.bytes[at..at + NUMBER].try_into();
        u32::from_le_bytes(bytes.expect("a number has this many bytes"))
    }

    /// Finds the parts of a parcel for `shards` shards.
    fn open(bytes: Vec<u8>, shards: usize, size: usize) -> Option<Parcel> {
        let mut parcel = Parcel {
            bytes,
            child: Vec::new(),
            numbers: 0,
            counts: Vec::new(),
            pieces: 0,
        };
        let len = parcel.bytes.len();
        let fits = |at: usize, count: usize| {
            let end = at.checked_add(count.checked_mul(NUMBER)?)?;
            (end <= len).then_some(end)
        };
        let mut at = fits(0, 1)?;
        let child = parcel.number(0) as usize;
        let end = fits(at, 2 * child)?;
        let words = parcel.bytes[at..end].chunks_exact(8);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("there are eight"));
        parcel.child = words.map(word).collect();
        at = fits(end, 1)?;
        parcel.pieces = parcel.number(end) as usize;
        parcel.numbers = at;
        at = fits(at, parcel.pieces)?;
        for _ in 0..shards {
            parcel.counts.push(at);
            let end = fits(at, parcel.pieces)?;
            let numbers = (at..end).step_by(NUMBER);
            let keys: usize = numbers.map(|at| parcel.number(at) as usize).sum();
            at = end.checked_add(keys.checked_mul(size)?)?;
        }
        (at == len).then_some(parcel)
    }
}

impl Parcels {
    /// Opens the parcels that arrived for the owner of `shards`, which has portions of its own
    /// with pieces of these numbers; its own parcel is empty.
    ///
    /// # Errors
    ///
    /// If one of them is not what [`pack`] makes.
    pub fn open(
        own: Vec<Portion>,
        numbers: &[Vec<u32>],
        arrived: Vec<Vec<u8>>,
        bits: usize,
        shards: impl Iterator<Item = usize>,
    ) -> Result<Parcels, Lost> {
        let mut place = Box::new([usize::MAX; SHARDS]);
        let mut count = 0;
        for shard in shards {
            place[shard] = count;
            count += 1;
        }
        let mut order = Vec::new();
        let mut own_pieces = Vec::new();
        for (portion, numbers) in (0..).zip(numbers) {
            for (piece, &number) in (0..).zip(numbers) {
                order.push((number, OWN, own_pieces.len() as u32));
                own_pieces.push((portion, piece));
            }
        }
        let mut all = Vec::new();
        let arrived = arrived.into_iter().enumerate();
        for (process, bytes) in arrived.filter(|(_, bytes)| !bytes.is_empty()) {
            let parcel = Parcel::open(bytes, count, bits.div_ceil(8));
            let parcel = parcel.ok_or(Lost(Some(process)))?;
            let numbers = 0..parcel.pieces;
            let numbers = numbers.map(|at| parcel.number(parcel.numbers + NUMBER * at));
            let places = (0..).zip(numbers);
            let from = all.len() as u32;
            order.extend(places.map(|(at, number)| (number, from, at)));
            all.push(parcel);
        }
        // A piece in two portions keeps their order.
        order.sort_unstable();
        let mut children = all.iter().map(|parcel| &parcel.child[..]);
        let child = children.find(|child| !child.is_empty());
        Ok(Parcels {
            child: child.unwrap_or_else(|| first_child(&own)).to_vec(),
            own,
            own_pieces,
            all,
            order,
            place,
            bits,
        })
    }

    pub fn memory(&self) -> u64 {
        let bytes: usize = self.all.iter().map(|parcel| parcel.bytes.capacity()).sum();
        (bytes + self.order.capacity() * size_of::<(u32, u32, u32)>()) as u64
    }

    /// Gives `see` the keys of a shard, in order; nothing if it is another process's.
    ///
    /// # Errors
    ///
    /// Those of `see`.
    pub fn feed(
        &self,
        shard: usize,
        see: &mut dyn FnMut(&[u64]) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let place = self.place[shard];
        if place == usize::MAX {
            return Ok(());
        }
        let (words, size) = (key_words(self.bits), self.bits.div_ceil(8));
        let first = |parcel: &Parcel| parcel.counts[place] + NUMBER * parcel.pieces;
        let mut at: Vec<usize> = self.all.iter().map(first).collect();
        let mut keys = Vec::new();
        let mut own_at = (0, 0);
        for &(_, process, position) in &self.order {
            if process == OWN {
                let (portion, piece) = self.own_pieces[position as usize];
                let Portion { counts, .. } = &self.own[portion as usize];
                if own_at.0 != portion {
                    own_at = (portion, 0);
                }
                let len = counts[piece as usize][shard] as usize * words;
                let own = self.own[portion as usize].of(shard);
                keys.extend_from_slice(&own[own_at.1..own_at.1 + len]);
                own_at.1 += len;
                continue;
            }
            let parcel = &self.all[process as usize];
            let count = parcel.number(parcel.counts[place] + NUMBER * position as usize) as usize;
            let from = &mut at[process as usize];
            let end = *from + count * size;
            for key in parcel.bytes[*from..end].chunks_exact(size.max(1)) {
                keys.extend(words_of(key));
            }
            *from = end;
        }
        see(&keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::breadth_first::workers::portion_of;

    const PROCESSES: usize = 3;
    /// A key of one word that is not full, and one of two.
    const BITS: [usize; 2] = [33, 100];

    /// Portions whose pieces have these keys, each with its shard.
    fn portions(bits: usize, pieces: &[&[(usize, u64)]], each: usize) -> Vec<Portion> {
        pieces
            .chunks(each)
            .map(|some| portion_of(bits, some))
            .collect()
    }

    #[test]
    fn keys_arrive_in_the_order_of_their_pieces() {
        // By piece: shard and key.
        let pieces: [&[(usize, u64)]; 6] = [
            &[(0, 1), (3, 2), (1, 3)],
            &[(3, 4)],
            &[],
            &[(0, 5), (0, 6), (127, 7)],
            &[(3, 8), (1, 9)],
            &[(3, 10), (0, 11)],
        ];
        for bits in BITS {
            let words = key_words(bits);
            // Process n has the pieces n, n + 3, in portions of one piece or of all.
            let of = |process: usize, each: usize| {
                let own: Vec<_> = (process..pieces.len()).step_by(PROCESSES).collect();
                let numbers = own.chunks(each);
                let numbers: Vec<Vec<u32>> = numbers
                    .map(|some| some.iter().map(|&number| number as u32).collect())
                    .collect();
                let own: Vec<_> = own.iter().map(|&number| pieces[number]).collect();
                (portions(bits, &own, each), numbers)
            };
            for (receiver, each) in [(0, 1), (1, 2), (0, 2), (2, 1)] {
                let shards = (receiver..SHARDS).step_by(PROCESSES);
                let arrived = (0..PROCESSES).map(|process| {
                    let (portions, numbers) = of(process, each);
                    match process == receiver {
                        true => Vec::new(),
                        false => pack(&portions, &numbers, bits, shards.clone()),
                    }
                });
                let arrived: Vec<_> = arrived.collect();
                let (own, numbers) = of(receiver, each);
                let open =
                    |arrived| Parcels::open(own.clone(), &numbers, arrived, bits, shards.clone());
                let parcels = open(arrived.clone()).unwrap();
                for shard in 0..SHARDS {
                    let mut found = Vec::new();
                    let mut see = |keys: &[u64]| {
                        found.extend(keys.chunks_exact(words).map(|key| key[0]));
                        Ok(())
                    };
                    assert!(parcels.feed(shard, &mut see).is_ok());
                    let all = pieces.iter().flat_map(|piece| *piece);
                    let of_shard = all.filter(|key| key.0 == shard).map(|key| key.1);
                    let expected: Vec<u64> = match shard % PROCESSES == receiver {
                        true => of_shard.collect(),
                        false => Vec::new(),
                    };
                    assert_eq!(found, expected, "shard {shard}, {bits} bits");
                }
                // What was cut off or is too long is noticed.
                let other = (receiver + 1) % PROCESSES;
                for len in 1..arrived[other].len() {
                    let mut cut = arrived.clone();
                    cut[other].truncate(len);
                    assert!(open(cut).is_err());
                }
                let mut longer = arrived.clone();
                longer[other].push(0);
                assert_eq!(open(longer).err(), Some(Lost(Some(other))));
            }
        }
    }
}
