// Short animations of what a move changes on the board: contents slide, fall, appear, flip
// and vanish.

import { draw } from './dom.js';
import { middle } from './ghosts.js';

/** Milliseconds of an animation. */
const LONG = 220;
const reduced = matchMedia('(prefers-reduced-motion: reduce)');

/**
 * Animates a change on a board that shows its result. `before` are the cells of the drawing
 * before. `change` is as of `changes()`; its `falls` maps cells to those from which their
 * contents fall, and its `landed` are cells whose contents were put there by hand.
 */
export function animate(board, before, { moved, gone, fresh, turned, heaps, falls = new Map(), landed = new Set() }) {
  if (reduced.matches || !board.svg.animate) return;
  const slide = (cell, from) => fly(board, cell, [
    { transform: `translate(${from.x - board.cells.get(cell).x}px, ${from.y - board.cells.get(cell).y}px)` }, { transform: 'none' },
  ], { easing: 'cubic-bezier(.3, .1, .2, 1)' });
  for (const cell of gone) vanish(board, cell, before.get(cell), [{ opacity: 1 }, { opacity: 0 }]);
  for (const [from, to] of moved) {
    const start = board.cells.get(from);
    if (start && board.cells.has(to) && !landed.has(to)) slide(to, start);
  }
  for (const cell of fresh) {
    const top = board.cells.get(falls.get(cell));
    if (!board.cells.has(cell)) continue;
    if (top) slide(cell, top);
    else fly(board, cell, [{ transform: 'scale(.4)', opacity: 0 }, { transform: 'none', opacity: 1 }], { easing: 'ease-out', centred: true });
  }
  animateHeaps(board, before, heaps);
  for (const cell of turned) {
    vanish(board, cell, before.get(cell), [{ transform: 'none' }, { transform: 'scaleX(.05)' }], { duration: LONG / 2, centred: true });
    fly(board, cell, [{ transform: 'scaleX(.05)' }, { transform: 'none' }], { duration: LONG / 2, delay: LONG / 2, centred: true });
  }
}

/** Animates things that move between piles, and those that heaps lose and get. */
function animateHeaps(board, before, { moved, changed }) {
  const parts = new Map(changed.filter((cell) => before.has(cell) && board.cells.has(cell)).map((cell) => {
    const [was, is] = [before.get(cell).contents, board.cells.get(cell).contents];
    const [one, two] = [was.map(look), is.map(look)];
    return [cell, { gone: was.filter((_, index) => !two.includes(one[index])), fresh: is.filter((_, index) => !one.includes(two[index])) }];
  }));
  for (const [from, to] of moved) {
    const [gone, fresh] = [parts.get(from)?.gone, parts.get(to)?.fresh];
    const [start, end] = [gone?.map(middle).find(Boolean), fresh?.map(middle).find(Boolean)];
    if (!start || !end) continue;
    const [a, b] = [before.get(from).shift ?? [0, 0], board.cells.get(to).shift ?? [0, 0]];
    const [x, y] = [start[0] + a[0] - end[0] - b[0], start[1] + a[1] - end[1] - b[1]];
    fly(board, to, [{ transform: `translate(${x}px, ${y}px)` }, { transform: 'none' }], { easing: 'cubic-bezier(.3, .1, .2, 1)', nodes: fresh });
    parts.get(from).gone = [];
    parts.get(to).fresh = [];
  }
  for (const [cell, { gone, fresh }] of parts) {
    if (gone.length > 0) run(board, board.cells.get(cell), gone, before.get(cell).shift, [{ opacity: 1 }, { opacity: 0 }], {});
    if (fresh.length > 0) fly(board, cell, [{ opacity: 0 }, { opacity: 1 }], { nodes: fresh });
  }
}

/** The appearance of an element, apart from what this page does with it. */
function look(node) {
  return [node.localName, node.textContent, ...['x', 'y', 'cx', 'cy', 'r', 'width', 'height', 'd', 'points'].map((name) => node.getAttribute(name))].join(' ');
}

/** Animates copies of contents, or of some `nodes` of them, above everything else; they are hidden meanwhile. */
function fly(board, cell, frames, options = {}) {
  const found = board.cells.get(cell);
  const nodes = options.nodes ?? found?.contents ?? [];
  if (nodes.length === 0) return;
  for (const node of nodes) node.style.visibility = 'hidden';
  run(board, found, nodes, found.shift, frames, options, () => {
    for (const node of nodes) node.style.visibility = '';
  });
}

/** Animates copies of contents that are no longer there. */
function vanish(board, cell, was, frames, options = {}) {
  const found = board.cells.get(cell);
  if (!found || !was || was.contents.length === 0) return;
  // The drawing before may have had the cell elsewhere.
  const [x, y] = was.shift ?? [0, 0];
  run(board, found, was.contents, [found.x - was.x + x, found.y - was.y + y], frames, options);
}

function run(board, { x, y }, contents, shift, frames, { centred, easing = 'linear', delay = 0, duration = LONG }, done = () => {}) {
  const inner = draw('g', {}, contents.map((node) => {
    const copy = node.cloneNode(true);
    copy.style.visibility = '';
    return copy;
  }));
  const [dx, dy] = shift ?? [0, 0];
  if (centred) inner.style.transformOrigin = `${x - dx}px ${y - dy}px`;
  const outer = draw('g', { class: 'flying', 'aria-hidden': 'true', transform: `translate(${dx} ${dy})` }, inner);
  board.svg.insertBefore(outer, board.layer);
  const motion = inner.animate(frames, { duration, delay, easing, fill: 'both' });
  motion.onfinish = motion.oncancel = () => {
    outer.remove();
    done();
  };
}
