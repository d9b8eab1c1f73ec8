//! Enumeration of a lane's joint moves, in gates.
//!
//! In: by role with a choice, the moves that it has not tried in this round. Out:
//! the joint move of each role's first such move, and the moves left after it. The
//! last role's choice changes fastest. When it has tried all its moves, it starts
//! over with all its legal moves, while the role before takes its next one.

use crate::propnet::network::{Builder, Literal};

/// The gates of one joint move.
#[derive(Debug)]
pub(super) struct Odometer {
    /// By role and move: true if it is the one made.
    pub chosen: Vec<Vec<Literal>>,
    /// By role and move: true if it is left.
    pub left: Vec<Vec<Literal>>,
    /// True if no joint move is left.
    pub done: Literal,
}

impl Odometer {
    /// `left` and `legal` are by role and move. Lanes that are `done` stay done.
    pub fn new(
        builder: &mut Builder,
        done: Literal,
        left: &[Vec<Literal>],
        legal: &[Vec<Literal>],
    ) -> Odometer {
        let mut chosen = Vec::new();
        let mut after = Vec::new();
        // True if the role advances to its next move.
        let mut carry = Literal::TRUE;
        for (role, (left, legal)) in left.iter().zip(legal).enumerate().rev() {
            let mut before = Literal::FALSE;
            let mut first = Vec::new();
            let mut others = Vec::new();
            for &literal in left {
                first.push(builder.and(&[literal, !before]));
                others.push(builder.and(&[literal, before]));
                before = builder.or(&[before, literal]);
            }
            chosen.push(first);
            let some = builder.or(&others);
            let wraps = builder.and(&[carry, !some]);
            let left = left.iter().zip(&others).zip(legal);
            let left = left.map(|((&left, &other), &legal)| {
                let moved = builder.choose(carry, other, left);
                match role {
                    // The first role that chooses is the last one to finish.
                    0 => moved,
                    _ => builder.choose(wraps, legal, moved),
                }
            });
            after.push(left.collect());
            carry = wraps;
        }
        chosen.reverse();
        after.reverse();
        Odometer {
            chosen,
            left: after,
            done: builder.or(&[done, carry]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propnet::network::read;

    #[test]
    fn every_joint_move_is_made_once() {
        let legal = [0b101u64, 0b1, 0b110];
        let mut builder = Builder::new(19);
        let rows = |builder: &Builder, from: usize| -> Vec<Vec<Literal>> {
            let role = |role: usize| (0..3).map(|i| builder.input(from + 3 * role + i)).collect();
            (0..3).map(role).collect()
        };
        let (left, all) = (rows(&builder, 0), rows(&builder, 9));
        let done = builder.input(18);
        let odometer = Odometer::new(&mut builder, done, &left, &all);
        let bits = |sets: &[u64]| -> Vec<u64> {
            let bit = |number: usize| sets[number / 3] >> (number % 3) & 1;
            (0..9).map(bit).collect()
        };
        let mut left = bits(&legal);
        let mut seen = Vec::new();
        loop {
            let inputs = [left.clone(), bits(&legal), vec![0]].concat();
            let values = builder.network().evaluate(&inputs);
            let value = |literal: &Literal| read(*literal, &values) & 1;
            let joint: Vec<u64> = odometer.chosen.iter().flatten().map(value).collect();
            seen.push(joint);
            left = odometer.left.iter().flatten().map(value).collect();
            if value(&odometer.done) == 1 {
                break;
            }
        }
        let joint = |a: u64, c: u64| bits(&[1 << a, 1, 1 << c]);
        assert_eq!(seen, [joint(0, 1), joint(0, 2), joint(2, 1), joint(2, 2)]);
    }
}
