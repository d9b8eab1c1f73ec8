// The differences between two positions, cell by cell.
//
// A cell is named by its board, row and column, as in `0 2 3`.

import { heapChanges } from './heaps.js';

/** Number of changed cells beyond which a change is not described. */
const MOST = 80;

/** The contents of a cell; null if the board has no such cell, and for heaps and piles. */
export function contentsOf({ drawing }, cell) {
  const [board, row, column] = cell.split(' ');
  return drawing.boards[board]?.contents[row]?.[column] ?? null;
}

export const named = (cell) => cell.join(' ');

/** Returns whether two drawings have the same boards, so that their cells correspond. */
function alike(before, after) {
  const frame = ({ title, rows, columns }) => JSON.stringify([title, rows, columns]);
  return before.boards.length === after.boards.length && before.boards.every((board, index) => frame(board) === frame(after.boards[index]));
}

/**
 * The changes from one position to another: `moved` are pairs of cells `[from, to]`, `gone`
 * are cells that lost something, `fresh` cells that were empty, `turned` cells whose content
 * was replaced, `heaps` the changes of heaps and piles. `hint` are the cells that the move
 * refers to. Null if the boards differ or too much has changed.
 */
export function changes(before, after, hint = []) {
  if (!alike(before.drawing, after.drawing)) return null;
  const changed = [];
  const lost = new Map();
  const won = new Map();
  after.drawing.boards.forEach(({ contents }, board) => contents.forEach((row, y) => row.forEach((now, x) => {
    const was = before.drawing.boards[board].contents[y][x] ?? [];
    const is = now ?? [];
    if (was.length === is.length && was.every((content, index) => content === is[index])) return;
    const cell = `${board} ${y} ${x}`;
    changed.push({ cell, was, is });
    for (const content of was) if (!is.includes(content)) put(lost, content, cell);
    for (const content of is) if (!was.includes(content)) put(won, content, cell);
  })));
  if (changed.length > MOST) return null;
  const moved = pairs(lost, won, new Map(changed.map((one) => [one.cell, one])), hint);
  const from = new Set(moved.map(([cell]) => cell));
  const to = new Set(moved.map(([, cell]) => cell));
  const rest = changed.filter(({ cell }) => !from.has(cell) && !to.has(cell));
  return {
    moved,
    gone: changed.filter(({ cell, was, is }) => was.length > 0 && (to.has(cell) || (is.length === 0 && !from.has(cell)))).map(({ cell }) => cell),
    fresh: rest.filter(({ was, is }) => was.length === 0 && is.length > 0).map(({ cell }) => cell),
    turned: rest.filter(({ was, is }) => was.length > 0 && is.length > 0).map(({ cell }) => cell),
    heaps: heapChanges(before, after),
  };
}

function put(map, content, cell) {
  if (!map.has(content)) map.set(content, []);
  map.get(content).push(cell);
}

/** The cells between which contents moved: each content left an emptied cell for another cell. */
function pairs(lost, won, changed, hint) {
  const found = [];
  const used = new Set();
  for (const [content, targets] of won) {
    // A number that grows elsewhere has not moved: the cell that it left must be empty.
    const sources = (lost.get(content) ?? []).filter((cell) => changed.get(cell).is.length === 0);
    const all = targets.flatMap((to) => sources.map((from) => ({ from, to, far: distance(from, to) - (hint.includes(from) ? 1000 : 0) - (hint.includes(to) ? 1000 : 0) })));
    for (const { from, to } of all.sort((a, b) => a.far - b.far)) {
      if (used.has(`from ${from}`) || used.has(`to ${to}`)) continue;
      used.add(`from ${from}`).add(`to ${to}`);
      found.push([from, to]);
    }
  }
  if (found.length > 0 || hint.length !== 2) return found;
  // A piece that becomes another kind when it moves.
  const [one, two] = hint.map((cell) => changed.get(cell));
  const goes = (from, to) => from && to && from.was.length > 0 && from.is.length === 0 && to.is.length > 0;
  if (goes(one, two)) return [[one.cell, two.cell]];
  return goes(two, one) ? [[two.cell, one.cell]] : found;
}

function distance(one, two) {
  const [a, b, c] = one.split(' ').map(Number);
  const [d, e, f] = two.split(' ').map(Number);
  return Math.abs(a - d) * 100 + Math.abs(b - e) + Math.abs(c - f);
}

/**
 * Returns whether a move has a single place: one cell, or one whole row or column, as where
 * things fall.
 */
export function hasOnePlace({ move, cells }, { boards }) {
  if (cells.length < 2) return cells.length === 1;
  if (cells.length === 2 && !/^\(\S+ \S+\)$/.test(move)) return false;
  const [[board, row, column]] = cells;
  if (!boards[board]) return false;
  const { contents } = boards[board];
  const isCell = (place) => place !== null;
  const within = (other) => cells.every((cell) => cell[0] === board && cell[other] === cells[0][other]);
  if (within(1)) return contents[row].filter(isCell).length === cells.length;
  return within(2) && contents.filter((places) => isCell(places[column])).length === cells.length;
}
