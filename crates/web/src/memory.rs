//! Memory: shares for players and solvers, and the end of work that takes too much.
//!
//! Limits on facts, terms, rows and gates bound what one request can take. The sum of all
//! requests is bounded here: where the process would soon be larger than it may be, the games
//! that were not used the longest are dropped, and the session whose work has run the longest
//! loses it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;

use super::AppState;
use super::session::locked;

/// The interval between two looks at the size of the process.
const LOOK: Duration = Duration::from_millis(10);
/// The number of looks until work that is stopped has ended, and takes no more memory.
const AHEAD: u32 = 5;
/// The memory that is kept free for what is added all the same: this part of it, but not
/// less than these bytes or more than half.
const SPARE_PART: u64 = 5;
const LEAST_SPARE: u64 = 200 << 20;
/// The part of the memory before the end of which free memory is returned to the system.
const EARLY: u64 = 8;
/// The number of looks after that in which it may free its memory. Until then, other work is
/// stopped only if the spare part will not do.
const RELIEF: u32 = 30;

/// The memory for the tables of all players and solvers: half in equal parts, and half for
/// those who come first.
#[derive(Debug)]
pub(super) struct Memory {
    /// The equal part in bytes.
    part: u64,
    /// Maximum size of a share in bytes.
    most: u64,
    /// The rest of the other half.
    free: Mutex<u64>,
}

/// The part of a player or solver, until it is dropped.
#[derive(Debug)]
pub(super) struct MemoryShare {
    memory: Arc<Memory>,
    bytes: u64,
}

impl MemoryShare {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        *locked(&self.memory.free) += self.bytes - self.memory.part;
    }
}

impl Memory {
    /// `all` bytes for a number of shares, each of `most` bytes at most.
    pub(super) fn new(all: u64, shares: usize, most: u64) -> Arc<Self> {
        let part = all / 2 / shares.max(1) as u64;
        Arc::new(Memory {
            part,
            most: most.max(part),
            free: Mutex::new(all / 2),
        })
    }

    /// A share: its part, and half of what is free.
    pub(super) fn share(self: &Arc<Self>) -> MemoryShare {
        let mut free = locked(&self.free);
        let more = (*free / 2).min(self.most - self.part);
        *free -= more;
        MemoryShare {
            memory: Arc::clone(self),
            bytes: self.part + more,
        }
    }
}

/// Keeps the process within its memory, until it is dropped.
pub(super) async fn watch(app: Arc<AppState>) {
    let memory_bytes = app.limits.memory_bytes;
    let (mut last, mut relief) = (resident_bytes().unwrap_or_default(), 0_u32);
    // Both wait for threads of low priority that hold a lock, so nothing waits for them.
    let (mut release, mut shrink) = (None, None);
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(bytes) = resident_bytes() else {
            continue;
        };
        let growth = bytes.saturating_sub(last);
        last = bytes;
        relief = relief.saturating_sub(1);
        // Before work is stopped, what is free is returned.
        if is_short(bytes, growth, memory_bytes - memory_bytes / EARLY, false)
            && let Some(work) = app.limits.release
        {
            start(&mut release, work);
        }
        if !is_short(bytes, growth, memory_bytes, relief > 0) {
            continue;
        }
        let kinds = [&app.questions, &app.jobs, &app.groundings];
        let heaviest = kinds.into_iter().filter_map(|turns| turns.heaviest());
        if let Some((_, stops)) = heaviest.max_by_key(|(time, _)| *time) {
            stops.iter().for_each(ggp_stop::Stop::raise);
        }
        let shelf = Arc::clone(&app);
        start(&mut shrink, move || {
            shelf.shelf.shrink(shelf.shelf.size() / 2)
        });
        tokio::time::sleep(AHEAD * LOOK).await;
        relief = RELIEF;
        last = resident_bytes().unwrap_or(last);
    }
}

/// Starts work on a thread unless the last such work is still going on.
fn start(running: &mut Option<JoinHandle<()>>, work: impl FnOnce() + Send + 'static) {
    if running.as_ref().is_none_or(JoinHandle::is_finished) {
        *running = Some(tokio::task::spawn_blocking(work));
    }
}

/// True if work must be stopped: when it has ended, a process that grows on like this would
/// be larger than it may be. While work that was stopped frees its memory, a process that does
/// not grow is given time, and half of what is kept free is used.
fn is_short(bytes: u64, growth: u64, memory_bytes: u64, is_relief: bool) -> bool {
    let soon = bytes + u64::from(AHEAD) * growth;
    let spare = (memory_bytes / SPARE_PART).max(LEAST_SPARE);
    let spare = spare.min(memory_bytes / 2);
    match is_relief {
        true => growth > 0 && soon > memory_bytes - spare / 2,
        false => soon > memory_bytes - spare,
    }
}

/// The memory of this process in bytes, where the system tells it.
#[cfg(target_os = "linux")]
fn resident_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_shares_fit() {
        let memory = Memory::new(1 << 30, 64, 256 << 20);
        let shares: Vec<MemoryShare> = (0..64).map(|_| memory.share()).collect();
        let sizes: Vec<u64> = shares.iter().map(|share| share.bytes() >> 20).collect();
        assert_eq!(sizes[..3], [256, 140, 74]);
        assert!(shares.iter().map(MemoryShare::bytes).sum::<u64>() <= 1 << 30);
        assert_eq!(sizes[63], 8);
        drop(shares);
        assert_eq!(memory.share().bytes(), 256 << 20);
    }

    #[test]
    fn work_is_stopped_before_the_memory_is_used_up() {
        let is_short = |megabytes: u64, growth: u64, memory: u64, is_relief| {
            is_short(megabytes << 20, growth << 20, memory << 20, is_relief)
        };
        assert!(!is_short(700, 20, 1_000, false));
        assert!(is_short(700, 21, 1_000, false));
        assert!(is_short(801, 0, 1_000, false));
        // A fifth of a small memory would soon be used up.
        assert!(!is_short(300, 0, 500, false) && is_short(301, 0, 500, false));
        assert!(!is_short(50, 0, 100, false) && is_short(51, 0, 100, false));
        // The first work that was stopped still frees its memory.
        assert!(!is_short(800, 20, 1_000, true));
        assert!(is_short(800, 21, 1_000, true));
        assert!(!is_short(1_100, 0, 1_000, true));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_size_of_the_process_is_known() {
        let bytes = resident_bytes().expect("a size");
        assert!(bytes > 1 << 20 && bytes < 1 << 40);
    }
}
