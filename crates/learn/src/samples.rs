//! Positions with target values, in a ring of limited size.

/// Positions with target values. Once it is full, each new one replaces the oldest.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    words: usize,
    outputs: usize,
    most: usize,
    states: Vec<u64>,
    targets: Vec<f32>,
    /// The number of the next one, once the ring is full.
    next: usize,
}

impl Samples {
    pub fn new(words: usize, outputs: usize, most: usize) -> Samples {
        Samples {
            words,
            outputs,
            most,
            states: Vec::new(),
            targets: Vec::new(),
            next: 0,
        }
    }

    /// No positions, of the same form.
    pub fn like(&self) -> Samples {
        Samples::new(self.words, self.outputs, self.most)
    }

    pub fn len(&self) -> usize {
        self.targets.len() / self.outputs
    }

    pub fn push(&mut self, state: &[u64], targets: &[f32]) {
        if self.len() < self.most {
            self.states.extend_from_slice(state);
            self.targets.extend_from_slice(targets);
            return;
        }
        self.states[self.next * self.words..][..self.words].copy_from_slice(state);
        self.targets[self.next * self.outputs..][..self.outputs].copy_from_slice(targets);
        self.next = (self.next + 1) % self.most;
    }

    pub fn get(&self, number: usize) -> (&[u64], &[f32]) {
        (
            &self.states[number * self.words..][..self.words],
            &self.targets[number * self.outputs..][..self.outputs],
        )
    }

    pub fn clear(&mut self) {
        self.states.clear();
        self.targets.clear();
        self.next = 0;
    }
}
