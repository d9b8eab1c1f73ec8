//! Positions that wait for others to be settled.
//!
//! Each open position waits for one of its open children. Once that is settled, it waits for the next
//! one, or is settled itself. So each joint move is looked at once, in whatever order the search found
//! positions. Those on cycles, or before cycles, stay open.

use super::super::arcs::{Arcs, Id};
use super::super::next_level::PORTION;
use super::form::Sweep;
use super::{Backward, Fault, Progress, Values};

/// Number of lists of joint moves whose positions look for children together.
const LISTS: usize = 256;
/// Number of positions that a thread looks at together.
const PART: usize = 1 << 10;
/// No position.
const NONE: u32 = u32::MAX;

/// The state of a position, in one place, as one read from memory brings it all.
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
        for (list, first) in arcs.iter().zip((0..).step_by(PORTION as usize)) {
            for ((shard, number), place) in list.places().zip(first..) {
                waiting[shard][number].place = place;
            }
        }
        let mut done = 0;
        for lists in arcs.rchunks(LISTS) {
            // Who looks for an open child, and from which one on.
            let mut wave = Vec::new();
            for (shard, number) in lists.iter().flat_map(Arcs::places) {
                if !self.values.is_settled(shard, number) {
                    wave.push((Id::new(shard, number as u32).ok_or(Fault::TooMany)?, 0));
                }
            }
            while !wave.is_empty() {
                self.check()?;
                wave = self.wave(arcs, &mut waiting, &wave, &mut done);
            }
            (self.progress)(Progress::Valued(done));
        }
        let values = &self.values;
        let is_open = |list: &Arcs| {
            list.places()
                .any(|(shard, number)| !values.is_settled(shard, number))
        };
        arcs.retain(is_open);
        Ok(())
    }

    /// Lets positions wait for an open child, or settles them, and returns those who look on.
    fn wave(
        &mut self,
        arcs: &[Arcs],
        waiting: &mut Waiting,
        wave: &[(Id, u32)],
        done: &mut u64,
    ) -> Vec<(Id, u32)> {
        let values = &self.values;
        let parts = wave.chunks(PART).collect();
        let looked = (self.search.workers).each(wave.len(), parts, |_, part: &[(Id, u32)]| {
            let look = |&(id, from): &(Id, u32)| {
                let place = waiting[id.shard()][id.number()].place;
                values.look(arcs, place as usize, id, from)
            };
            part.iter().map(look).collect::<Vec<_>>()
        });
        let (mut settled, mut waits) = (Vec::new(), Vec::new());
        for (&(id, _), found) in wave.iter().zip(looked.into_iter().flatten()) {
            match found {
                Looked::Settled(entry) => {
                    let old = self.values.entry_mut(id.shard(), id.number());
                    old.copy_from_slice(&entry);
                    settled.push(id);
                }
                Looked::Waits(child, at) => waits.push((id, child, at)),
            }
        }
        *done += settled.len() as u64;
        let mut next = Vec::new();
        for (id, child, at) in waits {
            if self.values.is_settled(child.shard(), child.number()) {
                next.push((id, at + 1));
                continue;
            }
            let head = &mut waiting[child.shard()][child.number()].head;
            let before = std::mem::replace(head, id.word());
            let own = &mut waiting[id.shard()][id.number()];
            (own.next, own.child) = (before, at);
        }
        for id in settled {
            let head = &mut waiting[id.shard()][id.number()].head;
            let mut waiter = Id::of(std::mem::replace(head, NONE));
            while let Some(id) = waiter {
                let own = &waiting[id.shard()][id.number()];
                waiter = Id::of(own.next);
                next.push((id, own.child + 1));
            }
        }
        next
    }
}

/// The result of looking for an open child.
enum Looked {
    /// This one is open; its number among them.
    Waits(Id, u32),
    /// None is open: the entry of the position.
    Settled(Vec<u8>),
}

impl Values {
    /// Looks for an open child of a position, from number `from` on. `place` is that of its joint moves.
    fn look(&self, arcs: &[Arcs], place: usize, id: Id, from: u32) -> Looked {
        let (list, at) = (&arcs[place / PORTION as usize], place % PORTION as usize);
        let choices = list.joints.choices_of(at, self.form.roles());
        let children = &list.children()[choices.children.clone()];
        let is_open = |child: &Id| !self.is_settled(child.shard(), child.number());
        if let Some(more) = children[from as usize..].iter().position(is_open) {
            let at = from as usize + more;
            return Looked::Waits(children[at], at as u32);
        }
        let entries = children.iter();
        let entries = entries.flat_map(|child| self.entry(child.shard(), child.number()));
        let entries: Vec<u8> = entries.copied().collect();
        let mut new = Vec::with_capacity(self.form.bytes());
        let old = self.entry(id.shard(), id.number());
        (self.form).put_after(Sweep::Scores, &choices, &entries, old, &mut new);
        Looked::Settled(new)
    }
}
