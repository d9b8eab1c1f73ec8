// The result of a move before it is made, as a faint preview on the board.

import { cellsOf, sanitized } from './board.js';
import { changes, contentsOf, named } from './changes.js';
import { arrowsOf } from './marks.js';

/** Milliseconds for which the pointer must rest before a request. */
const REST = 90;
/** Maximum number of kept previews of a position. */
const KEPT = 200;

export class Preview {
  /** `here()` returns the current node of the history; `onShow(preview)` shows one, or hides it (null). */
  constructor(game, here, onShow) {
    Object.assign(this, { game, here, onShow });
    this.known = new Map();
  }

  /** Shows the preview of a role's move after a moment; null hides it. */
  of(role, move) {
    const key = move && `${role} ${move.move}`;
    if (key === this.wanted) return;
    this.stop();
    this.wanted = key;
    if (this.node !== this.here()) this.known.clear();
    this.node = this.here();
    const joint = move && this.joint(role, move.move);
    if (!joint) this.onShow(null);
    else if (this.known.has(key)) this.onShow(this.known.get(key));
    else {
      this.onShow(null);
      this.timer = setTimeout(() => this.ask(key, joint, move), REST);
    }
  }

  /** The joint move, if no other role has a choice. */
  joint(role, move) {
    const legal = this.node.position?.legal ?? [];
    const others = legal.every((moves, other) => other === role || moves.length === 1);
    return others && legal.length > 0 ? legal.map((moves, other) => (other === role ? move : moves[0].move)) : null;
  }

  async ask(key, joint, move) {
    const { node } = this;
    const abort = this.abort = new AbortController();
    try {
      const position = await this.game.ask('position', { moves: [...node.moves(), joint] }, abort.signal);
      if (this.node !== node) return;
      if (this.known.size > KEPT) this.known.clear();
      this.known.set(key, seen(node.position, position, move));
      if (this.wanted === key) this.onShow(this.known.get(key));
    } catch {
      // It is only a preview.
    }
  }

  stop() {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.wanted = null;
  }
}

/** The contents of a preview: ghosts in cells, cells that lose their contents, and arrows. */
function seen(before, after, move) {
  const change = changes(before, after, move.cells.map(named));
  if (!change) return null;
  const svg = sanitized(after.svg);
  const { moved, fresh, gone, turned } = change;
  const shown = [...moved.map(([, to]) => to).filter((cell) => contentsOf(before, cell)?.length === 0), ...fresh];
  return {
    ghost: svg && { drawn: cellsOf(svg), shown },
    taken: new Set([...gone, ...turned]),
    arrows: arrowsOf(change, 'plan'),
  };
}
