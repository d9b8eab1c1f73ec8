//! A digest of the sources that networks depend on, as the variable `GGP_SOURCES`: networks that
//! are kept for the next run are not read by a program that may make others.

#[path = "build/sources.rs"]
mod sources;

use std::env;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let files = sources::files(Path::new("."))?;
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    // Files may be added, too. The lock file is beside the results of builds.
    let sources = files.iter().filter(|file| !file.ends_with("Cargo.lock"));
    for folder in sources.filter_map(|file| file.parent()) {
        println!("cargo:rerun-if-changed={}", folder.display());
    }
    let features = env::vars().map(|(name, _)| name);
    let features = features.filter(|name| name.starts_with("CARGO_FEATURE_"));
    let digest = sources::digest(&files, features.collect())?;
    println!("cargo:rustc-env=GGP_SOURCES={digest:016x}");
    Ok(())
}
