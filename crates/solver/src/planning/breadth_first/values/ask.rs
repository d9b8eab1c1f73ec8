//! Values of children that are found again.
//!
//! Positions are expanded, and the owners of their children say what these are worth: this process, or
//! others, to which the keys are sent, and which answer in the same order.

use std::ops::Range;

use super::super::next_level::{PORTION, batches};
use super::super::peers::Lost;
use super::super::shards::{Piece, SHARDS, Shards, Span, key_words};
use super::super::workers::Portion;
use super::backward::Backward;
use super::form::Sweep;
use super::{Fault, Update, Values};
use crate::planning::expand::states::words_of;

/// Open positions, and their children.
type Question = (Vec<Piece>, Portion);

impl Backward<'_, '_> {
    /// The new entries of the open positions among some of a level that belong to this process.
    pub fn round(
        &mut self,
        sweep: Sweep,
        span: &Span,
        positions: Range<u64>,
    ) -> Result<Vec<Update>, Fault> {
        let questions = self.questions(span, positions);
        let questions = self.agree(questions)?;
        let updates = match self.peers.are_several() {
            true => self.ask(sweep, questions)?,
            false => {
                let (shards, values) = (&self.search.shards, &self.values);
                let words = key_words(self.search.layout.key_bits());
                (self.search.workers).each(usize::MAX, questions, |_, (pieces, portion)| {
                    let answers = (0..SHARDS).map(|shard| {
                        let mut answers = Vec::new();
                        let all =
                            values.answer(shards, shard, portion.of(shard), words, &mut answers);
                        all.map(|()| answers)
                    });
                    let answers = answers.collect::<Option<Vec<_>>>();
                    let answers = answers.expect("the search found all positions");
                    values.updated(sweep, &pieces, &portion, |shard| &answers[shard])
                })
            }
        };
        self.agree(updates.into_iter().collect())
    }

    /// Expands the open positions among some of a level.
    fn questions(&self, span: &Span, positions: Range<u64>) -> Result<Vec<Question>, Fault> {
        self.check()?;
        let (search, values) = (self.search, &self.values);
        let (shards, stride) = (&search.shards, search.layout.words());
        let pieces = span.pieces(positions).into_iter();
        let own = pieces.filter(|piece| self.peers.own(piece.shard));
        let open = own.flat_map(|piece| values.open(&piece));
        let batches = batches(open.zip(0..), PORTION);
        let asked = search.workers.each(usize::MAX, batches, |worker, batch| {
            let pieces: Vec<Piece> = batch.into_iter().map(|(piece, _)| piece).collect();
            let portion = worker.portion(std::iter::empty(), |out| {
                let suffix = vec![0; stride];
                for piece in &pieces {
                    shards.read(piece.shard, piece.numbers.clone(), &suffix, out);
                }
                Ok::<(), Fault>(())
            });
            Ok((pieces, portion?.ok_or(Fault::Stopped)?))
        });
        asked.into_iter().collect()
    }

