// Explanations: the answer as a collapsible tree, next to the rules.

import { button, fill, icon, make, trouble } from './dom.js';
import { Source } from './source.js';

export const SIGNS = { holds: ['✓', 'holds'], fails: ['✗', 'does not hold'], open: ['◦', 'depends on a condition that does not hold'], group: ['', ''] };
/** Number of levels that are expanded at first. */
const UNFOLDED = 3;
/** Maximum number of scores and of new facts among the suggestions. */
const SCORES = 4;
const FRESH = 3;

export class Why {
  /**
   * `here()` returns the node of the position in question, `about(what, body, signal)` asks about
   * it; `onOpen()` is called when the drawer covers other content.
   */
  constructor(game, here, about, onOpen) {
    this.game = game;
    this.here = here;
    this.about = about;
    this.onOpen = onOpen;
    this.question = make('input', {
      type: 'text', class: 'question', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
      placeholder: '(legal ROLE MOVE), (goal ROLE ?value), terminal …', 'aria-label': 'A fact or relation to ask about',
    });
    this.trouble = trouble();
    this.answer = make('div', { class: 'answer', 'aria-live': 'polite' });
    this.source = new Source(game.files);
    const form = make('form', { class: 'ask', on: { submit: (event) => { event.preventDefault(); this.ask(this.question.value); } } },
      make('label', {}, 'Why ', this.question), make('button', { type: 'submit' }, 'Ask'));
    this.chips = make('div', { class: 'chips', role: 'group', 'aria-label': 'Suggested questions' });
    this.element = make('section', { class: 'why-drawer', 'aria-label': 'Why', tabindex: '-1', hidden: true },
      make('div', { class: 'why-head' }, form, button(icon('close'), () => this.close(), { class: 'plain', 'aria-label': 'Close' })),
      this.chips, this.trouble,
      make('div', { class: 'why-body' }, this.answer, this.source.element));
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
    for (const name of ['click', 'pointerover', 'focusin']) this.answer.addEventListener(name, (event) => this.point(event));
  }

  /** Opens without a question, to read the rules or to ask. */
  open() {
    if (this.element.hidden) {
      this.back = document.activeElement;
      this.element.hidden = false;
      document.body.classList.add('asking');
      this.onOpen();
    }
    this.suggest();
    if (!this.answer.hasChildNodes()) {
      fill(this.answer, make('p', { class: 'quiet' }, 'Ask why something holds in this position, or why it does not: a fact, a legal move, a goal, or any relation of the rules. Variables such as ?x are allowed.'));
    }
    // With fingers, a text field brings a keyboard that covers the page.
    (matchMedia('(pointer: coarse)').matches ? this.element : this.question).focus({ preventScroll: true });
  }

  /** Opens at a place in the rules. */
  read(place) {
    this.open();
    this.source.show(place);
    this.source.text.focus({ preventScroll: true });
  }

  /** Offers questions: the end, the scores, and what the last move made true. */
  suggest() {
    const { position, parent } = this.here();
    if (!position) return;
    const scores = this.game.roles.filter(({ random }) => !random).slice(0, SCORES)
      .map(({ name }) => `(goal ${name} ${position.goals[this.game.roles.findIndex((role) => role.name === name)] ?? '?score'})`);
    const before = new Set(parent?.position?.facts);
    const fresh = parent?.position ? position.facts.filter((fact) => !before.has(fact)).slice(0, FRESH).map((fact) => `(true ${fact})`) : [];
    fill(this.chips, ['terminal', ...scores, ...fresh].map((question) => button(question, () => this.ask(question), { class: 'small chip' })));
  }

  close() {
    this.element.hidden = true;
    document.body.classList.remove('asking');
    this.back?.focus?.({ preventScroll: true });
  }

  /** With `history`, asks when a fact became true, persisted and became false. */
  async ask(question, history = false) {
    this.open();
    question = balanced(question);
    this.question.value = question;
    this.trouble.say('');
    if (!question) return;
    this.stop?.abort();
    this.stop = new AbortController();
    try {
      const { holds, has_history: past, trees, text } = await this.about('why', { question, ...(history && { history }) }, this.stop.signal);
      this.places = [];
      fill(this.answer, trees.length > 0 ? trees.map((tree) => this.branch(tree, 0)) : make('pre', {}, text || (holds ? 'It is true.' : 'It is not true.')));
      if (past) this.answer.prepend(make('p', {}, button(history ? 'In this position only' : 'Over the match', () => this.ask(question, !history), { class: 'small' })));
      const first = this.places[0];
      if (first) this.source.show(first);
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.places = [];
      fill(this.answer);
      this.source.unlit();
      this.trouble.say(error.message);
    }
  }

  branch(tree, depth) {
    const isLeaf = tree.because.length === 0 && !tree.omitted;
    const line = this.line(tree, isLeaf);
    if (isLeaf) return make('div', { class: 'leaf' }, line);
    return make('details', { open: depth < UNFOLDED }, make('summary', {}, line),
      tree.because.map((below) => this.branch(below, depth + 1)),
      tree.omitted > 0 && make('p', { class: 'quiet leaf' }, `${tree.omitted} more`));
  }

  line({ mark, text, note, place, bindings, always }, isLeaf) {
    const [sign, word] = SIGNS[mark] ?? SIGNS.group;
    const index = place ? this.places.push(place) - 1 : null;
    const bound = bindings.map(([name, value]) => `${name} = ${value}`).join(', ');
    return make('span', { class: `why-line ${mark}`, 'data-place': index },
      sign && make('span', { class: 'sign', role: 'img', 'aria-label': word }, `${sign} `),
      text && make('code', {}, text), ' ',
      make('span', { class: 'quiet' }, note, place && ' ',
        // A summary must not contain a link; it shows the place when it has the focus.
        place && make(isLeaf ? 'a' : 'span', { href: isLeaf ? '#' : null, class: 'place' }, `${place.file.split('/').pop()}:${place.line}`),
        bound && ` with ${bound}`, always && mark === 'holds' && !place && ' always'));
  }

  point(event) {
    const line = event.target.closest('[data-place]') ?? event.target.closest('summary')?.querySelector('[data-place]');
    if (event.type === 'click' && event.target.closest('.place')) event.preventDefault();
    if (line) this.source.show(this.places[Number(line.dataset.place)]);
  }
}

/** A question with the brackets that are missing: `goal red 100` is `(goal red 100)`. */
export function balanced(question) {
  let text = question.trim();
  if (/^[^\s()]+\s/.test(text)) text = `(${text}`;
  let depth = 0;
  for (const sign of text) {
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    if (depth < 0) return text;
  }
  return text + ')'.repeat(depth);
}
