// The thoughts of a player while it thinks: the best move, the expected score, and other
// candidates.

import { scores, short } from './chart.js';
import { button, draw, fill, make } from './dom.js';
import { counted } from './moves.js';
import { Tree } from './tree.js';

/** Number of candidates that are shown at first. */
const FIRST = 8;
/** Number of moves of the principal variation among the reasons. */
const AHEAD = 4;

export class Think {
  /**
   * `onHover(move, role)` is called when the pointer enters a move, and with null when it
   * leaves. `onGo(node, joints)` continues from a node of the history, `onOpen()` is called
   * when the tree is requested. `learned` is the panel of learned values.
   */
  constructor(roles, { onHover, onGo, onOpen }, learned) {
    this.roles = roles;
    this.all = false;
    this.runs = new Map();
    this.live = make('div', { class: 'thoughts' });
    this.match = make('div', {});
    this.tree = new Tree({ onGo, onOpen });
    this.element = make('div', {}, this.live, this.tree.element, this.match, learned);
    this.live.addEventListener('pointerover', (event) => {
      const row = event.target.closest('[data-move]');
      onHover(row?.dataset.move ?? null, row ? Number(row.dataset.role) : null);
    });
    this.live.addEventListener('pointerleave', () => onHover(null, null));
    this.clear();
  }

  /** Outlines bars and lines if the roles have colours of their own; an empty string means the default. */
  colour(colours) {
    this.element.classList.toggle('coloured', colours.some(Boolean));
  }

  clear() {
    this.runs.clear();
    fill(this.live, make('p', { class: 'quiet' }, 'This shows the candidate moves of a program while it thinks. “Hint” asks a program for the best move.'));
  }

  /** Hides everything. */
  hide() {
    fill(this.live, make('p', { class: 'quiet' }, 'Programs choose at the same time; their thoughts are hidden until everyone has chosen.'));
    this.tree.clear('Hidden until everyone has chosen.');
  }

  /** Shows a thought. `onTake`, if given, plays the move of a hint. */
  show(role, player, thought, running, onTake = null) {
    const begun = this.runs.get(role);
    const run = begun && thought.seconds >= begun.seconds && begun.player === player ? begun : { player, points: [] };
    Object.assign(run, { thought, running, onTake, isHint: onTake !== null, isStopped: false, seconds: thought.seconds });
    if (thought.value !== null) run.points.push([thought.seconds, thought.value]);
    this.runs.set(role, run);
    this.tree.expects(thought.line);
    this.render();
  }

  /** Marks a player as stopped. */
  stopped(role) {
    const run = this.runs.get(role);
    if (!run?.running) return;
    Object.assign(run, { running: false, isStopped: true });
    this.render();
  }

  /** The position is left: hints end and can no longer be played. */
  left() {
    for (const run of this.runs.values()) {
      if (run.isHint) Object.assign(run, { isStopped: run.isStopped || run.running, running: false, onTake: null });
    }
    if ([...this.runs.values()].some((run) => run.isHint)) this.render();
  }

  /** Shows the search tree of a player at a node of the history. */
  grown(role, player, node, tree) {
    this.tree.grown(node, player, this.roles[role].name, tree);
  }

  render() {
    fill(this.live, [...this.runs].map(([role, run]) => this.run(role, run)));
  }

