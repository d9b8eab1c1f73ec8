//! The joint moves of the matches of a batch since they began.
//!
//! States of games with hidden information need them: what a role knows is its own moves and percepts.

use std::collections::VecDeque;
use std::ops::Range;

use ggp_engine::propnet::batch::{Environments, ONGOING};

/// The actions of all matches, as long as one of them needs them.
pub struct Pasts {
    /// The actions of each step by match and role, the earliest first.
    steps: VecDeque<Vec<i32>>,
    /// The number of steps before those.
    dropped: usize,
    /// By match: the steps in which it has made its moves; `None` if moves that were made are not known.
    spans: Vec<Option<Range<usize>>>,
    roles: usize,
    /// The most steps that are kept, and the number at which some are dropped.
    most: usize,
    full: usize,
}

/// The end of the steps of a match that goes on.
const OPEN: usize = usize::MAX;
/// The fewest steps at which some are dropped, if there is room for them.
const FEW: usize = 16;

impl Pasts {
    /// The pasts of matches that have just begun, in at most about as many bytes.
    pub fn new(matches: &Environments, bytes: u64) -> Self {
        let (lanes, roles) = (matches.lanes(), matches.roles());
        let most = bytes / (lanes * roles * size_of::<i32>()).max(1) as u64;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Pasts {
            steps: VecDeque::new(),
            dropped: 0,
            spans: vec![Some(0..OPEN); lanes],
            roles,
            most,
            full: FEW.min(most),
        }
    }

    /// The number of steps so far.
    fn now(&self) -> usize {
        self.dropped + self.steps.len()
    }

    /// The actions of a match by turn and role; `None` if they are not known.
    pub fn of(&self, lane: usize) -> Option<impl Iterator<Item = &[i32]>> {
        let span = self.spans[lane].as_ref()?;
        let steps = span.start..span.end.min(self.now());
        let of_step =
            move |step| &self.steps[step - self.dropped][lane * self.roles..][..self.roles];
        Some(steps.map(of_step))
    }

    /// Notes that a match begins.
    pub fn begin(&mut self, lane: usize) {
        self.spans[lane] = Some(self.now()..OPEN);
    }

    /// Notes that all matches are in states of unknown pasts.
    pub fn forget(&mut self) {
        self.spans.fill(None);
    }

    /// Notes a step. `were_over` tells which matches were over before it, and `resets` whether matches that are
    /// over begin again.
    pub fn step(&mut self, actions: &[i32], ends: &[u8], were_over: &[bool], resets: bool) {
        self.steps.push_back(actions.to_vec());
        let now = self.now();
        for (lane, (end, was_over)) in ends.iter().zip(were_over).enumerate() {
            match (*end != ONGOING, was_over) {
                (false, false) => {}
                _ if resets => self.begin(lane),
                (_, true) => {}
                (true, false) => {
                    if let Some(span) = &mut self.spans[lane] {
                        span.end = now;
                    }
                }
            }
        }
        if self.steps.len() >= self.full {
            self.drop_steps();
        }
    }

    /// Drops the steps that no match needs, and those that are too many.
    fn drop_steps(&mut self) {
        let now = self.now();
        let starts = self.spans.iter().flatten().map(|span| span.start);
        let needed = starts.min().unwrap_or(now);
        let first = needed.max(now.saturating_sub(self.most));
        for span in &mut self.spans {
            span.take_if(|span| span.start < first);
        }
        self.steps.drain(..first - self.dropped);
        self.dropped = first;
        self.full = (2 * self.steps.len()).max(FEW).min(self.most);
    }
}

/// By match: true if it is over.
pub fn over(matches: &Environments) -> Vec<bool> {
    let lanes = 0..matches.lanes();
    lanes.map(|lane| matches.is_over(lane)).collect()
}
