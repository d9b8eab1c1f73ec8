// Navigation in a match: undo, redo, a slider, the list of moves, and branches.

import { button, fill, icon, make } from './dom.js';
import { plain } from './labels.js';
import { Views } from './views.js';

/** Milliseconds for each position while a line is played. */
const PACE = 650;

export class Timeline {
  /** `roles` are those of the game. Who `looks` takes no move back. `onGo(node)` goes to a position; `onUndo()` and `onRedo()` are up to the view. */
  constructor(roles, looks, { onGo, onUndo, onRedo }) {
    this.roles = roles;
    this.onGo = onGo;
    this.first = button(icon('first'), () => this.go(this.line[0]), { 'aria-label': 'To the start', title: 'To the start' });
    this.undo = button(looks ? 'Back' : 'Undo', onUndo, { title: looks ? 'Look at the position before (u)' : 'Take the last move back (u)' });
    this.redo = button(looks ? 'Forward' : 'Redo', onRedo, { title: looks ? 'Look at the next position (r)' : 'Play the next move again (r)' });
    this.last = button(icon('last'), () => this.go(this.line[this.line.length - 1]), { 'aria-label': 'To the end', title: 'To the end' });
    this.playing = button(icon('play'), () => (this.timer ? this.halt() : this.play()), { 'aria-label': 'Play the moves', title: 'Play the moves' });
    this.slider = make('input', { type: 'range', min: '0', max: '0', value: '0', step: '1', 'aria-label': 'Position in the match' });
    this.slider.addEventListener('input', () => this.go(this.line[Number(this.slider.value)]));
    this.count = make('span', { class: 'quiet count' });
    this.transport = make('div', { class: 'transport' }, this.first, this.undo, this.redo, this.last, this.playing, this.slider, this.count);
    this.list = make('ol', { class: 'history' });
    this.list.addEventListener('click', (event) => {
      const asked = event.target.closest('[data-node]');
      if (asked) this.go(this.nodes[Number(asked.dataset.node)]);
    });
    this.element = this.list;
    this.line = [];
  }

  go(node) {
    this.halt();
    this.onGo(node);
  }

  play() {
    const step = async () => {
      const running = this.timer;
      await this.onGo(this.line[this.here + 1] ?? this.line[0]);
      if (this.timer !== running) return;
      // A position that could not be shown has been removed from the line.
      if (this.here < this.line.length - 1) this.timer = setTimeout(step, PACE);
      else this.halt();
    };
    this.timer = setTimeout(step, PACE);
    this.face();
  }

  halt() {
    clearTimeout(this.timer);
    this.timer = null;
    this.face();
  }

  face() {
    fill(this.playing, icon(this.timer ? 'pause' : 'play'));
    this.playing.setAttribute('aria-label', this.timer ? 'Stop playing the moves' : 'Play the moves');
  }

  show(history) {
    this.seat = history.here.position?.seat ?? null;
    this.line = history.line();
    this.here = history.here.ply;
    const end = this.line.length - 1;
    this.slider.max = String(end);
    this.slider.value = String(this.here);
    this.slider.disabled = end === 0;
    this.count.textContent = `${this.here} / ${end}`;
    this.first.disabled = this.undo.disabled = this.here === 0;
    this.last.disabled = this.redo.disabled = this.here === end;
    this.playing.disabled = end === 0;
    this.nodes = [];
    const entered = this.list.contains(document.activeElement);
    fill(this.list, this.line.length > 1 ? this.line.slice(1).map((node) => this.row(node)) : make('li', { class: 'quiet none' }, 'No moves yet.'));
    const current = this.list.querySelector('[aria-current]');
    if (entered) current?.focus({ preventScroll: true });
    if (current) this.list.scrollTop = Math.max(0, current.offsetTop - this.list.clientHeight / 2);
  }

  row(node) {
    const others = node.parent.children.filter((child) => child !== node);
    return make('li', {}, make('span', { class: 'ply' }, String(node.ply)), this.jump(node, node.ply === this.here),
      others.length > 0 && make('div', { class: 'branches' }, make('span', { class: 'quiet' }, 'or '), others.map((other) => this.jump(other, false))));
  }

  jump(node, current) {
    const index = this.nodes.push(node) - 1;
    return make('button', { type: 'button', 'data-node': index, 'aria-current': current ? 'step' : null, class: 'joint' }, ...this.words(node));
  }

  /** The moves of a node's roles, without those of roles that had no choice. */
  words({ joint, parent, ply }) {
    const { turn = [] } = parent.position ?? {};
    const said = this.seat ? [this.seat.role] : turn.length > 0 ? turn : joint.map((_, role) => role);
    // An address may leave out moves of roles without a choice, or have too many, and a table leaves out those of others.
    const chose = said.filter((role) => joint[role] && this.roles[role]);
    return [...chose.map((role, at) => make('span', { class: turn.length === 0 && parent.position ? 'forced' : null },
      at > 0 && ', ', this.roles.length > 1 && make('span', { class: 'who' }, `${this.roles[role].name} `), plain(joint[role]))), this.seat && make('span', { class: 'quiet' }, `, ${Views.saw(this.seat, ply) || 'saw nothing'}`)];
  }
}
