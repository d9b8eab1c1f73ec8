// The result of random matches of rules that are being written, in words.

import { button, fill, make } from './dom.js';
import { counted } from './moves.js';
import { places } from './places.js';

/** A mean with few digits. */
const rounded = (value) => value.toLocaleString('en', { maximumSignificantDigits: value < 100 ? 2 : 3 });

/** The sentences about a trial, without its faults. */
export function sentences({ matches, depth, ended, cut, stuck, lengths, branching, roles, means, faults }) {
  const played = ended + cut + stuck;
  if (lengths?.most === 0) return ['The game is over before the first move: terminal is true at the start.'];
  const said = [];
  const count = `${played < matches ? `${played} random matches in the time allowed` : `${played} random matches`}`;
  const { least, most, mean } = lengths ?? {};
  const length = lengths && (least === most ? `after ${counted(most, 'joint move')}` : `after ${least} to ${most} joint moves (${rounded(mean)} on average)`);
  if (played === 0) said.push('No random match ended in the time allowed.');
  else if (ended === played) said.push(`${count}: all end, ${length}.`);
  else if (ended === 0) said.push(`${count}: none ends${cut > 0 ? ` within ${counted(depth, 'joint move')}` : ''}.`);
  else said.push(`${count}: ${ended} end, ${length}${cut > 0 ? `; ${cut} do not end within ${counted(depth, 'joint move')}` : ''}${stuck > 0 ? `; ${stuck} get stuck` : ''}.`);
  if (branching !== null) said.push(roles.length === 1 ? `On average, ${rounded(branching)} moves are possible.` : `On average, ${rounded(branching)} joint ${rounded(branching) === '1' ? 'move is' : 'moves are'} possible.`);
  if (faults.length === 0 && ended > 0) said.push(roles.length === 1 ? 'There is always a legal move, and exactly one score at the end.' : 'Everyone always has a legal move, and exactly one score at the end.');
  if (means) said.push(`Average score: ${roles.map((role, index) => `${role} ${Math.round(means[index])}`).join(', ')}.`);
  return said;
}

export class Trial {
  /** `listener` has `onPlace(place)`, and `onShow(moves)`, which opens a position. */
  constructor(listener) {
    this.listener = listener;
    this.element = make('div', { class: 'trial', 'aria-live': 'polite' });
  }

  clear(text = '') {
    fill(this.element, text && make('p', { class: 'quiet' }, text));
  }

  show(report) {
    const good = report.faults.length === 0 && report.cut === 0 && report.ended > 0 && report.lengths?.most > 0;
    fill(this.element, make('p', { class: good ? 'good' : null }, sentences(report).join(' ')),
      report.faults.length > 0 && make('ul', { class: 'findings' }, report.faults.map((fault) => this.fault(fault))));
  }

  fault({ message, rules, moves }) {
    const when = moves.length === 0 ? 'at the start' : `after ${counted(moves.length, 'joint move')}`;
    return make('li', {}, make('span', { class: 'message' }, `${message} (${when}). `), places(rules, this.listener.onPlace),
      button('Show this position', () => this.listener.onShow(moves), { class: 'small' }));
  }
}