    /// The new entries of positions, by the answers of all processes.
    fn ask(
        &mut self,
        sweep: Sweep,
        questions: Vec<Question>,
    ) -> Result<Vec<Result<Update, Fault>>, Fault> {
        let bits = self.search.layout.key_bits();
        let (words, size) = (key_words(bits), bits.div_ceil(8));
        let (shards, values) = (&self.search.shards, &self.values);
        let portions = || questions.iter().map(|(_, portion)| portion);
        let pack = |process: usize| {
            let mut parcel = Vec::new();
            for shard in self.peers.shards_of(process) {
                let count = portions()
                    .map(|portion| portion.len_of(shard))
                    .sum::<usize>();
                parcel.extend((count as u32).to_le_bytes());
                for key in portions().flat_map(|portion| portion.of(shard).chunks_exact(words)) {
                    let end = parcel.len() + size;
                    parcel.extend(key.iter().flat_map(|word| word.to_le_bytes()));
                    parcel.truncate(end);
                }
            }
            parcel
        };
        let parcels = (0..self.peers.count()).map(pack).collect();
        let arrived = self.peers.exchange(parcels)?;
        let own: Vec<usize> = self.peers.own_shards().collect();
        let mut parts = Vec::new();
        for (process, parcel) in arrived.iter().enumerate() {
            let opened = open(parcel, &own, size).ok_or(Lost(Some(process)))?;
            parts.extend(opened.into_iter().map(|part| (process, part)));
        }
        let answers = (self.search.workers).each(usize::MAX, parts, |_, (process, part)| {
            let (mut keys, mut answers) = (Vec::with_capacity(part.count * words), Vec::new());
            for key in 0..part.count {
                keys.extend(words_of(&part.keys[key * size..][..size]));
                keys.resize((key + 1) * words, 0);
            }
            let all = values.answer(shards, part.shard, &keys, words, &mut answers);
            all.map(|()| (process, answers)).ok_or(Lost(Some(process)))
        });
        let mut replies = vec![Vec::new(); self.peers.count()];
        for answer in answers {
            let (process, answers) = answer?;
            replies[process].extend(answers);
        }
        let replies = self.peers.exchange(replies)?;
        let bytes = self.values.form.bytes();
        // By shard: its answers, from those for the portion on.
        let mut left: Vec<&[u8]> = vec![&[]; SHARDS];
        for (process, reply) in replies.iter().enumerate() {
            let mut reply = &reply[..];
            for shard in self.peers.shards_of(process) {
                let count = portions()
                    .map(|portion| portion.len_of(shard))
                    .sum::<usize>();
                let split = reply.split_at_checked(count * bytes);
                (left[shard], reply) = split.ok_or(Lost(Some(process)))?;
            }
            if !reply.is_empty() {
                return Err(Lost(Some(process)).into());
            }
        }
        let mut items = Vec::with_capacity(questions.len());
        for (pieces, portion) in &questions {
            items.push((pieces, portion, left.clone()));
            for (shard, left) in left.iter_mut().enumerate() {
                *left = &left[portion.len_of(shard) * bytes..];
            }
        }
        let values = &self.values;
        let updates =
            (self.search.workers).each(usize::MAX, items, |_, (pieces, portion, left)| {
                values.updated(sweep, pieces, portion, |shard| left[shard])
            });
        Ok(updates)
    }
}

/// The keys of a shard in a parcel.
struct Part<'p> {
    shard: usize,
    count: usize,
    keys: &'p [u8],
}

/// The parts of a parcel, by shard.
fn open<'p>(mut parcel: &'p [u8], shards: &[usize], size: usize) -> Option<Vec<Part<'p>>> {
    let mut parts = Vec::new();
    for &shard in shards {
        let (count, rest) = parcel.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (keys, rest) = rest.split_at_checked(count.checked_mul(size)?)?;
        parts.push(Part { shard, count, keys });
        parcel = rest;
    }
    parcel.is_empty().then_some(parts)
}

impl Values {
    /// Appends the entries of positions of a shard with these keys; `None` if one is not there.
    fn answer(
        &self,
        shards: &Shards,
        shard: usize,
        keys: &[u64],
        words: usize,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let mut numbers = Vec::with_capacity(keys.len() / words);
        shards.all()[shard].find_all(keys, words, |number| numbers.push(number));
        for number in numbers {
            out.extend_from_slice(self.entry(shard, number? as usize));
        }
        Some(())
    }

    /// The new entries of the positions in some pieces; `answers` gives the entries of their children in a
    /// shard, in order.
    fn updated<'a>(
        &self,
        sweep: Sweep,
        pieces: &[Piece],
        portion: &Portion,
        answers: impl Fn(usize) -> &'a [u8],
    ) -> Result<Update, Fault> {
        let bytes = self.form.bytes();
        let joints = portion.joints.as_ref().expect("portions have joint moves");
        let mut left: Vec<&[u8]> = (0..SHARDS).map(answers).collect();
        let mut children = Vec::with_capacity(joints.shards.len() * bytes);
        for &shard in &joints.shards {
            let left = &mut left[usize::from(shard)];
            let (child, rest) = left.split_at(bytes);
            children.extend_from_slice(child);
            *left = rest;
        }
        self.update(sweep, pieces, joints, |some, out| {
            out.extend_from_slice(&children[some.start * bytes..some.end * bytes]);
        })
    }
}
