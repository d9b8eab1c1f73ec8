// The expected scores next to the board, and the expected line below it: those of the last
// thoughts that may be seen.

import { fill, make } from './dom.js';
import { plain } from './labels.js';

/** Number of moves back to the last thought that is shown. */
const BACK = 4;
/** Maximum number of moves of the expected line. */
const AHEAD = 10;
const PROVED = 'Proved: with best play from here, the score cannot be anything else.';

export class Outlook {
  constructor(roles) {
    this.roles = roles;
    this.bars = make('div', { class: 'outlook-bars' });
    this.line = make('div', { class: 'outlook-line' });
  }

  /** Keeps a thought of a player at a node of the history. */
  static keep(node, role, { value, bounds, line }) {
    if (value === null) return;
    node.outlook ??= new Map();
    node.outlook.set(role, { value, proved: bounds[0] === bounds[1], line });
  }

  show(node) {
    const found = this.roles.map((_, role) => latest(node, role));
    const shown = found.flatMap((one, role) => (one ? [{ ...one, role, name: this.roles[role].name }] : []));
    fill(this.bars, shown.map(({ role, name, value, proved }) => bar(role, `${name} expects ${value.toFixed(1)} of 100${proved ? ', proved' : ''}`, value, proved)));
    if (shown.length === 0) this.bars.append(make('div', { class: 'outlook-bar', title: 'Expected scores appear here when a program thinks.' }));
    this.bars.hidden = this.roles.length < 2;
    const best = shown.toSorted((a, b) => a.back - b.back)[0];
    fill(this.line, best && [
      make('span', { class: 'outlook-value' }, make('span', { class: `dot r${best.role % 8}`, 'aria-hidden': 'true' }), this.roles.length > 1 && ` ${best.name}`, ' expects ', make('b', {}, best.value.toFixed(1)),
        best.proved && make('abbr', { title: PROVED, class: 'proved' }, ' ✓')),
      best.line.length > 0 && make('ol', { class: 'plies', start: node.ply + 1, 'aria-label': 'Expected moves' },
        best.line.slice(0, AHEAD).map((move, index) => make('li', {}, make('span', { class: 'quiet' }, `${node.ply + index + 1}. `), plain(move)))),
    ]);
  }
}

/** The last thought about a role, at a node or shortly before; its line begins after the moves made since. */
function latest(node, role) {
  const made = [];
  for (let at = node, back = 0; at && back <= BACK; at = at.parent, back += 1) {
    const kept = at.outlook?.get(role);
    if (kept) {
      const follows = made.every((joint, index) => kept.line[index] && joint.some((move) => kept.line[index].split(', ').some((one) => one === move || one.endsWith(` ${move}`))));
      return { ...kept, line: follows ? kept.line.slice(made.length) : [], back };
    }
    if (at.joint) made.unshift(at.joint);
  }
  return null;
}

function bar(role, label, value, proved) {
  const level = make('span', { class: `level r${role % 8}` });
  level.style.height = `${Math.min(Math.max(value, 0), 100)}%`;
  return make('div', { class: 'outlook-bar', role: 'meter', 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': Math.round(value), 'aria-label': label, title: proved ? `${label}. ${PROVED}` : label }, level);
}
