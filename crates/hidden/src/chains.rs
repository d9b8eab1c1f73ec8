//! Histories that fit what a role knows, by small changes of histories that nearly fit.
//!
//! In: a belief, and a role's moves and its percepts after each. Out: members, each by one
//! history. A chain is a history with the number of percepts that it has wrong: told though not
//! due, or the other way round. A proposal changes one move of another role at one turn, or
//! exchanges its moves at two turns, and keeps the later moves where they are legal. A chain takes
//! it by its probability and by what it has wrong, the cold chains more strictly than the warm
//! ones, and chains of neighbouring temperatures are exchanged. At each temperature, histories with
//! nothing wrong are met in proportion to their probability in the long run; so those are the
//! sample.
//!
//! All chains are followed from the start at once, one in each lane, so there must be a network.
//!
//! Sources: Hastings: Monte Carlo Sampling Methods Using Markov Chains and Their Applications,
//! 1970; Geyer: Markov Chain Monte Carlo Maximum Likelihood, 1991 (exchanges); Gilks, Berzuini:
//! Following a Moving Target, 2001 (chains that move the members of a sample).

use std::sync::Arc;

use ggp_engine::machine::PlayError;
use ggp_engine::propnet::batch::Batch;
use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use rand::{Rng, RngExt};

use super::belief::{Belief, BeliefLimits};
use super::knowledge::Memories;
use super::members::{Member, Past, draw};
use super::step::Step;
use super::world::{LANES, State, World, is_set, set_bits};

/// The temperatures, each with as many chains.
const LEVELS: usize = 8;
const EACH: usize = LANES / LEVELS;
/// One more wrong percept is taken with the probability e to the power of minus this, at the
/// warmest level and at the coldest.
const COLDNESS: (f64, f64) = (0.3, 3.0);
/// The least share of the proposals that exchange moves of two turns, and of those that do not.
const LEAST: f64 = 0.1;
/// The moves that are drawn among all before the legal ones are listed.
const GUESSES: usize = 8;
/// The least passes after the first history that fits.
const AFTER: usize = 100;
/// The wrong percepts that count for a turn that a history does not reach.
const UNREACHED: u32 = 4;

/// A change of a chain that is proposed.
#[derive(Copy, Clone)]
struct Change {
    /// The turns that change, twice the same where there is one.
    turns: [usize; 2],
    /// The role whose moves at the turns are exchanged; none to draw a move of any role anew.
    exchanged: Option<usize>,
}

impl Change {
    /// No change.
    const NONE: Change = Change {
        turns: [usize::MAX; 2],
        exchanged: None,
    };

    /// The number of wrong percepts of a chain at the turns.
    fn wrong(&self, chain: &Chain) -> u32 {
        self.turns.iter().map(|turn| chain.wrong_at(*turn)).sum()
    }
}

/// The purpose of the chains.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Aim {
    /// Histories where none is known.
    Find,
    /// Others in place of those that are known.
    Mix,
}

/// A history with what it has wrong.
#[derive(Clone)]
struct Chain {
    /// By turn and role: the number of the move.
    joints: Vec<u32>,
    /// The turns whose percepts are wrong, ascending, and how many.
    amiss: Vec<(usize, u32)>,
    /// The number of turns before the game is over or the own move is not legal.
    reach: usize,
    /// The number of wrong percepts.
    wrong: u32,
    /// The logarithm of the probability of the choices that count.
    chance: f64,
    /// True if a move was drawn anew.
    is_mended: bool,
    /// Its number among the chains.
    number: u32,
    /// The line of the member that it began with, until it changes.
    line: u32,
}

impl Chain {
    fn add_wrong(&mut self, turn: usize) {
        self.wrong += 1;
        match self.amiss.last_mut() {
            Some((last, count)) if *last == turn => *count += 1,
            _ => self.amiss.push((turn, 1)),
        }
    }

    fn wrong_at(&self, turn: usize) -> u32 {
        let amiss = self.amiss.iter().find(|amiss| amiss.0 == turn);
        match amiss {
            Some((_, wrong)) => *wrong,
            None if turn < self.reach => 0,
            None => UNREACHED,
        }
    }
}

/// The share of the changes at a turn that make another history whose percepts are no worse.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Rate {
    tried: u32,
    kept: u32,
}

impl Rate {
    fn share(&self) -> f64 {
        f64::from(self.kept + 1) / f64::from(self.tried + 1)
    }
}

/// The chains of a role.
pub(super) struct Chains<'a> {
    pub world: &'a mut World,
    pub memories: &'a mut Memories,
    /// The belief after the past, or a turn before.
    pub belief: &'a Belief,
    pub past: &'a [(Move, Vec<TermId>)],
    /// By turn of the past: what was learned about changes of its move alone, and about exchanges.
    pub rates: &'a mut [[Rate; 2]],
}

