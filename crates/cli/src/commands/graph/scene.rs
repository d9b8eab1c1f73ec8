//! The layout of a graph: cards with labels, links between them, and their positions.

use rustc_hash::FxHashMap;

use super::Drawing;
use super::labels::{Label, Written};
use crate::graph_layout::{self, Layout, Node, Spacing};
use ggp_search::Status;

/// The elements of a drawing.
pub(super) struct Scene {
    pub cards: Vec<Card>,
    pub links: Vec<Link>,
    pub layout: Layout,
    /// The length of the shown plans; `None` if no node is solved.
    pub plan: Option<u32>,
}

/// A node.
pub(super) struct Card {
    pub kind: Kind,
    pub label: Label,
    /// The number of arcs from different nodes of the rank above.
    pub ways: usize,
    /// Whether it is on a shortest plan.
    pub is_planned: bool,
}

/// The status of a node in the drawing.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// The game goes on.
    Open,
    /// The position is solved.
    Solved,
    /// The game is over.
    Ended,
    /// No path leads from here to a solution.
    Lost,
    /// The moves of this position were not tried.
    Cut,
}

/// All arcs between two nodes, in either direction.
pub(super) struct Link {
    /// The upper node comes first; within one rank, the node where the first arc begins.
    pub ends: (usize, usize),
    /// Moves from the first to the second node, and back.
    pub moves: [Vec<String>; 2],
    pub is_planned: bool,
}

impl Link {
    /// Whether all arcs lead to an earlier rank or stay in one.
    pub fn is_back(&self, drawing: &Drawing) -> bool {
        let (from, to) = self.ends;
        self.moves[0].is_empty() || drawing.nodes[from].level == drawing.nodes[to].level
    }

    /// The moves, shortened; moves of both directions are shown once if they are equal.
    pub fn label(&self) -> String {
        let bare = |text: &String| {
            let inner = text
                .strip_prefix('(')
                .and_then(|text| text.strip_suffix(')'));
            let inner = inner.filter(|inner| !inner.contains(['(', ')']));
            inner.unwrap_or(text).to_owned()
        };
        let short = |moves: &[String]| {
            let mut shown: Vec<String> = moves.iter().take(3).map(bare).collect();
            if moves.len() > 3 {
                shown.push("…".to_owned());
            }
            shown.join(", ")
        };
        let [there, back] = &self.moves;
        match (there.is_empty(), back.is_empty()) {
            (_, true) => short(there),
            (true, false) => short(back),
            (false, false) if there == back => short(there),
            (false, false) => format!("{} ⇅ {}", short(there), short(back)),
        }
    }
}

/// Approximate widths of characters in labels and on boards, and heights of lines.
pub(super) const LETTER: f64 = 6.7;
pub(super) const LINE: f64 = 15.0;
/// Width of a cell with one character, and of each further character.
const PLACE: f64 = 14.0;

/// The width of a board's cells, given by the longest sign.
pub(super) fn place(label: &Label) -> f64 {
    let signs = label.cells.iter().flatten().flatten();
    let longest = signs.map(|sign| sign.chars().count()).max().unwrap_or(1);
    PLACE + (longest.max(1) - 1) as f64 * 7.0
}

pub(super) fn size(label: &Label) -> [f64; 2] {
    let columns = label.cells.first().map_or(0, Vec::len) as f64;
    let letters = label.lines.iter().map(|line| line.chars().count());
    let letters = letters.max().unwrap_or(0) as f64;
    let board = label.cells.len() as f64 * PLACE;
    let width = (columns * place(label)).max(letters * LETTER + 6.0);
    let height = board + label.lines.len() as f64 * LINE;
    [(width + 10.0).max(26.0), (height + 10.0).max(24.0)]
}

