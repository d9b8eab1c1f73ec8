// Large buttons below the board, for moves that have no place on it.

import { button, fill, make } from './dom.js';
import { differences, plain } from './labels.js';
import { keysOf } from './menu.js';
import { inOrder } from './moves.js';
import { directions, readsNames } from './names.js';

/** Number of moves beyond which the list of moves is better. */
const MOST = 12;

export class Pad {
  /** `onMove(role, move)` is called for a choice, `onHover(role, move)` when the pointer enters one. */
  constructor({ onMove, onHover }) {
    Object.assign(this, { onMove, onHover });
    this.element = make('div', { class: 'pad', role: 'group', 'aria-label': 'Moves', hidden: true });
    this.element.addEventListener('pointerleave', () => onHover(null, null));
  }

  /**
   * Shows the moves of a role, without those that have places. `name` is given if several roles
   * choose here. While the page waits for others, the buttons keep their place.
   */
  show(role, moves, name, waits) {
    this.element.inert = waits;
    if (waits) return;
    const own = moves.filter(({ cells }) => cells.length === 0).sort((a, b) => inOrder(a.move, b.move));
    const text = JSON.stringify([role, name, readsNames(), own.map(({ move }) => move)]);
    if (text === this.text) return;
    this.text = text;
    const entered = [...this.element.querySelectorAll('button')].indexOf(document.activeElement);
    this.element.hidden = own.length === 0 || own.length > MOST;
    this.keys = new Map();
    this.moves = own;
    this.role = role;
    if (this.element.hidden) return;
    const parts = differences(own.map(({ move }) => move));
    this.ways = directions(parts);
    this.keys = this.ways ? new Map([...keysOf(parts, this.ways)].filter(([key]) => key.length > 1)) : new Map();
    this.element.classList.toggle('ways', this.ways !== null);
    this.element.classList.toggle('all', own.length === moves.length);
    const all = own.map((move, index) => this.button(move, this.ways ? parts[index] : plain(move.move), this.ways?.[index]));
    fill(this.element, name && make('p', { class: 'quiet' }, `${name}:`), all);
    if (entered >= 0) all[Math.min(entered, all.length - 1)].focus({ preventScroll: true });
  }

  button(move, label, way) {
    const one = button('', () => this.onMove(this.role, move.move), { class: 'big', title: move.move, 'aria-label': way ? `${label}: ${move.move}` : null });
    fill(one, way?.way && make('span', { class: 'way', 'aria-hidden': 'true' }, way.sign), label);
    if (way && !way.way) {
      one.style.gridRow = '4';
    } else if (way) {
      one.style.gridColumn = String(way.way[0] + 2);
      // As on a keyboard: left, down and right are in one row.
      one.style.gridRow = String(this.ways.every((other) => !other.way || other.key) ? (way.way[1] < 0 ? 1 : 2) : way.way[1] + 2);
    }
    one.addEventListener('pointerenter', () => this.onHover(this.role, move));
    return one;
  }

  /** Handles a key; returns whether it chose a move. */
  key(event) {
    const index = this.element.hidden ? undefined : this.keys?.get(event.key);
    if (index === undefined) return false;
    this.onMove(this.role, this.moves[index].move);
    return true;
  }
}
