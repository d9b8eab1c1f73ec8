//! The assignment of lanes to start states.
//!
//! In: the number of states, and the number of playouts from each. Out: a
//! contiguous share of the lanes for each state, and the lanes in which playouts
//! begin.

/// The shares of the lanes for one call.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    shares: Vec<Share>,
    slots: Slots,
    /// By assigned lane: its share.
    of: Vec<u16>,
    /// Lanes of shares that have playouts left to begin.
    open: Vec<u64>,
    /// By phase: the lanes whose playouts begin in it.
    entry: Vec<Vec<u64>>,
    /// Lanes in which playouts begin now.
    begun: Vec<u64>,
    /// The arguments from which `shares` were computed.
    shape: (usize, u32),
    /// The index of the first state's outcome.
    first: usize,
}

/// Lanes of one word that play from the same state.
#[derive(Clone, Debug)]
struct Share {
    word: usize,
    lanes: u64,
    start: usize,
    /// The number of its playouts, and of those left to begin.
    all: u64,
    left: u64,
}

/// The shares in another layout, if there are at most 64 states: by slot and word,
/// a share of the word.
#[derive(Clone, Default, Debug)]
pub(super) struct Slots {
    /// Its lanes.
    pub lanes: Vec<u64>,
    /// Its state, as a bit.
    pub starts: Vec<u64>,
}

impl Assignment {
    pub fn new(words: usize, phases: usize) -> Assignment {
        Assignment {
            shares: Vec::new(),
            slots: Slots::default(),
            of: Vec::new(),
            open: vec![0; words],
            entry: vec![vec![0; words]; phases],
            begun: vec![0; words],
            shape: (0, 0),
            first: 0,
        }
    }

    /// Assigns the lanes to `starts` states, at most as many as there are lanes,
    /// with `each` playouts from each. No playout begins before
    /// [`Assignment::enter`] has set the phases.
    pub fn set(&mut self, first: usize, starts: usize, each: u32) {
        self.first = first;
        if self.shape != (starts, each) {
            self.shape = (starts, each);
            self.share(starts, u64::from(each));
        }
        self.open.fill(0);
        for share in &mut self.shares {
            share.left = share.all;
            if share.left > 0 {
                self.open[share.word] |= share.lanes;
            }
        }
        self.entry.iter_mut().for_each(|lanes| lanes.fill(0));
    }

    fn share(&mut self, starts: usize, each: u64) {
        self.shares.clear();
        self.of.clear();
        let lanes = 64 * self.open.len();
        for start in 0..starts {
            let even = lanes / starts + usize::from(start < lanes % starts);
            let size = each.min(even as u64);
            let mut assigned = 0;
            while assigned < size {
                let (word, bit) = (self.of.len() / 64, self.of.len() % 64);
                let some = (size - assigned).min(64 - bit as u64);
                let upto = |lanes: u64| each * lanes / size;
                let share = Share {
                    word,
                    lanes: (u64::MAX >> (64 - some)) << bit,
                    start,
                    all: upto(assigned + some) - upto(assigned),
                    left: 0,
                };
                self.of
                    .resize(self.of.len() + some as usize, self.shares.len() as u16);
                self.shares.push(share);
                assigned += some;
            }
        }
        self.find_slots(starts);
    }

    fn find_slots(&mut self, starts: usize) {
        self.slots = Slots::default();
        if starts > 64 {
            return;
        }
        let words = self.open.len();
        let mut used = vec![0; words];
        for share in &self.shares {
            let at = used[share.word] * words + share.word;
            used[share.word] += 1;
            if at >= self.slots.lanes.len() {
                let length = self.slots.lanes.len() + words;
                self.slots.lanes.resize(length, 0);
                self.slots.starts.resize(length, 0);
            }
            self.slots.lanes[at] = share.lanes;
            self.slots.starts[at] = 1 << share.start;
        }
    }

    /// The shares of each word, in slots; empty if there are more than 64 states.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// By assigned lane, in order: the state that it plays from.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        self.of
            .iter()
            .map(|&share| self.shares[share as usize].start)
    }

    /// Sets the phase in which the playouts from each state begin.
    pub fn enter(&mut self, phase: impl Fn(usize) -> usize) {
        for share in &self.shares {
            self.entry[phase(share.start)][share.word] |= share.lanes;
        }
    }

    /// True if no playout is left to begin.
    pub fn is_done(&self) -> bool {
        self.open.iter().all(|&none| none == 0)
    }

    /// Begins no more playouts.
    pub fn begin_no_more(&mut self) {
        self.open.fill(0);
    }

    /// Finds lanes in which playouts begin: lanes that are not live and may begin
    /// in this phase. Returns false unless at least one lane in `most_idle` is
    /// idle.
    pub fn begin(&mut self, phase: usize, live: &[u64], most_idle: u32) -> bool {
        if self.is_done() {
            return false;
        }
        let (mut free, mut busy) = (0, 0);
        for (word, begun) in self.begun.iter_mut().enumerate() {
            *begun = self.open[word] & self.entry[phase][word] & !live[word];
            free += begun.count_ones();
            busy += live[word].count_ones();
        }
        if free == 0 || free * most_idle < busy {
            return false;
        }
        for (word, begun) in self.begun.iter_mut().enumerate() {
            let mut left = std::mem::take(begun);
            while left != 0 {
                let lane = 64 * word + left.trailing_zeros() as usize;
                let share = &mut self.shares[self.of[lane] as usize];
                let mut lanes = left & share.lanes;
                left &= !share.lanes;
                if u64::from(lanes.count_ones()) >= share.left {
                    lanes = lowest(lanes, share.left);
                    self.open[word] &= !share.lanes;
                }
                share.left -= u64::from(lanes.count_ones());
                *begun |= lanes;
            }
        }
        true
    }

    /// The lanes found by [`Assignment::begin`].
    pub fn begun(&self) -> &[u64] {
        &self.begun
    }

    /// Calls `add` with each state and the number of the given lanes that play from
    /// it, if there are any.
    pub fn count(&self, lanes: &[u64], mut add: impl FnMut(usize, u64)) {
        for (word, &lanes) in lanes.iter().enumerate() {
            let count = |start, lanes: u64| add(start, u64::from(lanes.count_ones()));
            self.split(word, lanes, count);
        }
    }

    /// Calls `add` with each state and the lanes of a word that play from it, if
    /// there are any.
    pub fn split(&self, word: usize, lanes: u64, mut add: impl FnMut(usize, u64)) {
        let mut left = lanes;
        while left != 0 {
            let lane = 64 * word + left.trailing_zeros() as usize;
            let share = &self.shares[self.of[lane] as usize];
            add(self.first + share.start, left & share.lanes);
            left &= !share.lanes;
        }
    }
}

/// The lowest `count` lanes.
fn lowest(lanes: u64, count: u64) -> u64 {
    let mut others = lanes;
    for _ in 0..count {
        others &= others.wrapping_sub(1);
    }
    lanes & !others
}
