//! What this process has cost so far, as the system tells it.

use std::time::Duration;

/// CPU time of all threads of this process; none where it cannot be told.
#[cfg(unix)]
pub fn cpu_time() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .ok()
        .map(Duration::from)
}

/// CPU time of all threads of this process; none where it cannot be told.
#[cfg(not(unix))]
pub fn cpu_time() -> Option<Duration> {
    None
}

/// The most memory that this process held at any time, in bytes; none where it
/// cannot be told.
#[cfg(unix)]
pub fn peak_memory() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    // Apple counts bytes, all others kilobytes.
    let unit = if cfg!(target_vendor = "apple") {
        1
    } else {
        1024
    };
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    Some(u64::try_from(usage.max_rss()).ok()? * unit)
}

/// The most memory that this process held at any time, in bytes; none where it
/// cannot be told.
#[cfg(not(unix))]
pub fn peak_memory() -> Option<u64> {
    None
}

/// The number of the process that started this one, while it lives.
#[cfg(unix)]
pub fn parent() -> Option<u32> {
    u32::try_from(nix::unistd::getppid().as_raw()).ok()
}

/// The number of the process that started this one, while it lives.
#[cfg(not(unix))]
pub fn parent() -> Option<u32> {
    None
}
