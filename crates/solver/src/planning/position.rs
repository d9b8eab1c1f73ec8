//! Direct evaluation of the network in one state.

use super::Plan;
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::batch::{Packed, holds, pack};
use ggp_engine::propnet::network::{Literal, read};

/// The values of a network's nodes in one state, with one move of role 0 or none.
pub(crate) struct Position(Vec<u64>);

impl Position {
    pub(crate) fn new(net: &Propnet, state: &[u64], chosen: Option<u32>) -> Self {
        let mut inputs = vec![0; net.network().inputs()];
        for (fact, input) in inputs[..net.facts().len()].iter_mut().enumerate() {
            *input = u64::from(holds(state, fact));
        }
        if let Some(chosen) = chosen {
            inputs[net.move_input(0, chosen as usize)] = 1;
        }
        Position(net.network().evaluate(&inputs))
    }

    /// The state at the end of a plan.
    pub(crate) fn at_end(net: &Propnet, start: &[u64], plan: &Plan) -> Self {
        let mut state: Packed = start.into();
        for &chosen in plan {
            state = Position::new(net, &state, Some(chosen)).after(net);
        }
        Position::new(net, &state, None)
    }

    pub(crate) fn holds(&self, literal: Literal) -> bool {
        read(literal, &self.0) & 1 == 1
    }

    /// The state after the move.
    pub(crate) fn after(&self, net: &Propnet) -> Packed {
        pack(net.next().iter().map(|&next| self.holds(next)))
    }
}
