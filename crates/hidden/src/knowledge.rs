//! The memories of roles, as small numbers.
//!
//! In: a role's own moves and the percepts after each. Out: a [`KnowledgeId`] that is equal for
//! two histories if and only if they look alike to the role: it made the same moves, and had the
//! same percepts after each (perfect recall).

use ggp_gdl::game::{Move, RoleId};
use ggp_gdl::terms::TermId;
use rustc_hash::FxHashMap;

/// The memory of one role.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KnowledgeId(u32);

impl KnowledgeId {
    /// The position among all that are known, in the order in which they were met.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The last turn of what a role remembers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    /// The role.
    pub role: RoleId,
    /// The knowledge before the turn; `None` before the first one.
    pub before: Option<KnowledgeId>,
    /// Its move of the turn; `None` before the first one.
    pub made: Option<Move>,
    /// Its percepts after the move, ascending by id.
    pub told: Box<[TermId]>,
}

/// All memories that were met.
#[derive(Clone, Debug, Default)]
pub struct Memories {
    all: Vec<Memory>,
    ids: FxHashMap<Memory, KnowledgeId>,
    /// By knowledge: the number of legal moves, 1 if it is not known.
    choices: Vec<u32>,
}

impl Memories {
    /// The knowledge of a role before its first move.
    pub fn start(&mut self, role: RoleId) -> KnowledgeId {
        self.intern(Memory {
            role,
            before: None,
            made: None,
            told: Box::default(),
        })
    }

    /// The knowledge of a role after one more move and its percepts, ascending by id.
    pub fn after(&mut self, before: KnowledgeId, made: Move, told: &[TermId]) -> KnowledgeId {
        self.intern(Memory {
            role: self.all[before.index()].role,
            before: Some(before),
            made: Some(made),
            told: told.into(),
        })
    }

    /// The last turn of some knowledge.
    pub fn last(&self, id: KnowledgeId) -> &Memory {
        &self.all[id.index()]
    }

    /// The number of the role's legal moves; 1 if it was not noted.
    pub fn choices(&self, id: KnowledgeId) -> u32 {
        self.choices[id.index()]
    }

    /// Notes the number of the role's legal moves.
    pub fn note_choices(&mut self, id: KnowledgeId, count: usize) {
        self.choices[id.index()] = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    }

    fn intern(&mut self, memory: Memory) -> KnowledgeId {
        if let Some(id) = self.ids.get(&memory) {
            return *id;
        }
        let id = KnowledgeId(u32::try_from(self.all.len()).expect("memory ends before"));
        self.all.push(memory.clone());
        self.choices.push(1);
        self.ids.insert(memory, id);
        id
    }
}