  run(role, { player, points, thought, running, onTake, isHint, isStopped }) {
    const name = this.roles[role].name;
    const { move, value, nodes, seconds, candidates, line, why = [] } = thought;
    const reasons = running || line.length < 2 ? why : [...why, `then expected: ${line.slice(1, 1 + AHEAD).join('; ')}`];
    const weighed = [...candidates].sort((a, b) => b.visits - a.visits || b.value - a.value);
    const shown = this.all ? weighed : weighed.slice(0, FIRST);
    const most = Math.max(1, ...weighed.map((one) => one.visits));
    return make('div', { class: 'thought' },
      make('h3', {}, `${player} ${isHint ? 'for' : 'as'} ${name}`, running && make('span', { class: 'spinner', 'aria-hidden': 'true' })),
      make('p', {}, running ? 'Best so far: ' : isStopped ? 'Stopped. Best so far: ' : isHint ? 'Would play ' : 'Plays ', make('code', {}, move),
        value === null ? '' : `, expected score ${value.toFixed(1)}`, thought.by_chance && ' (random move)', '. ',
        onTake && !running && button('Play it', () => onTake(move), { class: 'small' })),
      reasons.length > 0 && make('ul', { class: 'reasons', 'aria-label': 'Reasons' }, reasons.map((reason) => make('li', {}, reason))),
      nodes > 0 && make('p', { class: 'quiet' }, `${counted(nodes, 'position')} in ${seconds.toFixed(1)} s${seconds > 0.05 ? `, ${short(nodes / seconds)} per second` : ''}`),
      shown.length > 0 && make('table', { class: 'candidates' },
        make('thead', {}, make('tr', {}, ...['Move', 'Expected', 'Visits'].map((head) => make('th', { scope: 'col' }, head)))),
        make('tbody', {}, ...shown.map((one) => candidate(role, one, move, most)))),
      weighed.length > FIRST && button(this.all ? 'Fewer' : `All ${weighed.length}`, () => { this.all = !this.all; this.render(); }, { class: 'small' }),
      points.length > 1 && scores([{ index: role, name, points }], 's', `Expected score of ${name} over time: now ${points[points.length - 1][1].toFixed(0)}`));
  }

  /** Shows the expected scores along a line of positions: those of searches, and learned values. */
  over(line) {
    const course = (value) => this.roles.map(({ name }, index) => ({
      index, name, points: line.map((node) => [node.ply, value(node, index)]).filter(([, score]) => score !== undefined),
    })).filter(({ points }) => points.length > 1);
    const searched = course((node, role) => node.values.get(role));
    const learned = course((node, role) => (this.roles[role].random ? undefined : node.learned?.[role]))
      .map((one) => ({ ...one, name: `${one.name}, learned`, dashed: true }));
    const lines = [...searched, ...learned];
    const shown = this.roles.map(({ name }, index) => ({ index, name })).filter(({ index }) => lines.some((one) => one.index === index));
    fill(this.match, lines.length > 0 && make('div', { class: 'thought over' }, make('h3', {}, 'Over the match'),
      make('p', { class: 'legend' }, shown.map(({ index, name }) => make('span', {}, make('span', { class: `dot r${index % 8}` }), name)),
        learned.length > 0 && [searched.length > 0 && sample('search', ''), sample('learned values', 'dashed')].filter(Boolean)),
      scores(lines, 'move', `Expected scores over the match${learned.length > 0 ? ', dashed: learned values' : ''}`)));
  }
}

/** An entry of a legend: a piece of a line with its name. */
function sample(name, kind) {
  return make('span', {}, draw('svg', { viewBox: '0 0 24 8', width: 24, height: 8, class: 'chart sample', 'aria-hidden': 'true' },
    draw('line', { x1: 0, x2: 24, y1: 4, y2: 4, class: `line ${kind}` })), name);
}

function candidate(role, { move, visits, value, bounds, distance = null }, best, most) {
  const proved = bounds[0] === bounds[1];
  const bar = make('span', { class: 'bar' }, make('span', { class: `r${role % 8}` }));
  bar.firstChild.style.width = `${visits > 0 || proved ? Math.min(Math.max(value, 0), 100) : 0}%`;
  const share = make('span', { class: 'share' });
  share.style.width = `${(100 * visits / most).toFixed(1)}%`;
  return make('tr', { class: move === best ? 'best' : null, 'data-move': move, 'data-role': role },
    make('td', {}, make('code', {}, move)),
    make('td', { title: proved ? 'proved' : `between ${bounds[0]} and ${bounds[1]} (proved)` }, bar, make('span', { class: 'number' }, `${visits > 0 || proved ? value.toFixed(1) : '–'}${proved ? ' ✓' : ''}${distance === null ? '' : `, the end after ${counted(distance, 'move')}`}`)),
    make('td', { class: 'visits' }, make('span', { class: 'number' }, visits.toLocaleString('en')), share));
}
