//! A digest of the sources that networks depend on, as the variable `GGP_SOURCES`: networks that
//! are kept for the next run are not read by a program that may make others.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let mut files = BTreeSet::new();
    // The rules come from the second; a published crate names its version instead.
    for folder in ["src", "../gdl/src"] {
        if Path::new(folder).is_dir() {
            println!("cargo:rerun-if-changed={folder}");
            list(Path::new(folder), &mut files)?;
        }
    }
    let mut hasher = DefaultHasher::new();
    for file in files {
        (&file, fs::read(&file)?).hash(&mut hasher);
    }
    println!("cargo:rustc-env=GGP_SOURCES={:016x}", hasher.finish());
    Ok(())
}

fn list(folder: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => list(&path, files)?,
            false => {
                files.insert(path);
            }
        }
    }
    Ok(())
}
