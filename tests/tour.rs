//! Every command of the README's tour, run as it stands there.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test --test tour`
//! writes the new output into the README.

#[test]
fn the_tour_in_the_readme_shows_what_happens() {
    trycmd::TestCases::new().case("README.md");
}
