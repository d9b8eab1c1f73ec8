//! Priors by the values one joint move ahead.

use super::growth::full;
use super::*;

/// The heap game with the values of all positions.
struct Knowing<'g>(OneByOne<'g, Heap>);

impl Simulator for Knowing<'_> {
    type State = (u32, usize);
    type Move = u32;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn is_chance(&self, _role: usize) -> bool {
        false
    }

    fn step(
        &mut self,
        states: &[&Self::State],
        joints: &[u32],
    ) -> Result<Vec<Self::State>, Infallible> {
        self.0.step(states, joints)
    }

    fn look(&mut self, states: &[&Self::State], out: &mut Views<u32>) -> Result<(), Infallible> {
        self.0.look(states, out)
    }

    fn has_values(&self) -> bool {
        true
    }

    fn values_after(
        &mut self,
        states: &[&Self::State],
        roles: &[usize],
        counts: &[usize],
        joints: &[u32],
    ) -> Result<Vec<f32>, Infallible> {
        assert_eq!(2 * counts.iter().sum::<usize>(), joints.len());
        let (mut values, mut joints) = (Vec::new(), joints.chunks(2));
        for ((&&(heap, turn), &role), &count) in states.iter().zip(roles).zip(counts) {
            assert_eq!(turn, role);
            for joint in joints.by_ref().take(count) {
                let left = heap - joint[role];
                values.push(if left.is_multiple_of(4) { 100.0 } else { 0.0 });
            }
        }
        Ok(values)
    }

    fn playouts(
        &mut self,
        states: &[&Self::State],
        each: u32,
        seed: u64,
        proceed: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Sample<u32>>, Infallible> {
        self.0.playouts(states, each, seed, proceed)
    }

    fn state_heap_bytes(&self, state: &Self::State) -> u64 {
        self.0.state_heap_bytes(state)
    }
}

#[test]
fn moves_with_better_values_are_tried_more() {
    for seed in 0..10 {
        let heap = &mut Heap;
        let options = Mcts {
            solver: false,
            formula: Formula::Puct,
            exploration: 0.6,
            ..full(seed)
        };
        // From such a heap, random playouts hardly tell moves apart.
        let root = (201 + seed as u32 % 3, 0);
        let mut game = Knowing(OneByOne::new(heap, 1_000));
        let mut tree = Tree::new(&mut game, root, &options).unwrap();
        while tree.iterations() < 300 {
            tree.grow(&mut game, 300, &mut None, &mut || true).unwrap();
        }
        check(&tree);
        let report = tree.report(BudgetKind::Iterations);
        let best = report.roles[0].best().unwrap();
        assert_eq!(best.action, root.0 % 4, "seed {seed}");
        let known = tree.nodes.iter().filter(|node| node.has_priors);
        let mut count = 0;
        for node in known {
            let sum: f64 = (0..node.arms.len()).map(|arm| node.arms.prior(arm)).sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
            count += 1;
        }
        assert!(count > 10, "{count} positions with priors");
    }
}
