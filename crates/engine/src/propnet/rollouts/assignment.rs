//! Which lanes play from which state.
//!
//! In: how many states, how many playouts from each. Out: a share of the lanes
//! for each, neighbours of each other, and where playouts begin in turn.

/// The lanes' shares for one call.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    shares: Vec<Share>,
    slots: Slots,
    /// By lane that is dealt: its share.
    of: Vec<u16>,
    /// Lanes of shares that have playouts to begin.
    open: Vec<u64>,
    /// By phase: the lanes whose playouts begin in it.
    entry: Vec<Vec<u64>>,
    /// Lanes in which playouts begin now.
    begun: Vec<u64>,
    /// What `shares` were made of.
    shape: (usize, u32),
    /// The outcome of the first state.
    first: usize,
}

/// Lanes of one word that play from the same state.
#[derive(Clone, Debug)]
struct Share {
    word: usize,
    lanes: u64,
    start: usize,
    /// How many playouts they shall play; how many of them are to begin.
    all: u64,
    left: u64,
}

/// The shares once more, if there are no more than 64 states: by slot and word, a
/// share of the word.
#[derive(Clone, Default, Debug)]
pub(super) struct Slots {
    /// Its lanes.
    pub lanes: Vec<u64>,
    /// Its state, as a bit.
    pub starts: Vec<u64>,
}

impl Deal {
    pub fn new(words: usize, phases: usize) -> Deal {
        Deal {
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

    /// Deals the lanes to so many states, not more than there are lanes, with so
    /// many playouts each. Playouts begin in no phase until
    /// [`Deal::enter`] says in which.
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
            let mut dealt = 0;
            while dealt < size {
                let (word, bit) = (self.of.len() / 64, self.of.len() % 64);
                let some = (size - dealt).min(64 - bit as u64);
                let upto = |lanes: u64| each * lanes / size;
                let share = Share {
                    word,
                    lanes: (u64::MAX >> (64 - some)) << bit,
                    start,
                    all: upto(dealt + some) - upto(dealt),
                    left: 0,
                };
                self.of
                    .resize(self.of.len() + some as usize, self.shares.len() as u16);
                self.shares.push(share);
                dealt += some;
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

    /// The shares of each word, one after the other; none if there are more than
    /// 64 states.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// By lane that is dealt, in order: the state that it plays from.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        self.of
            .iter()
            .map(|&share| self.shares[share as usize].start)
    }

    /// Says by state in which phase playouts begin.
    pub fn enter(&mut self, phase: impl Fn(usize) -> usize) {
        for share in &self.shares {
            self.entry[phase(share.start)][share.word] |= share.lanes;
        }
    }

    /// Whether no playout is to begin.
    pub fn is_done(&self) -> bool {
        self.open.iter().all(|&none| none == 0)
    }

    /// Begins no playout from now on.
    pub fn begin_no_more(&mut self) {
        self.open.fill(0);
    }

    /// Finds lanes in which a playout begins, apart from those that are live and
    /// among those that can in this phase. There is none unless one out of so
    /// many stands idle.
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

    /// The lanes found.
    pub fn begun(&self) -> &[u64] {
        &self.begun
    }

    /// How many of the lanes play from each state, for those that have any.
    pub fn count(&self, lanes: &[u64], mut add: impl FnMut(usize, u64)) {
        for (word, &lanes) in lanes.iter().enumerate() {
            let count = |start, lanes: u64| add(start, u64::from(lanes.count_ones()));
            self.split(word, lanes, count);
        }
    }

    /// Which of a word's lanes play from each state, for those that have any.
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

/// The lowest lanes, so many.
fn lowest(lanes: u64, count: u64) -> u64 {
    let mut others = lanes;
    for _ in 0..count {
        others &= others.wrapping_sub(1);
    }
    lanes & !others
}
