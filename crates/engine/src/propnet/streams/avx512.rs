//! Draws for eight blocks at once, in vectors of eight words.
//!
//! The results are bitwise equal to those of the portable `draw`. This is written
//! with intrinsics because compilers make only half as fast vector code of the
//! portable version.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_mask_mov_epi64, _mm512_rol_epi64,
    _mm512_setzero_si512, _mm512_slli_epi64, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask,
    _mm512_xor_si512,
};

use super::Limits;

/// Draws for the eight blocks from block `at` on.
#[target_feature(enable = "avx512f")]
pub(super) fn draw(
    state: &mut [Vec<u64>; 4],
    at: usize,
    lanes: &[u64],
    limits: Limits<'_>,
    numbers: &mut [u64],
) {
    match limits.bits {
        1 => draw_bits::<1>(state, at, lanes, limits, numbers),
        2 => draw_bits::<2>(state, at, lanes, limits, numbers),
        3 => draw_bits::<3>(state, at, lanes, limits, numbers),
        4 => draw_bits::<4>(state, at, lanes, limits, numbers),
        5 => draw_bits::<5>(state, at, lanes, limits, numbers),
        6 => draw_bits::<6>(state, at, lanes, limits, numbers),
        7 => draw_bits::<7>(state, at, lanes, limits, numbers),
        8 => draw_bits::<8>(state, at, lanes, limits, numbers),
        // With more bits, the rows stay in memory.
        _ => draw_rows(state, at, lanes, limits, numbers),
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn draw_bits<const BITS: usize>(
    state: &mut [Vec<u64>; 4],
    at: usize,
    lanes: &[u64],
    limits: Limits<'_>,
    numbers: &mut [u64],
) {
    let words = lanes.len();
    let mut counts = [_mm512_setzero_si512(); BITS];
    let (mut masks, mut drawn) = (counts, counts);
    for bit in 0..BITS {
        counts[bit] = load(limits.counts, bit * words + at);
        masks[bit] = load(limits.masks, bit * words + at);
        drawn[bit] = load(numbers, bit * words + at);
    }
    let top = top(at, words, limits);
    let mut open = load(lanes, at);
    let mut ahead = load_state(state, at);
    let mut now = ahead;
    loop {
        let any = _mm512_test_epi64_mask(open, open);
        if any == 0 {
            break;
        }
        let mut less = _mm512_setzero_si512();
        for bit in 0..BITS {
            let new = _mm512_and_si512(advance(&mut ahead), masks[bit]);
            less = borrow(new, counts[bit], less);
            drawn[bit] = choose(open, new, drawn[bit]);
        }
        // A block that was complete before this round consumes nothing in it.
        for of in 0..4 {
            now[of] = _mm512_mask_mov_epi64(now[of], any, ahead[of]);
        }
        open = neither(open, less, top);
    }
    for (bit, drawn) in drawn.into_iter().enumerate() {
        store(drawn, numbers, bit * words + at);
    }
    for of in 0..4 {
        store(now[of], &mut state[of], at);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn draw_rows(
    state: &mut [Vec<u64>; 4],
    at: usize,
    lanes: &[u64],
    limits: Limits<'_>,
    numbers: &mut [u64],
) {
    let words = lanes.len();
    let top = top(at, words, limits);
    let mut open = load(lanes, at);
    let mut ahead = load_state(state, at);
    let mut now = ahead;
    loop {
        let any = _mm512_test_epi64_mask(open, open);
        if any == 0 {
            break;
        }
        let mut less = _mm512_setzero_si512();
        for row in (0..limits.bits).map(|bit| bit * words + at) {
            let new = _mm512_and_si512(advance(&mut ahead), load(limits.masks, row));
            less = borrow(new, load(limits.counts, row), less);
            let drawn = choose(open, new, load(numbers, row));
            store(drawn, numbers, row);
        }
        for of in 0..4 {
            now[of] = _mm512_mask_mov_epi64(now[of], any, ahead[of]);
        }
        open = neither(open, less, top);
    }
    for of in 0..4 {
        store(now[of], &mut state[of], at);
    }
}

/// The bit of the counts above those of the numbers, if they have one.
#[inline]
#[target_feature(enable = "avx512f")]
fn top(at: usize, words: usize, limits: Limits<'_>) -> __m512i {
    let row = limits.bits * words;
    match limits.counts.len() > row {
        true => load(limits.counts, row + at),
        false => _mm512_setzero_si512(),
    }
}

/// The next word of each stream.
#[inline]
#[target_feature(enable = "avx512f")]
fn advance(state: &mut [__m512i; 4]) -> __m512i {
    let [a, b, c, d] = *state;
    let sum = _mm512_rol_epi64::<23>(_mm512_add_epi64(a, d));
    let (c, d) = (_mm512_xor_si512(c, a), _mm512_xor_si512(d, b));
    *state = [
        _mm512_xor_si512(a, d),
        _mm512_xor_si512(b, c),
        _mm512_xor_si512(c, _mm512_slli_epi64::<17>(b)),
        _mm512_rol_epi64::<45>(d),
    ];
    _mm512_add_epi64(sum, a)
}

/// True in lanes where a number is less than a count, given whether its lower bits
/// are.
#[inline]
#[target_feature(enable = "avx512f")]
fn borrow(number: __m512i, count: __m512i, lower: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1000_1110>(number, count, lower)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn choose(condition: __m512i, then: __m512i, otherwise: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1100_1010>(condition, then, otherwise)
}

/// The bits of `of` that are in neither `one` nor `other`.
#[inline]
#[target_feature(enable = "avx512f")]
fn neither(of: __m512i, one: __m512i, other: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b0001_0000>(of, one, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_state(state: &[Vec<u64>; 4], at: usize) -> [__m512i; 4] {
    let [a, b, c, d] = state;
    [load(a, at), load(b, at), load(c, at), load(d, at)]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u64], at: usize) -> __m512i {
    let mut array = [0; 8];
    array.copy_from_slice(&words[at..][..8]);
    bytemuck::cast(array)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(vector: __m512i, words: &mut [u64], at: usize) {
    words[at..][..8].copy_from_slice(&bytemuck::cast::<__m512i, [u64; 8]>(vector));
}
