// The drawing of a position, for mouse, touch and keyboard.
//
// The server sends it as SVG. It contains names from rules that anyone may have written, so
// only elements and attributes that draw are copied. It is put into a shadow tree, so that
// its styles affect nothing else.

import { STYLE } from './board_style.js';
import { draw, make } from './dom.js';
import { Drag } from './drag.js';
import { ghosts } from './ghosts.js';
import { animate } from './motion.js';
import { isDark } from './theme.js';
import { turn } from './turned.js';

const DRAWS = new Set(['svg', 'g', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'path', 'text', 'tspan',
  'title', 'desc', 'style', 'defs', 'symbol', 'use', 'pattern', 'clipPath', 'mask', 'linearGradient', 'radialGradient',
  'stop', 'marker', 'image']);
const SHAPES = 'rect,circle,ellipse,polygon,path';
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** The marks below the contents of a cell, and those above. */
const UNDER = ['last', 'hover', 'chosen'];
const OVER = ['hint', 'near', 'taken', 'win'];
/** The maximum scale of a drawing. */
const LARGEST = 2.6;

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

/** The cells of a drawing by name: the group, its ground, and its contents. */
export function cellsOf(svg) {
  const cells = new Map();
  for (const group of svg.querySelectorAll('[data-cell]')) {
    if (cells.has(group.dataset.cell)) continue;
    const shape = group.matches(SHAPES) ? group : group.querySelector(SHAPES);
    if (!shape) continue;
    const parts = [...group.children].filter((node) => !node.contains(shape) && node.localName !== 'title');
    const isGround = (node) => node.classList.contains('hole');
    cells.set(group.dataset.cell, { group, shape, ground: parts.findLast(isGround) ?? shape, contents: parts.filter((node) => !isGround(node)) });
  }
  return cells;
}

export class Board {
  /**
   * `onCell(cell, byKey)` is called when a cell is clicked or entered, `onClear()` when the
   * selection is cleared, `onHover(cell)` when the pointer enters a cell, or null when it
   * leaves. `onLift(cell)` is called when the contents of a cell are dragged,
   * `onDrop(from, to)` when they are dropped. `still` makes the board read-only.
   */
  constructor({ onCell, onClear, onHover = () => {}, onLift = () => {}, onDrop = () => {}, still = false }) {
    Object.assign(this, { onCell, onClear, onHover, onLift, onDrop, still });
    this.element = make('div', { class: 'board' });
    this.shadow = this.element.attachShadow({ mode: 'open' });
    this.cells = new Map();
    this.marked = {};
    this.cursor = null;
    /** True if the board is seen from the other side. */
    this.turned = false;
    this.own = new CSSStyleSheet();
    this.own.replaceSync(STYLE);
    this.shadow.adoptedStyleSheets = [this.own];
    this.drag = still ? null : new Drag(this);
  }

  /** Shows a placeholder as large as a board until there is a drawing. */
  wait(words) {
    if (this.text) return;
    this.waiting ??= make('p', { 'aria-live': 'polite' });
    this.waiting.textContent = words;
    if (!this.waiting.isConnected) this.shadow.replaceChildren(make('div', { class: 'waiting' }, this.waiting));
  }

