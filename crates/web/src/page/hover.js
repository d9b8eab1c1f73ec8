// Short explanations as tooltips, for the pointer and the keyboard.

import { fill, make } from './dom.js';
import { SIGNS } from './why.js';

/** Milliseconds for which the pointer must rest before a request. */
const REST = 700;
/** Pixels of movement that are ignored. */
const STILL = 2;
/** Maximum number of lines, and their maximum depth. */
const LINES = 7;
const DEEP = 3;
/** Maximum number of cached answers for a position. */
const KEPT = 200;

export class Hover {
  /**
   * `here()` returns the current node of the history, `about(what, body, signal)` asks about it.
   * Elements with `data-why` have explanations.
   */
  constructor(here, about) {
    this.here = here;
    this.about = about;
    this.element = make('div', { class: 'why-tip', role: 'tooltip', id: 'why-tip', hidden: true });
    this.answers = new Map();
    /** The last position of the pointer that counted. */
    this.place = [-STILL, -STILL];
    this.stop = new AbortController();
  }

  listen(root) {
    const over = (event) => {
      if (event.pointerType === 'touch') return;
      // Ignore elements that moved under a resting pointer.
      if (event.type === 'pointerover') {
        const [x, y] = this.place;
        if (Math.hypot(event.clientX - x, event.clientY - y) < STILL) return;
        this.place = [event.clientX, event.clientY];
      }
      const about = event.target.closest?.('[data-why]') ?? null;
      if (about !== this.meant) this.mean(about, event.target);
    };
    root.addEventListener('pointerover', over);
    root.addEventListener('focusin', (event) => event.target.matches(':focus-visible') && over(event));
    root.addEventListener('pointerleave', () => this.hide());
    root.addEventListener('focusout', () => this.hide());
    root.addEventListener('click', (event) => {
      this.place = [event.clientX, event.clientY];
      this.hide();
    });
    root.addEventListener('scroll', () => this.element.hidden || this.hide(), true);
    root.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.hide();
    });
  }

  /** Selects an element; the request is sent after a delay. */
  mean(about, described) {
    this.hide();
    if (!about) return;
    this.meant = about;
    this.described = described;
    this.timer = setTimeout(() => this.ask(), REST);
  }

  hide() {
    clearTimeout(this.timer);
    this.element.hidden = true;
    this.described?.removeAttribute('aria-describedby');
    this.meant = this.described = null;
  }

  /** Requests the explanation: one request at a time, and each only once for a position. */
  async ask() {
    if (this.asks) return;
    this.asks = true;
    try {
      while (this.meant) {
        const node = this.here();
        if (this.node !== node || this.answers.size > KEPT) this.answers.clear();
        this.node = node;
        const { meant } = this;
        const question = meant.dataset.why;
        if (!this.answers.has(question)) {
          this.answers.set(question, await this.about('why', { question }, this.stop.signal).catch((error) => {
            if (error.name === 'AbortError') throw error;
            return { trees: [], text: error.message };
          }));
        }
        if (this.meant === meant && this.here() === node) {
          this.show(meant, this.answers.get(question));
          return;
        }
      }
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    } finally {
      this.asks = false;
    }
  }

  show(about, { holds, trees, text }) {
    const lines = [];
    for (const tree of trees) this.lines(tree, 0, lines);
    fill(this.element, lines.slice(0, LINES), lines.length > LINES && make('div', { class: 'quiet' }, '… (“why?” shows everything)'),
      lines.length === 0 && make('div', {}, text?.split('\n')[0] || (holds ? 'It is true.' : 'It is not true.')));
    this.element.hidden = false;
    this.described.setAttribute('aria-describedby', 'why-tip');
    const box = about.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const wide = document.documentElement.clientWidth;
    // After the list that is being read, if there is room; otherwise below or above the row.
    const list = (about.closest('ul, ol, table') ?? about).getBoundingClientRect();
    const aside = list.right + 8 + width < wide;
    const left = aside ? list.right + 8 : Math.min(box.left, wide - width - 6);
    const top = aside ? Math.min(box.top, innerHeight - height - 6) : box.bottom + 6 + height < innerHeight ? box.bottom + 6 : box.top - 6 - height;
    this.element.style.left = `${Math.max(6, left)}px`;
    this.element.style.top = `${Math.max(6, top)}px`;
  }

  lines({ mark, text, note, place, because }, depth, all) {
    if (all.length > LINES) return;
    const [sign, word] = SIGNS[mark] ?? SIGNS.group;
    all.push(make('div', { class: `why-line ${mark} in-${depth}` }, sign && make('span', { class: 'sign', role: 'img', 'aria-label': word }, `${sign} `), text && make('code', {}, text), note && make('span', { class: 'quiet' }, ` ${note}${place ? ` ${place.file.split('/').pop()}:${place.line}` : ''}`)));
    if (depth < DEEP) for (const below of because) this.lines(below, depth + 1, all);
  }

  leave() {
    this.stop.abort();
    this.hide();
  }
}
