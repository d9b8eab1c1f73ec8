//! A graph as JSON.

use serde::Serialize;

use super::{Drawing, levels};

#[derive(Serialize)]
struct Record<'d> {
    game: &'d str,
    complete: bool,
    levels: Vec<usize>,
    nodes: Vec<NodeRecord<'d>>,
    arcs: Vec<ArcRecord<'d>>,
}

#[derive(Serialize)]
struct NodeRecord<'d> {
    id: usize,
    level: u32,
    status: &'static str,
    expanded: bool,
    facts: Vec<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<ValueRecord>,
}

#[derive(Serialize)]
struct ValueRecord {
    least: u8,
    most: u8,
    distance: Option<u16>,
}

#[derive(Serialize)]
struct ArcRecord<'d> {
    from: usize,
    to: usize,
    #[serde(rename = "move")]
    chosen: &'d str,
}

/// The graph as one JSON object.
pub(super) fn text(drawing: &Drawing) -> String {
    let nodes = drawing
        .nodes
        .iter()
        .enumerate()
        .map(|(id, node)| NodeRecord {
            id,
            level: node.level,
            status: node.status.name(),
            expanded: node.expanded,
            facts: drawing.facts(node),
            value: node.value.map(|value| ValueRecord {
                least: value.scores[0],
                most: value.scores[1],
                distance: value.distance,
            }),
        });
    let arcs = drawing.arcs.iter().map(|arc| ArcRecord {
        from: arc.from,
        to: arc.to,
        chosen: &arc.chosen,
    });
    let record = Record {
        game: &drawing.name,
        complete: drawing.is_complete,
        levels: levels(drawing),
        nodes: nodes.collect(),
        arcs: arcs.collect(),
    };
    serde_json::to_string(&record).expect("strings and numbers are JSON") + "\n"
}
