//! An animation of iterative deepening: positions appear with the depth limit that reaches
//! them, pruned nodes fade, and at the end the solutions are marked.
//!
//! The animation is a style sheet. With reduced motion, or in a viewer without animations,
//! the picture shows the last frame.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::scene::Link;
use super::{Drawing, DrawnArc, counted};
use ggp_search::Status;

/// The iterations in which an element appears and fades.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Span {
    appears: u32,
    fades: Option<u32>,
}

/// The schedule of all elements.
pub(super) struct Film {
    cards: Vec<Span>,
    /// By arc and direction.
    links: Vec<Span>,
    by_ends: FxHashMap<(usize, usize), Span>,
    captions: Vec<(String, String)>,
    iterations: u32,
}

/// Seconds for an iteration, for the end, and at most for all iterations together.
const ITERATION: f64 = 2.4;
const END: f64 = 6.0;
const ALL: f64 = 60.0;
/// A fraction of an iteration too short to notice, but more than 0 in percent.
const AT_ONCE: f64 = 0.02;

/// Replays iterative deepening on a graph: the nodes it reaches, its animation, and a flag
/// for each node. A position already met with fewer moves is pruned at once; an expanded
/// position without a successor or solution is pruned when that is known.
pub(super) fn film(drawing: Drawing) -> (Drawing, Film, Vec<bool>) {
    let count = drawing.nodes.len();
    let level = |node: usize| drawing.nodes[node].level;
    let mut is_shown = vec![false; count];
    let mut is_repeat = vec![false; count];
    let mut met: FxHashMap<usize, (u32, usize)> = FxHashMap::default();
    is_shown[0] = true;
    let mut arcs: Vec<DrawnArc> = Vec::new();
    let mut rest = drawing.arcs.into_iter().peekable();
    for node in 0..count {
        if is_shown[node] {
            let same = drawing.nodes[node].same;
            let first = *met.entry(same).or_insert((level(node), node));
            is_repeat[node] = match drawing.is_tree {
                true => first.1 != node,
                false => first.0 < level(node),
            };
        }
        while let Some(arc) = rest.next_if(|arc| arc.from == node) {
            if is_shown[node] && !is_repeat[node] {
                is_shown[arc.to] = true;
                arcs.push(arc);
            }
        }
    }
    let is_back = |arc: &DrawnArc| level(arc.to) <= level(arc.from);
    let pruned = prune(&drawing.nodes, &arcs, &is_repeat, &is_back);
    let mut numbers = vec![0; count];
    let mut kept = 0;
    for node in 0..count {
        numbers[node] = kept;
        kept += usize::from(is_shown[node]);
    }
    let cards: Vec<Span> = (0..count)
        .filter(|node| is_shown[*node])
        .map(|node| Span {
            appears: level(node),
            fades: pruned[node],
        })
        .collect();
    let links: Vec<Span> = arcs
        .iter()
        .map(|arc| {
            let appears = level(arc.from) + 1;
            let ends = [
                pruned[arc.from],
                pruned[arc.to],
                is_back(arc).then_some(appears),
            ];
            let fades = ends.into_iter().flatten().min();
            Span {
                appears,
                fades: fades.map(|fades| fades.max(appears)),
            }
        })
        .collect();
    let repeats: Vec<bool> = (0..count)
        .filter(|n| is_shown[*n])
        .map(|n| is_repeat[n])
        .collect();
    let backs: Vec<bool> = arcs.iter().map(is_back).collect();
    arcs.iter_mut().for_each(|arc| {
        (arc.from, arc.to) = (numbers[arc.from], numbers[arc.to]);
    });
    let mut shown = is_shown.iter().copied();
    let mut nodes = drawing.nodes;
    nodes.retain(|_| shown.next().unwrap_or(false));
    let iterations = nodes.iter().map(|node| node.level).max().unwrap_or(0);
    // Expanding the deepest positions finds nothing new, but shows which of them are dead.
    let iterations = links
        .iter()
        .map(|link| link.appears)
        .fold(iterations, u32::max);
    let by_ends = arcs
        .iter()
        .map(|arc| (arc.from, arc.to))
        .zip(links.iter().copied());
    let mut film = Film {
        cards,
        by_ends: by_ends.collect(),
        links,
        captions: Vec::new(),
        iterations,
    };
    let solved = nodes.iter().filter(|node| node.status == Status::Solved);
    let nearest = solved.map(|node| node.level).min();
    film.write_captions(&repeats, &backs, nearest);
    let drawing = Drawing {
        nodes,
        arcs,
        ..drawing
    };
    (drawing, film, is_shown)
}

/// The iteration in which each node is pruned.
fn prune(
    nodes: &[super::DrawnNode],
    arcs: &[DrawnArc],
    is_repeat: &[bool],
    is_back: &dyn Fn(&DrawnArc) -> bool,
) -> Vec<Option<u32>> {
    let mut pruned = vec![None; nodes.len()];
    let mut first = arcs.len();
    for (number, node) in nodes.iter().enumerate().rev() {
        let last = first;
        while first > 0 && arcs[first - 1].from == number {
            first -= 1;
        }
        let ways = arcs[first..last].iter().filter(|arc| !is_back(arc));
        let ends: Vec<Option<u32>> = ways.map(|arc| pruned[arc.to]).collect();
        pruned[number] = match node.status {
            _ if number == 0 => None,
            _ if is_repeat[number] => Some(node.level),
            Status::Solved => None,
            Status::Dead => Some(node.level),
            Status::Open if !node.expanded => None,
            Status::Open => ends
                .into_iter()
                .try_fold(node.level + 1, |last, end| Some(last.max(end?))),
        };
    }
    pruned
}

