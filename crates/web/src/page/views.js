// Whose view is shown where the rules hide what others do: that of the person at this page, and
// with several of them, of the one who has to choose.

import { button, fill, make } from './dom.js';
import { listed } from './labels.js';
import { PERSON } from './match.js';
import { counted } from './moves.js';

export class Views {
  constructor(view) {
    this.view = view;
    /** The role whose view is shown; null if everything is. */
    this.role = null;
    /** True if everything is shown. */
    this.whole = !view.game.hidden;
    this.note = make('p', { class: 'quiet seat-note' });
    this.cover = make('div', { class: 'cover', hidden: true });
  }

  persons() {
    const { match, game } = this.view;
    return game.roles.flatMap(({ random }, role) => (match.seats[role] === PERSON && !random ? [role] : []));
  }

  /** The role for which the current position, whose whole is known, is shown; null if for all. */
  wanted({ whole }) {
    const persons = this.persons();
    if (this.whole || whole.over || persons.length === 0) return null;
    const { choices } = this.view.match;
    return persons.find((role) => whole.turn.includes(role) && !choices.has(role)) ?? (persons.includes(this.role) ? this.role : persons[0]);
  }

  /** Turns to the one who has to choose. Returns whether another view must be shown. */
  follow() {
    const { atTable, history, game, element } = this.view;
    if (!game.hidden || atTable || !history.here.whole) return false;
    if (history.here.whole.over) this.whole = true;
    const role = this.wanted(history.here);
    if (role === this.role) return false;
    const several = role !== null && this.persons().length > 1;
    this.role = role;
    history.forget();
    this.cover.hidden = !several;
    element.classList.toggle('covered', several);
    if (several) {
      const { name } = game.roles[role];
      const open = button(`I am ${name}`, () => this.uncover(), { class: 'strong' });
      fill(this.cover, make('h2', {}, `Now ${name}`), make('p', {}, `The board is for ${name} alone.`), open);
    }
    return true;
  }

  uncover() {
    this.cover.hidden = true;
    this.view.element.classList.remove('covered');
  }

  /** Says what is shown. */
  show({ seat }) {
    const { game, atTable } = this.view;
    const shown = seat && `You see what ${game.roles[seat.role].name} knows: ${counted(seat.positions, 'position')}${seat.exact ? '' : ' of a sample'} ${seat.positions === 1 ? 'fits' : 'fit'}. ${seat.unsure.length > 0 ? 'What is not certain has its share. ' : ''}`;
    fill(this.note, shown, (shown || this.whole) && game.hidden && !atTable && this.persons().length > 0 && button(shown ? 'Show everything' : 'Hide what others know', () => {
      this.whole = !this.whole;
      if (this.follow()) this.view.redraw();
    }, { class: 'small' }));
  }

  /** What a role saw after a move, in words. */
  static saw(seat, ply) {
    const seen = seat?.seen[ply - 1] ?? [];
    return seen.length > 0 ? `saw ${listed(seen)}` : '';
  }
}
