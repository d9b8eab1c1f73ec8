// The game graph from a position on: positions and moves by level, shown while they are
// explored.

import { button, fill, make, trouble } from './dom.js';
import { Explored } from './explored.js';
import { PositionDetails } from './position_details.js';
import { Layers } from './layers.js';
import { counted } from './moves.js';
import { sign } from './shapes.js';
import { GraphCanvas } from './graph_canvas.js';

const MERGES = [['stripped', 'ignoring step counters', 'Merge positions equal up to ignorable step counters'],
  ['state', 'exactly equal', 'Merge equal positions'], ['tree', 'never', 'Show each path separately']];
const KINDS = { open: 'expanded', fresh: 'not expanded', solved: 'solved', end: 'an ending that is not a solution', lost: 'hopeless: no path leads from here to a solution' };
/** Maximum number of nodes that the server sends. */
const MAX_NODES = 20_000;
/** Number of positions up to which nodes are boards, and half of their largest width in pixels. */
const BOARDS = 30;
const HALF = 46;
/** The kinds of nodes in the legend. */
const SIGNS = [['open', 'position'], ['fresh', 'not expanded'], ['solved', 'solved'], ['end', 'other ending'], ['lost', 'hopeless']];
/** Maximum number of moves in a tooltip. */
const MAX_MOVES = 6;
/** The tenth of 100 nearest to a score. */
const tenth = (score) => Math.round(score / 10);
const NONE = { nodes: new Set(), arcs: new Set() };

export class Graph {
  /**
   * `here()` returns the current node of the history, `onGo(node, joints)` continues from a
   * node.
   */
  constructor(game, { here, onGo }) {
    Object.assign(this, { game, here, onGo });
    this.merge = make('select', { 'aria-label': 'Merge positions' }, MERGES.map(([value, name, title]) => make('option', { value, title }, name)));
    this.depth = make('input', { type: 'number', min: '1', max: '10000', placeholder: 'any', 'aria-label': 'Maximum number of moves from here' });
    this.most = make('input', { type: 'number', min: '1', max: String(MAX_NODES), value: '2000', 'aria-label': 'Maximum number of positions' });
    const persons = game.roles.map(({ name, random }, value) => ({ name, random, value })).filter(({ random }) => !random);
    this.role = make('select', { 'aria-label': 'Role whose score counts' }, persons.map(({ name, value }) => make('option', { value }, name)));
    this.control = button('Explore', () => (this.stop ? this.stop.abort() : this.start()), { class: 'strong' });
    this.repeats = this.check('Repeated positions', true);
    this.fades = this.check('Fade dead ends', true);
    this.trouble = trouble();
    this.state = make('p', { class: 'quiet', 'aria-live': 'polite' });
    this.sheet = new GraphCanvas('Graph of positions and moves', {
      onPick: (node) => this.pick(node), tooltip: (node) => this.tooltip(node), description: (node) => this.description(node),
      alike: (node) => (this.merge.value === 'state' ? this.found.alike.get(node.same).filter((one) => one !== node) : []),
    });
    this.glance = new PositionDetails(game, { onGo: (node) => this.go(node), onClose: () => { this.pick(null); this.sheet.canvas.focus(); } });
    this.counts = make('tbody');
    this.numbers = make('details', { class: 'unfold', hidden: true }, make('summary', {}, 'Positions by level'),
      make('table', { class: 'counts' }, make('thead', {}, make('tr', {}, ['Level', 'Positions', 'Solved', 'Other endings', 'Outgoing moves'].map((head) => make('th', { scope: 'col' }, head)))), this.counts));
    this.legend = make('p', { class: 'legend', hidden: true },
      SIGNS.map(([kind, name]) => make('span', {}, sign(kind), name)),
      make('span', {}, make('span', { class: 'stroke lit' }), 'shortest paths'), make('span', {}, make('span', { class: 'stroke again' }), 'to an earlier position'));
    this.values = make('p', { class: 'legend', hidden: true }, [0, 5, 10].map((step) => make('span', {}, sign('open', `value-${step}`), String(10 * step))), make('span', {}, sign('open'), 'endless, or by chance'));
    this.element = make('div', { class: 'graph' },
      make('p', { class: 'quiet' }, 'The positions that can be reached from this one, and the moves between them.'),
      make('div', { class: 'line-of' }, this.control, make('label', {}, 'Merge positions: ', this.merge),
        make('label', { class: 'seconds' }, 'Depth ', this.depth), make('label', { class: 'seconds' }, 'At most ', this.most),
        persons.length > 1 && make('label', {}, 'For ', this.role), this.large),
      this.trouble, this.state,
      make('div', { class: 'graph-body' }, this.sheet.element, this.glance.element),
      make('div', { class: 'line-of' }, this.repeats.label, this.fades.label), this.legend, this.values, this.numbers);
    this.numbers.addEventListener('toggle', () => this.showCounts());
    this.sheet.spreads(this.element);
    this.clear();
  }