impl Chains<'_> {
    /// Members by histories near those of the belief, and the passes made, of which there are at most
    /// `passes` over the past; empty if none is found, or there is no network.
    pub fn run(
        &mut self,
        mut aim: Aim,
        passes: usize,
        limits: BeliefLimits,
        random: &mut dyn Rng,
    ) -> Result<(Vec<Member>, usize), PlayError> {
        let stop = self.world.stop().within(limits.time);
        let is_packed = matches!(self.belief.start(), State::Packed(_));
        let has_lanes = is_packed && self.world.has_network();
        if !has_lanes || self.world.game().role_count() < 2 || passes == 0 {
            return Ok((Vec::new(), 0));
        }
        let mut chains = self.begin(random)?;
        self.pass(&mut chains, &[Change::NONE; LANES], random)?;
        let mut found: Vec<Chain> = Vec::new();
        let (mut end, mut made) = (passes, 0);
        for pass in 0..passes {
            self.world.check_stop()?;
            self.propose(&mut chains, aim, random)?;
            made += 1;
            exchange(&mut chains, pass % 2, random);
            let fits = |chain: &&Chain| chain.wrong == 0;
            if chains.iter().any(|chain| fits(&chain)) {
                if aim == Aim::Find {
                    // The chains forget the first history that fits in as long as it took to find it.
                    (aim, end) = (Aim::Mix, 2 * pass + AFTER);
                }
                // In the second half of the passes, chains are members at even distances.
                let half = end / 2;
                let distance = half.div_ceil(limits.members.div_ceil(LANES).max(1)).max(1);
                if pass <= half {
                    found.clear();
                }
                if pass <= half || (end - pass).is_multiple_of(distance) {
                    found.extend(chains.iter().filter(fits).cloned());
                }
            }
            if pass >= end || stop.is_over() {
                break;
            }
        }
        let mut members = Vec::with_capacity(found.len());
        for some in found.chunks_mut(LANES) {
            members.extend(self.members(some, random)?);
        }
        Ok((members, made))
    }

    /// Chains by the histories of the belief, drawn by weight. Where the belief is a turn behind,
    /// the last joint move is one after which least is wrong.
    fn begin(&mut self, random: &mut dyn Rng) -> Result<Vec<Chain>, PlayError> {
        let members = self.belief.members();
        let weights: Vec<f64> = members.iter().map(|member| member.weight).collect();
        let mut chains: Vec<Chain> = Vec::with_capacity(LANES);
        // The last joint moves of the member before, which is often drawn again.
        let mut last = (usize::MAX, Vec::new());
        for place in draw(&weights, LANES, random) {
            let mut history = members[place].history();
            if history.len() < self.past.len() {
                if last.0 != place {
                    let turn = self.past.len() - 1;
                    let state = &members[place].state;
                    let (_, mut joints) = self.step(turn).nearest(state, random)?;
                    if joints.is_empty() {
                        // The history ends here.
                        joints.push(vec![self.past[turn].0; self.world.game().role_count()]);
                    }
                    last = (place, joints);
                }
                history.push(last.1[random.random_range(0..last.1.len())].clone());
            }
            let (lanes, _) = self.world.lanes().expect("there is a network");
            let joints = history.iter();
            let joints = joints.flat_map(|joint| lanes.moves.iter().zip(joint));
            let joints = joints.map(|(moves, made)| moves.get(made).copied().unwrap_or(0));
            chains.push(Chain {
                number: chains.len() as u32,
                line: members[place].line,
                joints: joints.collect(),
                amiss: Vec::new(),
                reach: 0,
                wrong: 0,
                chance: 0.0,
                is_mended: false,
            });
        }
        Ok(chains)
    }

    fn step(&mut self, turn: usize) -> Step<'_> {
        let (made, told) = &self.past[turn];
        Step {
            world: self.world,
            memories: self.memories,
            role: self.belief.role(),
            made: *made,
            told,
        }
    }

    /// One proposal for each chain. To sample, a way must be as likely as the way back, so neither
    /// the choice of a turn nor what is rejected at once may depend on what is wrong.
    fn propose(
        &mut self,
        chains: &mut [Chain],
        aim: Aim,
        random: &mut dyn Rng,
    ) -> Result<(), PlayError> {
        // By kind of change: the sums of the shares up to each turn, and the share of all.
        let rates = [0, 1].map(|kind| {
            let (mut sum, mut all) = (0.0, Rate::default());
            let sums = self.rates.iter().map(|rates| {
                all.tried = all.tried.saturating_add(rates[kind].tried);
                all.kept = all.kept.saturating_add(rates[kind].kept);
                sum += rates[kind].share();
                sum
            });
            (sums.collect::<Vec<f64>>(), all.share())
        });
        let [(_, alone), (_, exchanged)] = rates;
        let exchanged = (exchanged / (alone + exchanged)).clamp(LEAST, 1.0 - LEAST);
        // A turn at which other moves were possible.
        let open = |kind: usize, random: &mut dyn Rng| {
            let sums = &rates[kind].0;
            let target = sums[sums.len() - 1] * random.random::<f64>();
            let turn = sums.partition_point(|sum| *sum <= target);
            turn.min(sums.len() - 1)
        };
        let roles = self.world.game().role_count();
        let own = self.belief.role().index();
        let mut others = chains.to_vec();
        let changes = others.iter_mut().map(|chain| {
            if random.random_bool(exchanged) {
                let [one, two] = [open(1, random), open(1, random)];
                let role = other_role(roles, own, random);
                chain.joints.swap(one * roles + role, two * roles + role);
                return Change {
                    turns: [one, two],
                    exchanged: Some(role),
                };
            }
            // Or one that is wrong.
            let turn = match aim == Aim::Find && !chain.amiss.is_empty() && random.random() {
                true => chain.amiss[random.random_range(0..chain.amiss.len())].0,
                false => open(0, random),
            };
            Change {
                turns: [turn; 2],
                exchanged: None,
            }
        });
        let changes: Vec<Change> = changes.collect();
        self.pass(&mut others, &changes, random)?;
        for (lane, (chain, mut other)) in chains.iter_mut().zip(others).enumerate() {
            let change = &changes[lane];
            let (before, after) = (change.wrong(chain), change.wrong(&other));
            let [one, two] = change.turns;
            let at = one * roles..(one + 1) * roles;
            let is_other = chain.joints[at.clone()] != other.joints[at];
            let kept = is_other && other.wrong <= chain.wrong && !other.is_mended;
            if is_other {
                other.line = u32::MAX - other.number;
            }
            let kind = usize::from(change.exchanged.is_some());
            for turn in [one, two] {
                let rate = &mut self.rates[turn][kind];
                rate.tried = rate.tried.saturating_add(1);
                rate.kept += u32::from(kept);
            }
            let is_open = match aim {
                Aim::Find => after <= before,
                // The way back would keep the moves that were drawn anew.
                Aim::Mix => after == before && !other.is_mended,
            };
            if !is_open {
                continue;
            }
            let wrong = f64::from(chain.wrong) - f64::from(other.wrong);
            let ratio = coldness(lane) * wrong + other.chance - chain.chance;
            if random.random::<f64>().ln() < ratio {
                *chain = other;
            }
        }
        Ok(())
    }

    /// Follows the chains from the start, one in each lane, and draws the moves anew that are to
    /// change or are not legal.
    fn pass(
        &mut self,
        chains: &mut [Chain],
        changes: &[Change],
        random: &mut dyn Rng,
    ) -> Result<(), PlayError> {
        let own = self.belief.role();
        let is_apart = self.belief.is_apart();
        let game = self.world.game();
        let roles = game.role_count();
        let counts = |other: &RoleId| *other != own && (!is_apart || game.is_random(*other));
        let counted: Vec<RoleId> = game.roles().filter(counts).collect();
        let own = own.index();
        let State::Packed(start) = self.belief.start() else {
            unreachable!("the states of a network are packed");
        };
        let starts = vec![Arc::clone(start); chains.len()];
        let (lanes, _) = self.world.lanes().expect("there is a network");
        lanes.batch.set_states(&starts);
        for chain in chains.iter_mut() {
            chain.amiss.clear();
            (chain.reach, chain.wrong, chain.chance, chain.is_mended) = (0, 0, 0.0, false);
        }
        // The lanes of the chains that have not ended.
        let mut open = [0; LANES / 64];
        for lane in 0..chains.len() {
            open[lane / 64] |= 1 << (lane % 64);
        }
        let mut joints = vec![0; chains.len() * roles];
        for (turn, (made, told)) in self.past.iter().enumerate() {
            let Some(&made) = lanes.moves[own].get(made) else {
                break;
            };
            let batch = &mut lanes.batch;
            let legal = batch.legal(own, made as usize).iter();
            open.iter_mut()
                .zip(legal)
                .for_each(|(open, legal)| *open &= legal);
            let ends = batch.terminal().iter();
            open.iter_mut()
                .zip(ends)
                .for_each(|(open, end)| *open &= !end);
            if open == [0; LANES / 64] {
                break;
            }
            for (lane, chain) in chains
                .iter_mut()
                .enumerate()
                .filter(|(lane, _)| is_set(&open, *lane))
            {
                chain.reach = turn + 1;
                let joint = &mut chain.joints[turn * roles..][..roles];
                joint[own] = made;
                if changes[lane].exchanged.is_none() && changes[lane].turns[0] == turn {
                    let role = other_role(roles, own, random);
                    joint[role] = any_legal(batch, lane, role, random);
                }
                for (role, made) in joint.iter_mut().enumerate() {
                    if role != own && !batch.is_legal(lane, role, *made as usize) {
                        *made = any_legal(batch, lane, role, random);
                        chain.is_mended = true;
                    }
                    joints[lane * roles + role] = *made as usize;
                }
            }
            for role in &counted {
                let counts = batch.legal_counts(role.index(), chains.len());
                for (chain, count) in chains.iter_mut().zip(counts) {
                    chain.chance -= f64::from(count.max(1)).ln();
                }
            }
            batch.step(&joints);
            lanes.wrong(self.belief.role(), told, &open, |wrong| {
                for lane in set_bits(&wrong) {
                    chains[lane].add_wrong(turn);
                }
            });
        }
        for chain in chains {
            chain.wrong += UNREACHED * (self.past.len() - chain.reach) as u32;
        }
        Ok(())
    }

    /// Members of histories that fit, at most as many as lanes.
    fn members(
        &mut self,
        found: &mut [Chain],
        random: &mut dyn Rng,
    ) -> Result<Vec<Member>, PlayError> {
        self.pass(found, &[Change::NONE; LANES], random)?;
        let first = self.belief.first(self.world, self.memories);
        let roles = self.world.game().role_count();
        let (lanes, moves) = self.world.lanes().expect("there is a network");
        let ends = lanes.batch.states(found.len());
        let histories = found.iter().map(|chain| {
            let joints = chain.joints.chunks(roles);
            let named = joints.map(|joint| {
                let moves = moves.iter().zip(joint);
                moves
                    .map(|(moves, number)| moves[*number as usize])
                    .collect()
            });
            named.collect()
        });
        let histories: Vec<Vec<Vec<Move>>> = histories.collect();
        let mut known = vec![first.known; found.len()];
        if self.belief.is_apart() {
            let mut states = vec![first.state; found.len()];
            for turn in 0..self.past.len() {
                let joints = histories.iter().map(|history| &history[turn][..]);
                let pairs: Vec<(&State, &[Move])> = states.iter().zip(joints).collect();
                states = self.world.steps(&pairs)?;
                for ((known, history), state) in known.iter_mut().zip(&histories).zip(&states) {
                    *known = self.step(turn).known(known, &history[turn], state);
                }
            }
        }
        let members = ends.into_iter().zip(known).zip(histories).zip(found);
        let members = members.map(|(((end, known), history), chain)| {
            let past = history
                .into_iter()
                .fold(None, |past, joint| Past::after(&past, joint));
            let mut member = Member::new(State::Packed(end.into()), 1.0, known).with_past(past);
            member.line = chain.line;
            member
        });
        Ok(members.collect())
    }
}

