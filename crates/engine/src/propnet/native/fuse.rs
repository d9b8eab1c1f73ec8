//! Fusion of two steps to one, for instruction sets with all functions of three
//! operands.
//!
//! In: the steps of a tape. Out: fewer steps. A step is merged into the one that
//! reads its result if that is the only reader and it is near, since the operands
//! have to be kept until then. On synthetic networks this saves a fifth of the
//! instructions and, with 512-bit vectors on Zen 5, a tenth to a fifth of the time.

#![forbid(unsafe_code)]

use crate::propnet::tape::{Home, Kind, Step, Tape};

/// The maximum distance of the two steps.
const NEAR: usize = 8;

/// The tape's steps, in order, without those that were merged into others.
pub(super) fn fused(tape: &Tape) -> Vec<Step> {
    let mut uses = vec![0u32; tape.homes.len()];
    for step in &tape.steps {
        for &value in step.reads() {
            uses[value as usize] += 1;
        }
    }
    for &(feedback, definition) in tape.loops.iter().flatten() {
        uses[feedback as usize] += 2;
        uses[definition as usize] += 2;
    }
    let is_intermediate = |value: u32| {
        uses[value as usize] == 1 && !matches!(tape.homes[value as usize], Home::Bank(_))
    };
    let mut steps = tape.steps.clone();
    let mut is_merged = vec![false; steps.len()];
    // By value: the step that makes it.
    let mut makers = vec![u32::MAX; tape.homes.len()];
    let mut start = 0;
    for position in 0..steps.len() {
        let step = tape.steps[position];
        if matches!(step.kind, Kind::Begin | Kind::End) {
            start = position;
            continue;
        }
        makers[step.result as usize] = position as u32;
        let [a, b, _] = step.operands;
        for (inner, other, is_first) in [(a, b, true), (b, a, false)] {
            let maker = makers[inner as usize] as usize;
            let is_near = (start..position).contains(&maker) && maker + NEAR >= position;
            if !is_near || !is_intermediate(inner) || is_merged[maker] {
                continue;
            }
            let inner_step = steps[maker];
            let function = |kind: Kind, a: u8, b: u8| match kind {
                Kind::And => Some(a & b),
                Kind::AndNot => Some(a & !b),
                Kind::Or => Some(a | b),
                Kind::Xor => Some(a ^ b),
                _ => None,
            };
            // The table of a function results from applying it to its operands' tables.
            let Some(table) = function(inner_step.kind, 0xF0, 0xCC) else {
                continue;
            };
            let (x, y) = if is_first {
                (table, 0xAA)
            } else {
                (0xAA, table)
            };
            let Some(table) = function(step.kind, x, y) else {
                continue;
            };
            is_merged[maker] = true;
            steps[position] = Step {
                kind: Kind::Table(table),
                result: step.result,
                operands: [inner_step.operands[0], inner_step.operands[1], other],
            };
            break;
        }
    }
    let mut is_merged = is_merged.into_iter();
    steps.retain(|_| !is_merged.next().expect("one for each"));
    steps
}
