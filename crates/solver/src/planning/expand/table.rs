//! Numbers, all 0 at first, in memory that goes back to the system when they go.
//!
//! Tables that grow leave holes behind, and allocators keep what threads gave
//! back for the same threads.

use memmap2::MmapMut;

pub(super) enum Table {
    Small(Vec<u32>),
    Large(MmapMut),
}

/// Numbers for which pages of their own pay.
const LARGE: usize = 1 << 13;

impl Table {
    pub fn new(len: usize) -> Table {
        if len >= LARGE
            && let Ok(pages) = MmapMut::map_anon(4 * len)
        {
            return Table::Large(pages);
        }
        Table::Small(vec![0; len])
    }

    pub fn words(&self) -> &[u32] {
        match self {
            Table::Small(words) => words,
            Table::Large(pages) => bytemuck::cast_slice(&pages[..]),
        }
    }

    pub fn words_mut(&mut self) -> &mut [u32] {
        match self {
            Table::Small(words) => words,
            Table::Large(pages) => bytemuck::cast_slice_mut(&mut pages[..]),
        }
    }

    pub fn len(&self) -> usize {
        self.words().len()
    }
}
