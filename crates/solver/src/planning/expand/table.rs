//! A table of zero-initialised words whose memory is returned to the system when
//! dropped.
//!
//! Growing tables on the heap would leave holes, and allocators keep freed memory
//! for the thread that freed it.

use memmap2::MmapMut;

pub(super) enum Table {
    Small(Vec<u32>),
    Large(MmapMut),
}

/// Number of entries from which separately mapped pages are worthwhile.
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
