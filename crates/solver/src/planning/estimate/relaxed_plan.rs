//! Plans in which nothing is ever undone.
//!
//! In: the additive costs of all gates in a state. Out: moves that together make
//! the end true, each gate by its cheapest operands, and the facts on the way.

use super::{Estimator, NEVER};
use ggp_engine::propnet::network::{Literal, Network, Node};

/// A plan in which nothing is undone.
#[derive(Clone, Debug, Default)]
pub struct RelaxedPlan {
    /// Its moves.
    pub moves: Vec<u32>,
    /// Those of them that are legal at once.
    pub first: Vec<u32>,
    /// The facts that it changes, and whether they hold then.
    pub facts: Vec<(u32, bool)>,
}

/// Room for finding plans.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    pub plan: RelaxedPlan,
    due: Vec<Literal>,
    /// By node: when it was last asked to be true, and false.
    seen: Vec<[u32; 2]>,
    turn: u32,
}

impl Estimator {
    /// The plan of a lane, as its costs tell; empty if there is none.
    pub(super) fn relaxed_plan(&mut self, lane: usize) -> RelaxedPlan {
        let mut walk = std::mem::take(&mut self.walk);
        let mut plan = std::mem::take(&mut walk.plan);
        plan.moves.clear();
        plan.first.clear();
        plan.facts.clear();
        walk.seen.resize(self.network.len(), [0; 2]);
        walk.turn += 1;
        walk.due.clear();
        walk.due.push(self.wanted);
        while let Some(literal) = walk.due.pop() {
            let cost = self.cost_in(literal, lane);
            let seen = &mut walk.seen[literal.node()][usize::from(literal.is_negated())];
            let is_there = cost == 0 && !self.asks_moves[literal.node()];
            if is_there || cost == NEVER || *seen == walk.turn {
                continue;
            }
            *seen = walk.turn;
            match self.network.node(literal.node()) {
                Node::And(operands) if !literal.is_negated() => walk.due.extend(operands),
                Node::And(operands) => {
                    let cheapest = operands.iter().map(|&operand| !operand);
                    walk.due
                        .extend(cheapest.min_by_key(|&not| self.cost_in(not, lane)));
                }
                Node::Xor(a, b) => {
                    let b = b.negated_if(!literal.is_negated());
                    let both = |a: Literal, b: Literal| {
                        let [a, b] = [a, b].map(|one| u32::from(self.cost_in(one, lane)));
                        a + b
                    };
                    let (a, b) = match both(a, b) <= both(!a, !b) {
                        true => (a, b),
                        false => (!a, !b),
                    };
                    walk.due.extend([a, b]);
                }
                Node::Input(_) if cost == 0 && literal.is_negated() => {}
                Node::Input(fact) if fact < self.facts => {
                    plan.facts.push((fact as u32, !literal.is_negated()));
                    walk.due
                        .push(self.next[fact].negated_if(literal.is_negated()));
                }
                Node::Input(input) => {
                    let chosen = input - self.facts;
                    plan.moves.push(chosen as u32);
                    match self.cost_in(self.legal[chosen], lane) {
                        0 => plan.first.push(chosen as u32),
                        _ => walk.due.push(self.legal[chosen]),
                    }
                }
                Node::Feedback(number) => walk.due.extend(definition(&self.network, number)),
                Node::False => {}
            }
        }
        self.walk = walk;
        plan
    }

    fn cost_in(&self, literal: Literal, lane: usize) -> u16 {
        self.costs[literal.node()][usize::from(literal.is_negated())][lane]
    }
}

fn definition(network: &Network, number: usize) -> Option<Literal> {
    let mut regions = network.regions().iter();
    let region = regions.find(|region| region.feedbacks.contains(&number))?;
    Some(region.definitions[number - region.feedbacks.start])
}

/// By node: whether it depends on moves.
pub(super) fn asks_moves(network: &Network, facts: usize) -> Vec<bool> {
    let mut asks = vec![false; network.len()];
    for node in 0..network.len() {
        asks[node] = match network.node(node) {
            Node::Input(input) => input >= facts,
            // What stands in a cycle may.
            Node::Feedback(_) => true,
            _ => network
                .reads(node)
                .iter()
                .any(|operand| asks[operand.node()]),
        };
    }
    asks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::Puzzle;
    use crate::planning::estimate::Estimate;
    use crate::planning::expand::{Facts, Layout};
    use ggp_engine::propnet::batch::pack;
    use ggp_engine::propnet::{GroundLimits, Propnet};
    use ggp_gdl::game::{Game, Score};

    #[test]
    fn a_move_that_serves_twice_counts_once() {
        let rules = "(role me) (init (at 0)) (step 0 1) (step 1 2)
            (<= (legal me go) (true (at ?x)) (step ?x ?y))
            (<= (legal me both) (true (at 2)))
            (legal me wait)
            (<= (next (at ?y)) (does me go) (true (at ?x)) (step ?x ?y))
            (<= (next (at ?x)) (true (at ?x)) (not (does me go)))
            (<= (next a) (does me both)) (<= (next a) (true a))
            (<= (next b) (does me both)) (<= (next b) (true b))
            (<= won (true a) (true b))
            (<= terminal won) (<= (goal me 100) won) (<= (goal me 0) (not won))";
        let game = Game::from_text("test.kif", rules).expect("the rules are right");
        let (mut net, _) = Propnet::ground(&game, &GroundLimits::default()).expect("it is small");
        net.simplify();
        let start = pack(net.initial().iter().copied());
        let puzzle = Puzzle::new(net, start, Score::MAX).expect("it has one role");
        let layout = Layout::new(&puzzle, Facts::Relevant);
        let code = layout.encode(&puzzle.start);
        let mut plans = Vec::new();
        let mut estimates = Vec::new();
        let mut estimator = Estimator::new(&puzzle, &layout, Estimate::RelaxedPlan);
        estimator.estimate_with(&code, &mut estimates, |plan| plans.push(plan.clone()));
        let terms = puzzle.net.terms();
        let names = |moves: &[u32]| -> Vec<String> {
            let moves = moves
                .iter()
                .map(|&chosen| puzzle.net.moves()[0][chosen as usize]);
            let mut names: Vec<String> = moves.map(|one| game.text(&terms, one.term())).collect();
            names.sort();
            names
        };
        // One "go" stands for both steps.
        assert_eq!(names(&plans[0].moves), ["both", "go"]);
        assert_eq!(names(&plans[0].first), ["go"]);
        assert_eq!((estimates.as_slice(), plans.len()), (&[2][..], 1));
        let mut sums = Vec::new();
        Estimator::new(&puzzle, &layout, Estimate::HAdd).estimate(&code, &mut sums);
        // And counts twice in the sum.
        assert_eq!(sums, [3]);
    }
}
