// The positions of a match as a tree: what was played, taken back and tried instead.

export class Node {
  constructor(parent, joint) {
    this.parent = parent;
    /** The joint move that leads here; null at the start. */
    this.joint = joint;
    this.ply = parent ? parent.ply + 1 : 0;
    this.children = [];
    /** Which child redo goes to. */
    this.next = null;
    /** What the server says of it, once asked. */
    this.position = null;
    /** What players expected here, by role. */
    this.values = new Map();
    /** Milliseconds since 1970. */
    this.time = Date.now();
  }

  /** The nodes from the start to here. */
  path() {
    const nodes = [];
    for (let node = this; node; node = node.parent) nodes.push(node);
    return nodes.reverse();
  }

  /** The joint moves from the start to here. */
  moves() {
    return this.path().slice(1).map((node) => node.joint);
  }
}

export class History {
  constructor() {
    this.root = new Node(null, null);
    this.here = this.root;
  }

  /** The child that this joint move leads to; made if it is new. */
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

  /** Adds a line of joint moves after a node, and returns its last node. */
  graft(parent, joints) {
    return joints.reduce((node, joint) => this.child(node, joint), parent);
  }

  /** Goes to a node, on the line to which redo will come back. */
  goto(node) {
    for (let at = node; at.parent; at = at.parent) at.parent.next = at;
    this.here = node;
  }

  /** The line through here: what was played and what redo would play. */
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
