// The result of an exploration: positions by level, and the moves between them.

/** Spreads the arcs that are left out evenly, whatever the number that is kept. */
const GOLDEN = 0.618034;

export class Explored {
  constructor() {
    /** By id: the node as sent by the server, with its incoming and outgoing arcs. */
    this.nodes = [];
    this.arcs = [];
    /** The number of positions by level. */
    this.levels = [];
    /** Positions that differ only in step counters, by the first of them. */
    this.alike = new Map();
    this.complete = false;
  }

  /** Adds the content of a `grown` event, and returns the new nodes. */
  grow({ nodes, arcs }) {
    const fresh = nodes.map((entry) => {
      const node = { ...entry, in: [], out: [], lost: false };
      this.nodes[node.id] = node;
      this.levels[node.level] = (this.levels[node.level] ?? 0) + 1;
      if (!this.alike.has(node.same)) this.alike.set(node.same, []);
      this.alike.get(node.same).push(node);
      return node;
    });
    for (const { from, to, move } of arcs) {
      const arc = { from: this.nodes[from], to: this.nodes[to], move, chance: (this.arcs.length * GOLDEN) % 1 };
      arc.repeats = arc.to.level <= arc.from.level;
      arc.from.out.push(arc);
      arc.to.in.push(arc);
      this.arcs.push(arc);
    }
    return fresh;
  }

  /** Adds the content of the final event. */
  end({ complete, dead }) {
    this.complete = complete;
    for (const id of dead) this.nodes[id].lost = true;
  }

  /**
   * The kind of a position: `solved`, `end`, `lost`, `open`, or `fresh` if it was not
   * expanded.
   */
  kind(node) {
    if (node.status === 'solved') return 'solved';
    if (node.status === 'dead') return 'end';
    if (node.lost) return 'lost';
    return node.out.length > 0 || this.complete ? 'open' : 'fresh';
  }

  /** All paths to these nodes without repetitions, as sets `{nodes, arcs}`. */
  pathsTo(ends) {
    const nodes = new Set(ends);
    const arcs = new Set();
    // The iteration includes the nodes added meanwhile.
    for (const node of nodes) {
      for (const arc of node.in) {
        if (arc.repeats) continue;
        arcs.add(arc);
        nodes.add(arc.from);
      }
    }
    return { nodes, arcs };
  }

  /** The number of such paths to a node. */
  countPaths(end) {
    const { nodes, arcs } = this.pathsTo([end]);
    const count = new Map();
    for (const node of [...nodes].sort((a, b) => a.level - b.level)) {
      const sum = node.in.reduce((paths, arc) => (arcs.has(arc) ? paths + count.get(arc.from) : paths), 0);
      count.set(node, node.id === 0 ? 1 : sum);
    }
    return count.get(end);
  }

  /** The solved positions nearest to the start. */
  nearest() {
    let found = [];
    for (const node of this.nodes) {
      if (node.status !== 'solved' || found[0]?.level < node.level) continue;
      if (found[0]?.level > node.level) found = [];
      found.push(node);
    }
    return found;
  }

  /** The joint moves from the start to a node. */
  path(node) {
    const joints = [];
    for (let at = node; at.from !== null && at.from !== undefined; at = this.nodes[at.from]) joints.push(at.joint);
    return joints.reverse();
  }
}
