// Learned values: self-play on request, the values along the match, and the facts that speak for each role.

import { button, fill, make, trouble } from './dom.js';
import { counted } from './moves.js';

/** The choice of times for learning, in seconds. */
const TIMES = [3, 10, 60];
/** Maximum number of facts for each role. */
const FACTS = 5;
/** Minimum number of milliseconds between two requests for values, and from a stop until the server keeps the values. */
const PAUSE = 300;
/** The text before anything was learned. */
const FIRST = 'Programs play the game against themselves, and learn what each position is worth and which facts count.';

export class Learned {
  /** `line()` gives the nodes of the match, `here()` the current one; `onValues()` is called when nodes have values. */
  constructor(game, { line, here, onValues }) {
    Object.assign(this, { game, line, here, onValues });
    /** The state of learning; null if nothing was learned, undefined if the server was not asked yet. */
    this.known = undefined;
    this.learn = button('Learn values', () => (this.stop ? this.stop.abort() : this.start()), { class: 'small' });
    this.time = make('select', { 'aria-label': 'Time to learn' }, TIMES.map((seconds) => make('option', { value: seconds, selected: seconds === 10 }, `${seconds} s`)));
    this.said = make('p', { class: 'quiet', 'aria-live': 'polite' });
    this.trouble = trouble();
    this.panel = make('div', {});
    this.element = make('div', { class: 'thought learned' }, make('h3', {}, 'Learned values'),
      make('p', {}, this.learn, ' for ', this.time), this.said, this.trouble, this.panel);
    this.say(FIRST);
  }

  say(text) {
    fill(this.said, text, this.stop && make('span', { class: 'spinner', 'aria-hidden': 'true' }));
    this.learn.textContent = this.stop ? 'Stop' : this.known ? 'Learn again' : 'Learn values';
  }

  async start() {
    const { signal } = this.stop = new AbortController();
    this.known ??= null;
    this.trouble.say('');
    this.say('Learning …');
    let error = null;
    try {
      for await (const [name, seen] of this.game.events('learn', { seconds: Number(this.time.value) }, signal)) {
        if (name === 'failed') throw new Error(seen.message);
        if (name === 'learned') this.known = seen;
        else this.say(`Learning: ${counted(seen.games, 'game')} so far …`);
      }
    } catch (reason) {
      if (reason.name !== 'AbortError') error = reason;
    }
    this.stop = null;
    if (this.gone) return;
    if (error) this.trouble.say(error.message);
    const nothing = 'Nothing was learned.';
    if (!signal.aborted) {
      await this.ask(nothing);
      return;
    }
    this.say('Stopping …');
    await this.ask('Stopping …');
    await pause();
    if (!this.gone && !this.stop) await this.ask(nothing);
  }

  /** Shows what counts in the current position, unless nothing was learned. */
  async follow() {
    this.wanted = true;
    if (this.following) return;
    this.following = true;
    while (this.wanted && this.known !== null && !this.gone) {
      this.wanted = false;
      await this.ask();
      await pause();
    }
    this.following = false;
  }

  /** Requests the values of the match, and shows what counts in the current position. `nothing` is shown if the server has no values. */
  async ask(nothing = FIRST) {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    const line = this.line();
    const here = this.here();
    try {
      const found = await this.game.ask('values', { moves: line[line.length - 1].moves(), at: here.ply }, asking.signal);
      if (this.gone || this.asking !== asking) return;
      const before = this.known;
      this.known = found.learned;
      line.forEach((node, ply) => { node.learned = found.values[ply] ?? null; });
      if (!this.stop) this.say(this.known ? `From ${counted(this.known.games, 'game')} of self-play.` : before ? 'The values were forgotten. Learn them again.' : nothing);
      this.show(found, here.learned);
      this.onValues();
    } catch (error) {
      // Nobody asked for the first look.
      if (error.name !== 'AbortError' && this.asking === asking && this.known !== undefined) this.trouble.say(error.message);
    }
  }

  show({ facts }, values) {
    if (!this.known) {
      fill(this.panel);
      return;
    }
    if (!values) {
      fill(this.panel, make('p', { class: 'quiet' }, 'This position has no learned value.'));
      return;
    }
    const most = Math.max(...facts.flatMap(({ weights }) => weights.map(Math.abs)), 1e-6);
    const roles = this.game.roles.map(({ name, random }, role) => ({ name, random, role })).filter(({ random }) => !random);
    fill(this.panel, make('h4', {}, 'Facts that speak for each role'), roles.map(({ name, role }) => {
      const ours = facts.filter(({ weights }) => weights[role] > 0).sort((a, b) => b.weights[role] - a.weights[role]).slice(0, FACTS);
      return make('table', { class: 'candidates speaks' },
        make('thead', {}, make('tr', {}, make('th', { scope: 'colgroup', colspan: 2 }, make('span', { class: `dot r${role % 8}` }), ` ${name}, expected score ${values[role].toFixed(1)}`))),
        make('tbody', {}, ours.length > 0 ? ours.map(({ fact, weights }) => row(fact, weights[role], most, role)) : make('tr', {}, make('td', { class: 'quiet', colspan: 2 }, 'no single fact'))));
    }), make('p', { class: 'quiet' }, 'The numbers are logarithms of odds: +0.7 doubles the odds of winning.'));
  }

  leave() {
    this.gone = true;
    this.stop?.abort();
    this.asking?.abort();
  }
}

function pause() {
  return new Promise((done) => { setTimeout(done, PAUSE); });
}

function row(fact, weight, most, role) {
  const bar = make('span', { class: 'bar' }, make('span', { class: `r${role % 8}` }));
  bar.firstChild.style.width = `${(100 * weight / most).toFixed(1)}%`;
  return make('tr', {}, make('td', {}, make('code', {}, fact)), make('td', {}, bar, make('span', { class: 'number' }, `+${weight.toFixed(2)}`)));
}
