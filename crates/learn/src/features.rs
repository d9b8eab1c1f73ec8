//! The features of positions: single facts and pairs of facts, by phase.
//!
//! In: a packed state. Out: the numbers of its active features. A *phase* is the
//! role that chooses, recognized by a fact. Each phase has weights of its own.
//! Nothing here has weights.

use ggp_engine::propnet::batch::holds;

/// The pairs of one fact with the facts of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    word: u32,
    mask: u64,
    /// The number of the first of these pairs.
    first: u32,
}

/// The features of a game's positions.
///
/// Feature 0 is always active. It is followed by one feature for each fact, then
/// one for each pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    facts: usize,
    /// The facts that count, one bit for each.
    mask: Vec<u64>,
    /// The facts that count, in ascending order.
    counting: Vec<u32>,
    /// All numbers of facts.
    numbers: Vec<u32>,
    /// By role that chooses: the fact that tells.
    phases: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    triples: Vec<[u32; 3]>,
    /// By fact: the pairs that begin with it.
    by_fact: Extensions,
    /// By pair: the triples that begin with it.
    by_pair: Extensions,
}

/// By feature: the larger features that one more fact makes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Extensions {
    blocks: Vec<Block>,
    /// By feature: its first block; one entry more than features.
    starts: Vec<u32>,
    /// By feature: its first larger feature; one entry more than features.
    firsts: Vec<u32>,
}

impl Extensions {
    /// `extended` lists the feature and the additional fact of each larger feature,
    /// in ascending order.
    fn new(features: usize, extended: impl Iterator<Item = (usize, u32)>) -> Extensions {
        let mut extensions = Extensions {
            blocks: Vec::new(),
            starts: vec![0; features + 1],
            firsts: vec![0; features + 1],
        };
        let (blocks, starts) = (&mut extensions.blocks, &mut extensions.starts);
        let firsts = &mut extensions.firsts;
        let mut last = None;
        for (number, (feature, fact)) in extended.enumerate() {
            let word = fact / 64;
            if last != Some((feature, word)) {
                blocks.push(Block {
                    word,
                    mask: 0,
                    first: number as u32,
                });
                starts[feature + 1] = blocks.len() as u32;
                last = Some((feature, word));
            }
            let block = blocks.last_mut().expect("one was pushed");
            block.mask |= 1 << (fact % 64);
            firsts[feature + 1] = number as u32 + 1;
        }
        for feature in 0..features {
            starts[feature + 1] = starts[feature + 1].max(starts[feature]);
            firsts[feature + 1] = firsts[feature + 1].max(firsts[feature]);
        }
        extensions
    }

    /// Calls `act` with the number of each larger feature that is active.
    #[inline]
    fn each(&self, feature: usize, state: &[u64], mut act: impl FnMut(usize)) {
        let blocks = self.starts[feature] as usize..self.starts[feature + 1] as usize;
        for block in &self.blocks[blocks] {
            let mut others = state[block.word as usize] & block.mask;
            while others != 0 {
                let below = (others & others.wrapping_neg()) - 1;
                others &= others - 1;
                act((block.first + (block.mask & below).count_ones()) as usize);
            }
        }
    }
}

impl Features {
    /// The features of single facts. `counts` marks the facts that count.
    pub fn new(counts: &[bool], phases: Vec<u32>) -> Features {
        let mut features = Features {
            facts: counts.len(),
            mask: ggp_engine::propnet::batch::pack(counts.iter().copied()),
            counting: (0..counts.len() as u32)
                .filter(|&fact| counts[fact as usize])
                .collect(),
            numbers: (0..counts.len() as u32).collect(),
            phases,
            pairs: Vec::new(),
            triples: Vec::new(),
            by_fact: Extensions::default(),
            by_pair: Extensions::default(),
        };
        features.set_groups(Vec::new(), Vec::new());
        features
    }

    /// Replaces the pairs and triples. A pair lists the smaller fact first. The first
    /// two facts of a triple are one of the pairs; the last is any other fact.
    pub fn set_groups(&mut self, mut pairs: Vec<[u32; 2]>, mut triples: Vec<[u32; 3]>) {
        pairs.sort_unstable();
        pairs.dedup();
        triples.sort_unstable();
        triples.dedup();
        let of_facts = pairs.iter().map(|&[one, other]| (one as usize, other));
        self.by_fact = Extensions::new(self.facts, of_facts);
        let of_pairs = triples.iter().map(|&[one, other, third]| {
            let pair = pairs.binary_search(&[one, other]);
            (pair.expect("a triple extends a pair"), third)
        });
        self.by_pair = Extensions::new(pairs.len(), of_pairs);
        self.pairs = pairs;
        self.triples = triples;
    }

    /// The number of facts of a state, of which not all count.
    pub fn facts(&self) -> usize {
        self.facts
    }

    /// True if a fact counts.
    pub fn counts(&self, fact: usize) -> bool {
        holds(&self.mask, fact)
    }

    /// By role that chooses: the fact that tells.
    pub fn phase_facts(&self) -> &[u32] {
        &self.phases
    }

    /// The pairs of facts, in ascending order.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The triples of facts, in ascending order.
    pub fn triples(&self) -> &[[u32; 3]] {
        &self.triples
    }

    /// The facts that count, in ascending order.
    pub(crate) fn counting(&self) -> &[u32] {
        &self.counting
    }

    /// The numbers of the pairs that begin with a fact.
    #[inline(always)]
    pub(crate) fn pairs_of(&self, fact: usize) -> std::ops::Range<usize> {
        self.by_fact.firsts[fact] as usize..self.by_fact.firsts[fact + 1] as usize
    }

    /// The numbers of the triples that begin with a pair.
    #[inline(always)]
    pub(crate) fn triples_of(&self, pair: usize) -> std::ops::Range<usize> {
        self.by_pair.firsts[pair] as usize..self.by_pair.firsts[pair + 1] as usize
    }

    /// The number of features.
    pub fn count(&self) -> usize {
        1 + self.facts + self.pairs.len() + self.triples.len()
    }

    /// The facts of a feature; none for feature 0.
    pub fn group(&self, feature: usize) -> &[u32] {
        let first_pair = 1 + self.facts;
        let first_triple = first_pair + self.pairs.len();
        match feature {
            0 => &[],
            _ if feature < first_pair => std::slice::from_ref(&self.numbers[feature - 1]),
            _ if feature < first_triple => &self.pairs[feature - first_pair],
            _ => &self.triples[feature - first_triple],
        }
    }

    /// The number of phases. The last is that of positions without a known chooser.
    pub fn phases(&self) -> usize {
        self.phases.len() + 1
    }

    /// The phase of a position.
    #[inline]
    pub fn phase(&self, state: &[u64]) -> usize {
        let found = self
            .phases
            .iter()
            .position(|&fact| holds(state, fact as usize));
        found.unwrap_or(self.phases.len())
    }

    /// Calls `act` with each active feature, in an order that depends on the
    /// position alone.
    #[inline]
    pub fn each(&self, state: &[u64], mut act: impl FnMut(usize)) {
        act(0);
        let first_pair = 1 + self.facts;
        let first_triple = first_pair + self.pairs.len();
        for (word, (&bits, &mask)) in state.iter().zip(&self.mask).enumerate() {
            let mut bits = bits & mask;
            while bits != 0 {
                let fact = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                act(1 + fact);
                self.by_fact.each(fact, state, |pair| {
                    act(first_pair + pair);
                    self.by_pair
                        .each(pair, state, |triple| act(first_triple + triple));
                });
            }
        }
    }
}
