// The drawing of a position, for mouse, touch and keyboard.
//
// The server sends it as SVG. It contains names from rules that anyone may have written, so
// only elements and attributes that draw are copied. It is put into a shadow tree, so that
// its styles affect nothing else.

import { draw, make } from './dom.js';
import { isDark } from './theme.js';

const DRAWS = new Set(['svg', 'g', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'path', 'text', 'tspan',
  'title', 'desc', 'style', 'defs', 'symbol', 'use', 'pattern', 'clipPath', 'mask', 'linearGradient', 'radialGradient',
  'stop', 'marker', 'image']);
const SHAPES = 'rect,circle,ellipse,polygon,path';
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** The maximum scale of a drawing. */
const LARGEST = 2.1;

const STYLE = `
:host { display: block; }
svg { display: block; margin: 0 auto; width: 100%; height: auto; background: none; border-radius: 8px; outline: none; }
[data-cell].open { cursor: pointer; }
.mark { fill: none; pointer-events: none; }
.mark.last { stroke: #8a8a8a; stroke-width: 2; stroke-dasharray: 3 3; }
.mark.hint { stroke: #00795a; stroke-width: 3; stroke-dasharray: 7 4; }
.mark.hover { stroke: #2f7fd1; stroke-width: 2; }
.mark.near { fill: #2f7fd1; fill-opacity: .2; stroke: #2f7fd1; stroke-width: 2; }
.mark.chosen { fill: #2f7fd1; fill-opacity: .16; stroke: #2f7fd1; stroke-width: 3.5; }
.mark.cursor { stroke: #d1267d; stroke-width: 3; }
svg:not(:focus-visible) .mark.cursor { display: none; }
`;

