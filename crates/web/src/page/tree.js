// The search tree of a player: visits and expected scores.

import { button, fill, make } from './dom.js';
import { treeRanks } from './layers.js';
import { counted } from './moves.js';
import { sign } from './shapes.js';
import { GraphCanvas } from './graph_canvas.js';

/** The radius in pixels of the root, which has all visits. */
const LARGE = 15;
const NONE = { nodes: new Set(), arcs: new Set() };

export class Tree {
  /**
   * `onGo(from, joints)` continues from a node of the history; `onOpen()` is called when an
   * empty tree is opened.
   */
  constructor({ onGo, onOpen }) {
    this.onGo = onGo;
    this.onOpen = onOpen;
    this.sheet = new GraphCanvas('Search tree of a player', {
      onPick: (node) => node && this.go(node), tooltip: (node) => this.tooltip(node), description: (node) => this.description(node),
    });
    this.control = button('Show the tree', () => this.open(!this.shown), { 'aria-expanded': 'false', class: 'small' });
    this.state = make('p', { class: 'quiet', 'aria-live': 'polite' });
    this.line = make('p', { class: 'variation', role: 'group', tabindex: '0', 'aria-label': 'Principal variation', hidden: true });
    this.legend = make('p', { class: 'legend' }, make('span', {}, sign('open', 'value-0'), 'expected score 0'), make('span', {}, sign('open', 'value-5'), '50'), make('span', {}, sign('open', 'value-10'), '100'),
      make('span', {}, sign('ended', 'value-5'), 'game over'), make('span', {}, make('span', { class: 'stroke lit' }), 'principal variation'), make('span', {}, 'larger: more visits'));
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

  clear(said = 'Ask for a hint or let a program move to see its search tree.') {
    this.from = null;
    /** The latest data, drawn when the tree is visible. */
    this.last = null;
    this.known = new Map();
    this.root = null;
    this.ranks = [];
    this.arcs = [];
    this.words = [];
    this.state.textContent = said;
    this.show();
  }

  /** Shows a new tree, of `player` as `name` at a node of the history. */
  grown(from, player, name, { nodes, all }) {
    if (this.from !== from || this.player !== player) this.clear();
    Object.assign(this, { from, player, name, last: [from, player, name, { nodes, all }] });
    if (!this.shown) return;
    const known = new Map();
    const list = [];
    this.arcs = [];
    for (const [index, entry] of nodes.entries()) {
      const parent = entry.from === null ? null : list[entry.from];
      let path = parent ? `${parent.path};${entry.joint.join(' ')}` : '';
      // No node has two places, even if the same path is sent twice.
      while (known.has(path)) path += ';';
      // A known node moves to its new place; a new one starts at its parent.
      const node = Object.assign(this.known.get(path) ?? { path, x: parent?.x ?? 0.5 }, entry, { in: [], out: [], parent, id: index });
      known.set(path, node);
      list.push(node);
      if (!parent) continue;
      const arc = { from: parent, to: node, move: entry.move, repeats: false, chance: 0 };
      parent.out.push(arc);
      node.in.push(arc);
      this.arcs.push(arc);
    }
    this.known = known;
    this.root = list[0];
    this.ranks = this.root ? treeRanks(this.root) : [];
    this.state.textContent = `${player} as ${name}: ${nodes.length} of ${counted(all, 'node')} shown.`;
    this.show();
  }

  /** Sets the principal variation. */
  expects(words) {
    this.words = words ?? [];
    this.show();
  }

  /** The nodes and arcs along the principal variation. */
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
    fill(this.line, 'Principal variation: ', this.words.map((move, index) => make('span', {}, `${(this.from?.ply ?? 0) + index + 1}. `, make('code', {}, move))));
    if (!this.shown) return;
    const most = Math.max(1, this.root?.visits ?? 1);
    this.sheet.show({
      ranks: this.ranks, arcs: this.arcs, repeats: false, lit: this.along(), isFaint: () => false, words: (node) => node.move ?? '',
      kind: (node) => (node.ended ? 'ended' : 'open'), look: (node) => `value-${Math.round(Math.min(Math.max(node.value, 0), 100) / 10)}`,
      // The area shows the number of visits; small nodes stay visible.
      radius: (node) => Math.max(1.6, LARGE * Math.sqrt(node.visits / most)),
    });
  }

  tooltip(node) {
    return [make('strong', {}, node.move ? make('code', {}, node.move) : 'Current position'),
      make('div', {}, `${counted(node.visits, 'visit')}, expected score ${node.value.toFixed(1)}${node.ended ? '; game over' : ''}`), make('div', { class: 'quiet' }, 'Click to go there')];
  }

  description(node) {
    return `${node.move ?? 'The start'}, ${counted(node.visits, 'visit')}, expected score ${node.value.toFixed(0)}, ${counted(node.out.length, 'child').replace(/childs$/, 'children')}.`;
  }

  go(node) {
    this.sheet.large(false);
    const joints = [];
    for (let at = node; at.parent; at = at.parent) joints.push(at.joint);
    this.onGo(this.from, joints.reverse());
  }

  leave() {
    this.sheet.leave();
  }
}
