//! Files that are written as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Writes a file as a whole: first to a new file in the same folder, which is then renamed and
/// gets the old file's permissions. Nobody ever finds half a file. A link stays, and its target
/// is written. What is not a regular file, such as a device or a pipe, is written to.
///
/// Then the new files of earlier attempts are removed that nobody wrote to for an hour: those of
/// processes that were killed.
///
/// # Errors
///
/// Those of writing, or if nobody may write the file; it is then as it was, if it is a regular
/// one.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_by(path, &mut |file| file.write_all(content))
}

/// Writes a file as [`write()`] does, with a function that writes its content.
///
/// # Errors
///
/// As [`write()`], and those of the function.
pub fn write_by(
    path: &Path,
    content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if is_special(&path) {
        return content(&mut OpenOptions::new().write(true).open(path)?);
    }
    refuse_read_only(&path)?;
    let part = part_of(&path);
    let mut write = || {
        let mut file = File::create(&part)?;
        content(&mut file)?;
        // The content must be on the disk before the name is.
        file.sync_all()?;
        if let Ok(known) = fs::metadata(&path) {
            fs::set_permissions(&part, known.permissions())?;
        }
        fs::rename(&part, &path)
    };
    let written = write();
    match written.is_ok() {
        // Those that cannot be removed do no harm.
        true => _ = remove_left(&path),
        // A file that cannot be removed was most likely never created.
        false => _ = fs::remove_file(&part),
    }
    written
}

/// The time after which nobody writes to a file any more.
const LEFT: Duration = Duration::from_secs(3_600);

/// Removes the files that killed processes left while they wrote a file.
fn remove_left(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    for other in fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let other = other?;
        let found = other.file_name();
        let rest = found.as_encoded_bytes().strip_prefix(name);
        let process = rest.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(PART.as_bytes()));
        let is_part = process.is_some_and(|process| process.iter().all(u8::is_ascii_digit));
        if is_part
            && other
                .metadata()?
                .modified()?
                .elapsed()
                .is_ok_and(|age| age > LEFT)
        {
            fs::remove_file(other.path())?;
        }
    }
    Ok(())
}

/// Tries whether a file can be written later.
///
/// # Errors
///
/// Those of creating a file in its folder, or if nobody may write the file.
pub fn can_write(path: &Path) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if is_special(&path) {
        // A pipe may have no reader yet.
        return Ok(());
    }
    refuse_read_only(&path)?;
    let part = part_of(&path);
    File::create(&part).and_then(|_| fs::remove_file(&part))
}

/// Refuses a file that nobody may write: to replace it would need no permission but that of its
/// folder.
fn refuse_read_only(path: &Path) -> io::Result<()> {
    match fs::metadata(path).is_ok_and(|known| known.permissions().readonly()) {
        true => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is read-only",
        )),
        false => Ok(()),
    }
}

/// True if there is something other than a regular file.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| !known.is_file())
}

/// The file that takes the content until it is complete.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}{PART}", std::process::id()));
    path.with_file_name(name)
}

/// The ending of such a file.
const PART: &str = ".part";

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_read_only_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "old").unwrap();
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        for refused in [can_write(&file), write(&file, b"new")] {
            let kind = refused.unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::PermissionDenied);
        }
        assert_eq!(fs::read(&file).unwrap(), b"old");
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, null] = ["file", "link", "null"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        for path in [&link, &null] {
            can_write(path).unwrap();
            write(path, b"new").unwrap();
            assert!(fs::symlink_metadata(path).unwrap().is_symlink());
        }
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let names = fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 3, "no part of a file is left");
    }

    #[test]
    fn what_killed_processes_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, old, new, other] = ["file", "file.17.part", "file.18.part", "file.a.part"]
            .map(|name| folder.path().join(name));
        for part in [&old, &new, &other] {
            fs::write(part, "half").unwrap();
        }
        let before = fs::metadata(&new).unwrap().modified().unwrap() - 2 * LEFT;
        for part in [&old, &other] {
            let part = OpenOptions::new().write(true).open(part).unwrap();
            part.set_modified(before).unwrap();
        }
        write(&file, b"whole").unwrap();
        assert_eq!(
            [&file, &old, &new, &other].map(|path| path.exists()),
            [true, false, true, true]
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_an_error() {
        assert!(write(Path::new("/dev/full"), b"new").is_err());
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
    }
}
