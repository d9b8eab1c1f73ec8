//! Networks that are kept for the next run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::workplace::{Answer, Workplace, answer};

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
