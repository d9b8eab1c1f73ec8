//! Expected scores in games with chance where all roles know the position.
//!
//! In: a position and a role. Out: for each of its moves, the score that it can expect: the mean over the
//! moves of chance, where the other roles play against it and know its move. All positions that can be
//! reached are found, then valued from the ends on, one strongly connected component after the other. Within a
//! component, where positions repeat, bounds from both sides come closer with each sweep. A match
//! that never ends counts as 0.
//!
//! Sources: Michie, Game-Playing and Game-Learning Automata, in: Advances in Programming and Non-Numerical
//! Computation, 1966 (expectimax); Tarjan, Depth-First Search and Linear Graph Algorithms, SIAM Journal on
//! Computing 1 (2), 1972, section 4 (components); Haddad, Monmege, Interval Iteration Algorithm for MDPs and
//! IMDPs, Theoretical Computer Science 735, 2018, section 3 (bounds from both sides).

use ggp_engine::machine::{Machine, PlayError, joint_moves};
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use ggp_search::Budget;
use ggp_stop::Stop;
use rustc_hash::FxHashMap;

/// The most joint moves in one position.
const MOST_JOINT_MOVES: usize = 1 << 16;
/// The number of positions or joint moves between two looks at the stop.
const LOOK: usize = 256;
/// The bytes of a valued position besides its state and children.
const ENTRY: u64 = 96;
/// The most that the bounds of a value differ by when it counts as found.
const PRECISION: f64 = 1e-7;
/// The least change of a sweep that is worth another one.
const PROGRESS: f64 = 1e-13;

/// The least and the most score that can be expected, 0 to 100.
pub type Bounds = [f64; 2];

/// The expected scores of a role's moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The moves in the order of the rules, with bounds of their expected scores. They differ by 10^-7
    /// at most, but where the roles can play on for ever.
    pub moves: Vec<(Move, Bounds)>,
    /// Whether these are values under best play of both sides; else the role can expect at least this much.
    pub is_exact: bool,
    /// The number of positions valued.
    pub positions: u64,
}

/// The number of moves of the role, of joint moves of the others, and of moves of chance.
type Counts = [usize; 3];

/// The numbers of moves in a position, and its joint moves.
type Joints = (Counts, Vec<Vec<Move>>);

/// A position and those after it.
#[derive(Default)]
struct Node {
    /// All 0 at an end.
    counts: Counts,
    /// By joint move, the move of the last role changing fastest: the next position.
    children: Vec<u32>,
}

impl Node {
    /// By move of the role: the bounds of its value.
    fn of_moves(&self, values: &[Bounds]) -> impl Iterator<Item = Bounds> {
        let [_, others, outcomes] = self.counts;
        let of_move = self.children.chunks((others * outcomes).max(1));
        of_move.map(move |replies| {
            let means = replies.chunks(outcomes).map(|children| {
                let sum = children.iter().fold([0.0; 2], |[low, high], child| {
                    let [least, most] = values[*child as usize];
                    [low + least, high + most]
                });
                sum.map(|sum| sum / outcomes as f64)
            });
            means.fold([f64::INFINITY; 2], |a, b| [a[0].min(b[0]), a[1].min(b[1])])
        })
    }

    /// The bounds of its value.
    fn value(&self, values: &[Bounds]) -> Bounds {
        self.of_moves(values)
            .fold([0.0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])])
    }
}

/// All positions that can be reached from the first.
struct Positions<'m, M: Machine> {
    machine: &'m mut M,
    /// The role, the others that decide, and those that are chance.
    role: RoleId,
    others: Vec<RoleId>,
    chance: Vec<RoleId>,
    /// The sum of the scores of all deciding roles, if it was the same at all ends.
    sum: Option<u32>,
    is_sum: bool,
    /// Whether the role and another one had a choice at once.
    is_joint: bool,
    numbers: FxHashMap<M::State, u32>,
    nodes: Vec<Node>,
    /// The bounds of the values: the scores of ends, and 0 to 100.
    values: Vec<Bounds>,
    /// The moves of the role in the first position.
    first_moves: Vec<Move>,
}

