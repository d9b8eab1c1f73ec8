// Controls while programs think: pause, move now, and hints.

import { button, fill, make } from './dom.js';
import { thinkRequest, thought } from './match.js';

export class Controls {
  constructor(view) {
    this.view = view;
    this.pause = button('Pause', () => (view.match.paused ? view.match.resume() : view.match.pause()));
    this.now = button('Move now', () => view.match.moveNow(), { title: 'Take the best move found so far' });
    this.ask = button('Hint', () => (this.stop ? this.stop.abort() : this.hint()));
    this.kind = make('select', { 'aria-label': 'Player that gives the hint' });
    this.hints = make('span', { class: 'hints', hidden: true }, this.ask, ' by ', this.kind);
    this.element = make('div', { class: 'controls' }, this.pause, this.now, this.hints);
  }

  /** Fills the list of players that can give a hint. */
  offer(kinds) {
    const thinkers = kinds.filter((kind) => kind.thinks);
    fill(this.kind, thinkers.map(({ name, what }) => make('option', { value: name, title: what }, name)));
    if (thinkers.some(({ name }) => name === 'mcts')) this.kind.value = 'mcts';
  }

  show() {
    const { match } = this.view;
    const thinks = match.thinking.size > 0;
    this.pause.hidden = !(thinks || match.waits) || !match.branches;
    this.pause.textContent = match.paused ? 'Continue' : 'Pause';
    this.pause.classList.toggle('strong', match.paused);
    this.now.hidden = !thinks || ![...match.thinking.values()].some((one) => one.thought);
    this.hints.hidden = this.kind.options.length === 0 || (this.view.active < 0 && !this.stop);
    this.ask.textContent = this.stop ? 'Stop' : 'Hint';
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
        view.think.show(role, player, seen, running, (move) => view.move(role, move));
        view.hint = view.cellsOf(role, seen.move);
        view.mark({});
      }, (tree) => view.think.grown(role, player, node, tree));
    } catch (error) {
      if (view.history.here === node) view.think.stopped(role);
      if (error.name !== 'AbortError') view.trouble.say(error.message);
    } finally {
      this.stop = null;
      this.show();
    }
  }

  leave() {
    this.stop?.abort();
  }
}
