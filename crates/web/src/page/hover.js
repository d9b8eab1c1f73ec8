// Why, in a few lines, beside what the pointer rests on or a key has gone to.

import { fill, make } from './dom.js';
import { SIGNS } from './why.js';

/** Milliseconds for which the pointer rests before anything is asked. */
const REST = 300;
/** Pixels that are no movement of the pointer. */
const STILL = 2;
/** Lines that are shown, and how deep they go. */
const LINES = 7;
const DEEP = 3;
/** Answers that are kept of a position. */
const KEPT = 200;

export class Hover {
  /** `here()` gives the node of the history that is shown; what has `data-why` is asked about. */
  constructor(game, here) {
    this.game = game;
    this.here = here;
    this.element = make('div', { class: 'why-tip', role: 'tooltip', id: 'why-tip', hidden: true });
    this.answers = new Map();
    /** Where the pointer was when it last meant something. */
    this.place = [-STILL, -STILL];
    this.stop = new AbortController();
  }

  listen(root) {
    const over = (event) => {
      if (event.pointerType === 'touch') return;
      // What moved under a pointer that rests is not meant.
      if (event.type === 'pointerover') {
        const [x, y] = this.place;
        if (Math.hypot(event.clientX - x, event.clientY - y) < STILL) return;
        this.place = [event.clientX, event.clientY];
      }
      const about = event.target.closest?.('[data-why]') ?? null;
      if (about !== this.about) this.mean(about, event.target);
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

  /** Something is meant; nothing is asked before it has been for a while. */
  mean(about, described) {
    this.hide();
    if (!about) return;
    this.about = about;
    this.described = described;
    this.timer = setTimeout(() => this.ask(), REST);
  }

  hide() {
    clearTimeout(this.timer);
    this.element.hidden = true;
    this.described?.removeAttribute('aria-describedby');
    this.about = this.described = null;
  }

  /** Asks about what is meant; one question after the other, each once for a position. */
  async ask() {
    if (this.asks) return;
    this.asks = true;
    try {
      while (this.about) {
        const node = this.here();
        if (this.node !== node || this.answers.size > KEPT) this.answers.clear();
        this.node = node;
        const { about } = this;
        const question = about.dataset.why;
        if (!this.answers.has(question)) {
          this.answers.set(question, await this.game.ask('why', { moves: node.moves(), question }, this.stop.signal).catch((error) => {
            if (error.name === 'AbortError') throw error;
            return { trees: [], text: error.message };
          }));
        }
        if (this.about === about && this.here() === node) {
          this.show(about, this.answers.get(question));
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
    fill(this.element, lines.slice(0, LINES), lines.length > LINES && make('div', { class: 'quiet' }, '… (why? shows all)'),
      lines.length === 0 && make('div', {}, text?.split('\n')[0] || (holds ? 'It holds.' : 'It does not hold.')));
    this.element.hidden = false;
    this.described.setAttribute('aria-describedby', 'why-tip');
    const box = about.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const wide = document.documentElement.clientWidth;
    // Beside it where there is room, so that it hides nothing near; below it, or else above.
    const beside = box.right + 8 + width < wide;
    const top = beside ? Math.min(box.top, innerHeight - height - 6) : box.bottom + 6 + height < innerHeight ? box.bottom + 6 : box.top - 6 - height;
    this.element.style.left = `${Math.max(6, beside ? box.right + 8 : Math.min(box.left, wide - width - 6))}px`;
    this.element.style.top = `${Math.max(6, top)}px`;
  }

  lines({ mark, text, note, place, because }, depth, all) {
    if (all.length > LINES) return;
    const [sign, word] = SIGNS[mark] ?? SIGNS.group;
    all.push(make('div', { class: `why-line ${mark} in-${depth}` }, sign && make('span', { class: 'sign', 'aria-label': word }, `${sign} `), text && make('code', {}, text), note && make('span', { class: 'quiet' }, ` ${note}${place ? ` ${place.file.split('/').pop()}:${place.line}` : ''}`)));
    if (depth < DEEP) for (const below of because) this.lines(below, depth + 1, all);
  }

  leave() {
    this.stop.abort();
    this.hide();
  }
}
