//! Sums of weights over 64 positions at once.
//!
//! In: positions as columns, one bit for each position and fact, and the weights of
//! the features. Out: the sums. Each feature is one conjunction of columns and one
//! addition to all positions, so the cost does not depend on how many features are
//! active in a position.

#[cfg(feature = "simd")]
use multiversion::multiversion;

use crate::features::Features;
use ggp_engine::propnet::batch::transpose;

/// The number of positions that are evaluated together.
pub(crate) const WIDTH: usize = 64;

/// By fact: the positions in which it holds, bit `p` for position `p`.
pub(crate) fn columns(states: &[&[u64]], out: &mut Vec<u64>) {
    out.clear();
    let words = states.first().map_or(0, |state| state.len());
    for word in 0..words {
        let mut square = [0; 64];
        for (line, state) in square.iter_mut().zip(states) {
            *line = state[word];
        }
        transpose(&mut square);
        out.extend(square);
    }
}

/// The sum of the weights of the active features of each position. Additions are in
/// the order of [`Features::each`], so the sums are the same.
#[cfg_attr(
    feature = "simd",
    multiversion(targets(
        "x86_64+avx512f+avx512dq+avx512vl+bmi1+popcnt",
        "x86_64+avx2+bmi1+popcnt"
    ))
)]
pub(crate) fn sums(features: &Features, weights: &[f32], columns: &[u64]) -> [f32; WIDTH] {
    let mut sums = [weights[0]; WIDTH];
    // By depth: the positions in which all facts before hold.
    let mut active = [u64::MAX; Features::MOST_FACTS + 1];
    let program = features.program();
    let mut at = 0;
    while let Some(step) = program.get(at) {
        let depth = step.depth as usize;
        let positions = active[depth] & columns[step.fact as usize];
        if positions == 0 {
            at = step.skip as usize;
            continue;
        }
        active[depth + 1] = positions;
        add(&mut sums, positions, weights[step.feature as usize]);
        at += 1;
    }
    sums
}

/// Adds a weight to the sums of some positions.
#[inline(always)]
fn add(sums: &mut [f32; WIDTH], positions: u64, weight: f32) {
    let halves = [positions as u32, (positions >> 32) as u32];
    for (sums, half) in sums.as_chunks_mut::<32>().0.iter_mut().zip(halves) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let is_active = half & (1 << lane) != 0;
            *sum += if is_active { weight } else { 0.0 };
        }
    }
}
