//! Every command of the README and of the pages for newcomers, run as it is written there.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test --test all tour`
//! writes the new output into the pages.

#[test]
fn the_tour_in_the_readme_shows_what_happens() {
    trycmd::TestCases::new()
        .case("README.md")
        .case("docs/tour.md");
}

/// A newcomer need not know the mark of an exit code (`? 1`), so the README shows commands with one as
/// text. The tour has them as well, with the code, and runs them.
#[test]
fn commands_that_are_text_in_the_readme_are_in_the_tour() {
    let read = |path: &str| std::fs::read_to_string(path).expect("the page is there");
    let (readme, tour) = (read("README.md"), read("docs/tour.md"));
    let is_mark = |line: &&str| line.strip_prefix("? ").is_some_and(|code| code.len() == 1);
    let tour: Vec<&str> = tour.lines().filter(|line| !is_mark(line)).collect();
    let blocks = readme.split("```").skip(1).step_by(2);
    let shown = blocks.filter_map(|block| block.strip_prefix("text\n$ ggp"));
    let mut compared = 0;
    for block in shown {
        let block: Vec<String> = format!("$ ggp{}", block.trim_end())
            .lines()
            .map(str::to_owned)
            .collect();
        let is_run = tour.windows(block.len()).any(|lines| lines == block);
        assert!(is_run, "docs/tour.md does not run {block:#?}");
        compared += 1;
    }
    assert!(compared > 0, "the README has no such command");
}

#[test]
fn the_page_on_rule_files_shows_what_happens() {
    trycmd::TestCases::new().case("docs/reference/rule-tools.md");
}

#[test]
fn the_page_on_writing_games_shows_what_happens() {
    trycmd::TestCases::new().case("docs/writing-games.md");
}
