// Counters and lists of a position as text next to the drawing; large in games without a drawing.

import { fill, make } from './dom.js';

/** Maximum number of tables, and of entries in each. */
const MOST = 40;
/** Maximum number of other facts. */
const FACTS = 12;

export class Tables {
  constructor() {
    this.element = make('div', { class: 'tables', role: 'group', 'aria-label': 'Counters' });
  }

  /** Shows what the drawing of a position does not. The status line tells the turn. */
  show({ drawing, svg }) {
    const alone = svg === '';
    const shown = drawing.tables.filter(({ style }) => style === 'plain').slice(0, MOST);
    const facts = drawing.facts.slice(0, alone ? MOST : FACTS);
    const more = drawing.facts.length - facts.length;
    fill(this.element, shown.map((one) => table(one, drawing.roles)),
      facts.length > 0 && make('p', { class: 'other-facts' }, facts.map((fact) => make('code', {}, fact)), more > 0 && make('span', { class: 'quiet' }, `and ${more} more facts`)),
      alone && shown.length + facts.length === 0 && make('p', { class: 'quiet' }, 'No facts hold in this position.'));
    this.element.classList.toggle('alone', alone);
    this.element.hidden = !this.element.hasChildNodes();
  }
}

function table({ title, entries }, roles) {
  const left = entries.length - MOST;
  return make('dl', { class: 'table' }, make('dt', {}, title), entries.slice(0, MOST).map((one) => entry(one, roles)), left > 0 && make('dd', { class: 'quiet' }, `and ${left} more`));
}

function entry({ key, values, owner }, roles) {
  const isOwned = owner !== null && roles.length > 1;
  const name = key || (isOwned && !values.includes(roles[owner]) ? roles[owner] : '');
  return make('dd', {}, isOwned && make('span', { class: `dot r${owner % 8}`, 'aria-hidden': 'true' }),
    name && make('span', { class: 'key' }, name), ' ', make('b', { class: values.some((value) => value.endsWith(' %')) ? 'unsure' : null }, values.join(', ') || '–'));
}
