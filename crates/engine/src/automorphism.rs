//! Automorphisms of a coloured graph: permutations that preserve colours and edges.
//!
//! In: a graph. Out: generators of its automorphism group, or of a subgroup if the
//! work limit is reached. Vertices are distinguished by colours and, repeatedly, by
//! the number of neighbours of each colour (*refinement*). If that does not
//! separate all vertices, one is individualized: it gets a colour of its own. Each
//! individualization that refines to the same cells may be an automorphism and is
//! compared with the graph.
//!
//! Source: McKay, Practical graph isomorphism (1981); vertices outside of the
//! individualized part map to themselves, as in Darga et al., Exploiting structure
//! in symmetry detection for CNF (2004).

use std::hash::Hasher;

use rustc_hash::FxHasher;

use ggp_stop::Stop;

/// An undirected graph.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Graph {
    /// By vertex.
    colours: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

impl Graph {
    /// Adds a vertex.
    pub fn vertex(&mut self, colour: u32) -> u32 {
        self.colours.push(colour);
        self.colours.len() as u32 - 1
    }

    /// Adds an edge.
    pub fn edge(&mut self, one: u32, other: u32) {
        self.edges.push((one, other));
    }

    /// The number of vertices and edges.
    pub fn size(&self) -> usize {
        self.colours.len() + self.edges.len()
    }
}

/// The maximum number of vertices kept in all levels.
const MOST_KEPT: usize = 4_000_000;

/// Generators of the automorphism group: by vertex, its image. `work` limits the
/// number of edges examined.
#[doc(hidden)]
pub fn generators(graph: &Graph, work: usize, stop: &Stop) -> Vec<Vec<u32>> {
    let vertices = graph.colours.len();
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); vertices];
    for &(one, other) in &graph.edges {
        neighbours[one as usize].push(other);
        neighbours[other as usize].push(one);
    }
    for neighbours in &mut neighbours {
        neighbours.sort_unstable();
        neighbours.dedup();
    }
    let mut search = Search {
        colours: &graph.colours,
        neighbours,
        counts: vec![0; vertices],
        marks: vec![0; vertices],
        mark: 0,
        levels: Vec::new(),
        work,
        stop,
    };
    let mut cells = Cells::new(&graph.colours);
    let mut pending = cells.starts();
    search.refine(&mut cells, &mut pending);
    search.descend(cells).unwrap_or_default()
}

/// Vertices in an order, partitioned into cells.
#[derive(Clone)]
struct Cells {
    order: Vec<u32>,
    /// By vertex: its position.
    places: Vec<u32>,
    /// By vertex: the start of its cell.
    cells: Vec<u32>,
    /// By start of a cell: its length.
    lengths: Vec<u32>,
}

impl Cells {
    fn new(colours: &[u32]) -> Cells {
        let mut order: Vec<u32> = (0..colours.len() as u32).collect();
        order.sort_by_key(|&vertex| colours[vertex as usize]);
        let mut cells = Cells {
            places: vec![0; order.len()],
            cells: vec![0; order.len()],
            lengths: vec![0; order.len()],
            order,
        };
        let mut start = 0;
        for place in 0..cells.order.len() {
            let colour = |place: usize| colours[cells.order[place] as usize];
            if colour(place) != colour(start) {
                start = place;
            }
            let vertex = cells.order[place] as usize;
            cells.places[vertex] = place as u32;
            cells.cells[vertex] = start as u32;
            cells.lengths[start] += 1;
        }
        cells
    }

    fn starts(&self) -> Vec<u32> {
        let starts = (0..self.order.len()).filter(|&start| self.lengths[start] > 0);
        starts.map(|start| start as u32).collect()
    }

    fn cell(&self, start: u32) -> &[u32] {
        let length = self.lengths[start as usize] as usize;
        &self.order[start as usize..][..length]
    }

    /// The start of the smallest cell with several vertices.
    fn target(&self) -> Option<u32> {
        let starts = (0..self.order.len()).filter(|&start| self.lengths[start] > 1);
        let least = starts.min_by_key(|&start| self.lengths[start]);
        least.map(|start| start as u32)
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.order.swap(one, other);
        self.places[self.order[one] as usize] = one as u32;
        self.places[self.order[other] as usize] = other as u32;
    }

    /// Splits a cell at a position.
    fn split(&mut self, start: u32, at: u32) {
        let end = start + self.lengths[start as usize];
        self.lengths[start as usize] = at - start;
        self.lengths[at as usize] = end - at;
        for place in at..end {
            self.cells[self.order[place as usize] as usize] = at;
        }
    }

