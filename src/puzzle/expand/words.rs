//! Long rows of numbers that are read here and there, on large pages where the
//! system has them: most of the time of such a reading goes to find the page.

use std::ops::{Deref, DerefMut};

/// Numbers, all zero at first.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) struct Words(memmap2::MmapMut);

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(super) struct Words(Vec<u32>);

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
impl Words {
    pub fn new(len: usize) -> Words {
        let words = memmap2::MmapMut::map_anon(4 * len.max(1)).expect("the system gives memory");
        // It is a wish; nothing depends on it.
        let _ = words.advise(memmap2::Advice::HugePage);
        Words(words)
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        bytemuck::cast_slice(&self.0)
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
impl DerefMut for Words {
    fn deref_mut(&mut self) -> &mut [u32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
impl Words {
    pub fn new(len: usize) -> Words {
        Words(vec![0; len])
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.0
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
impl DerefMut for Words {
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }
}