/** Turns SVG text into a passive element; null if the text is not SVG. */
export function sanitized(text) {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  if (root.localName !== 'svg' || root.getElementsByTagName('parsererror').length > 0) return null;
  for (const node of [root, ...root.querySelectorAll('*')]) {
    if (!DRAWS.has(node.localName)) {
      node.remove();
      continue;
    }
    for (const { name, value } of [...node.attributes]) {
      const refers = name === 'href' || name.endsWith(':href');
      if (/^on/i.test(name) || (refers && !/^(#|data:image\/(png|jpeg|webp|gif);)/.test(value))) node.removeAttribute(name);
    }
  }
  return document.importNode(root, true);
}

export class Board {
  /**
   * `onCell(cell)` is called when a cell is clicked or entered, `onClear()` when the
   * selection is cleared. `still` makes the board read-only.
   */
  constructor({ onCell, onClear, still = false }) {
    this.still = still;
    this.element = make('div', { class: 'board' });
    this.shadow = this.element.attachShadow({ mode: 'open' });
    this.onCell = onCell;
    this.onClear = onClear;
    this.cells = new Map();
    this.marked = {};
    this.cursor = null;
    this.own = new CSSStyleSheet();
    this.own.replaceSync(STYLE);
  }

  /** Shows a drawing. Returns whether it is valid. */
  show(text, label) {
    if (text === this.text) return true;
    this.text = null;
    const svg = sanitized(text);
    if (!svg) {
      this.shadow.replaceChildren(make('p', {}, 'The drawing cannot be shown. See the facts below.'));
      this.cells.clear();
      return false;
    }
    const focused = this.shadow.activeElement !== null;
    const styles = [...svg.querySelectorAll('style')];
    this.sheet = new CSSStyleSheet();
    this.sheet.replaceSync(styles.map((style) => style.textContent).join('\n'));
    for (const style of styles) style.remove();
    this.shadow.adoptedStyleSheets = [this.sheet, this.own];
    this.paint();

    const width = svg.viewBox.baseVal?.width || Number.parseFloat(svg.getAttribute('width')) || 300;
    const height = svg.viewBox.baseVal?.height || Number.parseFloat(svg.getAttribute('height')) || 300;
    svg.style.maxWidth = `min(${Math.round(width * LARGEST)}px, ${(58 * width / height).toFixed(1)}vh)`;
    svg.style.minWidth = `${Math.round(width * 0.5)}px`;
    svg.removeAttribute('aria-labelledby');
    this.svg = svg;
    this.layer = draw('g', { 'aria-hidden': 'true' });
    if (!this.still) this.listen(svg);
    this.shadow.replaceChildren(svg);
    this.place(svg, label);
    svg.append(this.layer);
    if (focused) svg.focus({ preventScroll: true });
    this.mark(this.marked);
    this.text = text;
    return true;
  }

  /** Applies the colour scheme of the page, which may differ from that of the system. */
  paint() {
    for (const rule of this.sheet?.cssRules ?? []) {
      if (!(rule instanceof CSSMediaRule)) continue;
      rule.asks ??= rule.media.mediaText;
      if (rule.asks.includes('prefers-color-scheme')) {
        rule.media.mediaText = rule.asks.includes('dark') === isDark() ? 'all' : 'not all';
      }
    }
  }

  place(svg, label) {
    this.cells.clear();
    for (const group of this.still ? [] : svg.querySelectorAll('[data-cell]')) {
      const cell = group.dataset.cell;
      if (this.cells.has(cell)) continue;
      const shape = group.matches(SHAPES) ? group : group.querySelector(SHAPES);
      if (!shape) continue;
      const box = shape.getBBox();
      this.cells.set(cell, { group, shape, x: box.x + box.width / 2, y: box.y + box.height / 2 });
      group.id = `cell-${cell.replaceAll(' ', '-')}`;
      group.setAttribute('role', 'option');
      const texts = [...group.querySelectorAll('text')].map((one) => one.textContent.trim());
      const name = group.querySelector('title')?.textContent ?? cell;
      group.setAttribute('aria-label', [name, ...texts].filter(Boolean).join(', '));
    }
    if (this.cells.size === 0) {
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', label);
      return;
    }
    svg.setAttribute('tabindex', '0');
    svg.setAttribute('role', 'listbox');
    svg.setAttribute('aria-label', `${label}. Arrow keys move between cells, Enter selects, Escape clears the selection.`);
    if (this.cursor && !this.cells.has(this.cursor)) this.cursor = null;
  }

  listen(svg) {
    svg.addEventListener('click', (event) => {
      const group = event.target.closest('[data-cell]');
      if (!group) return;
      this.cursor = group.dataset.cell;
      this.onCell(group.dataset.cell);
    });
    svg.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (ARROWS[event.key]) {
        this.walk(ARROWS[event.key]);
      } else if ((event.key === 'Enter' || event.key === ' ') && this.cursor) {
        this.onCell(this.cursor);
      } else if (event.key === 'Escape') {
        this.onClear();
      } else {
        return;
      }
      event.preventDefault();
    });
    svg.addEventListener('focus', () => {
      const { open } = this.marked;
      this.cursor ??= [...this.cells.keys()].find((cell) => open?.has(cell)) ?? this.cells.keys().next().value ?? null;
      this.mark(this.marked);
    });
  }

  /** Moves the cursor to the nearest cell in a direction. */
  walk([dx, dy]) {
    const from = this.cells.get(this.cursor);
    let best = null;
    for (const [cell, { x, y }] of this.cells) {
      if (!from) {
        best = cell;
        break;
      }
      const along = (x - from.x) * dx + (y - from.y) * dy;
      const aside = Math.abs((x - from.x) * dy) + Math.abs((y - from.y) * dx);
      if (along > 0.5 && (best === null || along + 2 * aside < best.far)) best = { cell, far: along + 2 * aside };
    }
    this.cursor = typeof best === 'string' ? best : best?.cell ?? this.cursor;
    this.mark(this.marked);
  }

  /** Marks cells: `{chosen, near, hint, last, hover, open}`, each a set of cells. */
  mark(marked) {
    this.marked = marked;
    if (!this.layer) return;
    const shapes = [];
    for (const kind of ['last', 'hint', 'near', 'chosen', 'hover']) {
      for (const cell of marked[kind] ?? []) shapes.push(this.outline(cell, kind));
    }
    if (this.cells.has(this.cursor)) {
      shapes.push(this.outline(this.cursor, 'cursor'));
      this.svg.setAttribute('aria-activedescendant', `cell-${this.cursor.replaceAll(' ', '-')}`);
    }
    this.layer.replaceChildren(...shapes.filter(Boolean));
    for (const [cell, { group }] of this.cells) {
      group.classList.toggle('open', marked.open?.has(cell) ?? false);
      group.setAttribute('aria-selected', String(marked.chosen?.has(cell) ?? false));
    }
  }

  outline(cell, kind) {
    const found = this.cells.get(cell);
    if (!found) return null;
    const copy = found.shape.cloneNode(false);
    for (const name of ['id', 'style', 'fill', 'stroke', 'data-cell', 'role', 'aria-label']) copy.removeAttribute(name);
    copy.setAttribute('class', `mark ${kind}`);
    return copy;
  }
}