impl<M: Machine> Positions<'_, M> {
    /// Finds all positions. `false` if they are too many for the budget, or one has too many joint moves.
    fn find(&mut self, state: &M::State, budget: &Budget, stop: &Stop) -> Result<bool, PlayError> {
        // All states have about as many facts as this one.
        let bytes = ENTRY + size_of::<TermId>() as u64 * self.machine.facts(state).len() as u64;
        let most = budget.nodes.min(u32::MAX.into());
        let mut used = 0_u64;
        self.numbers.insert(state.clone(), 0);
        let mut open = vec![(0, state.clone())];
        while let Some((number, state)) = open.pop() {
            if stop.is_over() {
                return Ok(false);
            }
            if self.nodes.len() < self.numbers.len() {
                self.nodes.resize_with(self.numbers.len(), Node::default);
                self.values.resize(self.numbers.len(), [0.0, 100.0]);
            }
            if number > 0
                && let Some(score) = self.end(&state)?
            {
                self.values[number as usize] = [score; 2];
                continue;
            }
            let Some((counts, joints)) = self.joints(&state)? else {
                return Ok(false);
            };
            if number == 0 {
                let of_moves = joints.iter().step_by((counts[1] * counts[2]).max(1));
                let moves = of_moves.map(|joint| joint[self.role.index()]);
                self.first_moves = moves.collect();
            }
            used += bytes + size_of::<u32>() as u64 * joints.len() as u64;
            let mut children = Vec::with_capacity(joints.len());
            for (joint, place) in joints.into_iter().zip(0..) {
                if place % LOOK == LOOK - 1 && stop.is_over() {
                    return Ok(false);
                }
                let next = self.machine.next(&state, &joint)?;
                let fresh = self.numbers.len() as u32;
                let child = *self.numbers.entry(next.clone()).or_insert(fresh);
                children.push(child);
                if child == fresh {
                    open.push((fresh, next));
                }
            }
            let found = self.numbers.len() as u64;
            if found > most || used.max(bytes * found) > budget.memory_bytes {
                return Ok(false);
            }
            self.nodes[number as usize] = Node { counts, children };
        }
        Ok(true)
    }

    /// The score at an end; `None` if the game goes on.
    fn end(&mut self, state: &M::State) -> Result<Option<f64>, PlayError> {
        if !self.machine.is_terminal(state)? {
            return Ok(None);
        }
        let score = self.machine.goal(state, self.role)?.get();
        let mut sum = u32::from(score);
        for other in &self.others {
            sum += u32::from(self.machine.goal(state, *other)?.get());
        }
        self.is_sum &= *self.sum.get_or_insert(sum) == sum;
        Ok(Some(score.into()))
    }

    /// The numbers of moves and the joint moves in a position; `None` if they are too many.
    fn joints(&mut self, state: &M::State) -> Result<Option<Joints>, PlayError> {
        let groups = [&[self.role][..], &self.others, &self.chance];
        let roles = groups.concat();
        let mut legal = vec![Vec::new(); roles.len()];
        for (role, moves) in roles.iter().zip(&mut legal) {
            self.machine.legal(state, *role, moves)?;
        }
        let mut sizes = legal.iter().map(Vec::len);
        let counts = groups.map(|group| {
            let of_group = sizes.by_ref().take(group.len());
            of_group.fold(1, usize::saturating_mul)
        });
        if counts.into_iter().fold(1, usize::saturating_mul) > MOST_JOINT_MOVES {
            return Ok(None);
        }
        self.is_joint |= counts[0] > 1 && counts[1] > 1;
        let joints = joint_moves(&legal).map(|chosen| {
            let mut joint = chosen.clone();
            for (role, chosen) in roles.iter().zip(chosen) {
                joint[role.index()] = chosen;
            }
            joint
        });
        Ok(Some((counts, joints.collect())))
    }
}

/// The expected scores of a role in all positions that can be reached.
#[derive(Clone, Debug)]
pub struct ExpectedOfAll<S> {
    /// The number of each position.
    pub numbers: FxHashMap<S, u32>,
    /// By number: bounds of the expected score.
    pub values: Vec<Bounds>,
    /// As [`Expected::is_exact`].
    pub is_exact: bool,
}

/// The scores that a role can expect by its moves in a position that all roles know. `None` if the
/// budget ends first.
///
/// # Errors
///
/// Faults of the rules.
pub fn expected_scores<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
    budget: &Budget,
) -> Result<Option<Expected>, PlayError> {
    let Some((positions, is_exact)) = valued(machine, state, role, budget)? else {
        return Ok(None);
    };
    let of_moves = positions.nodes[0].of_moves(&positions.values);
    Ok(Some(Expected {
        moves: positions.first_moves.into_iter().zip(of_moves).collect(),
        is_exact,
        positions: positions.nodes.len() as u64,
    }))
}

