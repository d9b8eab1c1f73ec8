// The list of legal moves: by role, searchable, and filtered by cells of the board.

import { button, fill, make, settled } from './dom.js';
import { remember, setting } from './settings.js';

/** Maximum number of rows for a role; the search finds the others. */
const MOST = 3000;

export class Moves {
  /**
   * `onMove(role, move)` is called for a choice, `onWhy(question)` for a question,
   * `onHover(row)` when the pointer enters a row, and with null when it leaves, `onBack(role)` when a choice is taken
   * back, `onClear()` when the selected cells are cleared.
   */
  constructor(listener) {
    this.listener = listener;
    this.search = make('input', { type: 'search', placeholder: 'Search moves', 'aria-label': 'Search moves', class: 'search' });
    this.search.addEventListener('input', settled(60, () => this.render()));
    this.search.addEventListener('keydown', (event) => {
      const first = this.list.querySelector('button.move:not([disabled])');
      if (event.key === 'Enter' && first) first.click();
      if (event.key === 'ArrowDown' && first) first.focus();
    });
    this.about = make('div', { class: 'about-cells', hidden: true });
    this.list = make('div', { class: 'move-list', tabindex: '-1', role: 'group', 'aria-label': 'Moves by role' });
    this.list.addEventListener('click', (event) => this.clicked(event));
    this.list.addEventListener('pointerover', (event) => this.hovered(event));
    this.list.addEventListener('focusin', (event) => this.hovered(event));
    this.list.addEventListener('pointerleave', () => listener.onHover(null));
    this.list.addEventListener('keydown', (event) => this.walked(event));
    this.summary = make('summary', {}, make('h2', {}, 'Moves'));
    this.element = make('details', { class: 'panel moves', 'aria-label': 'Legal moves', open: setting('moves') === 'open' }, this.summary, this.search, this.about, this.list);
    // The choice of the person counts from then on.
    this.summary.addEventListener('click', () => remember('moves', this.element.open ? 'folded' : 'open'));
  }

  /** Folds the list where all moves can be made without it. */
  fold(folded) {
    const open = setting('moves', folded ? 'folded' : 'open') === 'open' || !folded;
    if (this.element.open !== open) this.element.open = open;
  }

  /**
   * `groups` are `{role, name, moves, state, back}` by role. `state` is `open` (to be
   * chosen here), `chosen` (hidden until all have chosen), `others` or `single`; `back` is
   * true if the choice may be taken back. `cells` are the selected cells.
   */
  show(groups, cells) {
    this.groups = groups;
    this.cells = cells;
    this.render();
  }

  render() {
    const wanted = this.wanted();
    this.rows = [];
    const sections = (this.groups ?? []).map((group) => this.section(group, wanted));
    const entered = this.list.contains(document.activeElement);
    const byKey = entered && document.activeElement.matches(':focus-visible');
    fill(this.list, sections.length ? sections : make('p', { class: 'quiet' }, 'The game is over.'));
    // Keep the focus in the list. A text field must not get it: a phone would show its keyboard.
    if (entered) (byKey && this.list.querySelector('button.move') || this.list).focus({ preventScroll: true });
    this.about.hidden = this.cells.length === 0;
    if (this.cells.length) {
      const left = this.groups.filter((group) => group.state === 'open')
        .reduce((sum, group) => sum + group.moves.filter((move) => concerns(move, this.cells)).length, 0);
      fill(this.about, `${counted(left, 'move')} ${this.cells.length === 1 ? 'here' : 'for these cells'}`,
        button('Clear', () => this.listener.onClear(), { class: 'small' }));
    }
  }

  /**
   * The filter for moves: the text as typed, or, if no move contains it, its words in any
   * order.
   */
  wanted() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = words.join(' ');
    const moves = (this.groups ?? []).filter(({ state }) => state !== 'chosen').flatMap((group) => group.moves);
    return moves.some(({ move }) => move.toLowerCase().includes(text)) ? [text] : words;
  }

  section({ role, name, moves, state, back }, wanted) {
    if (state === 'chosen') {
      return make('div', { class: 'group' }, make('h3', {}, name),
        make('p', { class: 'quiet' }, 'Has chosen (hidden until everyone has). ', back && button('Choose again', () => this.listener.onBack(role), { class: 'small' })));
    }
    const left = moves.toSorted((a, b) => inOrder(a.move, b.move)).filter((move) => (state !== 'open' || concerns(move, this.cells))
      && wanted.every((word) => move.move.toLowerCase().includes(word)));
    const rows = left.slice(0, MOST).map((move) => this.row(role, name, move, state));
    const count = left.length === moves.length ? counted(moves.length, 'move') : `${left.length} of ${counted(moves.length, 'move')}`;
    return make('div', { class: `group ${state}` },
      make('h3', {}, name, make('span', { class: 'quiet' }, state === 'single' ? ' · no choice' : ` · ${count}`)),
      make('ul', {}, ...rows),
      left.length > MOST && make('p', { class: 'quiet' }, `${left.length - MOST} more; use the search to see them.`));
  }

  row(role, name, move, state) {
    const index = this.rows.push({ role, name, move }) - 1;
    const label = make(state === 'open' ? 'button' : 'span', { class: 'move', type: state === 'open' ? 'button' : null }, move.move);
    const why = make('button', { type: 'button', class: 'why', 'aria-label': `Why is ${move.move} legal?` }, 'why?');
    return make('li', { 'data-row': index, 'data-why': `(legal ${name} ${move.move})` }, label, why);
  }

  of(event) {
    const row = event.target.closest('[data-row]');
    return row ? this.rows[Number(row.dataset.row)] : null;
  }

  clicked(event) {
    const row = this.of(event);
    if (!row) return;
    if (event.target.closest('.why')) this.listener.onWhy(event.target.closest('[data-why]').dataset.why);
    else if (event.target.closest('button.move')) this.listener.onMove(row.role, row.move.move);
  }

  hovered(event) {
    this.listener.onHover(this.of(event));
  }

  walked(event) {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const all = [...this.list.querySelectorAll('button.move')];
    const at = all.indexOf(event.target.closest('li')?.querySelector('button.move'));
    const next = all[at + (event.key === 'ArrowDown' ? 1 : -1)];
    (next ?? (event.key === 'ArrowUp' ? this.search : null))?.focus();
    event.preventDefault();
  }
}

export const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/** Returns whether a move refers to all these cells. */
export function concerns(move, cells) {
  return cells.every((cell) => move.cells.some((one) => one.join(' ') === cell));
}

export function counted(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
