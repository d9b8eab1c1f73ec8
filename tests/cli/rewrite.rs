//! `ggp fmt` and the other commands that rewrite rule files.

use super::workplace::Workplace;

const UNTIDY: &str =
    "(role ann)   (role bob) ; two\n(<= terminal (true (left 0))\n  ; once\n (role ?r))";
const TIDY: &str =
    "(role ann) (role bob)  ; two\n(<= terminal\n    (true (left 0))\n    ; once\n    (role ?r))\n";

fn read(place: &Workplace, name: &str) -> String {
    std::fs::read_to_string(place.folder().join(name)).unwrap()
}

#[test]
fn fmt_writes_files_that_differ() {
    let place = Workplace::new();
    place.write("a.kif", UNTIDY);
    place.write("b.kif", TIDY);
    place.check("fmt --check a.kif b.kif", &[], "", 1, "a.kif");
    assert_eq!(read(&place, "a.kif"), UNTIDY);
    place.check("fmt a.kif b.kif", &[], "", 0, "");
    assert_eq!(read(&place, "a.kif"), TIDY);
    place.check("fmt --check a.kif b.kif", &[], "", 0, "");
    place.check("fmt -", &[], UNTIDY, 0, TIDY.trim_end());
    place.check("fmt --check -", &[], UNTIDY, 1, "<stdin>");
}

#[test]
fn fmt_shows_what_would_change() {
    let place = Workplace::new();
    place.write("a.kif", "(role   ann)\n(role bob)\n");
    let diff = "--- a.kif\n+++ a.kif\n@@ -1,2 +1,2 @@\n-(role   ann)\n+(role ann)\n (role bob)";
    place.check("fmt --diff a.kif", &[], "", 1, diff);
    let found = place.json("fmt --check", &["a.kif"]);
    assert_eq!(found, serde_json::json!([{"file": "a.kif"}]));
}

#[test]
fn fmt_goes_through_folders() {
    let place = Workplace::new();
    std::fs::create_dir_all(place.folder().join("games/inner")).unwrap();
    for name in ["games/b.kif", "games/inner/a.kif", "games/notes.txt"] {
        place.write(name, "(role   ann)");
    }
    let names = "games/b.kif\ngames/inner/a.kif";
    place.check("fmt --check games", &[], "", 1, names);
    place.write("empty.kif", "");
    place.check("fmt games empty.kif", &[], "", 0, "");
    assert_eq!(read(&place, "games/inner/a.kif"), "(role ann)\n");
    assert_eq!(read(&place, "games/notes.txt"), "(role   ann)");
    assert_eq!(read(&place, "empty.kif"), "");
}

#[test]
fn fmt_leaves_files_alone_that_it_cannot_read() {
    let place = Workplace::new();
    place.write("a.kif", "(role   ann");
    place.write("b.kif", "(role   bob)");
    place.check_failure("fmt a.kif b.kif", &[], "", 2, &["K001", "a.kif:1:1"]);
    assert_eq!(read(&place, "a.kif"), "(role   ann");
    assert_eq!(read(&place, "b.kif"), "(role bob)\n");
    place.write("c.kif", b"(role \xff)");
    place.check_failure(
        "fmt c.kif",
        &[],
        "",
        2,
        &["c.kif is not UTF-8 from byte 6 on"],
    );
    place.write("d.hrf", "role(ann)");
    place.check_failure("fmt d.hrf", &[], "", 2, &["d.hrf is in infix notation"]);
    place.check_failure("fmt none.kif", &[], "", 2, &["cannot open none.kif"]);
    place.check_failure(
        "fmt --max-bytes 5 b.kif",
        &[],
        "",
        2,
        &["more than 5 bytes"],
    );
}

#[cfg(unix)]
#[test]
fn fmt_keeps_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Workplace::new();
    place.write("a.kif", UNTIDY);
    let path = place.folder().join("a.kif");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("a.kif", place.folder().join("b.kif")).unwrap();
    place.check("fmt b.kif", &[], "", 0, "");
    assert!(place.folder().join("b.kif").is_symlink());
    assert_eq!(read(&place, "a.kif"), TIDY);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}
