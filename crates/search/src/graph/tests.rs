use super::*;
use crate::toy_problems::{Clock, Lights, Net, Paid, Place};

fn explored<P: Problem>(problem: &mut P, merge: Merge, prune: Prune, depth: u32) -> GraphOf<P>
where
    P::Error: std::fmt::Debug,
{
    let budget = Budget {
        depth,
        ..Budget::default()
    };
    let options = Explore {
        merge,
        prune,
        ..Explore::default()
    };
    explore(problem, &options, &budget, &mut Stats::default(), &mut ()).unwrap()
}

/// Nodes, arcs, leaves and level sizes of the three lights.
fn check(merge: Merge, prune: Prune, depth: u32, expected: &str) {
    for paid in [Paid::AtAnyStep, Paid::AtTheLastStep] {
        let graph = explored(&mut Lights { paid }, merge, prune, depth);
        let sizes: Vec<String> = graph
            .levels()
            .iter()
            .map(|level| level.len().to_string())
            .collect();
        let actual = format!(
            "{} nodes {} arcs {} leaves: {}",
            graph.nodes().len(),
            graph.arcs().len(),
            graph.leaf_count(),
            sizes.join(" ")
        );
        assert_eq!(actual, expected);
    }
}

#[test]
fn lights_without_the_counter_are_8_nodes_and_21_arcs() {
    check(
        Merge::Key,
        Prune::NONE,
        u32::MAX,
        "8 nodes 21 arcs 1 leaves: 1 1 1 2 1 1 1",
    );
}

#[test]
fn lights_with_the_counter_are_32_nodes() {
    check(
        Merge::State,
        Prune::NONE,
        u32::MAX,
        "32 nodes 72 arcs 8 leaves: 1 2 3 5 6 7 8",
    );
}

#[test]
fn the_tree_of_the_lights_has_729_leaves() {
    let expected = "1093 nodes 1092 arcs 729 leaves: 1 3 9 27 81 243 729";
    check(Merge::Nothing, Prune::NONE, u32::MAX, expected);
}

#[test]
fn without_cycles_only_the_arcs_of_shortest_paths_are_left() {
    let expected = "8 nodes 8 arcs 1 leaves: 1 1 1 2 1 1 1";
    check(Merge::Key, Prune::CYCLE, u32::MAX, expected);
    check(Merge::State, Prune::CYCLE, u32::MAX, expected);
    check(Merge::Key, Prune::ALL, u32::MAX, expected);
    let tree = "8 nodes 7 arcs 2 leaves: 1 1 1 2 1 1 1";
    check(Merge::Nothing, Prune::CYCLE, u32::MAX, tree);
}

#[test]
fn without_dead_leaves_only_the_ways_to_a_solution_are_left() {
    let tree = "11 nodes 10 arcs 2 leaves: 1 1 1 2 2 2 2";
    check(Merge::Nothing, Prune::DEAD_LEAF, u32::MAX, tree);
    check(
        Merge::State,
        Prune::DEAD_LEAF,
        u32::MAX,
        "8 nodes 8 arcs 1 leaves: 1 1 1 2 1 1 1",
    );
    let spanning = "7 nodes 6 arcs 1 leaves: 1 1 1 1 1 1 1";
    check(Merge::Nothing, Prune::ALL, u32::MAX, spanning);
}

#[test]
fn a_depth_limit_leaves_open_nodes_that_are_no_dead_leaves() {
    check(Merge::Key, Prune::NONE, 0, "1 nodes 0 arcs 1 leaves: 1");
    check(
        Merge::Nothing,
        Prune::ALL,
        3,
        "5 nodes 4 arcs 2 leaves: 1 1 1 2",
    );
    let lights = &mut Lights {
        paid: Paid::AtAnyStep,
    };
    let graph = explored(lights, Merge::Key, Prune::NONE, 3);
    assert!(!graph.is_complete());
    assert_eq!(graph.stopped(), None);
    let open = graph.nodes().iter().filter(|node| !node.expanded).count();
    assert_eq!(open, 2);
    assert!(explored(lights, Merge::Key, Prune::NONE, u32::MAX).is_complete());
}

#[test]
fn arcs_are_found_by_their_source() {
    let graph = explored(
        &mut Lights {
            paid: Paid::AtAnyStep,
        },
        Merge::Key,
        Prune::NONE,
        u32::MAX,
    );
    for node in 0..graph.nodes().len() {
        let arcs = graph.arcs_from(node);
        assert!(arcs.iter().all(|arc| arc.from == node));
        let actions: String = arcs.iter().map(|arc| arc.action).collect();
        let solved = graph.nodes()[node].status == Status::Solved;
        assert_eq!(actions, if solved { "" } else { "abc" });
    }
}

#[test]
fn an_exhausted_budget_leaves_the_explored_part() {
    let budget = Budget {
        nodes: 3,
        ..Budget::default()
    };
    let lights = &mut Lights {
        paid: Paid::AtAnyStep,
    };
    let options = Explore::default();
    let stats = &mut Stats::default();
    let graph = explore(lights, &options, &budget, stats, &mut ()).unwrap();
    assert_eq!(graph.stopped(), Some(BudgetKind::Nodes));
    assert_eq!((graph.nodes().len(), graph.arcs().len()), (5, 9));
    assert_eq!(stats.total().expanded, 3);
}

