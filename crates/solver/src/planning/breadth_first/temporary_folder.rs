//! A folder for the files of one search, gone when the search is.
//!
//! Beside it stands a file that is locked as long as its process lives. What a
//! process left that was killed is deleted by the next one that comes to the same
//! place.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct Place {
    pub folder: PathBuf,
    lock: PathBuf,
    /// Keeps the lock.
    _file: File,
}

const START: &str = "ggp-";
const END: &str = "lock";
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Place {
    /// A new one within a folder, which is made if it is not there.
    pub fn new(within: &Path) -> io::Result<Place> {
        fs::create_dir_all(within)?;
        tidy(within)?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = within.join(format!("{START}{}-{number}", process::id()));
            let lock = folder.with_extension(END);
            let file = File::create(&lock)?;
            // Elsewhere there may be a process of the same number.
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                fs::create_dir(&folder)?;
                return Ok(Place {
                    folder,
                    lock,
                    _file: file,
                });
            }
        }
    }
}

/// Deletes what nobody uses any more.
fn tidy(within: &Path) -> io::Result<()> {
    for entry in fs::read_dir(within)? {
        let lock = entry?.path();
        let name = lock.file_name().and_then(|name| name.to_str());
        let is_ours = name.is_some_and(|name| name.starts_with(START));
        if is_ours
            && lock.extension().is_some_and(|end| end == END)
            && File::open(&lock).is_ok_and(|file| file.try_lock().is_ok())
        {
            delete(&lock.with_extension(""), &lock);
        }
    }
    Ok(())
}

fn delete(folder: &Path, lock: &Path) {
    // There is nobody to tell.
    let _ = fs::remove_dir_all(folder);
    let _ = fs::remove_file(lock);
}

impl Drop for Place {
    fn drop(&mut self) {
        delete(&self.folder, &self.lock);
    }
}
