//! Resources used by this process, as reported by the system.

use std::time::Duration;

/// CPU time of all threads of this process; `None` where it is unknown.
#[cfg(unix)]
pub fn cpu_time() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .ok()
        .map(Duration::from)
}

/// CPU time of all threads of this process; `None` where it is unknown.
#[cfg(not(unix))]
pub fn cpu_time() -> Option<Duration> {
    None
}

/// The peak memory of this process in bytes; `None` where it is unknown.
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

/// The peak memory of this process in bytes; `None` where it is unknown.
#[cfg(not(unix))]
pub fn peak_memory() -> Option<u64> {
    None
}

/// The id of the parent process, while it lives.
#[cfg(unix)]
pub fn parent() -> Option<u32> {
    u32::try_from(nix::unistd::getppid().as_raw()).ok()
}

/// The id of the parent process, while it lives.
#[cfg(not(unix))]
pub fn parent() -> Option<u32> {
    None
}
