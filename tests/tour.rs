//! Every command of the README's tour and of the page on rule files, run as it
//! stands there.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test --test tour`
//! writes the new output into the pages.

#[test]
fn the_tour_in_the_readme_shows_what_happens() {
    trycmd::TestCases::new().case("README.md");
}

#[test]
fn the_page_on_rule_files_shows_what_happens() {
    trycmd::TestCases::new().case("docs/rule-tools.md");
}
