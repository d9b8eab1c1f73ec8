// The tree of a player that searches: how often it went where, and what it expects there.

import { button, fill, make } from './dom.js';
import { hung } from './layers.js';
import { counted } from './moves.js';
import { sign } from './shapes.js';
import { Sheet } from './sheet.js';

/** The radius of the start, which has all visits, in pixels. */
const LARGE = 15;
const NONE = { nodes: new Set(), arcs: new Set() };

export class Tree {
  /** `onGo(from, joints)` goes on from a node of the history; `onOpen()` hears that it is opened with nothing in it. */
  constructor({ onGo, onOpen }) {
    this.onGo = onGo;
    this.onOpen = onOpen;
    this.sheet = new Sheet('Tree of what a player looked at', {
      onPick: (node) => node && this.go(node), told: (node) => this.told(node), spoken: (node) => this.spoken(node),
    });
    this.control = button('Show the tree', () => this.open(!this.shown), { 'aria-expanded': 'false', class: 'small' });
    this.state = make('p', { class: 'quiet', 'aria-live': 'polite' });
    this.line = make('p', { class: 'variation', hidden: true });
    this.legend = make('p', { class: 'legend' }, make('span', {}, sign('open', 'value-0'), 'expects 0'), make('span', {}, sign('open', 'value-5'), '50'), make('span', {}, sign('open', 'value-10'), '100'),
      make('span', {}, sign('ended', 'value-5'), 'the game is over'), make('span', {}, make('span', { class: 'stroke lit' }), 'the line that it expects'), make('span', {}, 'Larger: visited more'));
    this.body = make('div', { class: 'tree', hidden: true }, this.state, this.line, this.sheet.element, this.legend);
    this.sheet.spreads(this.body);
    this.element = make('div', { class: 'tree-box' }, this.control, this.body);
    this.clear();
  }

  open(shown) {
    this.shown = shown;
    this.body.hidden = !shown;
    this.control.textContent = shown ? 'Hide the tree' : 'Show the tree';
    this.control.setAttribute('aria-expanded', String(shown));
    if (!shown) return;
    if (this.last) {
      this.grown(...this.last);
    } else {
      this.show();
      this.onOpen();
    }
  }

  clear(said = 'Grows when a player that searches a tree thinks: ask for a hint, or let one move.') {
    this.from = null;
    /** What was told last: it is drawn once somebody looks. */
    this.last = null;
    this.known = new Map();
    this.root = null;
    this.ranks = [];
    this.arcs = [];
    this.words = [];
    this.state.textContent = said;
    this.show();
  }

  /** A tree has grown, of what `player` as `name` thinks at a node of the history. */
  grown(from, player, name, { nodes, all }) {
    if (this.from !== from || this.player !== player) this.clear();
    Object.assign(this, { from, player, name, last: [from, player, name, { nodes, all }] });
    if (!this.shown) return;
    const known = new Map();
    const list = [];
    this.arcs = [];
    for (const [index, told] of nodes.entries()) {
      const parent = told.from === null ? null : list[told.from];
      let path = parent ? `${parent.path};${told.way.join(' ')}` : '';
      // No node is in two places, even if the same way is told twice.
      while (known.has(path)) path += ';';
      // The same node as before moves to its new place; a new one comes out of its parent.
      const node = Object.assign(this.known.get(path) ?? { path, x: parent?.x ?? 0.5 }, told, { in: [], out: [], parent, id: index });
      known.set(path, node);
      list.push(node);
      if (!parent) continue;
      const arc = { from: parent, to: node, move: told.move, repeats: false, chance: 0 };
      parent.out.push(arc);
      node.in.push(arc);
      this.arcs.push(arc);
    }
    this.known = known;
    this.root = list[0];
    this.ranks = this.root ? hung(this.root) : [];
    this.state.textContent = `${player} as ${name}: ${nodes.length} of ${counted(all, 'node')} shown.`;
    this.show();
  }

  /** What the player expects to be played. */
  expects(words) {
    this.words = words ?? [];
    this.show();
  }

  /** The nodes and arcs along the line of play that is expected. */
  along() {
    if (!this.root || this.ranks.length === 0) return NONE;
    const nodes = new Set([this.root]);
    const arcs = new Set();
    let at = this.root;
    for (const move of this.words) {
      const arc = at.out.find((one) => one.move === move);
      if (!arc) break;
      arcs.add(arc);
      nodes.add(arc.to);
      at = arc.to;
    }
    return { nodes, arcs };
  }

  show() {
    this.line.hidden = this.words.length === 0;
    fill(this.line, 'Expects ', this.words.map((move) => make('code', {}, move)));
    if (!this.shown) return;
    const most = Math.max(1, this.root?.visits ?? 1);
    this.sheet.show({
      ranks: this.ranks, arcs: this.arcs, repeats: false, lit: this.along(), isFaint: () => false, words: (node) => node.move ?? '',
      kind: (node) => (node.ended ? 'ended' : 'open'), look: (node) => `value-${Math.round(Math.min(Math.max(node.value, 0), 100) / 10)}`,
      // Areas say how often; what is small can still be seen.
      radius: (node) => Math.max(1.6, LARGE * Math.sqrt(node.visits / most)),
    });
  }

  told(node) {
    return [make('strong', {}, node.move ? make('code', {}, node.move) : 'The position that it thinks about'),
      make('div', {}, `${counted(node.visits, 'visit')}, expects ${node.value.toFixed(1)}${node.ended ? '; the game is over there' : ''}`), make('div', { class: 'quiet' }, 'Click: go there')];
  }

  spoken(node) {
    return `${node.move ?? 'The start'}, ${counted(node.visits, 'visit')}, expects ${node.value.toFixed(0)} of 100, ${counted(node.out.length, 'move')} on.`;
  }

  go(node) {
    this.sheet.large(false);
    const joints = [];
    for (let at = node; at.parent; at = at.parent) joints.push(at.way);
    this.onGo(this.from, joints.reverse());
  }

  leave() {
    this.sheet.leave();
  }
}
