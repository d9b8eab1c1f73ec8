// The solver for single-role games: progress, result, and plan.

import { methods } from './api.js';
import { levels } from './chart.js';
import { button, fill, make, trouble } from './dom.js';
import { plain } from './labels.js';
import { counted } from './moves.js';

export class Solve {
  /**
   * `here()` returns the current node of the history, `onPlan(from, plan, playing, step)`
   * plays a plan, or goes to one of its positions.
   */
  constructor(game, { here, onPlan }) {
    this.game = game;
    this.here = here;
    this.onPlan = onPlan;
    this.seconds = make('input', { type: 'number', min: '1', max: '600', step: 'any', required: true, value: '30', 'aria-label': 'Time limit in seconds' });
    this.method = make('select', { 'aria-label': 'Method' }, make('option', { value: '' }, 'auto'));
    this.about = make('p', { class: 'quiet' });
    this.method.addEventListener('change', () => { this.about.textContent = this.method.selectedOptions[0].title; });
    this.control = button('Solve', () => (this.stop ? this.stop.abort() : this.start()), { class: 'strong' });
    this.trouble = trouble();
    this.said = make('div', { 'aria-live': 'polite' });
    this.element = make('div', { class: 'solve' },
      make('p', { class: 'quiet' }, 'Finds a solution from this position.'),
      make('div', { class: 'line-of' }, this.control, make('label', { class: 'seconds' }, this.seconds, ' s'), make('label', {}, 'by ', this.method)),
      this.about, this.trouble, this.said);
  }

  /** Fills the list of methods. */
  async shown() {
    try {
      const known = await methods();
      const groups = [...new Set(known.map(({ group }) => group))].map((label) => make('optgroup', { label },
        known.filter(({ group }) => group === label).map(({ name, title }) => make('option', { value: name, title }, name))));
      fill(this.method, groups);
      this.about.textContent = this.method.selectedOptions[0]?.title ?? '';
    } catch (error) {
      this.trouble.say(error.message);
    }
  }

  async start() {
    if (!this.seconds.reportValidity()) return;
    const from = this.here();
    this.stop = new AbortController();
    this.control.textContent = 'Stop';
    this.trouble.say('');
    fill(this.said, make('p', { class: 'quiet' }, 'Searching …'));
    let last = null;
    const question = { moves: from.moves(), seconds: Number(this.seconds.value) };
    if (this.method.value) question.method = this.method.value;
    try {
      for await (const [name, seen] of this.game.events('solve', question, this.stop.signal)) {
        if (name === 'failed') throw new Error(seen.message);
        if (name === 'progress') this.progress(last = seen);
        if (name === 'answer') this.answer(from, seen);
      }
    } catch (error) {
      if (last) this.progress(last, false);
      else fill(this.said, make('p', { class: 'quiet' }, 'Stopped.'));
      if (error.name !== 'AbortError') this.trouble.say(error.message);
    } finally {
      this.stop = null;
      this.control.textContent = 'Solve';
    }
  }

  progress({ seconds, method, nodes, depth, said, levels: counts }, running = true) {
    fill(this.said, make('p', {}, running ? make('span', { class: 'spinner', 'aria-hidden': 'true' }) : 'Stopped.', ' ',
      [method, depth !== null && depth !== undefined && `depth ${depth}`, nodes > 0 && counted(nodes, 'position'), `${seconds.toFixed(1)} s`].filter(Boolean).join(' · ')),
    said && make('p', { class: 'quiet' }, said),
    counts?.length > 1 && make('div', { 'aria-hidden': 'true' }, make('h3', {}, 'New positions by depth'), levels(counts)));
  }

  answer(from, { solved, proved, plan, said, seconds, nodes, levels: counts }) {
    const short = solved
      ? `Solved in ${counted(plan?.length ?? 0, 'move')}${proved ? '; no plan is shorter' : ''}.`
      : proved ? 'There is no solution (proved).' : 'No solution was found.';
    const more = solved && !proved ? 'A shorter solution may exist.' : !solved && said;
    fill(this.said, make('p', { class: 'verdict' }, short), more && make('p', {}, more),
      make('p', { class: 'quiet' }, `${nodes > 0 ? `${counted(nodes, 'position')} in ` : ''}${seconds.toFixed(2)} s`),
      plan && plan.length > 0 && make('p', { class: 'line-of' },
        button('Play the solution', () => this.onPlan(from, plan, true), { class: 'strong' }),
        button('Step by step', () => this.onPlan(from, plan, false))),
      plan && plan.length > 0 && this.steps(from, plan),
      counts.length > 1 && make('div', {}, make('h3', {}, 'New positions by depth'), levels(counts),
        make('details', { class: 'unfold' }, make('summary', {}, 'As numbers'),
          make('p', { class: 'numbers' }, counts.map((count) => count.toLocaleString('en')).join(' · ')))));
  }

  /** The moves of a plan, in columns as wide as the longest move. Each leads to its position. */
  steps(from, plan) {
    this.plan = { from, plan };
    const list = make('ol', { class: 'plan' }, plan.map((move, index) => make('li', {},
      button(plain(move), () => this.onPlan(from, plan, false, index + 1), { class: 'joint' }))));
    list.style.columnWidth = `${Math.max(...plan.map((move) => move.length)) + 7}ch`;
    this.buttons = [...list.querySelectorAll('button')];
    // The columns of a list that is cut off would continue to the right.
    this.frame = make('div', { class: 'plan-frame' }, list);
    return this.frame;
  }

  /** Marks the step of the plan that leads to the shown position. */
  follow(node) {
    if (!this.plan) return;
    const { from, plan } = this.plan;
    const made = node.path().slice(from.ply + 1).map(({ joint }) => joint[0]);
    const isOn = node.path()[from.ply] === from && made.length <= plan.length && made.every((move, index) => move === plan[index]);
    this.buttons.forEach((one, index) => {
      if (isOn && index === made.length - 1) one.setAttribute('aria-current', 'step');
      else one.removeAttribute('aria-current');
    });
    const current = isOn && this.buttons[made.length - 1];
    if (current) this.frame.scrollTop = Math.max(0, current.offsetTop - this.frame.offsetTop - this.frame.clientHeight / 2);
  }

  leave() {
    this.stop?.abort();
  }
}
