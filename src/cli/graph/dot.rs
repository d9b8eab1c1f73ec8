//! A graph for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Drawing, Labels};
use crate::search::Status;

/// The graph in the DOT language, one rank for each step.
pub(super) fn text(drawing: &Drawing, labels: Labels) -> String {
    let mut out = String::new();
    write_graph(&mut out, drawing, labels).expect("a string takes all");
    out
}

fn write_graph(out: &mut String, drawing: &Drawing, labels: Labels) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quoted(&drawing.name))?;
    writeln!(out, "  rankdir=TB;")?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\"];")?;
    let common = common_facts(&drawing.facts);
    for (number, node) in drawing.graph.nodes().iter().enumerate() {
        let label = match labels {
            Labels::Numbers => number.to_string(),
            Labels::Facts => {
                let facts = drawing.facts[number].iter();
                let shown: Vec<&str> = facts
                    .map(String::as_str)
                    .filter(|fact| !common.contains(fact))
                    .collect();
                shown.join("\n")
            }
        };
        let look = match node.status {
            Status::Solved => ", peripheries=2",
            Status::Dead => ", style=filled, fillcolor=lightgrey",
            Status::Open if !node.expanded => ", style=dashed",
            Status::Open => "",
        };
        writeln!(out, "  n{number} [label={}{look}];", quoted(&label))?;
    }
    for level in drawing.graph.levels() {
        write!(out, "  {{ rank=same;")?;
        for number in level {
            write!(out, " n{number};")?;
        }
        writeln!(out, " }}")?;
    }
    for (arc, chosen) in drawing.graph.arcs().iter().zip(&drawing.moves) {
        let (from, to) = (arc.from, arc.to);
        writeln!(out, "  n{from} -> n{to} [label={}];", quoted(chosen))?;
    }
    writeln!(out, "}}")
}

/// The facts of all nodes, if there are several nodes.
fn common_facts(facts: &[Vec<String>]) -> BTreeSet<&str> {
    let mut sets = facts
        .iter()
        .map(|facts| facts.iter().map(String::as_str).collect::<BTreeSet<_>>());
    match sets.next() {
        Some(first) if facts.len() > 1 => sets.fold(first, |common, set| &common & &set),
        _ => BTreeSet::new(),
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
