// The layout of nodes: one rank for each level, in an order with few crossing arcs.
//
// `x` is from 0 to 1 in every rank; `goal` is the final place of a node, `x` its current
// place during the animation.

/**
 * A layout of nodes that arrive level by level. Each node has `level` and incoming arcs
 * `in`.
 */
export class Layers {
  constructor() {
    this.ranks = [];
  }

  /** Adds nodes. Each is placed below the middle of its parents. */
  add(nodes) {
    for (const [level, fresh] of Map.groupBy(nodes, (node) => node.level)) {
      if (!this.ranks[level]) {
        if (level > 0) this.settle(level - 1);
        this.ranks[level] = [];
      }
      for (const node of fresh) {
        node.pull = middle(node);
        node.x = node.pull;
      }
      // Existing nodes keep their order, so that they move little.
      this.ranks[level] = merged(this.ranks[level], fresh.sort(byPull));
      spread(this.ranks[level]);
    }
  }

  /** Completes a level: all arcs that lead to it are known. */
  settle(level) {
    for (const node of this.ranks[level]) node.pull = middle(node);
    this.ranks[level].sort(byPull);
    spread(this.ranks[level]);
  }
}

function middle(node) {
  let sum = 0;
  let count = 0;
  for (const { from, repeats } of node.in) {
    if (repeats) continue;
    sum += from.goal;
    count += 1;
  }
  return count > 0 ? sum / count : 0.5;
}

function byPull(a, b) {
  return a.pull - b.pull || a.id - b.id;
}

function merged(old, fresh) {
  const all = [];
  let at = 0;
  for (const node of fresh) {
    while (at < old.length && old[at].pull <= node.pull) all.push(old[at++]);
    all.push(node);
  }
  return all.concat(old.slice(at));
}

function spread(rank) {
  rank.forEach((node, index) => { node.goal = (index + 0.5) / rank.length; });
}

/**
 * The ranks of a tree: leaves next to each other, each inner node centred above its
 * children.
 */
export function treeRanks(root) {
  const ranks = [];
  let leaves = 0;
  const visit = (node, level) => {
    node.level = level;
    (ranks[level] ??= []).push(node);
    for (const { to } of node.out) visit(to, level + 1);
    const [first, last] = [node.out[0]?.to, node.out.at(-1)?.to];
    node.goal = first ? (first.goal + last.goal) / 2 : (leaves += 1) - 0.5;
  };
  visit(root, 0);
  for (const node of ranks.flat()) node.goal /= leaves;
  return ranks;
}
