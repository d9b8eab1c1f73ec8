//! Priors and implicit values by the values one joint move ahead.

use super::super::tree::Chooser;
use super::growth::full;
use super::*;

/// The heap game with the values of heaps up to a size; larger ones are worth 50.
struct Knowing<'g>(OneByOne<'g, Heap>, u32);

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
        counts: &[usize],
        joints: &[u32],
    ) -> Result<Vec<f32>, Infallible> {
        assert_eq!(2 * counts.iter().sum::<usize>(), joints.len());
        let (mut values, mut joints) = (Vec::new(), joints.chunks(2));
        for (&&(heap, turn), &count) in states.iter().zip(counts) {
            for joint in joints.by_ref().take(count) {
                let left = heap - joint[turn];
                let own = match left {
                    left if left > self.1 => 50.0,
                    left if left.is_multiple_of(4) => 100.0,
                    _ => 0.0,
                };
                let mut both = [100.0 - own; 2];
                both[turn] = own;
                values.extend(both);
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
            implicit: 0.3,
            ..full(seed)
        };
        // From such a heap, random playouts hardly tell moves apart.
        let root = (201 + seed as u32 % 3, 0);
        let mut game = Knowing(OneByOne::new(heap, 1_000), u32::MAX);
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

#[test]
fn values_at_the_end_of_lines_reach_the_root() {
    for seed in 0..10 {
        let (heap, root) = (&mut Heap, (16 + seed as u32 % 3 + 1, 0));
        let options = Mcts {
            solver: false,
            graph: seed % 2 == 0,
            formula: Formula::Puct,
            exploration: 0.6,
            implicit: 0.3,
            ..full(seed)
        };
        let mut game = Knowing(OneByOne::new(heap, 1_000), 12);
        let mut tree = Tree::new(&mut game, root, &options).unwrap();
        while tree.iterations() < 3_000 {
            tree.grow(&mut game, 1, &mut None, &mut || true).unwrap();
        }
        check(&tree);
        // Every arm has the values of the best move of the child that it leads to. A child
        // with several parents may have changed since.
        let mut count = 0;
        for node in tree.nodes.iter().filter(|node| node.has_priors) {
            for (arm, &child) in node.arms.children().iter().enumerate() {
                let Some(child) = tree
                    .nodes
                    .get(child as usize)
                    .filter(|child| child.has_priors)
                else {
                    continue;
                };
                let Chooser::One(role) = child.chooser else {
                    panic!("one role has a choice");
                };
                let best = child
                    .arms
                    .best_implicit(role.into())
                    .expect("they are known");
                for role in 0..2 {
                    let (own, known) = (
                        node.arms.implicit(arm, role),
                        child.arms.implicit(best, role),
                    );
                    assert!(options.graph || own == known, "{own:?} {known:?}");
                    count += 1;
                }
            }
        }
        assert!(count > 100, "{count}");
        let arms = &tree.nodes[tree.root as usize].arms;
        for arm in 0..arms.len() {
            let is_best = (root.0 - 1 - arm as u32).is_multiple_of(4);
            let value = arms.implicit(arm, 0);
            assert!(
                (value == Some(100.0)) == is_best,
                "{root:?}, {arm}: {value:?}"
            );
        }
    }
}
