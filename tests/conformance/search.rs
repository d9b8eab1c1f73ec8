//! The search for rule files by their digests, in folders made for it.

use std::fs;
use std::path::{Path, PathBuf};

use ggp_cli::conformance::{self, Found, Options, Report, sha256};
use ggp_engine::machine::Backend;
use serde_json::json;

use super::{Folder, RULES, perft_record};

/// A folder of answers to `RULES` alone, and the rule files found in another folder, which
/// `fill` fills.
fn found_in(fill: impl Fn(&Path)) -> Report {
    let folder = Folder::new();
    folder.write("perft.jsonl", &perft_record().to_string());
    let sources = json!({
        "collections": [
            {"name": "some/games", "address": "https://example.org/some/games"},
            {"name": "other/games", "address": "https://example.org/other/games"},
        ],
        "files": [{
            "sha256": sha256(RULES.as_bytes()), "key": "matches", "records": 1,
            "places": [{"collection": "some/games"}, {"collection": "other/games", "path": "a"}],
        }],
    });
    folder.write("sources.json", &sources.to_string());
    let games = tempfile::tempdir().unwrap();
    fill(games.path());
    let options = Options {
        rules: vec![games.path().to_owned()],
        backend: Backend::Naive,
        ..Options::default()
    };
    let report = conformance::run(&folder.0, &options, |_, _| {}).unwrap();
    assert!(report.agrees(), "{report}");
    let files = &report.rule_files;
    let all = [
        &files.listed,
        &files.collections[0].files,
        &files.collections[1].files,
    ];
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{files:?}");
    assert_eq!(report.games.len(), files.listed.found, "{report}");
    report
}

fn is_found(fill: impl Fn(&Path)) -> bool {
    found_in(fill).rule_files.listed.found == 1
}

/// A folder with many others above it, in a folder.
fn deep(folder: &Path) -> PathBuf {
    let deep = (0..40).fold(folder.to_owned(), |folder, level| {
        folder.join(format!("d{level}"))
    });
    fs::create_dir_all(&deep).unwrap();
    deep
}

#[test]
fn rule_files_are_found_under_any_name_at_any_depth() {
    for name in [
        "matches.kif",
        "other.gdl",
        "no_ending",
        ".hidden",
        "a b (1).txt",
    ] {
        assert!(
            is_found(|games| fs::write(games.join(name), RULES).unwrap()),
            "{name}"
        );
        assert!(
            is_found(|games| fs::write(deep(games).join(name), RULES).unwrap()),
            "{name}"
        );
    }
}

#[test]
fn rule_files_that_differ_in_a_byte_are_not_found() {
    for place in (0..RULES.len()).step_by(37) {
        let mut bytes = RULES.as_bytes().to_vec();
        bytes[place] ^= 1;
        assert!(!is_found(|games| fs::write(
            games.join("matches.kif"),
            &bytes
        )
        .unwrap()));
    }
    for other in [
        RULES.to_owned() + "\n",
        RULES[1..].to_owned(),
        String::new(),
    ] {
        assert!(!is_found(|games| fs::write(
            games.join("matches.kif"),
            &other
        )
        .unwrap()));
    }
}

#[test]
fn line_ends_that_git_converted_are_restored() {
    let returns = RULES.replace('\n', "\r\n");
    assert!(is_found(|games| fs::write(
        games.join("matches.kif"),
        &returns
    )
    .unwrap()));
    let folder = Folder::new();
    let mut record = perft_record();
    record["sha256"] = json!(sha256(returns.as_bytes()));
    folder.write("perft.jsonl", &record.to_string());
    let report = folder.write("games/matches.kif", RULES).run().unwrap();
    assert_eq!((report.agrees(), report.games.len()), (true, 1), "{report}");
}

#[test]
fn folders_without_the_rule_files_are_reported_with_a_remedy() {
    for fill in [
        |_: &Path| (),
        |games: &Path| fs::create_dir(games.join("empty")).unwrap(),
    ] {
        let report = found_in(fill);
        let missing = Found {
            found: 0,
            of: 1,
            missing: vec!["matches".to_owned()],
        };
        assert_eq!(report.rule_files.listed, missing);
        let text = report.to_string();
        for line in [
            "0 of 1 rule files of public collections found\n",
            "0 of 1 rule files of some/games found; to get them: git clone https://example.org/some/games\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}

#[test]
fn large_files_and_the_history_of_repositories_are_not_searched() {
    let large = RULES.to_owned() + &" ".repeat(1 << 20);
    let report = found_in(|games| {
        fs::create_dir(games.join(".git")).unwrap();
        fs::write(games.join(".git/matches.kif"), RULES).unwrap();
        fs::write(games.join("large.kif"), &large).unwrap();
    });
    let files = &report.rule_files;
    // The two files of the folder of answers.
    assert_eq!((files.listed.found, files.files_read), (0, 2), "{files:?}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_once_and_dead_ones_are_reported() {
    use std::os::unix::fs::symlink;
    let elsewhere = tempfile::tempdir().unwrap();
    let rules = elsewhere.path().join("rules");
    fs::write(&rules, RULES).unwrap();
    assert!(is_found(
        |games| symlink(&rules, games.join("matches.kif")).unwrap()
    ));
    assert!(is_found(|games| symlink(
        elsewhere.path(),
        games.join("link")
    )
    .unwrap()));
    let report = found_in(|games| {
        let deep = deep(games);
        symlink(games, deep.join("a")).unwrap();
        symlink(&deep, games.join("b")).unwrap();
        fs::write(deep.join("other.kif"), "(role nobody)").unwrap();
        symlink("itself", games.join("itself")).unwrap();
        symlink("nowhere", games.join("dead")).unwrap();
    });
    let files = &report.rule_files;
    assert_eq!((files.listed.found, files.files_read), (0, 3), "{files:?}");
    assert_eq!(files.unreadable.len(), 2, "{files:?}");
    let text = report.to_string();
    assert!(
        text.contains("cannot read 2 files and folders, such as "),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn files_without_permission_are_reported_and_the_others_found() {
    use std::os::unix::fs::PermissionsExt;
    let is_allowed = std::cell::Cell::new(false);
    let report = found_in(|games| {
        fs::write(games.join("a.kif"), "secret").unwrap();
        fs::create_dir(games.join("b")).unwrap();
        for name in ["a.kif", "b"] {
            fs::set_permissions(games.join(name), fs::Permissions::from_mode(0o000)).unwrap();
        }
        // For the administrator permissions do not matter.
        is_allowed.set(fs::read(games.join("a.kif")).is_ok());
        fs::write(games.join("matches.kif"), RULES).unwrap();
    });
    let files = &report.rule_files;
    assert_eq!(files.listed.found, 1, "{report}");
    let unreadable = if is_allowed.get() { 0 } else { 2 };
    assert_eq!(files.unreadable.len(), unreadable, "{report}");
}

#[test]
fn a_search_stops_when_the_time_is_over() {
    let folder = Folder::new();
    folder.write("games/matches.kif", RULES);
    folder.write("perft.jsonl", &perft_record().to_string());
    let options = Options::default();
    options.limits.stop.raise();
    let report = conformance::run(&folder.0, &options, |_, _| {}).unwrap();
    assert!(report.rule_files.is_stopped);
    assert!(
        report
            .to_string()
            .contains("the search for rule files was stopped")
    );
}
