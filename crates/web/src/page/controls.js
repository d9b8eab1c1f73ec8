// Controls of a match: pause, move now, hints, the speed for watching, and what follows the end.

import { button, fill, make } from './dom.js';
import { isEnd } from './ending.js';
import { PERSON, thinkRequest, thought } from './match.js';
import { remember, setting } from './settings.js';

/** Milliseconds for which each position is shown when only programs play. */
const SPEEDS = { slow: 2000, normal: 900, fast: 250, 'as fast as they think': 0 };

export class Controls {
  constructor(view) {
    this.view = view;
    this.pause = button('Pause', () => (view.match.paused ? view.match.resume() : view.match.pause()), { hidden: true });
    this.now = button('Move now', () => view.match.moveNow(), { title: 'Take the best move found so far', hidden: true });
    this.ask = button('Hint', () => (this.stop ? this.stop.abort() : this.hint()));
    this.kind = make('select', { 'aria-label': 'Player that gives the hint' });
    this.hints = make('span', { class: 'hints', hidden: true }, this.ask, make('span', { class: 'by' }, ' by '), this.kind);
    this.speed = make('select', { 'aria-label': 'Speed' }, Object.keys(SPEEDS).map((name) => make('option', { value: name }, name)));
    this.speed.value = setting('speed', 'normal');
    this.speed.addEventListener('change', () => {
      remember('speed', this.speed.value);
      view.match.pace = SPEEDS[this.speed.value];
    });
    view.match.pace = SPEEDS[this.speed.value] ?? 0;
    this.watch = make('label', { class: 'hints', hidden: true }, 'Speed ', this.speed);
    this.again = button('Play again', () => this.another(false), { class: 'strong', hidden: true });
    this.swap = button('', () => this.another(true), { hidden: true });
    this.fresh = button('New match', () => view.restart(null), { title: 'Go to the start, and choose the players', hidden: true });
    this.element = make('div', { class: 'controls' }, this.again, this.swap, this.pause, this.now, this.watch, this.hints, this.fresh);
    this.failure = make('div', { class: 'failure', role: 'alert', hidden: true });
  }

  /** Fills the list of players that can give a hint. */
  offer(kinds) {
    const thinkers = kinds.filter((kind) => kind.thinks);
    fill(this.kind, thinkers.map(({ name, what }) => make('option', { value: name, title: what }, name)));
    const best = this.view.game.hidden ? 'ismcts' : 'mcts';
    if (thinkers.some(({ name }) => name === best)) this.kind.value = best;
  }

  show() {
    const { match, history, game, atTable } = this.view;
    const over = match.node !== null && isEnd(match.node.position);
    const thinks = match.thinking.size > 0;
    const watches = !match.seats.includes(PERSON) && !atTable && !over;
    this.pause.hidden = !match.node || !(thinks || match.waits) || !match.branches;
    this.pause.textContent = !match.paused ? 'Pause' : match.fresh ? 'Start' : 'Continue';
    this.pause.classList.toggle('strong', match.paused);
    this.now.hidden = !thinks || ![...match.thinking.values()].some((one) => one.thought);
    this.hints.hidden = this.kind.options.length === 0 || (this.view.active < 0 && !this.stop) || (atTable && game.hidden);
    this.ask.textContent = this.stop ? 'Stop' : 'Hint';
    this.watch.hidden = !watches;
    this.again.hidden = !over || (match.seat === null && !match.next);
    this.again.textContent = match.next ? `${match.seat === null ? 'Watch' : 'Join'} the next match` : 'Play again';
    this.swap.hidden = this.again.hidden || match.next || (!atTable && new Set(match.seats).size < 2);
    this.swap.textContent = game.roles.filter(({ random }) => !random).length > 2 ? 'Rotate seats' : 'Swap seats';
    this.fresh.hidden = atTable || history.here.ply === 0 || game.roles.length < 2;
    if (thinks) this.failed(null);
  }

  /** Another match of the same players, or with their seats swapped. */
  another(swap) {
    const { view } = this;
    const { seats } = view.match;
    if (view.atTable) view.match.again(swap, view.target.words);
    else view.restart(swap ? swapped(seats, view.game.roles) : seats);
  }

  /** Shows why a program made no move, and what can be done; null hides it. */
  failed(role, message = '') {
    this.failure.hidden = role === null;
    if (role === null) return;
    const { match, game } = this.view;
    const done = (act) => () => {
      this.failed(null);
      act();
    };
    fill(this.failure, make('p', {}, `${game.roles[role].name} made no move: ${message}`),
      button('Try again', done(() => match.resume()), { class: 'strong' }),
      button('Play a random move', done(() => match.chance(role))));
  }

  /** Offers to ask once more for a position that did not come. */
  offerAgain(act) {
    this.failure.hidden = false;
    fill(this.failure, button('Try again', act, { class: 'strong' }));
  }

  /** Starts a player that searches a tree, unless one is running. */
  grow() {
    const named = [...this.kind.options].some(({ value }) => value === 'mcts');
    if (named && !this.stop && this.view.active >= 0) this.hint('mcts:5s');
  }

  async hint(player = `${this.kind.value}:2s`) {
    const { view } = this;
    const role = view.active;
    const node = view.history.here;
    this.stop = new AbortController();
    this.show();
    view.think.clear();
    view.tabs.choose('Thinking');
    try {
      await thought(view.game, thinkRequest(node, role, player), this.stop.signal, (seen, running) => {
        if (view.history.here !== node) return;
        view.advise(node, role, player, seen, running);
      }, (tree) => view.think.grown(role, player, node, tree), (seconds) => view.match.prepares?.(seconds));
    } catch (error) {
      if (view.history.here === node) view.think.stopped(role);
      if (error.name !== 'AbortError') view.trouble.say(error.message);
    } finally {
      this.stop = null;
      view.match.prepares?.(null);
      this.show();
    }
  }

  leave() {
    this.stop?.abort();
  }
}

/** The players of the next match: each moves on by one seat; chance stays. */
function swapped(seats, roles) {
  const places = roles.flatMap(({ random }, role) => (random ? [] : [role]));
  const next = [...seats];
  places.forEach((role, index) => { next[places[(index + 1) % places.length]] = seats[role]; });
  return next;
}
