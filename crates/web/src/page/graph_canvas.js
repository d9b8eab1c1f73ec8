// A canvas for a layered graph, with panning, zooming, and keyboard navigation.

import { button, fill, make } from './dom.js';
import { below, paint } from './paint.js';
import { onTheme } from './theme.js';

/** Margins around the graph in pixels: larger on the left for the level numbers, and above for a board. */
const MARGIN = [40, 22, 54, 30];
/** Maximum distance in pixels between two nodes, and between two levels. */
const FAR = [170, 110];
/** Maximum distance in pixels at which the pointer selects a node. */
const NEAR = 12;
/** Milliseconds of the animation, and until a fine frame is drawn. */
const EASE = 110;
const FINE = 140;
const STEP = 60;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** The colours to read from the style sheet: classes `look-NAME`. */
const COLOURS = ['ground', 'text', 'quiet', 'arc', 'again', 'lit', 'chosen', 'open', 'fresh', 'solved', 'end', 'lost',
  ...Array.from({ length: 11 }, (_, index) => `value-${index}`)];
const EMPTY = { ranks: [], arcs: [], lit: { nodes: new Set(), arcs: new Set() } };

export class GraphCanvas {
  /**
   * `onPick(node)` is called for a click or Enter, `onHover(node)` when the pointer enters
   * a node (null: none). `tooltip(node)` returns the content of the tooltip, `description(node)`
   * the same as text.
   */
  constructor(label, listener) {
    this.listener = listener;
    this.scene = EMPTY;
    this.chosen = this.meant = this.cursor = null;
    this.alike = [];
    /**
     * Pixels are `left + x * kx` and `top + level * ky`; `zoom` is 1 if everything is
     * visible.
     */
    this.view = { zoom: 1, kx: 1, ky: 1, left: 0, top: 0 };
    this.base = [1, 1];
    this.follows = true;
    this.frames = 0;
    this.drawn = { nodes: 0, arcs: 0 };
    this.canvas = make('canvas', { tabindex: '0', role: 'application', 'aria-label': `${label}. Arrow keys move between positions, Enter opens one, plus and minus zoom, 0 shows everything, Shift with arrow keys moves the view.` });
    this.canvas.sheet = this;
    this.tip = make('div', { class: 'sheet-tip', hidden: true });
    this.description = make('p', { class: 'unseen', 'aria-live': 'polite' });
    this.probes = make('span', { hidden: true }, COLOURS.map((name) => make('span', { class: `look-${name}` })));
    this.tools = make('div', { class: 'sheet-tools' },
      button('+', () => this.enlarge(1.5), { class: 'small', 'aria-label': 'Zoom in', title: 'Zoom in (+)' }),
      button('−', () => this.enlarge(1 / 1.5), { class: 'small', 'aria-label': 'Zoom out', title: 'Zoom out (-)' }),
      button('Fit', () => this.fit(), { class: 'small', title: 'Show all (0)' }));
    this.element = make('div', { class: 'sheet' }, this.canvas, this.tools, this.tip, this.description, this.probes);
    this.pointers = new Map();
    this.listen();
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.canvas);
    this.ended = onTheme(() => { this.colours = null; this.request(); });
  }

  /** Adds a button that shows an element containing this one in full-window size. */
  spreads(element) {
    const control = button('Large', () => this.large(!element.classList.contains('large')), { class: 'small', 'aria-pressed': 'false', title: 'Full window (Escape to leave)' });
    this.tools.append(control);
    this.large = (large) => {
      element.classList.toggle('large', large);
      control.textContent = large ? 'Small' : 'Large';
      control.setAttribute('aria-pressed', String(large));
    };
    element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.large(false);
    });
  }

  /** Shows a scene (see paint.js), or the same one after it has grown. */
  show(scene) {
    this.scene = scene;
    if (!scene.ranks[this.cursor?.level]?.includes(this.cursor)) this.cursor = null;
    if (this.meant && !scene.ranks[this.meant.level]?.includes(this.meant)) this.mean(null);
    this.settled = false;
    if (this.follows) this.fit();
    this.request();
  }

  leave() {
    this.watch.disconnect();
    this.ended();
    this.gone = true;
  }

  // Geometry.

  get size() {
    return [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  at(node) {
    return [this.view.left + node.goal * this.view.kx, this.view.top + node.level * this.view.ky];
  }

  get widest() {
    return this.scene.ranks.reduce((most, rank) => Math.max(most, rank.length), 1);
  }

  /** Shows everything. */
  fit() {
    const [width, height] = this.size;
    const [left, right, top, bottom] = MARGIN;
    const levels = Math.max(this.scene.ranks.length - 1, 1);
    const kx = Math.max(10, Math.min(width - left - right, this.widest * FAR[0]));
    const ky = Math.max(1, Math.min((height - top - bottom) / levels, FAR[1]));
    this.base = [kx, ky];
    this.follows = true;
    this.view = { zoom: 1, kx, ky, left: left + (width - left - right - kx) / 2, top };
    this.request();
  }

  /** Zooms around a point of the canvas, by default its centre. */
  enlarge(factor, [x, y] = this.size.map((side) => side / 2)) {
    const { view, base, widest } = this;
    const zoom = Math.min(Math.max(view.zoom * factor, 0.5), Math.max(2, widest * FAR[0] * 2 / base[0]));
    // Levels stay close together while the nodes of a level can still spread.
    const kx = Math.min(base[0] * zoom, Math.max(base[0], widest * FAR[0]));
    const ky = Math.min(base[1] * zoom, Math.max(base[1], FAR[1]));
    this.view = { zoom, kx, ky, left: x - (x - view.left) * kx / view.kx, top: y - (y - view.top) * ky / view.ky };
    this.moved();
  }

  pan(dx, dy) {
    this.view.left += dx;
    this.view.top += dy;
    this.moved();
  }

  /** The view changed: draws a coarse frame now, and a fine one when it rests. */
  moved() {
    const { view } = this;
    const [width, height] = this.size;
    const reach = view.ky * Math.max(this.scene.ranks.length - 1, 0);
    view.left = Math.min(Math.max(view.left, STEP - view.kx), width - STEP);
    view.top = Math.min(Math.max(view.top, STEP - reach), height - STEP);
    this.follows = false;
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.moving = false; this.request(); }, FINE);
    this.request();
  }

  reveal(node) {
    const [width, height] = this.size;
    const [x, y] = this.at(node);
    const dx = Math.max(0, 50 - x) - Math.max(0, x - width + 50);
    const dy = Math.max(0, 36 - y) - Math.max(0, y - height + 36);
    if (dx || dy) this.pan(dx, dy);
  }

  /** The node nearest to a point, if it is near enough. */
  near([x, y]) {
    const { ranks } = this.scene;
    const { left, top, kx, ky } = this.view;
    const middle = Math.round((y - top) / ky);
    let best = null;
    for (const level of [middle, middle - 1, middle + 1]) {
      const rank = ranks[level] ?? [];
      const at = below(rank, (x - left) / kx);
      for (const node of rank.slice(Math.max(0, at - 2), at + 2)) {
        const [nx, ny] = this.at(node);
        const reach = Math.max(NEAR, this.scene.radius(node, Math.min(kx / rank.length, ky)) + 4);
        const far = Math.hypot(nx - x, ny - y);
        if (far < reach && (best === null || far < best.far)) best = { node, far };
      }
    }
    return best?.node ?? null;
  }

  // Frames.

  resized() {
    const [width, height] = this.size;
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    if (this.follows) this.fit();
    if (this.asked) this.frame(performance.now());
    else this.request();
  }

  request() {
    if (this.asked || this.gone) return;
    this.asked = requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    if (this.asked) cancelAnimationFrame(this.asked);
    this.asked = null;
    const [width, height] = this.size;
    if (width === 0 || height === 0) return;
    this.ease(now);
    this.colours ??= Object.fromEntries(COLOURS.map((name, index) => [name, getComputedStyle(this.probes.children[index]).color]));
    const context = this.canvas.getContext('2d');
    const scale = devicePixelRatio || 1;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const some = (...nodes) => nodes.filter(Boolean);
    const rings = [['quiet', 1.5, some(this.scene.ranks[0]?.[0])], ['again', 2, this.alike], ['chosen', 2.5, some(this.chosen)],
      ['text', 2, some(this.meant ?? (document.activeElement === this.canvas ? this.cursor : null))]];
    this.drawn = paint(context, this.scene, this.view, [width, height], { moving: this.moving || !this.settled, settled: this.settled, colours: this.colours, rings });
    this.frames += 1;
    if (!this.settled) this.request();
  }

  /** Moves nodes closer to their final places. */
  ease(now) {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const passed = Math.min(now - (this.before ?? now), 100);
    this.before = this.settled ? null : now;
    if (this.settled) return;
    const share = still ? 1 : 1 - Math.exp(-passed / EASE);
    let far = 0;
    for (const rank of this.scene.ranks) {
      for (const node of rank) {
        node.x += (node.goal - node.x) * share;
        far = Math.max(far, Math.abs(node.goal - node.x));
      }
    }
    if (far * this.view.kx > 0.4) return;
    for (const rank of this.scene.ranks) for (const node of rank) node.x = node.goal;
    this.settled = true;
    this.before = null;
  }

  // Input.

  listen() {
    const { canvas } = this;
    const place = ({ clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      return [clientX - box.left, clientY - box.top];
    };
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const unit = [1, 16, 200][event.deltaMode] ?? 1;
      this.enlarge(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0016)), place(event));
    }, { passive: false });
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, place(event));
      this.drags = this.pointers.size > 1;
    });
    canvas.addEventListener('pointermove', (event) => this.dragged(event.pointerId, place(event), event.pointerType));
    for (const name of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(name, (event) => {
        const pressed = this.pointers.delete(event.pointerId);
        if (name === 'pointercancel' || !pressed || this.drags) return;
        const node = this.near(place(event));
        this.cursor = node ?? this.cursor;
        this.listener.onPick(node);
      });
    }
    canvas.addEventListener('pointerleave', () => this.mean(null));
    canvas.addEventListener('focus', () => { this.cursor ??= this.chosen ?? this.scene.ranks[0]?.[0] ?? null; this.request(); });
    canvas.addEventListener('blur', () => this.mean(null));
    canvas.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.key(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
  }

  dragged(id, to, type) {
    const from = this.pointers.get(id);
    if (!from) {
      if (type !== 'touch') this.mean(this.near(to));
      return;
    }
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    if (this.pointers.size === 1) {
      if (!this.drags && Math.hypot(dx, dy) < 4) return;
      this.drags = true;
      this.mean(null);
      this.pan(dx, dy);
    } else {
      const [other] = [...this.pointers].find(([one]) => one !== id).slice(1);
      const far = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]);
      this.pan(dx / 2, dy / 2);
      if (far(from) > 10) this.enlarge(far(to) / far(from), [(to[0] + other[0]) / 2, (to[1] + other[1]) / 2]);
    }
    this.pointers.set(id, to);
  }

  key({ key, shiftKey }) {
    if (key === '+' || key === '=') this.enlarge(1.5);
    else if (key === '-') this.enlarge(1 / 1.5);
    else if (key === '0') this.fit();
    else if (ARROWS[key] && shiftKey) this.pan(...ARROWS[key].map((component) => -component * STEP));
    else if (ARROWS[key]) this.walk(key);
    else if ((key === 'Enter' || key === ' ') && this.cursor) this.listener.onPick(this.cursor);
    else if (key === 'Escape' && (this.chosen || this.meant)) { this.mean(null); this.listener.onPick(null); } else return false;
    return true;
  }

  /** Moves the cursor: within a level, or along arcs. */
  walk(key) {
    const { ranks } = this.scene;
    const from = this.cursor ?? ranks[0]?.[0];
    if (!from) return;
    const rank = ranks[from.level];
    const index = rank.indexOf(from);
    const nearest = (nodes) => nodes.reduce((best, node) => (best === null || Math.abs(node.goal - from.goal) < Math.abs(best.goal - from.goal) ? node : best), null);
    const to = key === 'ArrowLeft' ? rank[index - 1] : key === 'ArrowRight' ? rank[index + 1]
      : key === 'ArrowUp' ? nearest(from.in.filter((arc) => !arc.repeats).map((arc) => arc.from))
        : nearest(from.out.filter((arc) => !arc.repeats).map((arc) => arc.to));
    this.cursor = to ?? from;
    this.reveal(this.cursor);
    this.mean(this.cursor);
    this.description.textContent = this.listener.description(this.cursor);
  }

  /** The pointer or the cursor is on a node. */
  mean(node) {
    if (this.meant === node) return;
    this.meant = node;
    this.alike = node ? this.listener.alike?.(node) ?? [] : [];
    this.canvas.style.cursor = node ? 'pointer' : '';
    this.tip.hidden = !node;
    if (node) {
      fill(this.tip, this.listener.tooltip(node));
      const [x, y] = this.at(node);
      const [width, height] = this.size;
      this.tip.style.left = `${Math.max(4, Math.min(x + 14, width - this.tip.offsetWidth - 4))}px`;
      this.tip.style.top = y + 14 + this.tip.offsetHeight < height ? `${y + 14}px` : `${Math.max(4, y - 14 - this.tip.offsetHeight)}px`;
    }
    this.listener.onHover?.(node);
    this.request();
  }
}
