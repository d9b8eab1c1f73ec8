//! A folder for the files of one search, deleted when the search is dropped, with the folder around
//! it if the search made that one, too, and it is empty.
//!
//! Next to it is a file that is locked as long as its process lives. Folders left
//! behind by a process that was killed are deleted by the next search that uses the
//! same parent folder. A folder that a checkpoint names has another file next to it and is
//! never deleted.

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
    /// True if the folder stays.
    pub is_kept: bool,
    /// Number of files made.
    files: u64,
    /// Holds the lock while open.
    _file: File,
}

const PREFIX: &str = "ggp-";
const LOCK_EXTENSION: &str = "lock";
/// Extension of the file next to a folder that stays.
const KEPT_EXTENSION: &str = "kept";
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
            // In another process namespace there may be a process with the same id, and a process
            // of an earlier time may have kept its folder.
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && !folder.exists() {
                fs::create_dir(&folder)?;
                return Ok(TemporaryFolder {
                    folder,
                    lock,
                    made,
                    is_kept: false,
                    files: 0,
                    _file: file,
                });
            }
        }
    }

    /// Opens a folder that an earlier search kept, by its name.
    ///
    /// # Errors
    ///
    /// Those of the file system, [`io::ErrorKind::ResourceBusy`] if another search uses it.
    pub fn open(within: &Path, name: &str) -> io::Result<TemporaryFolder> {
        let folder = within.join(name);
        fs::metadata(folder.with_extension(KEPT_EXTENSION))?;
        let lock = folder.with_extension(LOCK_EXTENSION);
        let file = File::create(&lock)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another search goes on with it",
            )),
            _ => Ok(TemporaryFolder {
                folder,
                lock,
                made: None,
                is_kept: true,
                files: 0,
                _file: file,
            }),
        }
    }

    /// Lets the folder stay.
    pub fn keep(&mut self) -> io::Result<()> {
        if !self.is_kept {
            File::create(self.folder.with_extension(KEPT_EXTENSION))?.sync_all()?;
            self.is_kept = true;
        }
        Ok(())
    }

    /// Makes a new file; returns also its path within the folder around this one.
    pub fn new_file(&mut self) -> io::Result<(String, File)> {
        loop {
            self.files += 1;
            let file = File::create_new(self.folder.join(self.files.to_string()));
            match file {
                // An earlier search has made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok((format!("{}/{}", self.name(), self.files), file?)),
            }
        }
    }

    /// The name of the folder within the one around it.
    pub fn name(&self) -> &str {
        let name = self.folder.file_name().and_then(|name| name.to_str());
        name.expect("the name is made here")
    }
}

/// Whether a search may have given this name to its folder.
pub(super) fn is_name(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| {
        let is_part = |char: char| char.is_ascii_digit() || char == '-';
        !rest.is_empty() && rest.chars().all(is_part)
    })
}

/// Deletes folders whose process no longer exists.
fn delete_stale(within: &Path) -> io::Result<()> {
    for entry in fs::read_dir(within)? {
        let lock = entry?.path();
        let name = lock.file_name().and_then(|name| name.to_str());
        let is_ours = name.is_some_and(|name| name.starts_with(PREFIX));
        if is_ours
            && !lock.with_extension(KEPT_EXTENSION).exists()
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
        // Without a file in it, there is nothing to keep.
        if self.is_kept && fs::remove_dir(&self.folder).is_err() {
            let _ = fs::remove_file(&self.lock);
            return;
        }
        let _ = fs::remove_file(self.folder.with_extension(KEPT_EXTENSION));
        delete(&self.folder, &self.lock);
        if let Some(made) = &self.made {
            // Others may have files there.
            let _ = fs::remove_dir(made);
        }
    }
}
