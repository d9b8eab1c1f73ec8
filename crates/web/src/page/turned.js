// The board from the other side: cells change places, and everything stays upright.

/** The largest distance between a board and the middle of its labels. */
const LABEL = 20;

/** Moves each cell of a drawing to the place opposite to it. */
export function turn(svg, cells) {
  const parts = clusters([...cells.values()]);
  for (const part of parts) {
    for (const found of part.cells) {
      found.shift = [part.left + part.right - 2 * found.x, part.top + part.bottom - 2 * found.y];
      found.x += found.shift[0];
      found.y += found.shift[1];
      found.group.setAttribute('transform', `translate(${found.shift[0]} ${found.shift[1]})`);
    }
  }
  for (const node of svg.children) {
    if (node.dataset.cell !== undefined || typeof node.getBBox !== 'function' || ['title', 'desc', 'defs'].includes(node.localName)) continue;
    const { x, y, width, height } = node.getBBox();
    const [cx, cy] = [x + width / 2, y + height / 2];
    const margin = node.localName === 'text' ? LABEL : 0;
    const part = parts.find(({ left, right, top, bottom }) => (cx > left - margin && cx < right + margin && cy > top - margin && cy < bottom + margin));
    if (!part || width > 1.5 * (part.right - part.left)) continue;
    const { left, right, top, bottom } = part;
    if (node.localName !== 'text') {
      node.setAttribute('transform', `rotate(180 ${(left + right) / 2} ${(top + bottom) / 2}) ${node.getAttribute('transform') ?? ''}`);
      continue;
    }
    // Labels stay at their side of the board.
    const within = { x: cx > left && cx < right, y: cy > top && cy < bottom };
    node.setAttribute('transform', `translate(${within.x ? left + right - 2 * cx : 0} ${within.y ? top + bottom - 2 * cy : 0})`);
  }
}

/** Groups cells into boards: cells whose boards overlap are turned together. */
function clusters(cells) {
  const boards = new Map();
  for (const found of cells) {
    const index = found.group.dataset.cell.split(' ')[0];
    const box = { left: found.x - found.width / 2, right: found.x + found.width / 2, top: found.y - found.height / 2, bottom: found.y + found.height / 2 };
    boards.set(index, join(boards.get(index), { ...box, cells: [found] }));
  }
  const parts = [];
  for (const board of boards.values()) {
    const touching = parts.filter((part) => part.left < board.right && board.left < part.right && part.top < board.bottom && board.top < part.bottom);
    for (const part of touching) parts.splice(parts.indexOf(part), 1);
    parts.push(touching.reduce(join, board));
  }
  return parts;
}

function join(one, two) {
  if (!one) return two;
  one.cells.push(...two.cells);
  return Object.assign(one, {
    left: Math.min(one.left, two.left), right: Math.max(one.right, two.right), top: Math.min(one.top, two.top), bottom: Math.max(one.bottom, two.bottom),
  });
}
