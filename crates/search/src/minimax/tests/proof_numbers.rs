use super::*;
use crate::Stop;

/// A check of moves with their bounds.
type Check<'a> = dyn Fn(&[(usize, u8, u8)]) + 'a;

/// Settles a toy by proof numbers alone, in parts of `nodes` positions and with a table of
/// `bytes`. Returns the bounds of the moves, and calls `check` with those after each part.
fn settle(
    toy: &mut Toy,
    wanted: Wanted,
    (nodes, bytes): (u64, u64),
    check: &Check<'_>,
) -> Vec<(usize, u8, u8)> {
    let table = &mut TranspositionTable::new(0);
    let mut proofs = Proofs::new(bytes);
    let budget = Budget {
        nodes,
        ..Budget::default()
    };
    for _ in 0..1_000 {
        let (stats, observer, seen) = (&mut Stats::default(), &mut (), &mut Seen::default());
        let mut meter = Meter::new(&budget, stats, observer);
        meter.begin_level(0, crate::Compare::State);
        let mut tree = Tree::new(toy, table, seen, meter, 0, wanted);
        let Ok(()) = tree.begin(&(0, 0), 1);
        let found = tree.settle(&mut proofs, &[]);
        tree.learn(&proofs);
        let values = tree.moves.iter().map(|found| (found.index, found.value));
        let bounds: Vec<_> = values
            .map(|(index, value)| (index, value.least, value.most))
            .collect();
        check(&bounds);
        match found {
            Ok(true) => return bounds,
            Ok(false) => panic!("a toy has no faults"),
            Err(End::Unfit) => panic!("no position repeats"),
            Err(End::Stop(Stop::Error(error))) => match error {},
            Err(End::Stop(Stop::Budget(kind))) => assert_eq!(kind, BudgetKind::Nodes),
        }
    }
    panic!("not settled");
}

#[test]
fn proof_numbers_find_the_values_by_definition() {
    for seed in 0..200 {
        for (roles, takes_turns) in [(2, true), (2, false), (3, true), (1, false)] {
            let mut toy = Toy::random(seed, roles, takes_turns);
            let expected = moves_by_definition(&toy, LAYERS as u32);
            let best = expected.values().copied().fold(f64::MIN, f64::max);
            let check = |bounds: &[(usize, u8, u8)]| {
                for (action, least, most) in bounds {
                    let value = expected[action];
                    let is_within = f64::from(*least) <= value && value <= f64::from(*most);
                    assert!(
                        is_within,
                        "seed {seed}, {roles} roles: {bounds:?} {expected:?}"
                    );
                }
            };
            // In one part, in several, and with a table that forgets.
            for limits in [(1_000, 1 << 26), (9, 1 << 26), (2_000, 2_000)] {
                let bounds = settle(&mut toy, Wanted::Best, limits, &check);
                let (action, least, most) = bounds[0];
                assert_eq!(
                    (expected[&action], least),
                    (best, most),
                    "seed {seed}: {bounds:?}"
                );
                let bounds = settle(&mut toy, Wanted::All, limits, &check);
                let is_settled = bounds.iter().all(|(_, least, most)| least == most);
                assert!(is_settled, "seed {seed}: {bounds:?}");
            }
        }
    }
}

/// A later search that finds results of an earlier one in the table also knows what that saw
/// of the game.
#[test]
fn upper_bounds_hold_only_if_all_searches_together_allow_them() {
    let mut opposed = 0;
    for seed in 0..300 {
        let mut toy = Toy::random(seed, 2, true);
        // One terminal state is good for both roles.
        let ends = toy.values.iter_mut().flatten();
        let end = ends.filter_map(|(scores, _)| scores.as_mut()).nth(7);
        *end.expect("a toy has terminal states") = vec![100, 100];
        let has_upper_bounds =
            |report: &MinimaxReport<usize>| report.moves.iter().any(|found| found.bounds.1 < 100);
        let table = &mut TranspositionTable::new(1 << 20);
        let mut was_opposed = true;
        for nodes in 1..60 {
            let budget = Budget {
                nodes,
                ..Budget::default()
            };
            let report = search(&mut toy, table, Wanted::All, &budget);
            assert!(was_opposed || !has_upper_bounds(&report), "seed {seed}");
            was_opposed = table.game_class.has_upper_bounds(&[false, false]);
        }
        opposed += usize::from(was_opposed);
    }
    assert!((20..280).contains(&opposed), "{opposed}");
}
