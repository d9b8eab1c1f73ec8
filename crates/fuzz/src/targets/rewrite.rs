//! Layout, infix notation and obfuscation keep the meaning of rules.

use ggp_gdl::rewrite::{
    Layout, Scramble, Tree, from_infix, laid_out, restored, scramble, to_infix, unwritable,
};
use ggp_gdl::span::{Source, Sources};
use ggp_gdl::symbol::Case;
use ggp_gdl::syntax::{SyntaxLimits, read};
use ggp_stop::Stop;

fn lay(tree: &Tree<'_>) -> String {
    laid_out(tree, Layout::default(), &Stop::new())
}

/// The text laid out; `None` if brackets do not match.
fn laid(text: &str) -> Option<String> {
    let sources = Sources::from(Source::new("input.kif", text));
    let tree = Tree::read(&sources, SyntaxLimits::default(), &Stop::new());
    tree.ok().map(|tree| lay(&tree))
}

/// The words of a text, without comments and blanks, in lower case.
fn words(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .map(|line| line.split(';').next().unwrap_or_default());
    let spaced = lines.collect::<Vec<_>>().join("\n");
    let spaced = spaced.replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_lowercase).collect()
}

pub fn run(text: &str, seed: u64) -> Result<u64, String> {
    let Some(once) = laid(text) else {
        return Ok(0);
    };
    if laid(&once).as_ref() != Some(&once) {
        return Err("laid out twice is not laid out once".to_owned());
    }
    let mut compared = 1;
    let sources = Sources::from(Source::new("input.kif", text));
    let (forms, _) = read(&sources, SyntaxLimits::default());
    if unwritable(&forms).is_empty() {
        let mut tree = Tree::read(&sources, SyntaxLimits::default(), &Stop::new())
            .map_err(|_| "read only once".to_owned())?;
        let infix = Source::new("input.hrf", to_infix(&tree));
        let back = from_infix(&infix, SyntaxLimits::default(), &Stop::new())
            .map_err(|findings| format!("not read again: {findings:?}\n{}", infix.text()))?;
        if words(&lay(&back)) != words(&once) {
            return Err(format!("infix notation and back gives\n{}", lay(&back)));
        }
        let how = Scramble {
            seed,
            order: false,
            comments: false,
            case: Case::Keep,
        };
        let names = scramble(&mut tree, how);
        let scrambled = Sources::from(Source::new("input.kif", lay(&tree)));
        let (forms, _) = read(&scrambled, SyntaxLimits::default());
        let back = restored(&forms, &scrambled, 0, &names);
        if words(&back) != words(&once) {
            return Err(format!("obfuscated and restored gives\n{back}"));
        }
        compared += 2;
    }
    Ok(compared)
}
