// The choice of a move on the board: pick a cell, then commit with a second one.
//
// A click never makes a move at once unless the move has only that place.

import { contentsOf, hasOnePlace, named } from './changes.js';
import { concerns } from './moves.js';
import { refusal } from './status.js';

export class Selection {
  /** `stage` is where cells are picked. `onChange()` is called when the picked cells change. */
  constructor(stage, { onChange, onMove }) {
    Object.assign(this, { stage, view: stage.view, onChange, onMove });
    this.cells = [];
  }

  get choices() {
    return this.stage.choices;
  }

  /** The moves that refer to all picked cells. */
  left(cells = this.cells) {
    return this.choices.filter((move) => concerns(move, cells));
  }

  /** Among moves, those that need no further cell. */
  complete(moves, cells) {
    return moves.filter((move) => hasOnePlace(move, this.view.history.here.position.drawing) || move.cells.every((cell) => cells.includes(named(cell))));
  }

  /** While the next position is on its way, there is nothing to choose. */
  get isReady() {
    return this.view.history.here.position !== null;
  }

  pick(cell, byKey) {
    if (!this.isReady) return;
    if (this.cells.includes(cell)) {
      this.set(this.cells.filter((one) => one !== cell));
      return;
    }
    const narrowed = [...this.cells, cell];
    this.take(this.left(narrowed).length > 0 ? narrowed : [cell], cell, byKey);
  }

  /** Picks the cell from which something is dragged. */
  lift(cell) {
    if (this.isReady && !this.cells.includes(cell)) this.set(this.left([...this.cells, cell]).length > 0 ? [...this.cells, cell] : [cell]);
  }

  /** Commits a move by dropping what was dragged on a cell; null is outside the board. */
  drop(from, to) {
    if (!this.isReady) return;
    const cells = this.cells.includes(from) ? this.cells : [from];
    if (to === null) this.set([]);
    else if (this.left([...cells, to]).length > 0) this.take([...cells, to], to, false);
    else this.refuse(to, [from]);
  }

  take(cells, cell, byKey) {
    const left = this.left(cells);
    if (left.length === 0) {
      this.refuse(cell, cells.length > 1 ? cells : this.cells);
      return;
    }
    const complete = this.complete(left, cells);
    if (left.length === 1 && (cells.length > 1 || complete.length === 1)) {
      this.onMove(left[0]);
      return;
    }
    this.set(cells);
    if (complete.length > 0) this.stage.offer(complete, cell, byKey);
  }

  refuse(cell, before) {
    const { view } = this;
    this.set([]);
    view.status.remark(refusal(view, cell, contentsOf(view.history.here.position, cell), before.filter((one) => one !== cell)));
  }

  /** A menu was left without a choice: cells stay picked only where moves go on to others. */
  leave() {
    const left = this.left();
    if (this.complete(left, this.cells).length === left.length) this.set([]);
  }

  set(cells) {
    this.cells = cells;
    this.onChange();
  }
}
