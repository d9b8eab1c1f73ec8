//! Proofs by induction over the rules.
//!
//! In: a network, with its assumptions about every reachable state: facts that exclude each
//! other, and facts that equal others. Out: claims to which a SAT solver finds no
//! counterexample. That is a proof: the assumptions hold initially and every move preserves
//! them, see [`Propnet::exclusive`]. If the solver finds a counterexample, nothing is
//! known, since that state may be unreachable.
//!
//! Every match ends if every joint move makes an irreversible change: to a fact that is
//! never lost, or never gained, or to a group of facts of which one holds at a time and
//! none holds again.

use ggp_stop::Stop;

use super::space::longest;
use ggp_engine::propnet::Propnet;
use ggp_engine::propnet::clauses::{Clauses, Frame};
use ggp_engine::propnet::network::Literal;
use ggp_gdl::game::Score;
use ggp_gdl::terms::TermId;

/// Maximum number of conflicts for one query.
const CONFLICTS: i32 = 20_000;
/// Maximum number of facts of a group whose trajectories are followed.
const MOST_COURSES: usize = 64;
/// Maximum number of combinations of goal values that are enumerated.
const MOST_SUMS: usize = 4_000;

/// The SAT encoding of a non-terminal state. Queries may assume a legal joint move and the
/// state after it.
pub(super) struct Induction<'n> {
    net: &'n Propnet,
    clauses: Clauses,
    stop: Stop,
    now: Vec<i32>,
    next: Vec<i32>,
    legal: Vec<Vec<i32>>,
    goals: Vec<Vec<i32>>,
    terminal: i32,
    /// The literal for a legal joint move being made.
    moved: i32,
}

impl<'n> Induction<'n> {
    pub(super) fn new(net: &'n Propnet, stop: Stop) -> Self {
        let mut clauses = Clauses::until(&stop);
        let inputs: Vec<i32> = (0..net.network().inputs())
            .map(|_| clauses.variable())
            .collect();
        let mut frame = Frame::new(net.network(), &inputs, &clauses);
        let now: Vec<i32> = (0..net.facts().len())
            .map(|fact| inputs[net.fact_input(fact)])
            .collect();
        frame.add_known(net, &mut clauses);
        let moved = clauses.variable();
        let mut legal = Vec::with_capacity(net.legal().len());
        for (role, literals) in net.legal().iter().enumerate() {
            let mut here = Vec::with_capacity(literals.len());
            let mut moves = Vec::with_capacity(literals.len());
            for (number, &literal) in literals.iter().enumerate() {
                let chosen = inputs[net.move_input(role, number)];
                let literal = frame.literal(literal, &mut clauses);
                clauses.add(&[-moved, -chosen, literal]);
                moves.push(chosen);
                here.push(literal);
            }
            let (one, two) = clauses.one_and_two(&moves);
            clauses.add(&[-moved, one]);
            clauses.add(&[-moved, -two]);
            legal.push(here);
        }
        let mut of = |literal: Literal, clauses: &mut Clauses| frame.literal(literal, clauses);
        let next = net
            .next()
            .iter()
            .map(|&next| of(next, &mut clauses))
            .collect();
        let goals = net.goals().iter();
        let goals = goals
            .map(|values| {
                values
                    .iter()
                    .map(|&(_, due)| of(due, &mut clauses))
                    .collect()
            })
            .collect();
        let terminal = of(net.terminal(), &mut clauses);
        Induction {
            net,
            clauses,
            stop,
            now,
            next,
            legal,
            goals,
            terminal,
            moved,
        }
    }

    /// Returns whether time is over.
    pub(super) fn is_over(&self) -> bool {
        self.stop.is_over()
    }

    /// Returns whether no state satisfies all of these literals.
    fn never(&mut self, all: &[i32]) -> bool {
        !self.is_over() && self.clauses.solve(all, CONFLICTS) == Some(false)
    }

    /// Returns whether a role has a legal move in every non-terminal state.
    pub(super) fn can_move(&mut self, role: usize) -> bool {
        let mut all: Vec<i32> = self.legal[role].iter().map(|legal| -legal).collect();
        all.push(-self.terminal);
        self.never(&all)
    }

