//! A graph in Graphviz' DOT language.

use std::fmt::Write as _;

use super::labels::differing;
use super::{Drawing, Labels};
use ggp_search::Status;

/// The graph as DOT, one rank for each step.
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
    let facts: Vec<&[String]> = drawing.nodes.iter().map(|node| &node.facts[..]).collect();
    let shown = differing(&facts);
    for (number, node) in drawing.nodes.iter().enumerate() {
        let label = match labels {
            Labels::Numbers => number.to_string(),
            Labels::Auto | Labels::Facts => shown[number].join("\n"),
        };
        let look = match node.status {
            Status::Solved => ", peripheries=2",
            Status::Dead => ", style=filled, fillcolor=lightgrey",
            Status::Open if !node.expanded => ", style=dashed",
            Status::Open => "",
        };
        writeln!(out, "  n{number} [label={}{look}];", quoted(&label))?;
    }
    let levels = drawing.nodes.chunk_by(|a, b| a.level == b.level);
    let mut number = 0;
    for level in levels {
        write!(out, "  {{ rank=same;")?;
        for _ in level {
            write!(out, " n{number};")?;
            number += 1;
        }
        writeln!(out, " }}")?;
    }
    for arc in &drawing.arcs {
        let (from, to) = (arc.from, arc.to);
        writeln!(out, "  n{from} -> n{to} [label={}];", quoted(&arc.chosen))?;
    }
    writeln!(out, "}}")
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
