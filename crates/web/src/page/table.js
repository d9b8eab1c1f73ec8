// Tables: matches between several browsers. The server stores the match, and each page
// chooses for its seat.

import { ask, events } from './api.js';
import { make, trouble } from './dom.js';
import { isEnd } from './ending.js';
import { PERSON } from './match.js';
import { parsed } from './route.js';

/** Milliseconds before a broken connection is retried. */
const AGAIN = 1500;

/** Creates a table. Returns the links for the persons by role; null for programs. */
export async function createTable(game, moves, seats) {
  const { table, keys } = await ask('api/tables', { game: game.id, moves, seats });
  const rules = game.bundled || !game.path.startsWith('rules=') ? '' : `&${game.path}`;
  return keys.map((key) => (key === null ? null
    : `${location.origin}${location.pathname}#/table/${encodeURIComponent(table)}?key=${encodeURIComponent(key)}${rules}`));
}

/** The path of a table of the server; with a key, it tells the seat. */
export const pathOf = (table, key) => `api/tables/${encodeURIComponent(table)}${key ? `?key=${encodeURIComponent(key)}` : ''}`;

/** Goes to a table, with a key if there is one. `words` are those of the address, which may contain the rules. */
export function sitDown(table, key, words) {
  location.hash = `#/table/${encodeURIComponent(table)}?${key ? `key=${encodeURIComponent(key)}` : ''}${words.rules ? `&rules=${words.rules}` : ''}`;
}

/** A field for spectators with an invitation: a link, or only the key. */
export function joinForm({ table, words, refused }) {
  const field = make('input', { type: 'text', 'aria-label': 'Invitation: the link or its key', placeholder: 'link or key', spellcheck: 'false', autocomplete: 'off' });
  const said = trouble();
  if (refused) said.say('The key in this address does not belong to a seat at this table.');
  const sit = async (event) => {
    event.preventDefault();
    const entered = field.value.trim();
    const link = entered.includes('#') ? parsed(entered.slice(entered.indexOf('#'))) : { table, key: entered };
    said.say('');
    try {
      if (!link.key || !link.table) throw new Error('This is neither an invitation link nor a key.');
      if ((await tableState(link.table, link.key)).seat === null) throw new Error('This key does not belong to a seat at this table.');
      sitDown(link.table, link.key, words);
    } catch (error) {
      said.say(error.message);
    }
  };
  return make('section', { class: 'panel joining', 'aria-label': 'Take a seat' }, make('p', { class: 'quiet' }, 'You are watching. Have an invitation? Paste it here.'),
    make('form', { class: 'invited', on: { submit: sit } }, field, make('button', { type: 'submit' }, 'Take a seat')), said);
}

/** The current state of a table. */
export async function tableState(table, key) {
  const stop = new AbortController();
  try {
    for await (const [, seen] of events(pathOf(table, key), undefined, stop.signal)) return seen;
    throw new Error('The table sent no state.');
  } finally {
    stop.abort();
  }
}

/** Yields the states of a table until `signal` ends it; reconnects if the connection breaks. */
export async function* tableStates({ table, key }, signal, onTrouble) {
  while (!signal.aborted) {
    try {
      for await (const [name, seen] of events(pathOf(table, key), undefined, signal)) {
        onTrouble('');
        if (name === 'table') yield seen;
      }
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      onTrouble(error.message);
    }
    await new Promise((done) => { setTimeout(done, AGAIN); });
  }
}

/**
 * The counterpart of [`Match`](match.js) at a table: it chooses for one seat, and only in
 * the last position.
 */
export class Seat {
  constructor(game, history, { table, key, said }, listener) {
    Object.assign(this, { game, history, table, key, seat: said.seat, listener });
    this.branches = false;
    this.paused = false;
    this.waits = false;
    this.secret = false;
    this.thinking = new Map();
    this.seats = game.roles.map(() => PERSON);
    this.end = history.root;
    this.chosen = game.roles.map(() => false);
    this.mine = null;
  }

  /** Updates the state of the table, and returns the node of the last position. */
  changed({ seats, moves, chosen, failed, next, over }) {
    // At the end, all moves are known.
    if (this.game.hidden && over && !this.over) this.history.reset(null);
    this.over = over;
    this.next = next;
    this.seats = seats;
    this.chosen = chosen;
    this.failed = failed ?? null;
    const end = this.history.graft(this.history.root, moves);
    if (end !== this.end) this.mine = null;
    this.end = end;
    return end;
  }

  depart() {
    this.node = null;
  }

  arrive(node) {
    this.node = node;
    this.listener.onChange();
  }

  stateOf(role) {
    if (!this.node || isEnd(this.node.position) || this.node !== this.end) return 'others';
    const { turn } = this.node.position;
    if (!turn.includes(role)) return 'single';
    if (this.chosen[role]) return 'chosen';
    return role !== this.seat ? 'others' : this.mine ? 'chosen' : 'open';
  }

  async choose(_, move) {
    this.mine = move;
    this.listener.onChange();
    try {
      await this.send('moves', { ply: this.end.ply, move });
    } catch (error) {
      this.mine = null;
      this.listener.onTrouble(error.message);
      this.listener.onChange();
    }
  }

  send(what, body) {
    return ask(`${pathOf(this.table)}/${what}`, { key: this.key, ...body });
  }

  /** Goes to the next match of the same players; the first of them who asks creates it. */
  async again(swap, words) {
    try {
      sitDown(this.seat === null ? this.next : (await this.send('again', { swap })).next, this.key, words);
    } catch (error) {
      this.listener.onTrouble(error.message);
    }
  }

  back() {}

  pause() {}

  stop() {}
}
