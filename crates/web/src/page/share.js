// Sharing: links, match records, tables for several people, and the rules.

import { local } from './api.js';
import { button, copied, fill, make, offerDownload, opener, textOf } from './dom.js';
import { PERSON } from './match.js';
import { gameOf, isOf, read, written } from './record.js';
import { address } from './route.js';
import { createTable } from './table.js';

export class Sharing {
  constructor(view) {
    this.view = view;
    const copy = button('Copy link', () => {
      if (!view.atTable) view.address();
      const { origin, pathname } = location;
      if (!view.game.bundled && !view.game.path.startsWith('rules=')) view.trouble.say('These rules are too long for a link. Save the match instead; the file contains the rules.');
      else if (this.isSecret()) return;
      else copied(`${origin}${pathname}${address(view.game.path, { moves: view.history.here.moves(), veiled: view.game.hidden })}`, copy);
    }, { title: 'A link that shows this position' });
    this.invite = button(local ? 'Invite (needs a server)' : 'Invite', () => this.lay(), { title: 'Play with others, each in their own browser' });
    this.element = make('div', { class: 'sharing' }, copy,
      button('Save', () => this.save(), { title: 'Save the match as a file' }),
      !view.atTable && [...opener('Load', ([file]) => this.load(file), { accept: '.json' }, { title: 'Load a match record' }), this.invite],
      button('Rules & explanations', () => view.why.open(), { title: 'Read the rules, and ask why something is true or not' }),
      button('Edit rules', () => view.onEdit?.(structuredClone({ files: view.game.files, picture: view.game.picture ?? null })), { title: 'Edit these rules as your own' }));
    this.invitation = make('section', { class: 'panel invitation', hidden: true, 'aria-label': 'Invitation' });
  }

  /** At a table, the moves are known at the end. */
  isSecret() {
    const { view } = this;
    if (!view.atTable || !view.game.hidden || view.match.over) return false;
    view.trouble.say('The rules hide what others do: a table shows all moves when the match is over.');
    return true;
  }

  async save() {
    if (this.isSecret()) return;
    const { game, history, match } = this.view;
    const line = history.line();
    try {
      for (const node of line) await this.view.load(node);
      offerDownload(`${game.name}.json`, written(game, match.seats, line), 'application/json');
    } catch (error) {
      this.view.trouble.say(error.message);
    }
  }

  async load(file) {
    const { view } = this;
    try {
      const record = read(await textOf(file));
      const { moves } = record;
      const other = isOf(record, view.game) ? null : await gameOf(record);
      if (other) {
        location.hash = address(other.path, { moves });
        return;
      }
      const end = view.history.graft(view.history.root, moves);
      await view.go(end);
    } catch (error) {
      view.trouble.say(error.message);
    }
  }

  async lay() {
    const { view } = this;
    try {
      await view.load(view.history.here);
      const links = await createTable(view.game, view.history.here.moves(), view.match.seats);
      const persons = links.filter(Boolean);
      fill(this.invitation, make('h2', {}, 'Table ready: send these links'),
        make('p', { class: 'quiet' }, persons.length > 0 ? `Anyone who opens a link takes that seat. Take yours, too: this board is locked meanwhile. ${view.game.hidden ? 'Leave the others unopened: each shows what its role knows.' : 'Choices stay hidden until everyone has chosen.'}` : 'All seats are taken by programs. Choose “You” for at least one.'),
        links.map((link, role) => (link === null ? make('p', { class: 'quiet' }, make('strong', {}, view.game.roles[role].name), ` is played by ${view.match.seats[role]}. `, !view.game.roles[role].random && button('Free this seat', () => this.free(role), { class: 'small', 'aria-label': `Free the seat of ${view.game.roles[role].name}` })) : this.seat(view.game.roles[role].name, link))),
        button('Close', () => this.lock(false), { class: 'small' }));
      this.lock(true);
    } catch (error) {
      view.trouble.say(error.message);
    }
  }

  /** Shows the invitation, and locks the board, which is not the table. */
  lock(locked) {
    const { element, match } = this.view;
    this.locked = locked;
    if (locked) match.pause();
    for (const one of element.querySelectorAll('.stage, .moves, .seats')) one.inert = locked;
    this.view.changed();
    this.invitation.hidden = !locked;
  }

  /** Gives a program's seat to a person, and makes a table anew. */
  free(role) {
    this.view.sit(role, PERSON);
    this.lay();
  }

  seat(name, link) {
    const copy = button('Copy', () => copied(link, copy), { class: 'small', 'aria-label': `Copy the link for ${name}` });
    return make('div', { class: 'invited' }, make('strong', {}, name),
      make('input', { type: 'text', readonly: true, value: link, 'aria-label': `Link for ${name}`, on: { focus: (event) => event.target.select() } }),
      copy, make('a', { href: link }, 'Take this seat'));
  }
}
