//! The content of nodes.

use std::collections::BTreeSet;

use super::Labels;
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

/// The labels of nodes with these facts and, where boards may be shown, drawings.
pub(super) fn labels(
    choice: Labels,
    facts: &[&[String]],
    drawings: Option<&[ggp_picture::Drawing]>,
) -> Written {
    if choice == Labels::Numbers {
        let number = |k: usize| plain(vec![k.to_string()]);
        return Written {
            labels: (0..facts.len()).map(number).collect(),
            remark: String::new(),
        };
    }
    match drawings.and_then(boards) {
        Some(written) => written,
        None => of_facts(facts),
    }
}

fn plain(lines: Vec<String>) -> Label {
    Label {
        cells: Vec::new(),
        lines,
    }
}

/// For each node the facts that not all nodes have; all facts, if there is only one node.
pub(super) fn differing<'f>(facts: &[&'f [String]]) -> Vec<Vec<&'f str>> {
    let mut sets = facts
        .iter()
        .map(|facts| facts.iter().map(String::as_str).collect::<BTreeSet<_>>());
    let common = match sets.next() {
        Some(first) if facts.len() > 1 => sets.fold(first, |common, set| &common & &set),
        _ => BTreeSet::new(),
    };
    let of_node = |facts: &&'f [String]| {
        let facts = facts.iter().map(String::as_str);
        facts.filter(|fact| !common.contains(fact)).collect()
    };
    facts.iter().map(of_node).collect()
}

fn of_facts(facts: &[&[String]]) -> Written {
    let shown = differing(facts);
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
        let beside: Vec<&[String]> = beside.iter().map(Vec::as_slice).collect();
        for (label, lines) in labels.iter_mut().zip(differing(&beside)) {
            label.lines = shortened(lines.into_iter().map(str::to_owned).collect());
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
