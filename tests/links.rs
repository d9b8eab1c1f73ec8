//! Links between the pages of the repository lead to files and headings that are there.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::sources::{files_in, root};

/// The pages: those of the root and of the folders with documentation.
fn pages() -> Vec<(String, String)> {
    let folders = ["docs", "conformance", "editors", "python", "games"];
    let mut pages: Vec<_> = folders
        .iter()
        .flat_map(|folder| files_in(&root().join(folder), &["md"]))
        .map(|file| (file.path, file.text))
        .collect();
    for entry in root().read_dir().expect("it can be listed") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_name().expect("a file").to_string_lossy().into();
            pages.push((name, std::fs::read_to_string(&path).expect("it is text")));
        }
    }
    pages.retain(|(path, _)| !path.contains("node_modules"));
    pages
}

/// The lines outside fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors of headings, as hosts of repositories make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let heading = |line: &str| {
        let text = line.strip_prefix('#')?.trim_start_matches('#').trim();
        let kept = text
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        Some(kept.collect::<String>().to_lowercase().replace(' ', "-"))
    };
    prose(text).filter_map(heading).collect()
}

/// The targets of links and pictures.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        // Code in backticks has no links.
        let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("x");
        for rest in line.split("](").skip(1) {
            found.extend(rest.split_once(')').map(|(target, _)| target.to_owned()));
        }
    }
    found
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut checked = 0;
    let mut broken = Vec::new();
    for (page, text) in pages() {
        for target in targets(&text) {
            if target.contains("://") {
                continue;
            }
            checked += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let folder = Path::new(&page).parent().expect("a file is in a folder");
            let file = match path {
                "" => root().join(&page),
                path => root().join(folder).join(path),
            };
            let is_inside = file.canonicalize().is_ok_and(|file| {
                let root = root().canonicalize().expect("it is there");
                file.starts_with(root)
            });
            let has_anchor = || {
                let text = std::fs::read_to_string(&file).expect("it is text");
                anchors(&text).contains(anchor)
            };
            if !is_inside || !anchor.is_empty() && !has_anchor() {
                broken.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checked > 100, "{checked}");
}
