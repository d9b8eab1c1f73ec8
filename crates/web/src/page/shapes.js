// The shapes of nodes, for the canvas and for legends.

import { draw } from './dom.js';

const star = Array.from({ length: 10 }, (_, index) => {
  const far = index % 2 === 0 ? 1.45 : 0.62;
  const turn = Math.PI * (index / 5 - 0.5);
  return [far * Math.cos(turn), far * Math.sin(turn)];
});
const cross = [[-1, -0.55], [-0.55, -1], [0, -0.45], [0.55, -1], [1, -0.55], [0.45, 0], [1, 0.55], [0.55, 1], [0, 0.45], [-0.55, 1], [-1, 0.55], [-0.45, 0]];
/**
 * By kind: corners in a circle of radius 1, and whether only the outline is drawn. Other
 * kinds are discs.
 */
const SHAPES = {
  solved: { corners: star },
  end: { corners: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]] },
  lost: { corners: cross },
  fresh: { hollow: true },
  ended: { corners: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]] },
};

export function isHollow(kind) {
  return SHAPES[kind]?.hollow ?? false;
}

/** Adds a shape to the path of the canvas. */
export function traced(context, kind, x, y, r) {
  const corners = SHAPES[kind]?.corners;
  if (!corners) {
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, 2 * Math.PI);
    return;
  }
  corners.forEach(([dx, dy], index) => context[index === 0 ? 'moveTo' : 'lineTo'](x + r * dx, y + r * dy));
  context.closePath();
}

/** A shape for a legend. `look` is a class of the style sheet. */
export function sign(kind, look = kind) {
  const corners = SHAPES[kind]?.corners;
  const paint = isHollow(kind) ? { fill: 'none', stroke: 'currentColor', 'stroke-width': 2 } : { fill: 'currentColor' };
  return draw('svg', { viewBox: '-9 -9 18 18', width: 16, height: 16, class: `look-${look}`, 'aria-hidden': 'true' },
    corners ? draw('polygon', { points: corners.map(([x, y]) => `${5 * x},${5 * y}`).join(' '), ...paint }) : draw('circle', { r: 5, ...paint }));
}
