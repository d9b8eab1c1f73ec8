// The facts of a position as text, next to the drawing.

import { fill, make, settled } from './dom.js';
import { counted } from './moves.js';

const MOST = 3000;

export class Facts {
  constructor(onWhy) {
    this.onWhy = onWhy;
    this.summary = make('summary', {}, 'Facts');
    this.search = make('input', { type: 'search', class: 'search', placeholder: 'Search facts', 'aria-label': 'Search facts' });
    this.search.addEventListener('input', settled(60, () => this.render()));
    this.list = make('ul', { class: 'facts' });
    this.letters = make('pre', { class: 'letters' });
    this.list.addEventListener('click', (event) => {
      if (event.target.closest('.why')) onWhy(event.target.closest('[data-why]').dataset.why);
    });
    const facts = make('details', { class: 'unfold' }, this.summary, this.search, this.list);
    facts.addEventListener('toggle', () => this.render());
    this.folded = facts;
    this.element = make('div', { class: 'below' }, facts,
      make('details', { class: 'unfold' }, make('summary', {}, 'Board as text'), this.letters));
  }

  show({ facts, text, seat }) {
    this.facts = facts;
    this.shares = new Map(seat?.unsure);
    this.letters.textContent = text;
    this.summary.textContent = `Facts (${facts.length.toLocaleString('en')}${this.shares.size > 0 ? `, ${this.shares.size} uncertain` : ''})`;
    this.render();
  }

  render() {
    if (!this.folded.open || !this.facts) return;
    const wanted = this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const left = [...this.facts, ...this.shares.keys()].filter((fact) => wanted.every((word) => fact.toLowerCase().includes(word)));
    fill(this.list, left.slice(0, MOST).map((fact) => make('li', { 'data-why': `(true ${fact})` }, make('code', {}, fact), this.shares.has(fact) && make('span', { class: 'quiet' }, ` ${this.shares.get(fact) < 1 ? `${(100 * this.shares.get(fact)).toFixed(1)} %` : 'in all of the sample'}`),
      make('button', { type: 'button', class: 'why', 'aria-label': `Why ${fact}?` }, 'why?'))),
    left.length > MOST && make('li', { class: 'quiet' }, `${counted(left.length - MOST, 'fact')} more; use the search to see them.`));
  }
}
