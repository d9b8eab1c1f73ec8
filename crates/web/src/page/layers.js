// Where nodes stand: a rank for each level, and in it an order in which few arcs cross.
//
// `x` goes from 0 to 1 in every rank; `goal` is where a node belongs, `x` where it is on its way there.

/** Nodes that come level by level; each has `level` and the arcs `in`. */
export class Layers {
  constructor() {
    this.ranks = [];
  }

  /** Takes new nodes in: those of a level stand in the middle of those before them. */
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
      // What is there keeps its order, so that it moves little.
      this.ranks[level] = merged(this.ranks[level], fresh.sort(byPull));
      spread(this.ranks[level]);
    }
  }

  /** A level is whole: by now all is known that leads to it. */
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

/** The ranks of a tree: leaves beside each other, each node in the middle above what is below it. */
export function hung(root) {
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