  check(name, checked) {
    const field = make('input', { type: 'checkbox', checked });
    field.addEventListener('change', () => this.show());
    return { field, label: make('label', { class: 'check' }, field, name) };
  }

  clear() {
    this.found = new Explored();
    this.layers = new Layers();
    this.values.hidden = true;
    this.element?.style.setProperty('--rows', 0);
    this.waiting = [];
    this.best = NONE;
    this.pick(null);
  }

  async start() {
    if (![this.depth, this.most].every((field) => field.reportValidity())) return;
    this.clear();
    this.from = this.here();
    const stop = new AbortController();
    this.stop = stop;
    this.control.textContent = 'Stop';
    this.trouble.say('');
    this.numbers.hidden = this.legend.hidden = false;
    const question = { moves: this.from.moves(), merge: this.merge.value, most: Number(this.most.value) || 2000, role: Number(this.role.value) || 0 };
    if (this.depth.value) question.depth = Number(this.depth.value);
    try {
      for await (const [name, seen] of this.game.events('graph', question, stop.signal)) {
        if (name === 'failed') throw new Error(seen.message);
        if (name === 'grown') this.grown(seen);
        if (name === 'graph') this.ended(seen);
      }
    } catch (error) {
      if (error.name === 'AbortError') this.state.textContent = `${this.summary()}; stopped.`;
      else this.trouble.say(error.message);
    } finally {
      if (this.stop === stop) this.stop = null;
      this.control.textContent = 'Explore';
      this.element.dataset.nodes = this.found.nodes.length;
      this.place();
      if (this.found.nodes.length <= BOARDS) this.paint(this.found);
    }
  }

  /** Loads the boards of a small graph. */
  async paint(found) {
    this.element.style.setProperty('--rows', found.levels.length);
    for (const node of found.nodes) {
      const position = await this.game.ask('position', { moves: [...this.from.moves(), ...found.path(node)] }).catch(() => null);
      if (this.found !== found || this.sheet.gone || !position?.svg) return;
      node.position = position;
      node.image = new Image();
      node.image.src = `data:image/svg+xml,${encodeURIComponent(position.svg)}`;
      await node.image.decode().catch(() => { node.image = null; });
      this.sheet.request();
    }
  }

  grown(seen) {
    this.waiting.push(...this.found.grow(seen));
    this.values.hidden &&= !seen.nodes.some(({ value }) => value);
    this.state.textContent = `${this.summary()} …`;
    // Several events may arrive between two frames.
    this.soon ??= requestAnimationFrame(() => this.place());
  }

  ended(seen) {
    this.found.end(seen);
    this.state.textContent = `${this.summary()}, ${seen.seconds.toFixed(1)} s${seen.said ? `: ${seen.said}` : ''}.`;
  }

  summary() {
    const { nodes, arcs, levels } = this.found;
    const after = this.from.ply > 0 ? `After ${counted(this.from.ply, 'move')}: ` : '';
    return `${after}${counted(nodes.length, 'position')}, ${counted(arcs.length, 'move')}, ${counted(levels.length, 'level')}`;
  }

  /** Adds the new nodes to the layout. */
  place() {
    cancelAnimationFrame(this.soon);
    this.soon = null;
    this.layers.add(this.waiting);
    this.waiting = [];
    this.best = this.found.pathsTo(this.found.nearest());
    if (this.numbers.open || !this.stop) this.showCounts();
    const kinds = new Set(this.found.nodes.map((node) => this.found.kind(node)));
    const present = [...SIGNS.map(([kind]) => kinds.has(kind)), this.best.arcs.size > 0, this.found.arcs.some(({ repeats }) => repeats)];
    present.forEach((one, index) => { this.legend.children[index].hidden = !one; });
    this.show();
  }

