// The marks on the board: what can be done, what was picked, and what the last move did.

import { changes, contentsOf, hasOnePlace, named } from './changes.js';
import { concerns } from './moves.js';

/** Maximum number of arrows of a change. */
const ARROWS = 4;

/** The cells and arrows of the last move: `{cells, arrows, change}`. */
export function lastMove({ joint, parent, position }) {
  if (!joint || !parent.position || !position) return { cells: new Set(), arrows: [], change: null };
  const { legal, turn } = parent.position;
  const moves = joint.map((move, role) => turn.includes(role) && legal[role].find((one) => one.move === move)).filter(Boolean);
  const meant = moves.flatMap(({ cells }) => cells.map(named));
  const change = changes(parent.position, position, moves.length === 1 ? meant : []);
  let cells = new Set(meant);
  if (change) {
    // Where things fall, they fall from the first cell of their column.
    change.falls = new Map(moves.filter((move) => move.cells.length > 2 && hasOnePlace(move, position.drawing))
      .flatMap((move) => change.fresh.filter((cell) => move.cells.some((one) => named(one) === cell)).map((cell) => [cell, named(move.cells[0])])));
    const touched = new Set([...change.moved.flat(), ...change.fresh, ...change.turned, ...change.heaps.changed]);
    // A move that refers to a whole line, or to no cell, is marked by what it changed.
    const fresh = [...cells].filter((cell) => touched.has(cell));
    if (cells.size > 2 && fresh.length > 0) cells = new Set(fresh);
    else if (cells.size === 0) cells = new Set([...change.moved.flat(), ...change.fresh, ...change.heaps.changed]);
    for (const cell of change.moved.flat()) if (change.moved.length < 3) cells.add(cell);
  }
  return { cells, arrows: change ? arrowsOf(change, 'last') : [], change };
}

/** The arrows of a change. */
export function arrowsOf({ moved, heaps }, kind) {
  return [...moved, ...heaps.moved].slice(0, ARROWS).map(([from, to]) => ({ from, to, kind }));
}

/** The arrow of a move between two cells, from the one that has contents of its role; else null. */
export function arrowOf(position, role, move) {
  if (move.cells.length !== 2 || hasOnePlace(move, position.drawing)) return null;
  const rank = (cell) => {
    const contents = contentsOf(position, cell) ?? [];
    const { owners = {} } = position.drawing.boards[cell.split(' ')[0]] ?? {};
    return contents.length === 0 ? 0 : contents.some((content) => owners[content] === role) ? 2 : 1;
  };
  const [one, two] = move.cells.map(named);
  if (rank(one) === rank(two)) return null;
  return rank(one) > rank(two) ? { from: one, to: two, kind: 'plan' } : { from: two, to: one, kind: 'plan' };
}

/**
 * The cells that can be used: `open` are the cells of all moves, `near` those that narrow the picked
 * ones, `grabs` those whose contents can be dragged to another cell.
 */
export function reachable(position, choices, picked) {
  const [open, near, grabs] = [new Set(), new Set(), new Set()];
  for (const move of choices) {
    const goes = move.cells.length > 1 && !hasOnePlace(move, position.drawing);
    const meant = picked.length > 0 && concerns(move, picked);
    for (const cell of move.cells.map(named)) {
      open.add(cell);
      if (goes && !grabs.has(cell) && contentsOf(position, cell)?.length > 0) grabs.add(cell);
      if (meant && !picked.includes(cell)) near.add(cell);
    }
  }
  return { open, near, grabs };
}
