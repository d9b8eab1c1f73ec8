//! Strong components of a directed graph.
//!
//! Source: Sharir, A strong-connectivity algorithm and its applications in data
//! flow analysis (1981), after Kosaraju.

/// The strong components of a graph whose nodes are the numbers below `nodes`.
/// Edges lead from the first number to the second. A component comes after all
/// components that its edges lead to.
///
/// ```
/// use ggp_gdl::graph::strong_components;
///
/// let components = strong_components(4, &[(0, 1), (1, 2), (2, 1), (3, 0)]);
/// assert_eq!(components, [vec![1, 2], vec![0], vec![3]]);
/// ```
pub fn strong_components(nodes: usize, edges: &[(u32, u32)]) -> Vec<Vec<usize>> {
    let forward = Neighbours::new(nodes, edges.iter().copied());
    let backward = Neighbours::new(nodes, edges.iter().map(|&(from, to)| (to, from)));
    // Nodes in the order in which a search against the edges leaves them.
    let mut left = Vec::with_capacity(nodes);
    let mut is_seen = vec![false; nodes];
    let mut is_left = vec![false; nodes];
    let mut stack: Vec<u32> = Vec::new();
    for start in 0..nodes as u32 {
        if is_seen[start as usize] {
            continue;
        }
        stack.push(start);
        while let Some(&node) = stack.last() {
            if !std::mem::replace(&mut is_seen[node as usize], true) {
                let unseen = backward.of(node).filter(|&next| !is_seen[next as usize]);
                stack.extend(unseen);
            } else {
                stack.pop();
                if !std::mem::replace(&mut is_left[node as usize], true) {
                    left.push(node);
                }
            }
        }
    }
    // What is left last reaches its component, and nothing unknown else.
    let mut components = Vec::new();
    is_seen.fill(false);
    for &start in left.iter().rev() {
        if is_seen[start as usize] {
            continue;
        }
        let mut component = Vec::new();
        stack.push(start);
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut is_seen[node as usize], true) {
                component.push(node as usize);
                let unseen = forward.of(node).filter(|&next| !is_seen[next as usize]);
                stack.extend(unseen);
            }
        }
        components.push(component);
    }
    components
}

/// The ends of each node's edges.
struct Neighbours {
    /// By node: where its ends start; one more at the end.
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Neighbours {
    fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; nodes + 1];
        for (from, _) in edges.clone() {
            starts[from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut ends = vec![0; starts[nodes] as usize];
        for (from, to) in edges {
            let place = &mut next[from as usize];
            ends[*place as usize] = to;
            *place += 1;
        }
        Neighbours { starts, ends }
    }

    /// The ends of a node's edges, the last one first.
    fn of(&self, node: u32) -> impl Iterator<Item = u32> {
        let node = node as usize;
        let range = self.starts[node] as usize..self.starts[node + 1] as usize;
        self.ends[range].iter().rev().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_those_that_reach_each_other() {
        let nodes = 40;
        let mut seed = 7_u32;
        for count in 0..120 {
            let mut edges = Vec::new();
            for _ in 0..count {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                edges.push((seed >> 8 & 31, seed >> 16 & 31));
            }
            let mut reach = vec![[false; 40]; nodes];
            (0..nodes).for_each(|node| reach[node][node] = true);
            for _ in 0..nodes {
                for &(from, to) in &edges {
                    for start in &mut reach {
                        start[to as usize] |= start[from as usize];
                    }
                }
            }
            let components = strong_components(nodes, &edges);
            let mut number = vec![usize::MAX; nodes];
            for (index, component) in components.iter().enumerate() {
                component.iter().for_each(|&node| number[node] = index);
            }
            for from in 0..nodes {
                for to in 0..nodes {
                    let both = reach[from][to] && reach[to][from];
                    assert_eq!(number[from] == number[to], both, "{edges:?}");
                    assert!(!reach[from][to] || number[to] <= number[from], "{edges:?}");
                }
            }
        }
    }
}
