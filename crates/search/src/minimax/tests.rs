use std::collections::HashMap;
use std::convert::Infallible;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

mod proof_numbers;
mod proofs;

/// A random game in layers: each state leads to states of the next layer only,
/// some of which are terminal.
struct Toy {
    roles: usize,
    /// By layer and place: by role its number of moves, and the children.
    layers: Vec<Vec<(Vec<usize>, Vec<usize>)>>,
    /// By layer and place: scores of terminal states, estimates of others.
    values: Vec<Vec<(Option<Vec<u8>>, f64)>>,
}

type Place = (usize, usize);

const LAYERS: usize = 6;
const WIDTH: usize = 7;

impl Toy {
    /// A game of two roles in turn with opposite scores, or of any number of roles that move
    /// simultaneously.
    fn random(seed: u64, roles: usize, takes_turns: bool) -> Toy {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut toy = Toy {
            roles,
            layers: Vec::new(),
            values: Vec::new(),
        };
        for layer in 0..=LAYERS {
            let mut states = Vec::new();
            let mut values = Vec::new();
            for _ in 0..WIDTH {
                let mover = random.random_range(0..roles);
                let moves: Vec<usize> = (0..roles)
                    .map(|role| match !takes_turns || role == mover {
                        true => random.random_range(1..4),
                        false => 1,
                    })
                    .collect();
                let joints: usize = moves.iter().product();
                let children = (0..joints).map(|_| random.random_range(0..WIDTH)).collect();
                states.push((moves, children));
                let is_end = layer == LAYERS || layer > 0 && random.random_bool(0.2);
                let scores = is_end.then(|| {
                    let own = [0, 0, 20, 50, 50, 70, 100, 100][random.random_range(0..8)];
                    let mut scores = vec![own, 100 - own];
                    scores.resize_with(roles, || random.random_range(0..=100));
                    scores
                });
                values.push((scores, random.random_range(0.0..100.0)));
            }
            toy.layers.push(states);
            toy.values.push(values);
        }
        toy
    }

    /// The score for a role by definition, without distances.
    fn plain(&self, (layer, at): Place, role: usize, depth: u32) -> f64 {
        if let Some(scores) = &self.values[layer][at].0 {
            return scores[role].into();
        }
        if depth == 0 {
            return 1.0 + 0.98 * self.values[layer][at].1;
        }
        let (moves, children) = &self.layers[layer][at];
        let stride: usize = moves[role + 1..].iter().product();
        let mut worst = vec![f64::MAX; moves[role]];
        for (place, child) in children.iter().enumerate() {
            let value = self.plain((layer + 1, *child), role, depth - 1);
            let own = place / stride % moves[role];
            worst[own] = worst[own].min(value);
        }
        worst.into_iter().fold(f64::MIN, f64::max)
    }
}

impl MinimaxGame for Toy {
    type State = Place;
    type Move = usize;
    type Error = Infallible;

    fn roles(&self) -> usize {
        self.roles
    }

    fn expand(
        &mut self,
        &(layer, at): &Place,
        _role: usize,
    ) -> Result<Expansion<Place, usize>, Infallible> {
        let (moves, children) = &self.layers[layer][at];
        let children = children.iter().map(|&child| Child {
            state: (layer + 1, child),
            scores: self.values[layer + 1][child].0.clone(),
            is_wrong: false,
            choices: [1, 1],
        });
        Ok(Expansion {
            legal: moves.iter().map(|count| (0..*count).collect()).collect(),
            children: children.collect(),
            is_whole: true,
        })
    }

    fn estimate(
        &mut self,
        states: &[&Place],
        role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        assert_eq!(role, 0, "the tests ask for the first role");
        out.extend(states.iter().map(|&&(layer, at)| self.values[layer][at].1));
        Ok(())
    }
}

fn search(
    toy: &mut Toy,
    table: &mut TranspositionTable<Place>,
    wanted: Wanted,
    budget: &Budget,
) -> MinimaxReport<usize> {
    let options = Minimax { wanted, seed: 3 };
    let stats = &mut Stats::default();
    let root = (0, 0);
    let Ok(report) = minimax(
        toy,
        table,
        &root,
        0,
        &options,
        budget,
        stats,
        &mut (),
        &mut |_| (),
    );
    report
}

fn to_depth(depth: u32) -> Budget {
    Budget {
        depth,
        ..Budget::default()
    }
}

/// Values of depth-first searches differ from the definition by distances only.
fn is_close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-3
}

/// The first moves and their values by the definition.
fn moves_by_definition(toy: &Toy, depth: u32) -> HashMap<usize, f64> {
    let (moves, children) = &toy.layers[0][0];
    let stride: usize = moves[1..].iter().product();
    let mut values = HashMap::new();
    for (place, child) in children.iter().enumerate() {
        let value = toy.plain((1, *child), 0, depth - 1);
        let least = values.entry(place / stride).or_insert(value);
        *least = value.min(*least);
    }
    values
}