/// Exchanges chains of neighbouring temperatures, beginning at the warmest or the second one.
fn exchange(chains: &mut [Chain], first: usize, random: &mut dyn Rng) {
    for level in (first..LEVELS - 1).step_by(2) {
        for warm in level * EACH..(level + 1) * EACH {
            let cold = warm + EACH;
            let wrong = f64::from(chains[cold].wrong) - f64::from(chains[warm].wrong);
            let ratio = (coldness(cold) - coldness(warm)) * wrong;
            if random.random::<f64>().ln() < ratio {
                chains.swap(warm, cold);
            }
        }
    }
}

/// The coldness of a chain, in equal ratios from level to level.
fn coldness(lane: usize) -> f64 {
    let (warm, cold) = COLDNESS;
    let share = (lane / EACH) as f64 / (LEVELS - 1) as f64;
    warm * (cold / warm).powf(share)
}

/// A role other than the own one, all with the same probability.
fn other_role(roles: usize, own: usize, random: &mut dyn Rng) -> usize {
    let role = random.random_range(0..roles - 1);
    role + usize::from(role >= own)
}

/// The number of one of a role's legal moves in a lane, all with the same probability; 0 if it has
/// none.
fn any_legal(batch: &mut Batch, lane: usize, role: usize, random: &mut dyn Rng) -> u32 {
    for _ in 0..GUESSES {
        let drawn = random.random_range(0..batch.moves(role));
        if batch.is_legal(lane, role, drawn) {
            return drawn as u32;
        }
    }
    let legal: Vec<usize> = batch.legal_moves(lane, role).collect();
    let drawn = random.random_range(0..legal.len().max(1));
    legal.get(drawn).map_or(0, |number| *number as u32)
}