#[test]
fn progress_is_reported_after_each_expansion_and_the_graph_only_grows() {
    let lights = &mut Lights {
        paid: Paid::AtAnyStep,
    };
    let (options, budget) = (Explore::default(), Budget::default());
    let (mut times, mut nodes, mut arcs) = (0, Vec::new(), Vec::new());
    let on_progress = &mut |_: &Lights, graph: &GraphOf<Lights>| {
        times += 1;
        let states = graph.nodes().iter().map(|node| node.state.clone());
        assert!(states.clone().take(nodes.len()).eq(nodes.iter().cloned()));
        assert_eq!(graph.arcs()[..arcs.len()], arcs);
        (nodes, arcs) = (states.collect(), graph.arcs().to_vec());
        ControlFlow::Continue(())
    };
    let stats = &mut Stats::default();
    let graph =
        explore_with_progress(lights, &options, &budget, stats, &mut (), on_progress).unwrap();
    assert_eq!((times, nodes.len()), (7, graph.nodes().len()));
    assert_eq!(arcs, graph.arcs());
}

#[test]
fn a_progress_callback_can_end_the_exploration() {
    let lights = &mut Lights {
        paid: Paid::AtAnyStep,
    };
    let (options, budget) = (Explore::default(), Budget::default());
    let on_progress = &mut |_: &Lights, graph: &GraphOf<Lights>| match graph.arcs().len() {
        9.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let stats = &mut Stats::default();
    let graph =
        explore_with_progress(lights, &options, &budget, stats, &mut (), on_progress).unwrap();
    assert_eq!(graph.stopped(), Some(BudgetKind::Interrupt));
    assert_eq!(graph.arcs().len(), 9);
}

#[test]
fn a_graph_has_no_more_nodes_than_asked_for() {
    for most in 1..9 {
        let options = Explore {
            merge: Merge::State,
            most,
            ..Explore::default()
        };
        let (budget, stats) = (Budget::default(), &mut Stats::default());
        let lights = &mut Lights {
            paid: Paid::AtAnyStep,
        };
        let graph = explore(lights, &options, &budget, stats, &mut ()).unwrap();
        assert_eq!(graph.nodes().len(), most);
        assert_eq!(graph.stopped(), Some(BudgetKind::Nodes));
        assert!(!graph.is_complete());
        // All nodes except the start were reached.
        let reached = graph.arcs().iter().map(|arc| arc.to).max();
        assert_eq!(reached.unwrap_or(0), most - 1);
    }
}

#[test]
fn hopeless_are_the_nodes_without_a_way_to_a_solution() {
    let arcs: &[&[usize]] = &[&[1, 2], &[3], &[2, 4], &[], &[2]];
    let net = &mut Net::new(arcs, &[3], Clock::None);
    let graph = explored(net, Merge::Key, Prune::NONE, u32::MAX);
    let place = |node: usize| graph.nodes()[node].state.0;
    let mut places: Vec<usize> = graph.hopeless().into_iter().map(place).collect();
    places.sort_unstable();
    assert_eq!(places, [2, 4]);
}

/// The least number of arcs from the start to each state, by relaxation.
fn distances(net: &mut Net, depth: u32) -> FxHashMap<Place, u32> {
    let mut distances = FxHashMap::default();
    let mut level = vec![net.start().unwrap()];
    for step in 0..=depth {
        let mut next = Vec::new();
        for state in level {
            if distances.contains_key(&state) {
                continue;
            }
            distances.insert(state, step);
            if net.status(&state).unwrap() == Status::Open {
                let arcs = 0..net.arcs[state.0].len();
                next.extend(arcs.map(|action| net.result(&state, &action).unwrap()));
            }
        }
        level = next;
    }
    distances
}

#[test]
fn exact_graphs_agree_with_brute_force() {
    for seed in 0..500 {
        let mut net = Net::random(seed);
        for depth in [0, 1, 3, 9] {
            let graph = explored(&mut net, Merge::State, Prune::NONE, depth);
            let expected = distances(&mut net, depth);
            assert_eq!(graph.nodes().len(), expected.len(), "seed {seed} {net:?}");
            for node in graph.nodes() {
                assert_eq!(expected[&node.state], node.level, "seed {seed} {net:?}");
            }
            for arc in graph.arcs() {
                let [from, to] = [arc.from, arc.to].map(|node| graph.nodes()[node].state);
                assert_eq!(
                    net.result(&from, &arc.action),
                    Ok(to),
                    "seed {seed} {net:?}"
                );
            }
        }
    }
}

#[test]
fn no_dead_leaf_is_left_and_no_solution_is_dropped() {
    for seed in 0..500 {
        let mut net = Net::random(seed);
        for merge in [Merge::Key, Merge::State] {
            for cycle in [false, true] {
                let before = explored(
                    &mut net,
                    merge,
                    Prune {
                        cycle,
                        dead_leaf: false,
                    },
                    4,
                );
                let after = explored(
                    &mut net,
                    merge,
                    Prune {
                        cycle,
                        dead_leaf: true,
                    },
                    4,
                );
                let solved = |graph: &Graph<Place, usize>| {
                    graph
                        .nodes()
                        .iter()
                        .filter(|node| node.status == Status::Solved)
                        .count()
                };
                assert_eq!(solved(&before), solved(&after), "seed {seed} {net:?}");
                for (index, node) in after.nodes().iter().enumerate().skip(1) {
                    let alive = node.status == Status::Solved
                        || (node.status == Status::Open && !node.expanded)
                        || !after.arcs_from(index).is_empty();
                    assert!(alive, "seed {seed} {net:?} node {index}");
                }
            }
        }
    }
}

#[test]
fn without_cycles_every_arc_goes_one_level_down() {
    for seed in 0..500 {
        let mut net = Net {
            clock: Clock::None,
            ..Net::random(seed)
        };
        for merge in [Merge::Key, Merge::State, Merge::Nothing] {
            let graph = explored(&mut net, merge, Prune::CYCLE, u32::MAX);
            for arc in graph.arcs() {
                let [from, to] = [arc.from, arc.to].map(|node| graph.nodes()[node].level);
                assert_eq!(from + 1, to, "seed {seed} {net:?}");
            }
        }
    }
}
