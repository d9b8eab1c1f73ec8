// A small menu at a cell, where several moves have the same cells.

import { button, fill, make } from './dom.js';
import { differences } from './labels.js';
import { inOrder } from './moves.js';
import { directions } from './names.js';

/** Number of choices beyond which the list of moves is better. */
const MOST = 40;

export class Menu {
  /** `onChoose(move)` is called for a choice, `onClose()` when the menu is left without one. */
  constructor({ onChoose, onClose, onHover }) {
    Object.assign(this, { onChoose, onClose, onHover });
    this.element = make('div', { class: 'cell-menu', role: 'group', 'aria-label': 'Moves here', hidden: true, tabindex: '-1' });
    // Before the board, which has keys of its own.
    this.pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, textarea, select') || !this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    this.outside = (event) => {
      if (!event.composedPath().includes(this.element)) this.close();
    };
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** Opens the menu next to a rectangle of the screen. `back` is focused when it closes. */
  open(offered, box, byKey, back) {
    this.close(true);
    if (offered.length > MOST) return;
    const moves = offered.toSorted((a, b) => inOrder(a.move, b.move));
    const labels = differences(moves.map(({ move }) => move));
    const ways = directions(labels);
    this.keys = keysOf(labels, ways);
    this.moves = moves;
    this.back = back;
    const all = moves.map((move, index) => button(`${ways?.[index].sign ?? ''} ${labels[index]}`.trim(), () => this.choose(index, true), {
      title: move.move, class: 'choice',
    }));
    fill(this.element, all);
    all.forEach((one, index) => {
      one.addEventListener('pointerenter', () => this.onHover(moves[index]));
      one.addEventListener('focus', () => this.onHover(moves[index]));
    });
    const wide = labels.some((label) => label.length > 3) || ways;
    this.element.style.gridTemplateColumns = `repeat(${wide ? (labels.length > 6 ? 2 : 1) : Math.ceil(Math.sqrt(labels.length))}, 1fr)`;
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const limit = document.documentElement.clientWidth;
    const right = box.right + 6 + width < limit;
    const left = right ? box.right + 6 : Math.max(6, Math.min(box.left - 6 - width, limit - width - 6));
    const covers = !right && box.left - 6 - width < 6;
    this.element.style.left = `${Math.max(6, left)}px`;
    this.element.style.top = `${Math.max(6, Math.min(covers ? box.bottom + 6 : box.top, innerHeight - height - 6))}px`;
    if (byKey) all[0].focus({ preventScroll: true });
    document.addEventListener('keydown', this.pressed, true);
    setTimeout(() => this.isOpen && document.addEventListener('pointerdown', this.outside));
  }

  choose(index, byHand) {
    const move = this.moves[index];
    const entered = byHand && this.element.matches(':focus-within');
    const { back } = this;
    this.close(true);
    if (entered) back?.focus();
    this.onChoose(move);
  }

  /** Handles a key; returns whether it meant something. */
  key(event) {
    const all = [...this.element.children];
    const at = all.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const index = this.keys.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    if (event.key === 'Escape') {
      this.back?.focus();
      this.close();
    } else if (index !== undefined && !(step && at >= 0)) this.choose(index, true);
    else if (step) all[(at + step + all.length) % all.length].focus();
    else return false;
    return true;
  }

  close(quietly = false) {
    document.removeEventListener('pointerdown', this.outside);
    document.removeEventListener('keydown', this.pressed, true);
    if (!this.isOpen) return;
    this.element.hidden = true;
    this.onHover(null);
    if (!quietly) this.onClose();
  }
}

/** The keys that choose: the first letter or digit of a label if no other one has it, and arrows. */
export function keysOf(labels, ways) {
  const keys = new Map();
  labels.forEach((label, index) => {
    const first = label[0]?.toLowerCase();
    if (/[\p{L}\p{N}]/u.test(first ?? '') && labels.every((other, at) => at === index || other[0]?.toLowerCase() !== first)) keys.set(first, index);
    if (ways?.[index].key) keys.set(ways[index].key, index);
  });
  return keys;
}
