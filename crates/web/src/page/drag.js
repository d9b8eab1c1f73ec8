// Drag and drop on a board, with a mouse, a pen or a finger.

import { draw } from './dom.js';

/** Pixels of movement after which a press becomes a drag. */
const FAR = 6;

export class Drag {
  constructor(board) {
    this.board = board;
    /** True while something is dragged. */
    this.active = false;
    /** True if a drag has just ended, whose click must not count. */
    this.ended = false;
    const { element, shadow } = board;
    shadow.addEventListener('pointerdown', (event) => this.press(event));
    element.addEventListener('pointermove', (event) => this.move(event));
    element.addEventListener('pointerup', (event) => this.drop(event));
    element.addEventListener('pointercancel', () => this.stop());
    // A finger on something that can be dragged does not scroll the page.
    shadow.addEventListener('touchmove', (event) => {
      if (this.from && event.cancelable) event.preventDefault();
    }, { passive: false });
    element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.active) this.stop();
    });
  }

  press(event) {
    this.ended = false;
    const cell = event.target.closest?.('[data-cell]')?.dataset.cell;
    if (event.button !== 0 || !event.isPrimary || !cell || !this.board.marked.grabs?.has(cell)) return;
    this.from = cell;
    this.pointer = event.pointerId;
    this.start = [event.clientX, event.clientY];
  }

  move(event) {
    if (!this.from || event.pointerId !== this.pointer) return;
    const [x, y] = [event.clientX - this.start[0], event.clientY - this.start[1]];
    if (!this.active) {
      if (Math.hypot(x, y) < FAR) return;
      this.lift();
    }
    const { svg } = this.board;
    const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width || 1;
    this.copy?.setAttribute('transform', `translate(${this.shift[0] + x * scale} ${this.shift[1] + y * scale})`);
    const over = this.board.at(event.clientX, event.clientY);
    if (over !== this.over) {
      this.over = over;
      this.board.onHover(over);
    }
  }

  lift() {
    const { board, from } = this;
    this.active = true;
    board.element.setPointerCapture(this.pointer);
    board.element.classList.add('dragging');
    board.onLift(from);
    const { contents, shift } = board.cells.get(from);
    this.shift = shift ?? [0, 0];
    this.copy = draw('g', { class: 'flying', 'aria-hidden': 'true' }, contents.map((node) => node.cloneNode(true)));
    for (const node of contents) node.classList.add('held');
    board.svg.append(this.copy);
  }

  drop(event) {
    if (!this.from || event.pointerId !== this.pointer) return;
    const { active, from, board } = this;
    const to = active ? board.at(event.clientX, event.clientY) : null;
    this.stop();
    if (!active) return;
    this.ended = true;
    // The click that follows a drag is the last of its events.
    setTimeout(() => { this.ended = false; });
    if (to !== from) board.onDrop(from, to);
  }

  stop() {
    this.copy?.remove();
    this.board.element.classList.remove('dragging');
    if (this.from) for (const node of this.board.cells.get(this.from)?.contents ?? []) node.classList.remove('held');
    this.from = this.copy = this.over = null;
    this.active = false;
  }
}
