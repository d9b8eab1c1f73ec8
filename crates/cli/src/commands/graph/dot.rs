//! A graph in Graphviz' DOT language.

use std::fmt::{self, Write as _};

use super::labels::differing;
use super::values::{SHADES, Value};
use super::{Drawing, Labels};
use ggp_search::Status;

/// The colours of values, from worst to best; colour-blind people can tell them apart.
const COLOURS: [&str; SHADES] = ["#f2b27a", "#fbe6cf", "#eeeeee", "#d3e9f7", "#7fbfe6"];

/// The graph as DOT, one rank for each step; `None` if it may not go on.
pub(super) fn text(drawing: &Drawing, labels: Labels, go_on: &dyn Fn() -> bool) -> Option<String> {
    let mut out = String::new();
    write_graph(&mut out, drawing, labels, go_on).ok()?;
    Some(out)
}

/// Appends the graph to a text.
///
/// # Errors
///
/// If it may not go on: a string takes all.
fn write_graph(
    out: &mut String,
    drawing: &Drawing,
    labels: Labels,
    go_on: &dyn Fn() -> bool,
) -> fmt::Result {
    writeln!(out, "digraph {} {{", quoted(&drawing.name))?;
    writeln!(out, "  rankdir=TB;")?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\"];")?;
    let differs = differing(drawing);
    let texts: Vec<String> = drawing.texts.iter().map(|text| escaped(text)).collect();
    let mut label = String::new();
    for (number, node) in drawing.nodes.iter().enumerate() {
        if !go_on() {
            return Err(fmt::Error);
        }
        label.clear();
        match labels {
            Labels::Numbers => write!(label, "{number}")?,
            Labels::Auto | Labels::Facts => {
                for fact in node.facts.iter().map(|fact| *fact as usize) {
                    if differs[fact] {
                        if !label.is_empty() {
                            label.push_str("\\n");
                        }
                        label.push_str(&texts[fact]);
                    }
                }
            }
        }
        if let Some(text) = drawing.value_text(number) {
            let gap = if label.is_empty() { "" } else { "\\n" };
            write!(label, "{gap}{text}")?;
        }
        let shade = node.value.and_then(Value::shade);
        let colour = shade.map(|shade| {
            let style = match node.status {
                Status::Open if !node.expanded => "\"filled,dashed\"",
                _ => "filled",
            };
            format!(", style={style}, fillcolor=\"{}\"", COLOURS[shade])
        });
        let look = match node.status {
            Status::Solved if colour.is_some() => ", peripheries=2",
            _ if colour.is_some() => "",
            Status::Solved => ", peripheries=2",
            Status::Dead => ", style=filled, fillcolor=lightgrey",
            Status::Open if !node.expanded => ", style=dashed",
            Status::Open => "",
        };
        writeln!(
            out,
            "  n{number} [label=\"{label}\"{look}{}];",
            colour.unwrap_or_default()
        )?;
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
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('\n', "\\n")
}
