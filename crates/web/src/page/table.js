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
  return keys.map((key, seat) => (key === null ? null
    : `${location.origin}${location.pathname}#/table/${encodeURIComponent(table)}?key=${encodeURIComponent(key)}&seat=${seat}${rules}`));
}

/** Returns whether the server knows this key for a seat of a table. */
export async function isKey(table, key) {
  try {
    // No match is this long, so the server rejects either the move or the key.
    await ask(`api/tables/${encodeURIComponent(table)}/moves`, { key, ply: 2 ** 32, move: '' });
  } catch (error) {
    if (error.status === 403) return false;
    if (error.status !== 409) throw error;
  }
  return true;
}

/** A field for spectators with an invitation: a link, or only the key. */
export function joinForm({ table, words, refused }) {
  const field = make('input', { type: 'text', 'aria-label': 'Invitation: the link or its key', placeholder: 'link or key', spellcheck: 'false', autocomplete: 'off' });
  const said = trouble();
  if (refused) said.say('The key in this address does not belong to a seat at this table.');
  const sit = async (event) => {
    event.preventDefault();
    const entered = field.value.trim();
    const link = entered.includes('#') ? parsed(entered.slice(entered.indexOf('#'))) : { table, key: entered, seat: null };
    said.say('');
    try {
      if (!link.key || !link.table) throw new Error('This is neither an invitation link nor a key.');
      if (!await isKey(link.table, link.key)) throw new Error('This key does not belong to a seat at this table.');
      const rest = [link.seat === null ? '' : `&seat=${link.seat}`, words.rules ? `&rules=${words.rules}` : ''].join('');
      location.hash = `#/table/${encodeURIComponent(link.table)}?key=${encodeURIComponent(link.key)}${rest}`;
    } catch (error) {
      said.say(error.message);
    }
  };
  return make('section', { class: 'panel joining', 'aria-label': 'Take a seat' }, make('p', { class: 'quiet' }, 'You are watching. Have an invitation? Paste it here.'),
    make('form', { class: 'invited', on: { submit: sit } }, field, make('button', { type: 'submit' }, 'Take a seat')), said);
}

/** The current state of a table. */
export async function tableState(table) {
  const stop = new AbortController();
  try {
    for await (const [, seen] of events(`api/tables/${encodeURIComponent(table)}`, undefined, stop.signal)) return seen;
    throw new Error('The table sent no state.');
  } finally {
    stop.abort();
  }
}

/** Yields the states of a table until `signal` ends it; reconnects if the connection breaks. */
export async function* tableStates(table, signal, onTrouble) {
  while (!signal.aborted) {
    try {
      for await (const [name, seen] of events(`api/tables/${encodeURIComponent(table)}`, undefined, signal)) {
        onTrouble('');
        if (name === 'table') yield seen;
        if (seen.over) return;
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
  constructor(game, history, { table, key, seat }, listener) {
    Object.assign(this, { game, history, table, key, seat, listener });
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
  changed({ seats, moves, chosen, failed }) {
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
    const moves = node.position.legal[this.seat ?? -1] ?? [];
    // Roles without a choice are not asked; if the server has already made the move, it
    // rejects this one.
    if (moves.length === 1 && this.stateOf(this.seat) === 'single' && node === this.end && !this.chosen[this.seat]) this.send(moves[0].move).catch(() => {});
    this.listener.onChange();
  }

  stateOf(role) {
    if (!this.node || isEnd(this.node.position) || this.node !== this.end) return 'others';
    const { turn } = this.node.position;
    if (!turn.includes(role)) return 'single';
    if (this.chosen[role]) return 'chosen';
    // If a link does not name the seat of its key, the first accepted choice reveals it.
    const own = this.key && (this.seat === null ? this.seats[role] === PERSON : role === this.seat);
    if (!own) return 'others';
    return this.mine ? 'chosen' : 'open';
  }

  async choose(role, move) {
    this.mine = move;
    this.listener.onChange();
    try {
      await this.send(move);
      this.seat ??= role;
    } catch (error) {
      this.mine = null;
      this.listener.onTrouble(error.message);
      this.listener.onChange();
    }
  }

  send(move) {
    return ask(`api/tables/${encodeURIComponent(this.table)}/moves`, { key: this.key, ply: this.end.ply, move });
  }

  back() {}

  pause() {}

  stop() {}
}
