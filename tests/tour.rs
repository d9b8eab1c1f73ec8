//! Every command of the README's tour and of the pages on rule files and on
//! writing games, run as it stands there.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test --test tour`
//! writes the new output into the pages.

#[test]
fn the_tour_in_the_readme_shows_what_happens() {
    trycmd::TestCases::new()
        .case("README.md")
        .case("docs/tour.md");
}

#[test]
fn the_page_on_rule_files_shows_what_happens() {
    trycmd::TestCases::new().case("docs/reference/rule-tools.md");
}

#[test]
fn the_page_on_writing_games_shows_what_happens() {
    trycmd::TestCases::new().case("docs/writing-games.md");
}
