//! Positions that wait for others to be settled.
//!
//! Each open position waits for one of its open children. Once that is settled, it waits for the next
//! one, or is settled itself. So each joint move is looked at once, in whatever order the search found
//! positions. Those on cycles, or before cycles, stay open.

use super::super::arcs::{Arcs, Id};
use super::super::next_level::PORTION;
use super::form::Sweep;
use super::{Backward, Fault, Progress};

/// No position.
const NONE: u32 = u32::MAX;

/// What is known about a position. Together, as one read from memory brings it all.
#[derive(Clone)]
struct Waiter {
    /// The place of its joint moves: that of the list, times [`PORTION`], and that in the list.
    place: u32,
    /// The first of those who wait for it.
    head: u32,
    /// The next one who waits for the same position, and which child of its own that is.
    next: u32,
    child: u32,
}

/// By shard and number.
type Waiting = Vec<Vec<Waiter>>;

impl Backward<'_, '_> {
    /// Settles all positions that do not lead to cycles, and keeps only the joint moves of others.
    pub(super) fn settle(&mut self, arcs: &mut Vec<Arcs>) -> Result<(), Fault> {
        if arcs.is_empty() || arcs.len() as u64 >= u64::from(u32::MAX) / PORTION {
            // There are sweeps for what is too large.
            return Ok(());
        }
        let none = Waiter {
            place: NONE,
            head: NONE,
            next: NONE,
            child: 0,
        };
        let all = self.lens.iter().map(|&len| vec![none.clone(); len]);
        let mut waiting: Waiting = all.collect();
        let mut ready = Vec::new();
        for (list, first) in arcs.iter().zip((0..).step_by(PORTION as usize)) {
            for ((shard, number), place) in list.places().zip(first..) {
                waiting[shard][number].place = place;
            }
        }
        let mut done = 0_u64;
        for list in arcs.iter().rev() {
            self.check()?;
            for (shard, number) in list.places() {
                let id = Id::new(shard, number as u32).ok_or(Fault::TooMany)?;
                if !self.values.is_settled(shard, number) && self.wait(arcs, &mut waiting, id, 0) {
                    ready.push(id);
                }
            }
            while let Some(id) = ready.pop() {
                done += 1;
                if done.is_multiple_of(1 << 16) {
                    self.check()?;
                    (self.progress)(Progress::Valued(done));
                }
                let head = &mut waiting[id.shard()][id.number()].head;
                let mut waiter = Id::of(std::mem::replace(head, NONE));
                while let Some(id) = waiter {
                    let Waiter { next, child, .. } = waiting[id.shard()][id.number()];
                    waiter = Id::of(next);
                    if self.wait(arcs, &mut waiting, id, child as usize + 1) {
                        ready.push(id);
                    }
                }
            }
        }
        let values = &self.values;
        let is_open = |list: &Arcs| {
            list.places()
                .any(|(shard, number)| !values.is_settled(shard, number))
        };
        arcs.retain(is_open);
        Ok(())
    }

    /// Lets a position wait for its first open child from number `from` on, or settles it if there is
    /// none; returns whether it is settled.
    fn wait(&mut self, arcs: &[Arcs], waiting: &mut Waiting, id: Id, from: usize) -> bool {
        let (shard, number) = (id.shard(), id.number());
        let place = waiting[shard][number].place as usize;
        let (list, at) = (&arcs[place / PORTION as usize], place % PORTION as usize);
        let values = &self.values;
        let choices = list.joints.choices_of(at, values.form.roles());
        let children = &list.children()[choices.children.clone()];
        let is_open = |child: &Id| !values.is_settled(child.shard(), child.number());
        if let Some(more) = children[from..].iter().position(is_open) {
            let child = children[from + more];
            let head = &mut waiting[child.shard()][child.number()].head;
            let next = std::mem::replace(head, id.word());
            let own = &mut waiting[shard][number];
            (own.next, own.child) = (next, (from + more) as u32);
            return false;
        }
        let entries = children.iter();
        let entries = entries.flat_map(|child| values.entry(child.shard(), child.number()));
        let entries: Vec<u8> = entries.copied().collect();
        let mut new = Vec::with_capacity(values.form.bytes());
        let old = values.entry(shard, number);
        (values.form).put_after(Sweep::Scores, &choices, &entries, old, &mut new);
        self.values.entry_mut(shard, number).copy_from_slice(&new);
        true
    }
}
