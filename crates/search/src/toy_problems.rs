//! Small problems for tests, with a brute-force search as the oracle.

use std::convert::Infallible;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{KeyMeaning, Problem, Status};

/// Three lights and a step counter that runs from 1 to 7: `a` toggles the first
/// light, `b` swaps the first two, `c` the last two. Solved with all lights on,
/// dead at step 7 otherwise. The key is the lights alone.
pub(super) struct Lights {
    pub(super) paid: Paid,
}

/// The steps at which all lights on are a solution.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Paid {
    AtAnyStep,
    AtTheLastStep,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Lit {
    pub(super) lights: [bool; 3],
    pub(super) step: u8,
}

impl Problem for Lights {
    type State = Lit;
    type Key = [bool; 3];
    type Action = char;
    type Error = Infallible;

    fn start(&mut self) -> Result<Lit, Infallible> {
        Ok(Lit {
            lights: [false; 3],
            step: 1,
        })
    }

    fn status(&mut self, state: &Lit) -> Result<Status, Infallible> {
        let last = state.step == 7;
        let paid = last || self.paid == Paid::AtAnyStep;
        Ok(match state.lights {
            [true, true, true] if paid => Status::Solved,
            _ if last => Status::Dead,
            _ => Status::Open,
        })
    }

    fn actions(&mut self, _state: &Lit, out: &mut Vec<char>) -> Result<(), Infallible> {
        out.extend(['a', 'b', 'c']);
        Ok(())
    }

    fn result(&mut self, state: &Lit, action: &char) -> Result<Lit, Infallible> {
        let [p, q, r] = state.lights;
        let lights = match action {
            'a' => [!p, q, r],
            'b' => [q, p, r],
            _ => [p, r, q],
        };
        Ok(Lit {
            lights,
            step: state.step + 1,
        })
    }

    fn key(&self, state: &Lit) -> [bool; 3] {
        state.lights
    }

    fn key_meaning(&self) -> KeyMeaning {
        match self.paid {
            Paid::AtAnyStep => KeyMeaning::EarlierIsBetter,
            Paid::AtTheLastStep => KeyMeaning::Hint,
        }
    }
}

/// A directed graph, walked from node 0. The key is the node alone; an action
/// is an index into the arcs of its node.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) arcs: Vec<Vec<usize>>,
    pub(super) goals: Vec<usize>,
    pub(super) clock: Clock,
}

/// The effect of the number of arcs walked.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Clock {
    /// The number has no effect and is not part of the state.
    None,
    /// The walk ends, dead or solved, at this step.
    EndsAt(u32),
    /// The walk ends at this step, and a goal is a solution at this step only.
    PaysAt(u32),
    /// The walk ends at `last`, and a goal is a solution at every multiple of `period` until
    /// then.
    PaysEvery { period: u32, last: u32 },
}

/// A node, and the number of arcs walked if there is a clock.
pub(super) type Place = (usize, u32);

impl Net {
    pub(super) fn new(arcs: &[&[usize]], goals: &[usize], clock: Clock) -> Net {
        let arcs = arcs.iter().map(|to| to.to_vec()).collect();
        Net {
            arcs,
            goals: goals.to_vec(),
            clock,
        }
    }

    /// At most 6 nodes with at most 3 arcs each, at most 2 goals, and a clock of
    /// at most 6 steps.
    pub(super) fn random(seed: u64) -> Net {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let count = rng.random_range(2..=6);
        let arcs = (0..count)
            .map(|_| {
                (0..rng.random_range(0..=3))
                    .map(|_| rng.random_range(0..count))
                    .collect()
            })
            .collect();
        let goals = (0..rng.random_range(0..=2))
            .map(|_| rng.random_range(0..count))
            .collect();
        let last = rng.random_range(1..=6);
        let clock = match rng.random_range(0..4) {
            0 => Clock::None,
            1 => Clock::EndsAt(last),
            2 => Clock::PaysAt(last),
            _ => Clock::PaysEvery {
                period: rng.random_range(2..=3),
                last,
            },
        };
        Net { arcs, goals, clock }
    }
}

impl Problem for Net {
    type State = Place;
    type Key = usize;
    type Action = usize;
    type Error = Infallible;

    fn start(&mut self) -> Result<Place, Infallible> {
        Ok((0, 0))
    }

    fn status(&mut self, &(node, step): &Place) -> Result<Status, Infallible> {
        let goal = self.goals.contains(&node);
        let (pays, ends) = match self.clock {
            Clock::None => (true, false),
            Clock::EndsAt(last) => (true, step == last),
            Clock::PaysAt(last) => (step == last, step == last),
            Clock::PaysEvery { period, last } => (step.is_multiple_of(period), step == last),
        };
        Ok(match (goal && pays, ends) {
            (true, _) => Status::Solved,
            (false, true) => Status::Dead,
            (false, false) => Status::Open,
        })
    }

    fn actions(&mut self, &(node, _): &Place, out: &mut Vec<usize>) -> Result<(), Infallible> {
        out.extend(0..self.arcs[node].len());
        Ok(())
    }

    fn result(&mut self, &(node, step): &Place, action: &usize) -> Result<Place, Infallible> {
        let step = if self.clock == Clock::None {
            0
        } else {
            step + 1
        };
        Ok((self.arcs[node][*action], step))
    }

    fn key(&self, &(node, _): &Place) -> usize {
        node
    }

    fn key_meaning(&self) -> KeyMeaning {
        match self.clock {
            Clock::None => KeyMeaning::SameFuture,
            Clock::EndsAt(_) => KeyMeaning::EarlierIsBetter,
            Clock::PaysAt(_) | Clock::PaysEvery { .. } => KeyMeaning::Hint,
        }
    }
}

/// All shortest plans in lexicographic order, found by walking the whole tree down to
/// `depth`; empty if there is no plan.
pub(super) fn shortest_by_brute_force(net: &mut Net, depth: u32) -> Vec<Vec<usize>> {
    let mut level = vec![(net.start().unwrap(), Vec::new())];
    for _ in 0..=depth {
        let solved: Vec<Vec<usize>> = level
            .iter()
            .filter(|(state, _)| net.status(state).unwrap() == Status::Solved)
            .map(|(_, plan)| plan.clone())
            .collect();
        if !solved.is_empty() {
            return solved;
        }
        let mut next = Vec::new();
        for (state, plan) in level {
            let mut actions = Vec::new();
            if net.status(&state).unwrap() == Status::Open {
                net.actions(&state, &mut actions).unwrap();
            }
            for action in actions {
                let mut plan: Vec<usize> = plan.clone();
                plan.push(action);
                next.push((net.result(&state, &action).unwrap(), plan));
            }
        }
        level = next;
    }
    Vec::new()
}

/// Returns true if `plan` leads from the start to a solution, through open states only.
pub(super) fn is_plan<P: Problem<Error = Infallible>>(problem: &mut P, plan: &[P::Action]) -> bool {
    let mut state = problem.start().unwrap();
    for action in plan {
        let mut actions = Vec::new();
        if problem.status(&state).unwrap() != Status::Open {
            return false;
        }
        problem.actions(&state, &mut actions).unwrap();
        if !actions.contains(action) {
            return false;
        }
        state = problem.result(&state, action).unwrap();
    }
    problem.status(&state).unwrap() == Status::Solved
}
