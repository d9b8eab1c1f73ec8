// Previews of contents: faint copies of what a move would put into cells.

import { draw } from './dom.js';

/** The middle of a ground shape by its attributes, also where it is not displayed; null if unknown. */
export function middle(shape) {
  const number = (name) => Number(shape.getAttribute(name) ?? 0);
  if (shape.localName === 'rect') return [number('x') + number('width') / 2, number('y') + number('height') / 2];
  if (shape.localName === 'circle' || shape.localName === 'ellipse') return [number('cx'), number('cy')];
  if (shape.localName !== 'polygon') return null;
  const all = (shape.getAttribute('points') ?? '').trim().split(/[\s,]+/).map(Number);
  const mean = (part) => part.reduce((sum, one) => sum + one, 0) / Math.max(1, part.length);
  return [mean(all.filter((_, index) => index % 2 === 0)), mean(all.filter((_, index) => index % 2 === 1))];
}

/** Faint copies of the contents that cells of another drawing have. */
export function ghosts(cells, { drawn, shown }) {
  return shown.map((cell) => {
    const [here, there] = [cells.get(cell), drawn.get(cell)];
    const [one, two] = [here && middle(here.shape), there && middle(there.shape)];
    if (!one || !two || there.contents.length === 0) return null;
    const [x, y] = here.shift ?? [0, 0];
    return draw('g', { class: 'ghost', transform: `translate(${one[0] - two[0] + x} ${one[1] - two[1] + y})` }, there.contents.map((node) => node.cloneNode(true)));
  });
}