    /// Gives a vertex a cell of its own, the first part of its old cell.
    fn individualize(&mut self, vertex: u32) -> u32 {
        let start = self.cells[vertex as usize];
        self.swap(start as usize, self.places[vertex as usize] as usize);
        self.split(start, start + 1);
        start
    }
}

/// A step of the search, with the cells before the vertex is individualized.
struct Level {
    cells: Cells,
    trace: u64,
    /// The vertex individualized next, and the start of its cell.
    chosen: Option<(u32, u32)>,
}

struct Search<'g> {
    colours: &'g [u32],
    neighbours: Vec<Vec<u32>>,
    /// By vertex: the number of neighbours in the current cell.
    counts: Vec<u32>,
    marks: Vec<u32>,
    mark: u32,
    levels: Vec<Level>,
    work: usize,
    stop: &'g Stop,
}

impl Search<'_> {
    fn is_exhausted(&self) -> bool {
        self.work == 0 || self.stop.is_over()
    }

    /// Splits cells by the numbers of neighbours in other cells, starting from
    /// those in `pending`. The result is equal for two calls that make the same
    /// splits.
    fn refine(&mut self, cells: &mut Cells, pending: &mut Vec<u32>) -> u64 {
        let mut trace = FxHasher::default();
        let mut is_pending = vec![false; cells.order.len()];
        pending
            .iter()
            .for_each(|&start| is_pending[start as usize] = true);
        let mut touched: Vec<u32> = Vec::new();
        while let Some(start) = pending.pop() {
            is_pending[start as usize] = false;
            touched.clear();
            for &vertex in cells.cell(start) {
                for &other in &self.neighbours[vertex as usize] {
                    if self.counts[other as usize] == 0 {
                        touched.push(other);
                    }
                    self.counts[other as usize] += 1;
                }
                let looked = 1 + self.neighbours[vertex as usize].len();
                self.work = self.work.saturating_sub(looked);
            }
            let by_cell =
                |&vertex: &u32| (cells.cells[vertex as usize], self.counts[vertex as usize]);
            touched.sort_unstable_by_key(by_cell);
            let from: Vec<u32> = (touched.iter())
                .map(|&vertex| cells.cells[vertex as usize])
                .collect();
            let counts = &self.counts;
            let mut at = 0;
            while at < touched.len() {
                let cell = from[at];
                let end = at + from[at..].partition_point(|&other| other == cell);
                let members = &touched[at..end];
                at = end;
                self.work = self.work.saturating_sub(members.len());
                // The touched vertices of a cell move to its end, ordered by their counts.
                let length = cells.lengths[cell as usize];
                let first = cell + length - members.len() as u32;
                let mut parts: Vec<(u32, u32)> = Vec::new();
                if first > cell {
                    parts.push((cell, 0));
                }
                for (place, &vertex) in (first..).zip(members) {
                    let count = counts[vertex as usize];
                    if parts.last().is_none_or(|&(_, last)| last != count) {
                        parts.push((place, count));
                    }
                }
                for &(place, count) in &parts {
                    trace.write_u32(place);
                    trace.write_u32(count);
                }
                if parts.len() == 1 {
                    continue;
                }
                for (offset, &vertex) in members.iter().enumerate().rev() {
                    let place = first as usize + offset;
                    cells.swap(place, cells.places[vertex as usize] as usize);
                }
                for pair in parts.windows(2) {
                    cells.split(pair[0].0, pair[1].0);
                }
                let largest = parts
                    .iter()
                    .map(|part| cells.lengths[part.0 as usize])
                    .max();
                let largest = parts
                    .iter()
                    .find(|part| Some(cells.lengths[part.0 as usize]) == largest);
                for part in &parts {
                    let left_out = Some(part) == largest && !is_pending[cell as usize];
                    if !left_out && !std::mem::replace(&mut is_pending[part.0 as usize], true) {
                        pending.push(part.0);
                    }
                }
            }
            touched
                .iter()
                .for_each(|&vertex| self.counts[vertex as usize] = 0);
        }
        trace.finish()
    }

    /// Individualizes vertices until all are separate. Then searches for
    /// alternatives to each choice, the last choice first.
    fn descend(&mut self, cells: Cells) -> Option<Vec<Vec<u32>>> {
        let vertices = cells.order.len();
        let mut next = Some((cells, 0));
        while let Some((cells, trace)) = next {
            if self.is_exhausted() || (self.levels.len() + 1) * vertices > MOST_KEPT {
                return None;
            }
            let target = cells.target();
            let chosen = target.map(|start| (cells.cell(start)[0], start));
            next = chosen.map(|(vertex, _)| {
                let mut cells = cells.clone();
                let mut pending = vec![cells.individualize(vertex)];
                let trace = self.refine(&mut cells, &mut pending);
                (cells, trace)
            });
            let level = Level {
                cells,
                trace,
                chosen,
            };
            self.levels.push(level);
        }
        let mut found: Vec<Vec<u32>> = Vec::new();
        let mut orbits: Vec<u32> = (0..vertices as u32).collect();
        for level in (0..self.levels.len() - 1).rev() {
            let (chosen, start) = self.levels[level].chosen.expect("all but the last choose");
            let members = self.levels[level].cells.cell(start).to_vec();
            let mut failed: Vec<u32> = Vec::new();
            for other in members {
                let orbit = find_set(&mut orbits, other);
                if orbit == find_set(&mut orbits, chosen)
                    || failed
                        .iter()
                        .any(|&one| find_set(&mut orbits, one) == orbit)
                {
                    continue;
                }
                if self.is_exhausted() {
                    return Some(found);
                }
                let cells = self.levels[level].cells.clone();
                match self.alternative(level, &cells, other) {
                    Some(permutation) => {
                        for (vertex, &image) in permutation.iter().enumerate() {
                            let one = find_set(&mut orbits, vertex as u32);
                            let two = find_set(&mut orbits, image);
                            orbits[one.max(two) as usize] = one.min(two);
                        }
                        found.push(permutation);
                    }
                    None => failed.push(other),
                }
            }
        }
        Some(found)
    }

    /// A permutation that maps the choices before a level to those that led to
    /// `cells`, and the choice at the level to `vertex`.
    fn alternative(&mut self, level: usize, cells: &Cells, vertex: u32) -> Option<Vec<u32>> {
        let mut cells = cells.clone();
        let mut pending = vec![cells.individualize(vertex)];
        let trace = self.refine(&mut cells, &mut pending);
        if trace != self.levels[level + 1].trace || self.is_exhausted() {
            return None;
        }
        self.work = self.work.saturating_sub(cells.order.len());
        if let Some(permutation) = self.candidate(level + 1, &cells)
            && self.is_automorphism(&permutation)
        {
            return Some(permutation);
        }
        let (chosen, start) = self.levels[level + 1].chosen?;
        let mut members = cells.cell(start).to_vec();
        members.sort_unstable_by_key(|&member| (member != chosen, member));
        (members.into_iter()).find_map(|member| self.alternative(level + 1, &cells, member))
    }

    /// Maps vertices in cells of their own by position, and all others to
    /// themselves. `None` if the other cells differ.
    fn candidate(&self, level: usize, cells: &Cells) -> Option<Vec<u32>> {
        let own = &self.levels[level].cells;
        let image = |vertex: u32| {
            let start = own.cells[vertex as usize];
            if own.lengths[start as usize] != cells.lengths[start as usize] {
                return None;
            }
            match own.lengths[start as usize] {
                1 => Some(cells.order[start as usize]),
                _ => (cells.cells[vertex as usize] == start).then_some(vertex),
            }
        };
        (0..own.order.len() as u32).map(image).collect()
    }

    /// True if colours and edges are preserved. Fixed vertices need no test: their
    /// edges to moved vertices are tested from there.
    fn is_automorphism(&mut self, permutation: &[u32]) -> bool {
        for (vertex, &image) in permutation.iter().enumerate() {
            let image = image as usize;
            if image == vertex {
                continue;
            }
            if self.colours[vertex] != self.colours[image]
                || self.neighbours[vertex].len() != self.neighbours[image].len()
            {
                return false;
            }
            self.mark += 1;
            for &other in &self.neighbours[image] {
                self.marks[other as usize] = self.mark;
            }
            let mut images = self.neighbours[vertex].iter();
            if !images.all(|&other| self.marks[permutation[other as usize] as usize] == self.mark) {
                return false;
            }
        }
        true
    }
}

/// The representative of a vertex's set.
fn find_set(sets: &mut [u32], vertex: u32) -> u32 {
    let mut vertex = vertex as usize;
    while sets[vertex] as usize != vertex {
        sets[vertex] = sets[sets[vertex] as usize];
        vertex = sets[vertex] as usize;
    }
    vertex as u32
}