/// Computes the layout; `None` if interrupted. Arcs in both directions form one link or two:
/// two in an animation, where dead ends are not known in advance.
pub(super) fn scene(
    drawing: &Drawing,
    written: Written,
    is_merged: bool,
    is_stopped: &dyn Fn() -> bool,
) -> Option<Scene> {
    let mut links = links(drawing, is_merged);
    let (plan, planned) = planned(drawing);
    let kinds = kinds(drawing, is_merged);
    let mut ways = vec![0; drawing.nodes.len()];
    for link in &mut links {
        let (from, to) = link.ends;
        let is_down = drawing.nodes[from].level < drawing.nodes[to].level;
        if is_down && !link.moves[0].is_empty() {
            ways[to] += 1;
            link.is_planned = planned[from] && planned[to];
        }
    }
    let cards: Vec<Card> = written
        .labels
        .into_iter()
        .enumerate()
        .map(|(k, label)| Card {
            kind: kinds[k],
            label,
            ways: ways[k],
            is_planned: planned[k],
        })
        .collect();
    let nodes: Vec<Node> = cards
        .iter()
        .zip(&drawing.nodes)
        .map(|(card, node)| Node {
            rank: node.level as usize,
            size: size(&card.label),
        })
        .collect();
    let edges: Vec<(usize, usize)> = links.iter().map(|link| link.ends).collect();
    let spacing = match cards.len() {
        0..60 => Spacing {
            nodes: 34.0,
            edges: 22.0,
            ranks: 52.0,
        },
        _ => Spacing {
            nodes: 12.0,
            edges: 8.0,
            ranks: 46.0,
        },
    };
    let layout = graph_layout::layout(&nodes, &edges, spacing, is_stopped)?;
    Some(Scene {
        cards,
        links,
        layout,
        plan,
    })
}

fn links(drawing: &Drawing, is_merged: bool) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    let mut by_ends: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    for arc in &drawing.arcs {
        let (from, to) = (arc.from, arc.to);
        let pair = match is_merged && from > to {
            true => (to, from),
            false => (from, to),
        };
        let number = *by_ends.entry(pair).or_insert_with(|| {
            let ends = match drawing.nodes[from].level <= drawing.nodes[to].level {
                true => (from, to),
                false => (to, from),
            };
            links.push(Link {
                ends,
                moves: [Vec::new(), Vec::new()],
                is_planned: false,
            });
            links.len() - 1
        });
        let link = &mut links[number];
        let side = usize::from(link.ends.0 != from);
        link.moves[side].push(arc.chosen.clone());
    }
    links
}

/// The length of the shortest plans, and the nodes on them.
fn planned(drawing: &Drawing) -> (Option<u32>, Vec<bool>) {
    let mut is_planned = vec![false; drawing.nodes.len()];
    let solved = drawing
        .nodes
        .iter()
        .filter(|node| node.status == Status::Solved);
    let nearest = solved.map(|node| node.level).min();
    for (node, is_planned) in drawing.nodes.iter().zip(&mut is_planned) {
        *is_planned = node.status == Status::Solved && Some(node.level) == nearest;
    }
    for arc in drawing.arcs.iter().rev() {
        let next = drawing.nodes[arc.from].level + 1 == drawing.nodes[arc.to].level;
        // Arcs are ordered by the node they begin at, levels ascending.
        if next && is_planned[arc.to] {
            is_planned[arc.from] = true;
        }
    }
    (nearest, is_planned)
}

/// The status of each node; on request also of nodes that lead to no solution.
fn kinds(drawing: &Drawing, is_looked_ahead: bool) -> Vec<Kind> {
    let count = drawing.nodes.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for arc in &drawing.arcs {
        before[arc.to].push(arc.from);
    }
    // Dead ends are known only in a complete graph in which one role decides alone.
    let mut leads_on = vec![true; count];
    let is_solved = |node: &usize| drawing.nodes[*node].status == Status::Solved;
    let mut open: Vec<usize> = (0..count).filter(is_solved).collect();
    if is_looked_ahead && drawing.is_complete && drawing.is_alone && !open.is_empty() {
        leads_on.fill(false);
        open.iter().for_each(|node| leads_on[*node] = true);
        while let Some(node) = open.pop() {
            for &from in &before[node] {
                if !std::mem::replace(&mut leads_on[from], true) {
                    open.push(from);
                }
            }
        }
    }
    let kind = |(k, leads_on): (usize, bool)| {
        let node = &drawing.nodes[k];
        match node.status {
            Status::Solved => Kind::Solved,
            Status::Dead => Kind::Ended,
            Status::Open if !node.expanded => Kind::Cut,
            Status::Open if leads_on => Kind::Open,
            Status::Open => Kind::Lost,
        }
    };
    leads_on.into_iter().enumerate().map(kind).collect()
}