    /// Returns whether a role has exactly one goal value in each terminal state, and it is a score.
    pub(super) fn has_one_goal(
        &mut self,
        role: usize,
        score: &dyn Fn(TermId) -> Option<Score>,
    ) -> bool {
        let net = self.net;
        let bad = net.goals()[role].iter().zip(&self.goals[role]);
        let bad: Vec<i32> = bad
            .filter(|((value, _), _)| score(*value).is_none())
            .map(|(_, due)| *due)
            .collect();
        let due = self.goals[role].clone();
        let (one, two) = self.clauses.one_and_two(&due);
        self.never(&[self.terminal, -one])
            && self.never(&[self.terminal, two])
            && bad.into_iter().all(|bad| self.never(&[self.terminal, bad]))
    }

    /// Returns whether a role never ends with a given score.
    pub(super) fn never_gets(&mut self, role: usize, value: usize) -> bool {
        self.never(&[self.terminal, self.goals[role][value]])
    }

    /// Returns whether the scores of all roles have this sum in each terminal state.
    pub(super) fn has_sum(&mut self, sum: u32, score: &dyn Fn(TermId) -> Option<Score>) -> bool {
        let net = self.net;
        let scores: Option<Vec<Vec<u32>>> = (net.goals().iter())
            .map(|values| {
                values
                    .iter()
                    .map(|(value, _)| Some(u32::from(score(*value)?.get())))
                    .collect()
            })
            .collect();
        let Some(scores) = scores else {
            return false;
        };
        let count = scores
            .iter()
            .try_fold(1usize, |product, scores| product.checked_mul(scores.len()));
        let Some(count) = count.filter(|count| *count <= MOST_SUMS) else {
            return false;
        };
        (0..count).all(|number| {
            let mut left = number;
            let mut total = 0;
            let mut all = vec![self.terminal];
            for (scores, goals) in scores.iter().zip(&self.goals) {
                let value = left % scores.len();
                left /= scores.len();
                total += scores[value];
                all.push(goals[value]);
            }
            total == sum || self.never(&all)
        })
    }

    /// Returns whether at most one role has a choice in every non-terminal state.
    pub(super) fn takes_turns(&mut self) -> bool {
        let choices: Vec<i32> = (self.legal.clone().iter())
            .map(|legal| self.clauses.one_and_two(legal).1)
            .collect();
        let (_, two) = self.clauses.one_and_two(&choices);
        self.never(&[-self.terminal, two])
    }

    /// Returns whether every legal joint move changes some fact other than these.
    pub(super) fn always_changes(&mut self, ignored: &[TermId]) -> bool {
        let facts = (0..self.now.len()).filter(|&fact| !ignored.contains(&self.net.facts()[fact]));
        let mut all: Vec<i32> = facts
            .collect::<Vec<_>>()
            .into_iter()
            .map(|fact| -self.differs(fact))
            .collect();
        all.push(-self.terminal);
        all.push(self.moved);
        self.never(&all)
    }

    /// The literal for a fact changing its value.
    fn differs(&mut self, fact: usize) -> i32 {
        let (now, next) = (self.now[fact], self.next[fact]);
        let differs = self.clauses.variable();
        self.clauses.add(&[-differs, now, next]);
        self.clauses.add(&[-differs, -now, -next]);
        self.clauses.add(&[differs, -now, next]);
        self.clauses.add(&[differs, now, -next]);
        differs
    }

