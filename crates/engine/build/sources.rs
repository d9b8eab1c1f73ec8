//! The sources that a crate is made of, and their digest. The build script uses it, and its test.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The files of a crate and of the crates beside it that it depends on, and the lock file of the others.
/// A published crate has none beside it: it names its version.
pub fn files(package: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let crates = package.join("..");
    let mut files = BTreeSet::new();
    let mut open = vec![package.to_owned()];
    while let Some(package) = open.pop() {
        let manifest = package.join("Cargo.toml");
        if !files.insert(manifest.clone()) {
            continue;
        }
        // A crate `ggp-x` is in the folder `../x`.
        for line in fs::read_to_string(&manifest)?.lines() {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let beside = name.strip_prefix("ggp-").map(|name| crates.join(name));
            open.extend(beside.filter(|beside| beside.is_dir()));
        }
        for entry in fs::read_dir(&package)? {
            let path = entry?.path();
            if path.is_file() {
                files.insert(path);
            } else if path.file_name().is_some_and(|name| name != "tests") {
                list(&path, &mut files)?;
            }
        }
    }
    let lock = crates.join("../Cargo.lock");
    files.extend(lock.is_file().then_some(lock));
    Ok(files)
}

/// The digest of the contents of files and of the features of the crate.
pub fn digest(files: &BTreeSet<PathBuf>, features: BTreeSet<String>) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    features.hash(&mut hasher);
    for file in files {
        (file, fs::read(file)?).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn list(folder: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}
