//! A folder for the files of one search, deleted when the search is dropped, with the folder around
//! it if the search made that one, too, and it is empty.
//!
//! Next to it is a file that is locked as long as its process lives. Folders left
//! behind by a process that was killed are deleted by the next search that uses the
//! same parent folder.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct TemporaryFolder {
    pub folder: PathBuf,
    lock: PathBuf,
    /// The folder above it, if this search has made that.
    made: Option<PathBuf>,
    /// Holds the lock while open.
    _file: File,
}

const PREFIX: &str = "ggp-";
const LOCK_EXTENSION: &str = "lock";
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl TemporaryFolder {
    /// Creates a new folder within `within`, which is created if it does not exist.
    pub fn new(within: &Path) -> io::Result<TemporaryFolder> {
        let made = (!within.exists()).then(|| within.to_owned());
        fs::create_dir_all(within)?;
        delete_stale(within)?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = within.join(format!("{PREFIX}{}-{number}", process::id()));
            let lock = folder.with_extension(LOCK_EXTENSION);
            // Another search may just have removed it.
            fs::create_dir_all(within)?;
            let file = File::create(&lock)?;
            // In another process namespace there may be a process with the same id.
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                fs::create_dir(&folder)?;
                return Ok(TemporaryFolder {
                    folder,
                    lock,
                    made,
                    _file: file,
                });
            }
        }
    }
}

/// Deletes folders whose process no longer exists.
fn delete_stale(within: &Path) -> io::Result<()> {
    for entry in fs::read_dir(within)? {
        let lock = entry?.path();
        let name = lock.file_name().and_then(|name| name.to_str());
        let is_ours = name.is_some_and(|name| name.starts_with(PREFIX));
        if is_ours
            && lock.extension().is_some_and(|end| end == LOCK_EXTENSION)
            && File::open(&lock).is_ok_and(|file| file.try_lock().is_ok())
        {
            delete(&lock.with_extension(""), &lock);
        }
    }
    Ok(())
}

fn delete(folder: &Path, lock: &Path) {
    // There is nobody to report an error to.
    let _ = fs::remove_dir_all(folder);
    let _ = fs::remove_file(lock);
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        delete(&self.folder, &self.lock);
        if let Some(made) = &self.made {
            // Others may have files there.
            let _ = fs::remove_dir(made);
        }
    }
}
