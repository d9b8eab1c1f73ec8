//! Construction of networks, gate by gate.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::{Kind, Literal, Network, Region};

/// Builds a [`Network`] gate by gate.
#[derive(Clone, Debug)]
pub struct Builder {
    network: Network,
    /// Gates and the lower halves of their hashes.
    known: HashTable<(u32, u32)>,
    /// True if gates are sought among the known ones.
    is_sharing: bool,
    scratch: Vec<Literal>,
    open: Option<Range<usize>>,
}

impl Builder {
    /// A builder whose network has only inputs.
    pub fn new(inputs: usize) -> Self {
        Builder::with_room(inputs, 0)
    }

    /// As [`Builder::new`], with room for this number of gates.
    pub fn with_room(inputs: usize, gates: usize) -> Self {
        let mut builder = Builder {
            network: Network {
                kinds: Vec::new(),
                starts: vec![0],
                operands: Vec::new(),
                inputs,
                feedbacks: 0,
                regions: Vec::new(),
            },
            known: HashTable::with_capacity(gates),
            is_sharing: true,
            scratch: Vec::new(),
            open: None,
        };
        builder.push(Kind::False, &[]);
        for number in 0..inputs {
            builder.push(Kind::Input, &[Literal(number as u32)]);
        }
        builder
    }

    /// Decides whether gates made from now on are shared with equal ones. Making those that have
    /// no equals takes less time without.
    pub fn share(&mut self, is_sharing: bool) {
        self.is_sharing = is_sharing;
    }

    /// The gates made so far.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The approximate number of bytes used.
    pub(in crate::propnet) fn memory(&self) -> usize {
        // A node has a kind, a start and an entry in the table.
        16 * self.network.len() + 4 * self.network.operands.len()
    }

    /// The network with the gates made so far.
    ///
    /// # Panics
    ///
    /// If a cycle is open.
    pub fn into_network(self) -> Network {
        assert!(self.open.is_none(), "every cycle must be closed");
        self.network
    }

    /// The literal of an input.
    pub fn input(&self, number: usize) -> Literal {
        assert!(number < self.network.inputs, "the input must exist");
        Literal::of(1 + number)
    }

    /// Adds an input.
    pub fn add_input(&mut self) -> Literal {
        let number = self.network.inputs as u32;
        self.network.inputs += 1;
        Literal::of(self.push(Kind::Input, &[Literal(number)]))
    }

    /// True if all operands are.
    pub fn and(&mut self, operands: &[Literal]) -> Literal {
        let mut sorted = std::mem::take(&mut self.scratch);
        sorted.clear();
        sorted.extend_from_slice(operands);
        let result = self.and_in_place(&mut sorted);
        self.scratch = sorted;
        result
    }

    fn and_in_place(&mut self, operands: &mut Vec<Literal>) -> Literal {
        operands.retain(|&literal| literal != Literal::TRUE);
        operands.sort_unstable();
        operands.dedup();
        let opposed = operands.windows(2).any(|pair| pair[0] == !pair[1]);
        if opposed || operands.first() == Some(&Literal::FALSE) {
            return Literal::FALSE;
        }
        match operands.as_slice() {
            [] => Literal::TRUE,
            [one] => *one,
            _ => self.gate(Kind::And, operands),
        }
    }

    /// True if any operand is.
    pub fn or(&mut self, operands: &[Literal]) -> Literal {
        let mut negated = std::mem::take(&mut self.scratch);
        negated.clear();
        negated.extend(operands.iter().map(|&literal| !literal));
        let result = self.and_in_place(&mut negated);
        self.scratch = negated;
        !result
    }

    /// True if exactly one operand is.
    pub fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        let negate = a.is_negated() != b.is_negated();
        let (a, b) = (Literal::of(a.node()), Literal::of(b.node()));
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Literal::FALSE.negated_if(negate);
        }
        if a == Literal::FALSE {
            return b.negated_if(negate);
        }
        self.gate(Kind::Xor, &[a, b]).negated_if(negate)
    }

    /// `then` if the condition is true, `otherwise` if not.
    pub fn choose(&mut self, condition: Literal, then: Literal, otherwise: Literal) -> Literal {
        let taken = self.and(&[condition, then]);
        let left = self.and(&[!condition, otherwise]);
        self.or(&[taken, left])
    }

    /// Begins a cycle that is cut at `count` points and returns their feedbacks.
    /// Gates made until [`Builder::close`] belong to it.
    ///
    /// # Panics
    ///
    /// If a cycle is open.
    pub fn open(&mut self, count: usize) -> Vec<Literal> {
        assert!(self.open.is_none(), "cycles do not nest");
        let start = self.network.len();
        let first = self.network.feedbacks;
        self.network.feedbacks += count;
        self.open = Some(start..first);
        (first..first + count)
            .map(|number| Literal::of(self.push(Kind::Feedback, &[Literal(number as u32)])))
            .collect()
    }

    /// Ends the cycle, given the definition of each feedback.
    ///
    /// # Panics
    ///
    /// If no cycle is open, or the number of definitions differs.
    pub fn close(&mut self, definitions: &[Literal]) {
        let open = self.open.take().expect("a cycle is open");
        let feedbacks = open.end..self.network.feedbacks;
        assert_eq!(
            feedbacks.len(),
            definitions.len(),
            "there must be one definition per feedback"
        );
        self.network.regions.push(Region {
            nodes: open.start..self.network.len(),
            feedbacks,
            definitions: definitions.to_vec(),
        });
    }

    fn gate(&mut self, kind: Kind, operands: &[Literal]) -> Literal {
        if !self.is_sharing {
            return Literal::of(self.push(kind, operands));
        }
        let hash = hash(kind, operands);
        let network = &self.network;
        let is_same = |&(node, known): &(u32, u32)| {
            known == hash
                && network.kinds[node as usize] == kind
                && network.operands(node as usize) == operands
        };
        if let Some(&(node, _)) = self.known.find(spread(hash), is_same) {
            return Literal::of(node as usize);
        }
        let node = self.push(kind, operands);
        let entry = (node as u32, hash);
        self.known
            .insert_unique(spread(hash), entry, |&(_, hash)| spread(hash));
        Literal::of(node)
    }

    fn push(&mut self, kind: Kind, operands: &[Literal]) -> usize {
        let network = &mut self.network;
        network.kinds.push(kind);
        network.operands.extend_from_slice(operands);
        network.starts.push(network.operands.len() as u32);
        network.kinds.len() - 1
    }
}

fn hash(kind: Kind, operands: &[Literal]) -> u32 {
    FxBuildHasher.hash_one((kind as u8, operands)) as u32
}

/// Expands a hash to the 64 bits that the table uses.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
