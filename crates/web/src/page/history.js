// The positions of a match as a tree: moves played, taken back and tried instead.

export class Node {
  constructor(parent, joint) {
    this.parent = parent;
    /** The joint move that leads here; null for the initial position. */
    this.joint = joint;
    this.ply = parent ? parent.ply + 1 : 0;
    this.children = [];
    /** The child that redo goes to. */
    this.next = null;
    /** The position as it is shown, once loaded. */
    this.position = null;
    /** The whole position, and what roles know of it, where the rules hide something. */
    this.whole = null;
    this.known = [];
    /** The expected scores by role. */
    this.values = new Map();
    /** The learned values by role, once they are known. */
    this.learned = null;
    /** Milliseconds since 1970. */
    this.time = Date.now();
  }

  /** The position with all that is in it. */
  get truth() {
    return this.whole ?? this.position;
  }

  /** The nodes from the root to this one. */
  path() {
    const nodes = [];
    for (let node = this; node; node = node.parent) nodes.push(node);
    return nodes.reverse();
  }

  /** The joint moves from the root to this node. */
  moves() {
    return this.path().slice(1).map((node) => node.joint);
  }
}

export class History {
  constructor() {
    this.reset(null);
  }

  /** Forgets all moves. `position` is the initial position, if it is known. */
  reset(position) {
    this.root = new Node(null, null);
    this.root.whole = this.root.position = position;
    this.here = this.root;
  }

  /** Forgets what is shown elsewhere, so that it is loaded again; with `all`, whole positions, too. */
  forget(all = false) {
    const nodes = [this.root];
    for (const node of nodes) {
      if (all) Object.assign(node, { whole: null, known: [] });
      if (node !== this.here) node.position = null;
      node.last = null;
      nodes.push(...node.children);
    }
  }

  /** The child for a joint move; created if it does not exist. */
  child(parent, joint) {
    const key = joint.join(' ');
    let child = parent.children.find((one) => one.joint.join(' ') === key);
    if (!child) {
      child = new Node(parent, joint);
      parent.children.push(child);
    }
    parent.next = child;
    return child;
  }

  /** Appends joint moves to a node, and returns the last node. */
  graft(parent, joints) {
    return joints.reduce((node, joint) => this.child(node, joint), parent);
  }

  /** Goes to a node, and makes redo follow its path. */
  goto(node) {
    for (let at = node; at.parent; at = at.parent) at.parent.next = at;
    this.here = node;
  }

  /** The line through the current node: the moves played and the moves that redo would play. */
  line() {
    const nodes = this.here.path();
    for (let node = this.here.next; node; node = node.next) nodes.push(node);
    return nodes;
  }

  /** The joint moves that redo would play. */
  ahead() {
    return this.line().slice(this.here.ply + 1).map((node) => node.joint);
  }
}
