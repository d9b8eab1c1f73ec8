// A film: the drawings of a match, shown one after the other.
//
// The server sends one SVG. Its parts have a class `fA-B` if they are visible from drawing A
// until before drawing B; its own animation is switched off, so that it can be paused.

import { Board } from './board.js';

/** Milliseconds in which a part appears. */
const APPEARING = 260;

export class Film {
  constructor(text, label) {
    this.board = new Board({ still: true });
    this.element = this.board.element;
    this.text = text;
    this.label = label;
    this.at = 0;
  }

  /** Prepares the film, once its element is in the page. Returns whether there is one. */
  open() {
    if (!this.board.show(this.text, this.label)) return false;
    const { svg } = this.board;
    this.parts = [...svg.querySelectorAll('.f')].map((node) => {
      const [, first, end] = node.getAttribute('class').match(/\bf(\d+)-(\d+)\b/) ?? [0, 0, 1];
      node.style.animation = 'none';
      return { node, first: Number(first), end: Number(end) };
    });
    this.length = this.parts.reduce((most, { end }) => Math.max(most, end), 0);
    svg.style.maxWidth = 'none';
    svg.style.minWidth = '0';
    this.show(0);
    return this.length > 1;
  }

  /** Shows a drawing; `appears` lets its new parts fade in over those that go. */
  show(at, appears = false) {
    for (const { node, first, end } of this.parts) {
      const visible = first <= at && at < end;
      node.style.visibility = visible ? 'visible' : 'hidden';
      if (!appears) continue;
      if (first === at) node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: APPEARING, easing: 'ease-out' });
      else if (end === at) node.animate({ visibility: ['visible', 'visible'] }, APPEARING);
    }
    this.at = at;
  }
}
