//! Random numbers for all lanes at once.
//!
//! In: a seed; by lane, the number of values that a random number may have. Out:
//! such a number, exactly uniform. It is made by rejection: as many bits as can be
//! needed are drawn, and drawn again while the number is too large.
//!
//! The 64 lanes of one word are a *block* and share one stream of words. A stream
//! depends on the seed and the block alone, and only events in the block consume
//! it, so results do not depend on the number of blocks that run in parallel.
//!
//! Source: xoshiro256++ by Blackman and Vigna, Scrambled linear pseudorandom number
//! generators (2021); seeding by splitmix64, as they propose.

#[cfg(target_arch = "x86_64")]
mod avx512;

use multiversion::multiversion;
use multiversion::target::match_target;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Streams of random words, one for each of several consecutive blocks.
#[derive(Clone, Debug)]
pub struct Streams {
    /// By word of the generator's state, then by block.
    state: [Vec<u64>; 4],
}

/// The limits of random numbers: rows with as many words as there are streams. Row
/// `k` of a group is bit `k` of a number.
#[derive(Copy, Clone, Debug)]
pub struct Limits<'r> {
    /// By lane: the number of values that the random number may have.
    pub counts: &'r [u64],
    /// By lane: the bits that can be set in a number below the count.
    pub masks: &'r [u64],
    /// The number of rows of masks.
    pub bits: usize,
}

impl Streams {
    /// The streams of `blocks` blocks, beginning with block `first`.
    pub fn new(seed: u64, first: u64, blocks: usize) -> Streams {
        let mut state = [const { Vec::new() }; 4];
        for block in (first..).take(blocks) {
            let words = generator(seed, block).state();
            for (of, word) in state.iter_mut().zip(words.chunks_exact(8)) {
                of.push(u64::from_le_bytes(word.try_into().expect("eight bytes")));
            }
        }
        Streams { state }
    }

    /// The number of streams.
    pub fn len(&self) -> usize {
        self.state[0].len()
    }

    /// True if there are no streams.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets each lane of a row with probability `chance` / 256; 256 or more sets
    /// all lanes.
    pub fn toss(&mut self, chance: u32, row: &mut [u64]) {
        match chance {
            0..256 => toss(&mut self.state, chance, row),
            _ => row.fill(u64::MAX),
        }
    }

    /// Draws a number for each lane that is set in `lanes`, where the count must
    /// not be zero. `numbers` has as many rows as there are masks; its other lanes
    /// are unchanged.
    pub fn draw(&mut self, lanes: &[u64], limits: Limits<'_>, numbers: &mut [u64]) {
        if !numbers.is_empty() {
            draw(&mut self.state, lanes, limits, numbers);
        }
    }
}

/// The generator of a block.
fn generator(seed: u64, block: u64) -> Xoshiro256PlusPlus {
    // Mixed twice, so that consecutive seeds do not share any block's stream.
    Xoshiro256PlusPlus::seed_from_u64(mix(mix(seed).wrapping_add(block)))
}

/// The output function of splitmix64.
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn draw(state: &mut [Vec<u64>; 4], lanes: &[u64], limits: Limits<'_>, numbers: &mut [u64]) {
    let words = lanes.len();
    let mut at = 0;
    while words - at >= 8 {
        match_target! {
            "x86_64+avx512f" => avx512::draw(state, at, lanes, limits, numbers),
            _ => draw_at::<8>(state, at, lanes, limits, numbers),
        }
        at += 8;
    }
    while words - at >= 4 {
        draw_at::<4>(state, at, lanes, limits, numbers);
        at += 4;
    }
    while at < words {
        draw_at::<1>(state, at, lanes, limits, numbers);
        at += 1;
    }
}

/// Draws for `N` blocks from block `at` on.
#[inline(always)]
fn draw_at<const N: usize>(
    state: &mut [Vec<u64>; 4],
    at: usize,
    lanes: &[u64],
    limits: Limits<'_>,
    numbers: &mut [u64],
) {
    let words = lanes.len();
    // Loops over arrays instead of closures passed to functions, which are compiled
    // only once, without vectors.
    let get = |rows: &[u64], row: usize| -> [u64; N] {
        let mut array = [0; N];
        array.copy_from_slice(&rows[row * words + at..][..N]);
        array
    };
    let bits = limits.bits;
    let has_top = limits.counts.len() > bits * words;
    let mut open = get(lanes, 0);
    let mut now = [[0; N]; 4];
    for of in 0..4 {
        now[of].copy_from_slice(&state[of][at..][..N]);
    }
    let mut ahead = now;
    loop {
        let mut any = 0;
        for word in open {
            any |= word;
        }
        if any == 0 {
            break;
        }
        let mut less = [0; N];
        for bit in 0..bits {
            let random = advance(&mut ahead);
            let (mask, count, old) = (
                get(limits.masks, bit),
                get(limits.counts, bit),
                get(numbers, bit),
            );
            let mut new = [0; N];
            for i in 0..N {
                let drawn = random[i] & mask[i];
                less[i] = (!drawn & count[i]) | (!(drawn ^ count[i]) & less[i]);
                new[i] = (old[i] & !open[i]) | (drawn & open[i]);
            }
            numbers[bit * words + at..][..N].copy_from_slice(&new);
        }
        if has_top {
            let count = get(limits.counts, bits);
            for i in 0..N {
                less[i] |= count[i];
            }
        }
        // A block that was complete before this round consumes nothing in it.
        for of in 0..4 {
            for i in 0..N {
                now[of][i] = if open[i] == 0 {
                    now[of][i]
                } else {
                    ahead[of][i]
                };
            }
        }
        for i in 0..N {
            open[i] &= !less[i];
        }
    }
    for of in 0..4 {
        state[of][at..][..N].copy_from_slice(&now[of]);
    }
}

