// Errors in the rules that a position shows, with links to the rules.

import { button, fill, make } from './dom.js';
import { places } from './places.js';

export class Faults {
  /** `listener` has `onPlace(place)`, and `onWhy(question)`. */
  constructor(listener) {
    this.listener = listener;
    this.element = make('ul', { class: 'findings', 'aria-label': 'Errors in the rules', hidden: true });
  }

  /** Shows the faults of a position. The status has their messages, so one alone needs none here. */
  show({ faults }) {
    this.element.hidden = faults.length === 0;
    fill(this.element, faults.map(({ message, rules, question }) => make('li', {},
      make('span', { class: 'message' }, faults.length > 1 ? `${message}. ` : 'The rules have an error here. '), places(rules, this.listener.onPlace),
      button('Why?', () => this.listener.onWhy(question), { class: 'small', 'aria-label': `Why? ${message}.` }))));
  }
}
