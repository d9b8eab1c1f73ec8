// The legend of a board next to the drawing.
//
// A sign is explained by a copy of the drawing of a cell that has only that content, so that
// the legend looks as the board does.

import { contentsOf } from './changes.js';
import { draw, fill, make } from './dom.js';

/** Maximum number of entries. */
const MOST = 40;

export class Legend {
  constructor() {
    this.element = make('div', { class: 'signs' });
    // It uses the styles of the drawing, which must affect nothing else.
    this.shadow = this.element.attachShadow({ mode: 'open' });
    this.list = make('div', { class: 'legend' });
    this.shadow.append(this.list);
    /** The pictures of contents seen so far in this game. */
    this.pictures = new Map();
  }

  /** Shows the legend of a position whose drawing is on a board. */
  show(position, { cells, shadow }) {
    this.shadow.adoptedStyleSheets = shadow.adoptedStyleSheets;
    const { boards } = position.drawing;
    for (const [cell, found] of cells) {
      const contents = contentsOf(position, cell);
      if (!contents?.length || (contents.length > 1 && contents.length !== found.contents.length)) continue;
      contents.forEach((content, index) => {
        const own = contents.length === 1 ? found.contents : [found.contents[index]];
        if (own.length > 0 && !this.pictures.has(content)) this.pictures.set(content, picture({ ...found, contents: own }));
      });
    }
    const signs = new Set(boards.flatMap(({ symbols }) => Object.entries(symbols)).filter(([content, sign]) => sign !== content).map(([content]) => content));
    const seen = [...signs].filter((content) => this.pictures.has(content)).slice(0, MOST);
    fill(this.list, seen.map((content) => make('span', { class: 'entry' }, this.pictures.get(content), content.replaceAll('/', ' '))));
    this.element.hidden = signs.size === 0;
  }
}

/** A small copy of a cell. */
function picture({ x, y, width, height, shift, shape, ground, contents }) {
  const [dx, dy] = shift ?? [0, 0];
  return draw('svg', { viewBox: `${x - dx - width / 2} ${y - dy - height / 2} ${width} ${height}`, width: 22, height: 22, 'aria-hidden': 'true' },
    [...new Set([shape, ground]), ...contents].map((node) => {
      const copy = node.cloneNode(true);
      for (const name of ['id', 'data-cell', 'role', 'aria-label']) copy.removeAttribute(name);
      copy.style.visibility = '';
      return copy;
    }));
}