    /// The maximum number of joint moves of a match, if a bound is found. `lost` and
    /// `gained` say for each fact whether it was seen to be lost, or to be gained.
    pub(super) fn ends_within(&mut self, lost: &[bool], gained: &[bool]) -> Option<u64> {
        let facts = 0..self.now.len();
        let stay = [-self.terminal, self.moved];
        let kept: Vec<usize> = (facts.clone())
            .filter(|&fact| !lost[fact])
            .filter(|&fact| self.never(&[stay[0], stay[1], self.now[fact], -self.next[fact]]))
            .collect();
        let falling: Vec<usize> = facts
            .filter(|&fact| !gained[fact])
            .filter(|&fact| self.never(&[stay[0], stay[1], -self.now[fact], self.next[fact]]))
            .collect();
        let (to_gain, to_lose) = (self.to_gain(&kept), self.to_lose(&falling));
        let bounds = [
            self.progress(&kept, to_gain),
            self.progress(&falling, to_lose),
        ];
        if let Some(least) = bounds.into_iter().flatten().min() {
            return Some(least);
        }
        let (mut facts, mut bound) = (Vec::new(), 0);
        for group in self.net.exclusive() {
            if let Some(most) = self.courses(&group.facts) {
                facts.extend(&group.facts);
                bound += most;
            }
        }
        let ignored = |of: Vec<usize>| -> Vec<usize> {
            of.into_iter()
                .filter(|fact| !facts.contains(fact))
                .collect()
        };
        let (kept, falling) = (ignored(kept), ignored(falling));
        bound += self.to_gain(&kept) + self.to_lose(&falling);
        let facts = [facts, kept, falling].concat();
        self.progress(&facts, bound)
    }

    /// An upper bound on how many of these facts can be lost.
    fn to_lose(&self, falling: &[usize]) -> u64 {
        let initial = self.net.initial();
        falling.iter().filter(|&&fact| initial[fact]).count() as u64
    }

    /// An upper bound on how many of these facts can be gained.
    fn to_gain(&self, kept: &[usize]) -> u64 {
        self.most_of(kept) - self.to_lose(kept)
    }

    /// The bound, if every joint move changes some of these facts.
    fn progress(&mut self, facts: &[usize], bound: u64) -> Option<u64> {
        let mut all: Vec<i32> = facts.iter().map(|&fact| -self.differs(fact)).collect();
        all.extend([-self.terminal, self.moved]);
        self.never(&all).then_some(bound)
    }

    /// The maximum number of changes of facts of which at most one holds, if no fact of the
    /// group, and no absence of all of them, ever recurs.
    fn courses(&mut self, facts: &[usize]) -> Option<u64> {
        if facts.len() > MOST_COURSES {
            return None;
        }
        let stay = [-self.terminal, self.moved];
        // The last element is for the absence of all facts.
        let mut after: Vec<Vec<u32>> = Vec::with_capacity(facts.len() + 1);
        for from in 0..=facts.len() {
            let here = |at: usize, of: &[i32]| -> Vec<i32> {
                let signed = facts.iter().enumerate();
                let signed = signed.filter(|(place, _)| at == facts.len() || *place == at);
                signed
                    .map(|(place, &fact)| if place == at { of[fact] } else { -of[fact] })
                    .collect()
            };
            let any: Vec<i32> = facts.iter().map(|&fact| self.next[fact]).collect();
            let any = self.clauses.any(&any);
            let mut all = here(from, &self.now);
            all.extend(stay);
            all.push(match from == facts.len() {
                true => any,
                false => -self.next[facts[from]],
            });
            let mut to = Vec::new();
            loop {
                if self.is_over() {
                    return None;
                }
                match self.clauses.solve(&all, CONFLICTS) {
                    Some(false) => break,
                    None => return None,
                    Some(true) => {
                        let holds = |fact: &usize| self.clauses.holds(self.next[*fact]);
                        let place = facts.iter().position(holds).unwrap_or(facts.len());
                        to.push(place as u32);
                        all.push(match place == facts.len() {
                            true => any,
                            false => -self.next[facts[place]],
                        });
                    }
                }
            }
            after.push(to);
        }
        let first = facts.iter().position(|&fact| self.net.initial()[fact]);
        longest(&after, first.unwrap_or(facts.len()))
    }

    /// An upper bound on how many of these facts can hold together.
    fn most_of(&self, facts: &[usize]) -> u64 {
        let mut left = vec![false; self.now.len()];
        facts.iter().for_each(|&fact| left[fact] = true);
        let mut most = 0;
        for group in self.net.exclusive() {
            let mut any = false;
            for &fact in &group.facts {
                any |= std::mem::replace(&mut left[fact], false);
            }
            most += u64::from(any);
        }
        most + left.iter().filter(|left| **left).count() as u64
    }
}