impl Film {
    /// The class that times a node.
    pub fn card(&self, number: usize) -> String {
        self.cards[number].class()
    }

    /// The class that times a link.
    pub fn link(&self, link: &Link) -> String {
        let (one, other) = link.ends;
        let ends = match link.moves[0].is_empty() {
            true => (other, one),
            false => (one, other),
        };
        self.by_ends[&ends].class()
    }

    /// The class of elements shown at the end.
    pub fn plan(&self) -> String {
        "tp".to_owned()
    }

    /// The caption of each iteration, with its class.
    pub fn captions(&self) -> &[(String, String)] {
        &self.captions
    }

    /// Whether any element fades.
    pub fn has_pruned(&self) -> bool {
        let mut spans = self.cards.iter().chain(&self.links);
        spans.any(|span| span.fades.is_some())
    }

    fn write_captions(&mut self, repeats: &[bool], backs: &[bool], nearest: Option<u32>) {
        for limit in 0..=self.iterations {
            let new = self
                .cards
                .iter()
                .filter(|card| card.appears == limit)
                .count();
            let moves = self
                .links
                .iter()
                .filter(|link| link.appears == limit)
                .count();
            let pruned = |span: &Span| span.fades == Some(limit);
            let cycles = self
                .links
                .iter()
                .zip(backs)
                .filter(|(link, back)| **back && pruned(link));
            let repeated = self
                .cards
                .iter()
                .zip(repeats)
                .filter(|(card, is)| **is && pruned(card));
            let cycles = cycles.count() + repeated.count();
            let dead = self
                .cards
                .iter()
                .zip(repeats)
                .filter(|(card, is)| !**is && pruned(card));
            let dead = dead.count();
            self.captions.push((
                format!("q t t{limit}c"),
                format!(
                    "depth limit {limit}: {}, {}; pruned: {}, {}",
                    counted(new, "new position"),
                    counted(moves, "move"),
                    counted(cycles, "repetition"),
                    counted(dead, "dead leaf").replace("leafs", "leaves")
                ),
            ));
        }
        let end = match nearest {
            Some(moves) => format!("solved in {}", counted(moves as usize, "move")),
            None => format!(
                "no solution within {}",
                counted(self.iterations as usize, "move")
            ),
        };
        self.captions.push(("q te".to_owned(), end));
    }

    /// The style sheet.
    pub fn style(&self) -> String {
        let limits = f64::from(self.iterations + 1);
        let pace = (ALL / limits).min(ITERATION);
        let whole = limits * pace + END;
        // A moment as a share of the whole duration.
        let at = |iteration: f64| format!("{:.3}%", iteration * pace / whole * 100.0);
        let spans: BTreeSet<Span> = self.cards.iter().chain(&self.links).copied().collect();
        let mut still = String::from(".t{opacity:0}");
        let mut moving = String::new();
        let mut frames = String::new();
        let mut play = |class: &str, keys: String| {
            let _ = write!(
                moving,
                ".{class}{{animation:k{class} {whole:.1}s linear infinite}}"
            );
            let _ = write!(frames, "@keyframes k{class}{{{keys}}}");
        };
        for span in spans {
            let class = span.class();
            let begin = f64::from(span.appears);
            let seen = match span.appears {
                0 => "0%{opacity:1}".to_owned(),
                _ => format!(
                    "0%,{}{{opacity:0}}{}{{opacity:1}}",
                    at(begin),
                    at(begin + 0.15)
                ),
            };
            let end = match span.fades {
                None => "100%{opacity:1}".to_owned(),
                Some(fades) => {
                    let _ = write!(still, ".{class}{{opacity:.18}}");
                    let fade = f64::from(fades) + 0.6;
                    format!(
                        "{}{{opacity:1}}{},100%{{opacity:.18}}",
                        at(fade),
                        at(fade + 0.25)
                    )
                }
            };
            play(&class, seen + &end);
        }
        for limit in 0..=self.iterations {
            let [begin, end] = [f64::from(limit), f64::from(limit + 1)];
            let before = match limit {
                0 => "0%{opacity:1}".to_owned(),
                _ => format!(
                    "0%,{}{{opacity:0}}{}{{opacity:1}}",
                    at(begin),
                    at(begin + AT_ONCE)
                ),
            };
            let (last, gone) = (at(end - AT_ONCE), at(end));
            play(
                &format!("t{limit}c"),
                format!("{before}{last}{{opacity:1}}{gone},100%{{opacity:0}}"),
            );
        }
        let (before, after) = (at(limits), at(limits + 0.15));
        for class in ["tp", "te"] {
            play(
                class,
                format!("0%,{before}{{opacity:0}}{after},100%{{opacity:1}}"),
            );
        }
        format!("{still}@media (prefers-reduced-motion:no-preference){{{moving}}}{frames}")
    }
}

impl Span {
    fn class(self) -> String {
        match self.fades {
            Some(fades) => format!("t{}f{fades}", self.appears),
            None => format!("t{}", self.appears),
        }
    }
}