  show() {
    const { found, layers, chosen } = this;
    const fades = this.fades.field.checked;
    this.sheet.chosen = chosen;
    this.sheet.show({
      ranks: layers.ranks, arcs: found.arcs, repeats: this.repeats.field.checked, lit: chosen ? found.pathsTo([chosen]) : this.best,
      kind: (node) => found.kind(node), look: (node, kind) => (node.value && node.value.least === node.value.most ? `value-${tenth(node.value.least)}` : kind), isFaint: (node) => fades && node.lost,
      radius: (node, room) => (node.image ? Math.min(0.44 * room, HALF) : Math.min(Math.max(0.36 * room, 0.8), 7.5)), words: (node) => (node.id > 0 ? node.in[0]?.move ?? '' : ''),
    });
  }

  /** Fills the table of counts by level. */
  showCounts() {
    const rows = this.found.levels.map((count, level) => ({ level, count, solved: 0, ends: 0, moves: 0 }));
    for (const { level, status, out } of this.found.nodes) {
      const row = rows[level];
      if (status === 'solved') row.solved += 1;
      if (status === 'dead') row.ends += 1;
      row.moves += out.length;
    }
    fill(this.counts, rows.map(({ level, count, solved, ends, moves }) => make('tr', {}, make('th', { scope: 'row' }, String(level)),
      [count, solved, ends, moves].map((number) => make('td', {}, number.toLocaleString('en'))))));
  }

  tooltip(node) {
    const { in: before, out } = node;
    const moves = before.slice(0, MAX_MOVES).map(({ from, move }) => make('div', {}, make('code', {}, move), make('span', { class: 'quiet' }, ` from ${from.id}`)));
    return [make('strong', {}, `Position ${node.id}, level ${node.level}`), make('div', {}, KINDS[this.found.kind(node)]), make('div', {}, this.value(node)), ...moves,
      before.length > MAX_MOVES && make('div', { class: 'quiet' }, counted(before.length - MAX_MOVES, 'more incoming move')), make('div', { class: 'quiet' }, counted(out.length, 'outgoing move'))];
  }

  description(node) {
    return `Position ${node.id}, level ${node.level}, ${KINDS[this.found.kind(node)]}, ${node.value ? `${this.value(node)}, ` : ''}${node.in[0] ? `by ${node.in[0].move}, ` : ''}${counted(node.out.length, 'outgoing move')}.`;
  }

  /** The value of a position as text; nothing if it is not known. */
  value({ value }) {
    if (!value) return '';
    const { least, most, distance } = value;
    const score = least === most ? String(least) : `${least} to ${most}`;
    const name = this.game.roles[Number(this.role.value) || 0].name;
    return `${name} gets ${score}${distance ? ` in ${counted(distance, 'joint move')}` : ''}`;
  }

  pick(node) {
    this.chosen = node;
    this.sheet.mean(null);
    if (this.glance) {
      if (node) this.glance.show(node, [...this.from.moves(), ...this.found.path(node)], `Position ${node.id}`, this.lines(node));
      else this.glance.close();
    }
    this.show();
  }

  lines(node) {
    const paths = this.found.countPaths(node);
    const alike = this.found.alike.get(node.same).length - 1;
    return [`Level ${node.level}: ${KINDS[this.found.kind(node)]}.`, node.value && `${this.value(node)}.`, node.id > 0 && `${counted(paths, 'path')} of ${counted(node.level, 'move')} to this position; ${counted(node.out.length, 'outgoing move')}.`,
      alike > 0 && `${counted(alike, 'other position')} differ${alike === 1 ? 's' : ''} from it only in step counters.`].filter(Boolean);
  }

  go(node) {
    this.sheet.large(false);
    this.onGo(this.from, this.found.path(node));
  }

  leave() {
    this.stop?.abort();
    this.sheet.leave();
    this.glance.leave();
  }
}