  /**
   * Shows a drawing. `change`, if given, is the change since the drawing before, which is
   * animated. Returns whether the drawing is valid.
   */
  show(text, label, change = null) {
    // Without a board, everything is in the lists around it.
    this.element.hidden = text === '';
    if (text === this.text) return true;
    this.text = null;
    if (text === '') {
      this.cells.clear();
      this.svg = this.layer = null;
      this.shadow.replaceChildren();
      return true;
    }
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
    svg.style.maxWidth = `min(${Math.round(width * LARGEST)}px, calc(var(--board-height, 58vh) * ${(width / height).toFixed(3)}))`;
    svg.style.minWidth = `${Math.round(width * 0.5)}px`;
    svg.removeAttribute('aria-labelledby');
    const before = this.cells;
    this.svg = svg;
    this.layer = draw('g', { 'aria-hidden': 'true', class: 'above' });
    if (!this.still) this.listen(svg);
    this.shadow.replaceChildren(svg);
    this.place(svg, label);
    svg.append(this.layer);
    if (focused) svg.focus({ preventScroll: true });
    this.mark(this.marked);
    this.text = text;
    if (change) animate(this, before, change);
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
    this.cells = this.still ? new Map() : cellsOf(svg);
    for (const [cell, found] of this.cells) {
      const { group, shape } = found;
      const { x, y, width, height } = shape.getBBox();
      Object.assign(found, { x: x + width / 2, y: y + height / 2, width, height, marks: [] });
      group.id = `cell-${cell.replaceAll(' ', '-')}`;
      group.setAttribute('role', 'option');
      const texts = [...group.querySelectorAll('text')].map((one) => one.textContent.trim());
      const name = group.querySelector('title')?.textContent ?? cell;
      group.setAttribute('aria-label', [name, ...texts].filter(Boolean).join(', '));
    }
    if (this.turned) turn(svg, this.cells);
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
      if (!group || this.drag.ended) return;
      this.cursor = group.dataset.cell;
      this.onCell(group.dataset.cell, false);
    });
    const hover = (cell) => {
      if (cell === this.hovered || this.drag.active) return;
      this.hovered = cell;
      this.onHover(cell);
    };
    svg.addEventListener('pointerover', (event) => event.pointerType !== 'touch' && hover(event.target.closest('[data-cell]')?.dataset.cell ?? null));
    svg.addEventListener('pointerleave', () => hover(null));
    svg.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (ARROWS[event.key]) {
        this.walk(ARROWS[event.key]);
      } else if ((event.key === 'Enter' || event.key === ' ') && this.cursor) {
        this.onCell(this.cursor, true);
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

  focus() {
    this.svg?.focus({ preventScroll: true });
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

  /** The rectangle of a cell on the screen. */
  boxOf(cell) {
    return this.cells.get(cell)?.shape.getBoundingClientRect() ?? this.element.getBoundingClientRect();
  }

  /** The cell at a point of the screen, or null. */
  at(x, y) {
    return this.shadow.elementFromPoint(x, y)?.closest?.('[data-cell]')?.dataset.cell ?? null;
  }

  /**
   * Marks cells: `{chosen, near, hint, last, hover, win, taken, open, grabs}`, each a set of cells;
   * `arrows` are `{from, to, kind}`, `ghost` a preview as of `Preview`.
   */
  mark(marked) {
    this.marked = marked;
    if (!this.layer) return;
    for (const { marks } of this.cells.values()) {
      for (const one of marks.splice(0)) one.remove();
    }
    for (const kind of UNDER) {
      for (const cell of marked[kind] ?? []) {
        const found = this.cells.get(cell);
        if (found) this.under(found, this.outline(cell, kind));
      }
    }
    const shapes = [];
    for (const kind of OVER) {
      for (const cell of marked[kind] ?? []) shapes.push(kind === 'near' ? this.target(cell) : this.placed(cell, this.outline(cell, kind)));
    }
    for (const { from, to, kind } of marked.arrows ?? []) shapes.push(this.arrow(from, to, kind));
    if (marked.ghost) shapes.push(...ghosts(this.cells, marked.ghost));
    if (this.cells.has(this.cursor)) {
      shapes.push(this.placed(this.cursor, this.outline(this.cursor, 'cursor')));
      this.svg.setAttribute('aria-activedescendant', `cell-${this.cursor.replaceAll(' ', '-')}`);
    }
    this.layer.replaceChildren(...shapes.filter(Boolean));
    for (const [cell, { group }] of this.cells) {
      group.classList.toggle('open', marked.open?.has(cell) ?? false);
      group.classList.toggle('grabs', marked.grabs?.has(cell) ?? false);
      group.setAttribute('aria-selected', String(marked.chosen?.has(cell) ?? false));
    }
  }

  /** Puts a mark between the ground of a cell and its contents. */
  under(found, mark) {
    found.marks.push(mark);
    found.ground.after(mark);
  }

  outline(cell, kind) {
    const found = this.cells.get(cell);
    if (!found) return null;
    const copy = found.shape.cloneNode(false);
    for (const name of ['id', 'style', 'fill', 'stroke', 'data-cell', 'role', 'aria-label']) copy.removeAttribute(name);
    copy.setAttribute('class', `mark ${kind}`);
    return copy;
  }

  /** Moves a node to where a cell is on a turned board. */
  placed(cell, node) {
    const { shift } = this.cells.get(cell) ?? {};
    if (node && shift) node.setAttribute('transform', `translate(${shift[0]} ${shift[1]})`);
    return node;
  }

  /** The mark of a cell that a selected piece can reach: a dot, or a ring around contents. */
  target(cell) {
    const found = this.cells.get(cell);
    if (!found) return null;
    const { x, y, width, height, contents } = found;
    const size = Math.min(width, height);
    // A thin cell, such as an edge, has no room for a dot.
    if (size < 12) return this.placed(cell, this.outline(cell, 'near'));
    return contents.length > 0
      ? draw('circle', { cx: x, cy: y, r: size * 0.44, class: 'mark near ring', 'data-mark': cell })
      : draw('circle', { cx: x, cy: y, r: size * 0.15, class: 'mark near', 'data-mark': cell });
  }

  arrow(from, to, kind) {
    const [one, two] = [this.cells.get(from), this.cells.get(to)];
    if (!one || !two) return null;
    const far = Math.hypot(two.x - one.x, two.y - one.y);
    if (far < 1) return null;
    const size = Math.min(one.width, one.height);
    const [ux, uy] = [(two.x - one.x) / far, (two.y - one.y) / far];
    const at = (along, aside) => `${(one.x + ux * along - uy * aside).toFixed(1)} ${(one.y + uy * along + ux * aside).toFixed(1)}`;
    // The arrow of a move that was made ends at the edge of what has moved.
    const short = kind === 'last' ? size * 0.3 : 0;
    const [start, neck, end] = [size * 0.16, far - short - size * 0.34, far - short - size * 0.06];
    const [thin, wide] = [size * 0.05, size * 0.15];
    return draw('path', { class: `arrow ${kind}`, d: `M${at(start, -thin)} L${at(neck, -thin)} L${at(neck, -wide)} L${at(end, 0)} L${at(neck, wide)} L${at(neck, thin)} L${at(start, thin)} Z` });
  }
}
