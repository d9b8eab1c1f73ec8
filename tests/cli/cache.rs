//! Networks that are kept for the next run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use super::workplace::{Answer, Workplace, answer};
use crate::common::sources::{files_in, root};

/// The digest that the build script of the engine makes.
#[path = "../../crates/engine/build/sources.rs"]
mod sources;

/// The legal moves of a game that takes more than 20 ms to prepare, with the kept networks in a folder.
fn legal(place: &Workplace, networks: &Path, more: &[&str]) -> Answer {
    let game = Path::new(env!("CARGO_MANIFEST_DIR")).join("games/go.kif");
    let mut command: Command = place.command("legal --backend propnet");
    command.arg(game).args(more).env("GGP_CACHE", networks);
    answer(command.output().unwrap())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn networks_are_kept_for_the_next_run() {
    let place = Workplace::new();
    let networks = place.folder().join("networks");
    let first = legal(&place, &networks, &[]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let [file] = &files(&networks)[..] else {
        panic!("one file: {:?}", files(&networks));
    };
    let whole = fs::read(file).unwrap();
    // It is used, and not written again.
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let opened = fs::File::options().append(true).open(file).unwrap();
    opened.set_modified(old).unwrap();
    assert_eq!(legal(&place, &networks, &[]), first);
    let used = opened.metadata().unwrap().modified().unwrap();
    assert!(used > old, "the file that was opened above");
    // What is damaged is made and written again.
    for damaged in [&whole[..whole.len() / 2], b"", &[0; 10_000]] {
        fs::write(file, damaged).unwrap();
        assert_eq!(legal(&place, &networks, &[]), first);
        assert_eq!(fs::read(file).unwrap(), whole);
    }
    fs::remove_dir_all(&networks).unwrap();
    assert_eq!(legal(&place, &networks, &[]), first);
    assert_eq!(files(&networks).len(), 1);
}

#[test]
fn networks_are_not_kept_where_they_are_not_wanted_or_cannot_be() {
    let place = Workplace::new();
    let networks = place.folder().join("networks");
    let first = legal(&place, &networks, &["--no-cache"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(legal(&place, &networks, &["--cache-size", "0"]), first);
    assert!(!networks.exists());
    assert_eq!(legal(&place, Path::new(""), &[]), first);
    // A file in place of the folder.
    place.write("file", "mine");
    let before = files(place.folder());
    assert_eq!(legal(&place, &place.folder().join("file"), &[]), first);
    assert_eq!(fs::read(place.folder().join("file")).unwrap(), b"mine");
    assert_eq!(files(place.folder()), before);
}

/// The crates that the engine is built from, as Cargo names them, with their folders.
fn crates_of_the_engine() -> Vec<PathBuf> {
    let mut command = Command::new(env!("CARGO"));
    command.args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    let output = command.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let packages: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = packages["packages"].as_array().unwrap();
    let mut names = vec!["ggp-engine"];
    let mut folders = Vec::new();
    while let Some(name) = names.pop() {
        let package = packages.iter().find(|package| package["name"] == name);
        let package = package.unwrap();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        folders.push(manifest.parent().unwrap().to_owned());
        for dependency in package["dependencies"].as_array().unwrap() {
            if dependency["path"].is_string() && dependency["kind"] != "dev" {
                names.push(dependency["name"].as_str().unwrap());
            }
        }
    }
    folders.sort();
    folders.dedup();
    folders
}

#[test]
fn each_byte_of_the_sources_of_the_engine_changes_the_key_of_kept_networks() {
    let copy = TempDir::new().unwrap();
    let mut copied = vec![copy.path().join("Cargo.lock")];
    fs::copy(root().join("Cargo.lock"), &copied[0]).unwrap();
    for folder in crates_of_the_engine() {
        for file in files_in(&folder, &["rs", "toml", "pest", "json", "txt"]) {
            if file.path.contains("/tests/") {
                continue;
            }
            let to = copy.path().join(&file.path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, &file.text).unwrap();
            copied.push(to);
        }
    }
    let engine = copy.path().join("crates/engine");
    let digest = || sources::digest(&sources::files(&engine).unwrap(), BTreeSet::new()).unwrap();
    let first = digest();
    for file in copied {
        let before = fs::read(&file).unwrap();
        let mut changed = before.clone();
        let place = changed.len() / 2;
        changed[place] ^= 1;
        fs::write(&file, changed).unwrap();
        assert_ne!(digest(), first, "{}", file.display());
        fs::write(&file, before).unwrap();
    }
    assert_eq!(digest(), first);
}