#[test]
fn alpha_beta_is_minimax_at_every_depth() {
    for seed in 0..300 {
        for (roles, takes_turns) in [(2, true), (2, false), (3, true), (3, false), (1, false)] {
            let mut toy = Toy::random(seed, roles, takes_turns);
            for depth in 1..=LAYERS as u32 {
                let expected = moves_by_definition(&toy, depth);
                let best = expected.values().copied().fold(f64::MIN, f64::max);
                let context = format!("seed {seed}, {roles} roles, depth {depth}");
                // With a tiny, a small and a large table.
                for bytes in [0, 2_000, 1 << 30] {
                    let mut table = TranspositionTable::new(bytes);
                    let report = search(&mut toy, &mut table, Wanted::Best, &to_depth(depth));
                    let first = &report.moves[0];
                    assert!(is_close(first.value, best), "{context}: {report:?} {best}");
                    assert!(is_close(expected[&first.action], best), "{context}");
                    let report = search(&mut toy, &mut table, Wanted::All, &to_depth(depth));
                    for found in &report.moves {
                        let value = expected[&found.action];
                        assert!(
                            is_close(found.value, value),
                            "{context}: {report:?} {value}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn proofs_are_correct() {
    for seed in 0..300 {
        for (roles, takes_turns) in [(2, true), (2, false), (3, true)] {
            let mut toy = Toy::random(seed, roles, takes_turns);
            let expected = moves_by_definition(&toy, LAYERS as u32);
            let best = expected.values().copied().fold(f64::MIN, f64::max);
            for depth in 1..=LAYERS as u32 {
                let mut table = TranspositionTable::new(1 << 30);
                let report = search(&mut toy, &mut table, Wanted::Best, &to_depth(depth));
                let values = report.moves.iter().map(|m| (m.bounds, expected[&m.action]));
                for ((least, most), value) in values.chain([(report.bounds(), best)]) {
                    let is_within = f64::from(least) <= value && value <= f64::from(most);
                    assert!(is_within, "seed {seed} depth {depth}: {report:?}");
                }
            }
            let mut table = TranspositionTable::new(1 << 30);
            let budget = Budget::default();
            let report = search(&mut toy, &mut table, Wanted::All, &budget);
            assert_eq!(report.stopped, None, "it comes to an end by itself");
            for found in &report.moves {
                let value = expected[&found.action] as u8;
                assert_eq!(found.bounds.0, value, "seed {seed}: {report:?}");
                assert!([value, 100].contains(&found.bounds.1), "seed {seed}");
                assert!(!takes_turns || roles > 2 || found.bounds.1 == value);
            }
        }
    }
}

#[test]
fn budgets_end_the_search_with_its_results_so_far() {
    let mut toy = Toy::random(1, 2, true);
    for nodes in 1..40 {
        let budget = Budget {
            nodes,
            ..Budget::default()
        };
        let run = |toy: &mut Toy| {
            search(
                toy,
                &mut TranspositionTable::new(1 << 20),
                Wanted::Best,
                &budget,
            )
        };
        let report = run(&mut toy);
        assert!(report.positions <= nodes);
        assert!(!report.moves.is_empty());
        assert_eq!(report, run(&mut toy), "the same each time");
        if report.positions == nodes && report.stopped.is_some() {
            assert_eq!(report.stopped, Some(BudgetKind::Nodes));
        }
    }
}

/// One heap of counters; taking the last one wins. The state is the number left and the role
/// to move. A role may take none, so that play can be infinite.
struct Idle;

impl MinimaxGame for Idle {
    type State = (u8, usize);
    type Move = u8;
    type Error = Infallible;

    fn roles(&self) -> usize {
        2
    }

    fn expand(
        &mut self,
        &(left, mover): &(u8, usize),
        _role: usize,
    ) -> Result<Expansion<(u8, usize), u8>, Infallible> {
        let mut legal = vec![vec![0], vec![0]];
        legal[mover] = (0..=left.min(2)).collect();
        let children = legal[mover].iter().map(|taken| Child {
            state: (left - taken, 1 - mover),
            scores: (left == *taken).then(|| match mover {
                0 => vec![100, 0],
                _ => vec![0, 100],
            }),
            is_wrong: false,
            choices: [1, 1],
        });
        Ok(Expansion {
            children: children.collect(),
            legal,
            is_whole: true,
        })
    }

    fn estimate(
        &mut self,
        states: &[&(u8, usize)],
        _role: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        out.extend(states.iter().map(|_| 50.0));
        Ok(())
    }
}

#[test]
fn a_won_game_is_won_and_not_put_off() {
    for seed in 0..20 {
        let mut table = TranspositionTable::new(1 << 20);
        let options = Minimax {
            seed,
            ..Minimax::default()
        };
        let budget = to_depth(12);
        // Two left: there is an immediate win, and later ones.
        let search = |table: &mut TranspositionTable<_>, state| {
            let stats = &mut Stats::default();
            let on_report = &mut |_: &MinimaxReport<u8>| ();
            minimax(
                &mut Idle,
                table,
                &state,
                0,
                &options,
                &budget,
                stats,
                &mut (),
                on_report,
            )
        };
        let Ok(report) = search(&mut table, (2, 0));
        assert_eq!(report.moves[0].action, 2, "{report:?}");
        assert_eq!(report.bounds(), (100, 100));
        assert_eq!(report.depth, 1);
        // Three left: taking loses, so nothing is proved.
        let Ok(report) = search(&mut table, (3, 0));
        assert_eq!(report.moves[0].action, 0, "{report:?}");
        assert_eq!(report.bounds(), (0, 100));
        assert_eq!(report.depth, 12);
    }
}
