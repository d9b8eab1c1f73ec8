// The roles: their players, scores, and turn.

import { players } from './api.js';
import { button, fill, make } from './dom.js';
import { Clock } from './clock.js';
import { PERSON, parsedPlayer, written } from './match.js';

/** The colours that a picture file gives to the roles; empty strings if none. */
export function coloursOf(roles, { boards }) {
  return roles.map(({ name }) => boards.find((board) => board.colours?.[name])?.colours[name] ?? '');
}

export class Seats {
  /** `listener` has `onSit(role, player)` and `onWhy(question)`. */
  constructor(roles, listener) {
    this.roles = roles;
    this.listener = listener;
    this.kinds = [];
    this.rows = roles.map((role, index) => this.row(role, index));
    this.element = make('section', { class: 'panel seats', 'aria-label': 'Players' }, make('h2', {}, 'Players'),
      ...this.rows.map((row) => row.element));
  }

  row(role, index) {
    const dot = make('span', { class: `dot r${index % 8}`, 'aria-hidden': 'true' });
    const goal = button('', () => this.listener.onWhy(goal.dataset.why), { class: 'goal' });
    const state = make('span', { class: 'quiet state' });
    const kind = make('select', { 'aria-label': `Player of ${role.name}` });
    const time = make('input', { type: 'number', min: '0.1', max: '600', step: 'any', value: '1', 'aria-label': `Seconds per move for ${role.name}` });
    const seconds = make('label', { class: 'seconds' }, time, ' s per move');
    const options = make('input', { type: 'text', placeholder: 'options', 'aria-label': `Options of ${role.name}`, class: 'options', spellcheck: 'false' });
    const fixed = make('span', { class: 'fixed', hidden: true });
    const clock = new Clock();
    const changed = () => time.reportValidity() && this.listener.onSit(index, this.player(index));
    for (const control of [kind, time, options]) control.addEventListener('change', changed);
    const element = make('div', { class: 'seat' },
      make('div', { class: 'seat-head' }, dot, make('strong', {}, role.name), state, goal),
      make('div', { class: 'seat-player' }, kind, seconds, options, fixed), clock.element);
    return { element, dot, goal, state, kind, time, seconds, options, fixed, clock };
  }

  /** Loads the kinds of players, and returns them. */
  async load() {
    this.kinds = await players();
    for (const { kind } of this.rows) {
      fill(kind, make('option', { value: PERSON }, 'You'),
        this.kinds.map(({ name, what }) => make('option', { value: name, title: what }, `Computer (${name})`)));
    }
    return this.kinds;
  }

  player(index) {
    const { kind, time, options } = this.rows[index];
    if (kind.value === PERSON) return PERSON;
    const thinks = this.kinds.find((one) => one.name === kind.value)?.thinks;
    return written({ kind: kind.value, time: thinks ? `${Number(time.value) || 1}s` : '', options: options.value.replaceAll(/\s/g, '') });
  }

  /** The seconds per move of a player such as `mcts:2s`; null if it has no time. */
  timeOf(player) {
    const { time } = parsedPlayer(player);
    return time.endsWith('s') ? Number(time.slice(0, -1)) || null : null;
  }

  /** Returns whether a player searches, so that a random move of it is a stopgap. */
  thinks(player) {
    return this.kinds.find(({ name }) => name === parsedPlayer(player).kind)?.thinks ?? false;
  }

  focus() {
    this.element.scrollIntoView({ block: 'nearest' });
    this.rows[0].kind.focus({ preventScroll: true });
  }

  /** Sets the colours of the dots by role; an empty string means the default. */
  colour(colours) {
    colours.forEach((colour, index) => { this.rows[index].dot.style.background = colour; });
  }

  /** Shows the players of the seats. */
  sit(seats) {
    seats.forEach((player, index) => {
      const { kind, time, options } = this.rows[index];
      const said = parsedPlayer(player);
      kind.value = said.kind;
      if (said.time.endsWith('s')) time.value = said.time.slice(0, -1);
      options.value = said.options;
      this.shape(index);
    });
  }

  /** Shows the players of the seats as fixed. */
  fix(names) {
    names.forEach((name, index) => {
      const { kind, seconds, options, fixed } = this.rows[index];
      for (const control of [kind, seconds, options]) control.hidden = true;
      fixed.hidden = false;
      fixed.textContent = name;
    });
  }

  shape(index) {
    const { kind, seconds, options } = this.rows[index];
    const found = this.kinds.find((one) => one.name === kind.value);
    seconds.hidden = !found?.thinks;
    options.hidden = !found || found.options.length === 0;
    options.title = (found?.options ?? []).map(([name, what]) => `${name}: ${what}`).join('\n');
    kind.title = found?.what ?? 'You, or another person at this page';
  }

  /**
   * `states` are labels for the roles, `goals` scores or null; `final` is true if the game
   * is over. `times` are the seconds of the players that think now, or null.
   */
  show(states, goals, final, times = []) {
    this.rows.forEach(({ element, goal, state, clock }, index) => {
      clock.run(times[index] ?? null);
      state.textContent = states[index];
      element.classList.toggle('turn', states[index] !== '');
      const value = goals[index];
      // At the end, a role without a score has none or several, which is an error in the rules.
      goal.hidden = value === null && !final;
      goal.dataset.why = `(goal ${this.roles[index].name} ${value ?? '?value'})`;
      fill(goal, !final && make('span', { class: 'now' }, 'score now '), String(value ?? '?'));
      goal.classList.toggle('final', final);
      goal.setAttribute('aria-label', value === null ? `${this.roles[index].name} does not have exactly one score. Why?` : `${this.roles[index].name}: ${final ? '' : 'score now '}${value}. Why?`);
    });
  }
}
