//! The content of nodes.

use std::collections::BTreeSet;

use super::{Drawing, DrawnNode, Labels};
use ggp_picture::DrawnBoard;

/// The content of a node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Label {
    /// The signs of the board by row and column: `None` where there is no cell, empty for an
    /// empty cell.
    pub cells: Vec<Vec<Option<String>>>,
    pub lines: Vec<String>,
}

/// The content of all nodes, and a remark on how to read it.
pub(super) struct Written {
    pub labels: Vec<Label>,
    pub remark: String,
}

/// Maximum number of lines of a node, and of characters of a line.
const LINES: usize = 9;
const LETTERS: usize = 30;
/// Maximum number of board cells in a node.
const PLACES: usize = 100;

/// The labels of the nodes; `drawings` are their boards, where they may be shown.
pub(super) fn labels(
    choice: Labels,
    drawing: &Drawing,
    drawings: Option<&[ggp_picture::Drawing]>,
) -> Written {
    if choice == Labels::Numbers {
        let number = |k: usize| plain(vec![k.to_string()]);
        return Written {
            labels: (0..drawing.nodes.len()).map(number).collect(),
            remark: String::new(),
        };
    }
    match drawings.and_then(boards) {
        Some(written) => written,
        None => of_facts(drawing),
    }
}

fn plain(lines: Vec<String>) -> Label {
    Label {
        cells: Vec::new(),
        lines,
    }
}

/// Facts, by number, that not all nodes have; all facts, if there is only one node.
pub(super) fn differing(drawing: &Drawing) -> Vec<bool> {
    let mut counts = vec![0; drawing.texts.len()];
    for node in &drawing.nodes {
        for fact in &node.facts {
            counts[*fact as usize] += 1;
        }
    }
    let all = drawing.nodes.len();
    counts
        .iter()
        .map(|count| *count < all || all == 1)
        .collect()
}

/// For each list the lines that not all lists have; all lines, if there is only one list.
fn differing_lines(lists: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut sets = lists
        .iter()
        .map(|list| list.iter().collect::<BTreeSet<_>>());
    let common = match sets.next() {
        Some(first) if lists.len() > 1 => sets.fold(first, |common, set| &common & &set),
        _ => BTreeSet::new(),
    };
    let of_list = |list: &Vec<String>| {
        let own = list.iter().filter(|line| !common.contains(line));
        own.cloned().collect()
    };
    lists.iter().map(of_list).collect()
}

fn of_facts(drawing: &Drawing) -> Written {
    let differs = differing(drawing);
    let facts_of = |node: &DrawnNode| -> Vec<&str> {
        let own = node.facts.iter().map(|fact| *fact as usize);
        let own = own.filter(|fact| differs[*fact]);
        own.map(|fact| &drawing.texts[fact][..]).collect()
    };
    let shown: Vec<Vec<&str>> = drawing.nodes.iter().map(facts_of).collect();
    let inner = |fact: &str| -> String {
        let inner = fact
            .strip_prefix('(')
            .and_then(|fact| fact.strip_suffix(')'));
        inner.unwrap_or(fact).to_owned()
    };
    // A first word that all facts share need not be repeated.
    let mut words = shown
        .iter()
        .flatten()
        .map(|fact| inner(fact).split_once(' ').map(|(word, _)| word.to_owned()));
    let first = words.next().flatten();
    let word = first.filter(|first| words.all(|word| word.as_ref() == Some(first)));
    let skipped = word.as_ref().map_or(0, |word| word.len() + 1);
    let line = |fact: &&str| inner(fact)[skipped..].to_owned();
    let labels = shown
        .iter()
        .map(|facts| plain(shortened(facts.iter().map(line).collect())));
    Written {
        labels: labels.collect(),
        remark: word.map_or(String::new(), |word| format!("in the nodes: ({word} …)")),
    }
}

fn shortened(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > LINES {
        let more = lines.len() + 1 - LINES;
        lines.truncate(LINES - 1);
        lines.push(format!("… and {more} more"));
    }
    for line in &mut lines {
        if line.chars().count() > LETTERS {
            *line = line.chars().take(LETTERS - 1).chain(['…']).collect();
        }
    }
    lines
}

/// The board that all nodes have, if there is only one and it is small, and the facts needed
/// to tell the nodes apart.
fn boards(drawings: &[ggp_picture::Drawing]) -> Option<Written> {
    let is_small = |board: &DrawnBoard| {
        let places = board.rows.len() * board.columns.len();
        board.slant == 0 && board.left_out == (0, 0) && (1..=PLACES).contains(&places)
    };
    let board = |drawing: &ggp_picture::Drawing| match &drawing.boards[..] {
        [board] if is_small(board) => Some(board.clone()),
        _ => None,
    };
    let boards: Vec<DrawnBoard> = drawings.iter().map(board).collect::<Option<_>>()?;
    let mut labels: Vec<Label> = boards
        .iter()
        .map(|board| Label {
            cells: board.cells(),
            lines: Vec::new(),
        })
        .collect();
    let are_apart = labels.iter().collect::<BTreeSet<_>>().len() == labels.len();
    if !are_apart {
        let beside: Vec<Vec<String>> = drawings.iter().map(beside).collect();
        for (label, lines) in labels.iter_mut().zip(differing_lines(&beside)) {
            label.lines = shortened(lines);
        }
    }
    let signs: BTreeSet<String> = boards
        .iter()
        .flat_map(DrawnBoard::legend)
        .map(|(sign, content)| format!("{sign} {content}"))
        .collect();
    let signs: Vec<String> = signs.into_iter().collect();
    Some(Written {
        labels,
        remark: signs.join(", "),
    })
}

/// The lines next to the boards.
fn beside(drawing: &ggp_picture::Drawing) -> Vec<String> {
    let mut lines = Vec::new();
    for table in &drawing.tables {
        for entry in &table.entries {
            let words = [&table.title, &entry.key].into_iter().chain(&entry.values);
            let words: Vec<&str> = words
                .map(String::as_str)
                .filter(|w| !w.is_empty())
                .collect();
            lines.push(words.join(" "));
        }
    }
    lines.extend(drawing.facts.iter().cloned());
    lines
}