/// The scores that a role can expect in a position and in all that can be reached from it, where all roles
/// know the position. `None` if the budget ends first.
///
/// # Errors
///
/// Faults of the rules.
pub fn expected_of_all<M: Machine>(
    machine: &mut M,
    state: &M::State,
    role: RoleId,
    budget: &Budget,
) -> Result<Option<ExpectedOfAll<M::State>>, PlayError> {
    let valued = valued(machine, state, role, budget)?;
    Ok(valued.map(|(positions, is_exact)| ExpectedOfAll {
        numbers: positions.numbers,
        values: positions.values,
        is_exact,
    }))
}

/// All positions with their values, and whether these are exact. `None` if the budget ends first.
fn valued<'m, M: Machine>(
    machine: &'m mut M,
    state: &M::State,
    role: RoleId,
    budget: &Budget,
) -> Result<Option<(Positions<'m, M>, bool)>, PlayError> {
    let game = machine.game().clone();
    let rest = game.roles().filter(|other| *other != role);
    let (chance, others): (Vec<RoleId>, Vec<RoleId>) = rest.partition(|role| game.is_random(*role));
    let mut positions = Positions {
        machine,
        role,
        others,
        chance,
        sum: None,
        is_sum: true,
        is_joint: false,
        numbers: FxHashMap::default(),
        nodes: Vec::new(),
        values: Vec::new(),
        first_moves: Vec::new(),
    };
    let stop = budget.end();
    if !positions.find(state, budget, &stop)? {
        return Ok(None);
    }
    let (nodes, values) = (&positions.nodes, &mut positions.values);
    let valued = each_component(nodes, &stop, |component| {
        value_component(nodes, component, values, &stop)
    });
    if !valued {
        return Ok(None);
    }
    let is_two = positions.others.len() == 1 && positions.is_sum && !positions.is_joint;
    let is_exact = positions.others.is_empty() || is_two;
    Ok(Some((positions, is_exact)))
}

/// Calls `value` with each strongly connected component of the positions, after all that can be reached from
/// it. `false` if the stop came first, or `value` said so.
fn each_component(nodes: &[Node], stop: &Stop, mut value: impl FnMut(&[u32]) -> bool) -> bool {
    const NEW: u32 = u32::MAX;
    /// The order of positions that have a value.
    const DONE: u32 = u32::MAX - 1;
    let mut orders = vec![NEW; nodes.len()];
    // The least order that is reached from a position by the search so far.
    let mut lows = vec![0_u32; nodes.len()];
    let mut members: Vec<u32> = Vec::new();
    // The positions on the way, with the number of the next child.
    let mut path = vec![(0_u32, 0_usize)];
    let mut count = 0;
    while let Some((at, child)) = path.last_mut() {
        let number = *at as usize;
        if *child == 0 {
            if stop.is_over() {
                return false;
            }
            (orders[number], lows[number]) = (count, count);
            count += 1;
            members.push(*at);
        }
        if let Some(next) = nodes[number].children.get(*child) {
            *child += 1;
            match orders[*next as usize] {
                NEW => path.push((*next, 0)),
                DONE => {}
                order => lows[number] = lows[number].min(order),
            }
            continue;
        }
        path.pop();
        let low = lows[number];
        if let Some((parent, _)) = path.last() {
            let parent = *parent as usize;
            lows[parent] = lows[parent].min(low);
        }
        if low == orders[number] {
            let first = members
                .iter()
                .rposition(|member| *member as usize == number);
            let component = members.split_off(first.expect("it is a member"));
            for member in &component {
                orders[*member as usize] = DONE;
            }
            if !value(&component) {
                return false;
            }
        }
    }
    true
}

/// Values the positions of a component, of which the others that it leads to have values. `false` if the stop
/// came first.
fn value_component(nodes: &[Node], component: &[u32], values: &mut [Bounds], stop: &Stop) -> bool {
    loop {
        let (mut change, mut width) = (0.0_f64, 0.0_f64);
        // The last ones are nearest to the ends.
        for (number, place) in component.iter().rev().zip(1..) {
            if place % LOOK == 0 && stop.is_over() {
                return false;
            }
            let node = &nodes[*number as usize];
            if node.children.is_empty() {
                return true;
            }
            let new = node.value(values);
            let old = std::mem::replace(&mut values[*number as usize], new);
            change = change.max((new[0] - old[0]).max(old[1] - new[1]));
            width = width.max(new[1] - new[0]);
        }
        if component.len() == 1
            && !nodes[component[0] as usize]
                .children
                .contains(&component[0])
        {
            return true;
        }
        if width <= PRECISION || change <= PROGRESS {
            return true;
        }
        if stop.is_over() {
            return false;
        }
    }
}
