//! A puzzle as a coloured graph.
//!
//! In: the effects of each move. Out: a graph whose vertices are facts, moves, and
//! the functions that define legality, successor values and the end of the game.

use crate::planning::move_set::effects::Effects;
use ggp_engine::automorphism::Graph;
use ggp_engine::propnet::Exclusive;
use ggp_engine::propnet::function_graph::FunctionGraph;
use ggp_engine::propnet::network::Literal;
use ggp_stop::Stop;

/// The kind of a vertex.
#[derive(Copy, Clone)]
enum Colour {
    Fact,
    Move,
    Legal,
    Sets,
    Clears,
    Flips,
    Becomes,
    Over,
    Solved,
    /// The first of the individual colours: facts that no symmetry may move get one
    /// each.
    Own,
}

impl Colour {
    fn number(self) -> u32 {
        FunctionGraph::FREE + self as u32
    }
}

/// Builds the graph. Returns it with the first fact vertex and the first move
/// vertex; facts and moves each occupy consecutive vertices. None if the graph is
/// too large, or `stop` is over.
pub(super) fn graph(
    effects: &Effects,
    exclusive: &[Exclusive],
    stop: &Stop,
) -> Option<(Graph, u32, u32)> {
    let network = &effects.network;
    let colours = (0..network.inputs()).map(|fact| {
        match effects.relevant[fact] && !effects.autonomous[fact] {
            true => Colour::Fact.number(),
            false => Colour::Own.number() + fact as u32,
        }
    });
    let mut roots = vec![effects.terminal, effects.solved];
    roots.extend(&effects.legal);
    roots.extend(effects.changes.iter().flatten().map(|change| change.1));
    let mut graph = FunctionGraph::new(network, colours, roots, exclusive, stop)?;
    let moves: Vec<u32> = (effects.legal.iter())
        .map(|_| graph.vertex(Colour::Move.number(), &[]))
        .collect();
    for (&chosen, &legal) in moves.iter().zip(&effects.legal) {
        let legal = graph.literal(legal);
        graph.vertex(Colour::Legal.number(), &[chosen, legal]);
    }
    for (&chosen, changes) in moves.iter().zip(&effects.changes) {
        for &(fact, becomes) in changes {
            let ends = [chosen, fact];
            match becomes {
                Literal::TRUE => graph.vertex(Colour::Sets.number(), &ends),
                Literal::FALSE => graph.vertex(Colour::Clears.number(), &ends),
                _ if becomes == !network.input(fact as usize) => {
                    graph.vertex(Colour::Flips.number(), &ends)
                }
                _ => {
                    let becomes = graph.literal(becomes);
                    graph.vertex(Colour::Becomes.number(), &[chosen, fact, becomes])
                }
            };
        }
        if !graph.is_small() {
            return None;
        }
    }
    for (colour, end) in [
        (Colour::Over, effects.terminal),
        (Colour::Solved, effects.solved),
    ] {
        let end = graph.literal(end);
        graph.vertex(colour.number(), &[end]);
    }
    Some((graph.finish()?, 0, moves.first().copied().unwrap_or(0)))
}