/// See [`Streams::toss`].
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn toss(state: &mut [Vec<u64>; 4], chance: u32, row: &mut [u64]) {
    let mut at = 0;
    while row.len() - at >= 8 {
        toss_at::<8>(state, at, chance, row);
        at += 8;
    }
    while at < row.len() {
        toss_at::<1>(state, at, chance, row);
        at += 1;
    }
}

/// Sets lanes in `N` blocks from block `at` on.
#[inline(always)]
fn toss_at<const N: usize>(state: &mut [Vec<u64>; 4], at: usize, chance: u32, row: &mut [u64]) {
    let mut now = [[0; N]; 4];
    for of in 0..4 {
        now[of].copy_from_slice(&state[of][at..][..N]);
    }
    let mut set = [0; N];
    // Each bit halves the probability of those below, and adds a half if it is set.
    for bit in chance.trailing_zeros().min(8)..8 {
        let random = advance(&mut now);
        for i in 0..N {
            set[i] = match chance >> bit & 1 {
                0 => set[i] & random[i],
                _ => set[i] | random[i],
            };
        }
    }
    row[at..][..N].copy_from_slice(&set);
    for of in 0..4 {
        state[of][at..][..N].copy_from_slice(&now[of]);
    }
}

/// The next word of each stream.
#[inline(always)]
fn advance<const N: usize>(state: &mut [[u64; N]; 4]) -> [u64; N] {
    let [a, b, c, d] = state;
    let mut words = [0; N];
    for i in 0..N {
        words[i] = a[i].wrapping_add(d[i]).rotate_left(23).wrapping_add(a[i]);
        let shifted = b[i] << 17;
        c[i] ^= a[i];
        d[i] ^= b[i];
        b[i] ^= c[i];
        a[i] ^= d[i];
        c[i] ^= shifted;
        d[i] = d[i].rotate_left(45);
    }
    words
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    /// The rows for the same count in all lanes: its bits, and the masks.
    fn limits(count: u64, words: usize) -> (Vec<u64>, Vec<u64>) {
        let row = |set: bool| vec![if set { u64::MAX } else { 0 }; words];
        let length = |number: u64| 64 - number.leading_zeros();
        let counts = (0..length(count)).flat_map(|bit| row(count >> bit & 1 == 1));
        let masks = (0..length(count - 1)).flat_map(|_| row(true));
        (counts.collect(), masks.collect())
    }

    /// The number in each lane.
    fn numbers(rows: &[u64], words: usize) -> Vec<usize> {
        (0..64 * words)
            .map(|lane| {
                let set = |(bit, row): (usize, &[u64])| {
                    ((row[lane / 64] >> (lane % 64) & 1) as usize) << bit
                };
                rows.chunks_exact(words).enumerate().map(set).sum()
            })
            .collect()
    }

    /// The numbers that every lane draws in several rounds.
    fn draws(seed: u64, count: u64, words: usize, rounds: usize) -> Vec<Vec<usize>> {
        let mut streams = Streams::new(seed, 0, words);
        let (counts, masks) = limits(count, words);
        let limits = Limits {
            counts: &counts,
            masks: &masks,
            bits: masks.len() / words,
        };
        let mut rows = vec![0; masks.len()];
        (0..rounds)
            .map(|_| {
                streams.draw(&vec![u64::MAX; words], limits, &mut rows);
                numbers(&rows, words)
            })
            .collect()
    }

    #[test]
    fn streams_agree_with_the_scalar_generator() {
        for words in [1, 3, 4, 8, 13, 16] {
            let mut streams = Streams::new(7, 5, words);
            // With 64 values all drawn bits are accepted.
            let (counts, masks) = limits(64, words);
            let limits = Limits {
                counts: &counts,
                masks: &masks,
                bits: masks.len() / words,
            };
            let mut rows = vec![0; masks.len()];
            let mut plain: Vec<_> = (0..words as u64).map(|w| generator(7, 5 + w)).collect();
            for _ in 0..20 {
                streams.draw(&vec![u64::MAX; words], limits, &mut rows);
                for row in rows.chunks_exact(words) {
                    let expected: Vec<u64> = plain.iter_mut().map(Rng::next_u64).collect();
                    assert_eq!(row, expected, "{words} words");
                }
            }
        }
    }

    #[test]
    fn a_block_draws_the_same_next_to_any_others() {
        let wide = draws(3, 5, 8, 50);
        for (words, more) in [(1, 7), (4, 4), (7, 1)] {
            let narrow = draws(3, 5, words, 50);
            for (narrow, wide) in narrow.iter().zip(&wide) {
                assert_eq!(narrow[..], wide[..wide.len() - 64 * more]);
            }
        }
    }

    #[test]
    fn draws_are_the_same_without_wide_vectors() {
        for count in [1 << 20, 1000, 257, 100, 64, 33, 9, 5, 2] {
            let (counts, masks) = limits(count, 9);
            let limits = Limits {
                counts: &counts,
                masks: &masks,
                bits: masks.len() / 9,
            };
            let mut one = Streams::new(2, 0, 9);
            let mut other = one.clone();
            let mut rows = [vec![0; masks.len()], vec![0; masks.len()]];
            // The ninth word is not used.
            let lanes = [u64::MAX, 1, 0, 9, u64::MAX, 0, 7, 8, 0];
            for _ in 0..10 {
                one.draw(&lanes, limits, &mut rows[0]);
                draw_at::<8>(&mut other.state, 0, &lanes, limits, &mut rows[1]);
                assert_eq!(rows[0], rows[1], "{count} values");
                assert_eq!(one.state, other.state, "{count} values");
            }
        }
    }

    #[test]
    fn tosses_have_the_given_probability() {
        for chance in [0, 1, 3, 64, 100, 128, 255, 256] {
            let mut wide = Streams::new(chance.into(), 0, 13);
            let mut narrow = Streams::new(chance.into(), 0, 1);
            let mut count = 0;
            for _ in 0..200 {
                let (mut row, mut first) = ([0; 13], [0]);
                wide.toss(chance, &mut row);
                narrow.toss(chance, &mut first);
                assert_eq!(row[0], first[0]);
                count += row.iter().map(|word| word.count_ones()).sum::<u32>();
            }
            let all = f64::from(200 * 13 * 64);
            let mean = f64::from(chance) / 256.0;
            let error = 4.0 * (mean * (1.0 - mean) * all).sqrt();
            let found = f64::from(count);
            assert!((found - mean * all).abs() <= error, "{found} of {all}");
        }
    }

    #[test]
    fn unselected_lanes_are_unchanged_and_consume_nothing() {
        let mut streams = Streams::new(1, 0, 2);
        let before = streams.clone();
        let (counts, masks) = limits(6, 2);
        let limits = Limits {
            counts: &counts,
            masks: &masks,
            bits: masks.len() / 2,
        };
        let mut rows = vec![u64::MAX; masks.len()];
        streams.draw(&[0b110, 0], limits, &mut rows);
        let drawn = numbers(&rows, 2);
        assert!(drawn[1] < 6 && drawn[2] < 6);
        assert!(drawn.iter().filter(|&&number| number != 7).count() <= 2);
        for (now, before) in streams.state.iter().zip(&before.state) {
            assert!(now[0] != before[0] && now[1] == before[1]);
        }
    }

    /// The chi-square statistic of counts with equal expectations.
    fn chi_square(counts: &[u64]) -> f64 {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let square = |&count: &u64| (count as f64 - expected).powi(2) / expected;
        counts.iter().map(square).sum()
    }

    /// True if a statistic is within four standard deviations of its mean, given
    /// the degrees of freedom.
    fn is_plausible(statistic: f64, freedom: usize) -> bool {
        let freedom = freedom as f64;
        (statistic - freedom).abs() <= 4.0 * (2.0 * freedom).sqrt()
    }

    #[test]
    fn numbers_are_uniform_and_independent() {
        for count in [1, 2, 3, 7, 8, 100] {
            let rounds = draws(11, count, 8, 400);
            let count = count as usize;
            let mut single = vec![0; count];
            // Pairs from one lane in successive rounds, and from adjacent lanes.
            let mut successive = vec![0; count * count];
            let mut adjacent = vec![0; count * count];
            let mut by_lane = vec![0; 512 * count];
            for (round, drawn) in rounds.iter().enumerate() {
                for (lane, &number) in drawn.iter().enumerate() {
                    single[number] += 1;
                    by_lane[lane * count + number] += 1;
                    if round % 2 == 1 {
                        successive[rounds[round - 1][lane] * count + number] += 1;
                    }
                    if lane % 2 == 1 {
                        adjacent[drawn[lane - 1] * count + number] += 1;
                    }
                }
            }
            // All lanes draw equally often, which removes degrees of freedom.
            let by_lane = (by_lane, 512);
            for (counts, fixed) in [(single, 1), (successive, 1), (adjacent, 1), by_lane] {
                let statistic = chi_square(&counts);
                let freedom = counts.len() - fixed;
                assert!(
                    is_plausible(statistic, freedom),
                    "{statistic} for {freedom} degrees of {count} values"
                );
            }
        }
    }
}
