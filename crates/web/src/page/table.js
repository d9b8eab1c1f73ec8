// A table at which several pages sit: the match is kept by the server, each page chooses for its seat.

import { ask, events } from './api.js';
import { make, trouble } from './dom.js';
import { PERSON } from './match.js';
import { parsed } from './route.js';

/** Milliseconds until a broken connection is tried again. */
const AGAIN = 1500;

/** Lays a table; the links for the persons by role, null for programs. */
export async function laid(game, moves, seats) {
  const { table, keys } = await ask('/api/tables', { game: game.id, moves, seats });
  const rules = game.bundled || !game.path.startsWith('rules=') ? '' : `&${game.path}`;
  return keys.map((key, seat) => (key === null ? null
    : `${location.origin}${location.pathname}#/table/${encodeURIComponent(table)}?key=${encodeURIComponent(key)}&seat=${seat}${rules}`));
}

/** Whether the server has this key for a seat of a table. */
export async function isKey(table, key) {
  try {
    // No match is that long: what is refused is the move, or the key.
    await ask(`/api/tables/${encodeURIComponent(table)}/moves`, { key, ply: 2 ** 32, move: '' });
  } catch (error) {
    if (error.status === 403) return false;
    if (error.status !== 409) throw error;
  }
  return true;
}

/** A field for who looks on and has an invitation: its link, or the key alone. */
export function joining({ table, words, refused }) {
  const field = make('input', { type: 'text', 'aria-label': 'Invitation: its link, or the key in it', placeholder: 'link or key', spellcheck: 'false', autocomplete: 'off' });
  const said = trouble();
  if (refused) said.say('The key in this address is that of no seat at this table.');
  const sit = async (event) => {
    event.preventDefault();
    const entered = field.value.trim();
    const link = entered.includes('#') ? parsed(entered.slice(entered.indexOf('#'))) : { table, key: entered, seat: null };
    said.say('');
    try {
      if (!link.key || !link.table) throw new Error('That is neither the link of an invitation nor its key.');
      if (!await isKey(link.table, link.key)) throw new Error('That is the key of no seat at this table.');
      const rest = [link.seat === null ? '' : `&seat=${link.seat}`, words.rules ? `&rules=${words.rules}` : ''].join('');
      location.hash = `#/table/${encodeURIComponent(link.table)}?key=${encodeURIComponent(link.key)}${rest}`;
    } catch (error) {
      said.say(error.message);
    }
  };
  return make('section', { class: 'panel joining', 'aria-label': 'Sit down' }, make('p', { class: 'quiet' }, 'You look on. If you have an invitation to a seat, enter it here.'),
    make('form', { class: 'invited', on: { submit: sit } }, field, make('button', { type: 'submit' }, 'Sit down')), said);
}

/** How a table stands now. */
export async function glimpsed(table) {
  const stop = new AbortController();
  try {
    for await (const [, seen] of events(`/api/tables/${encodeURIComponent(table)}`, undefined, stop.signal)) return seen;
    throw new Error('The table says nothing.');
  } finally {
    stop.abort();
  }
}

/** Tables as they change, until `signal` ends it; tries again where the connection breaks. */
export async function* watched(table, signal, onTrouble) {
  while (!signal.aborted) {
    try {
      for await (const [name, seen] of events(`/api/tables/${encodeURIComponent(table)}`, undefined, signal)) {
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

/** What [`Match`](match.js) is at a table: it chooses for one seat, and only where the match stands. */
export class Seat {
  constructor(game, history, { table, key, seat }, heard) {
    Object.assign(this, { game, history, table, key, seat, heard });
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

  /** The table has changed; the node where the match stands now. */
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
    // Who has no choice need not be asked; a server that has made the move itself refuses it.
    if (moves.length === 1 && this.stateOf(this.seat) === 'single' && node === this.end && !this.chosen[this.seat]) this.send(moves[0].move).catch(() => {});
    this.heard.onChange();
  }

  stateOf(role) {
    const { turn, over } = this.node?.position ?? { over: true };
    if (over || this.node !== this.end) return 'others';
    if (!turn.includes(role)) return 'single';
    if (this.chosen[role]) return 'chosen';
    // A link that does not say whose key it has: the first choice that is taken tells.
    const own = this.key && (this.seat === null ? this.seats[role] === PERSON : role === this.seat);
    if (!own) return 'others';
    return this.mine ? 'chosen' : 'open';
  }

  async choose(role, move) {
    this.mine = move;
    this.heard.onChange();
    try {
      await this.send(move);
      this.seat ??= role;
    } catch (error) {
      this.mine = null;
      this.heard.onTrouble(error.message);
      this.heard.onChange();
    }
  }

  send(move) {
    return ask(`/api/tables/${encodeURIComponent(this.table)}/moves`, { key: this.key, ply: this.end.ply, move });
  }

  back() {}

  pause() {}

  stop() {}
}
