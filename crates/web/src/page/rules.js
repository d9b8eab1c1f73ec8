// An open game: its rules, and access to the server's answers about it.
//
// The server drops the games of a session after a while; the page keeps their rules and
// uploads them again.

import { ask, events } from './api.js';
import { wordsOf } from './labels.js';
import { asDrawn } from './names.js';
import { packed } from './route.js';

const KEPT = 'rules ';

function kept(id) {
  try { return JSON.parse(sessionStorage.getItem(KEPT + id)); } catch { return null; }
}

function keep(id, rules) {
  try { sessionStorage.setItem(KEPT + id, JSON.stringify(rules)); } catch { /* Full: it is only for reloading. */ }
}

export class Game {
  constructor(said, rules = null) {
    Object.assign(this, said);
    this.rules = rules ?? { files: said.files, picture: said.picture ?? null };
    /** The name in addresses. */
    this.path = encodeURIComponent(said.id);
  }

  /** A bundled game, or a game that was uploaded before. */
  static async named(id) {
    try {
      const game = new Game(await ask(`api/games/${encodeURIComponent(id)}`));
      return game.bundled ? game : await game.addressed();
    } catch (error) {
      const rules = kept(id);
      if (error.status !== 404 || !rules) throw error;
      return Game.loaded(rules);
    }
  }

  /** Uploads rules. If they have errors, throws an error whose `body` contains the findings. */
  static async loaded(rules) {
    const game = new Game(await ask('api/games', rules), rules);
    return game.addressed();
  }

  async addressed() {
    keep(this.id, this.rules);
    const written = await packed(this.rules);
    if (written) this.path = `rules=${written}`;
    return this;
  }

  /** The first line of the description, if it is a title. */
  get title() {
    return titled(this);
  }

  async again(question, tries = 3) {
    try {
      return await question();
    } catch (error) {
      if (tries === 0 || error.status !== 404 || this.bundled) throw error;
      this.id = (await ask('api/games', this.rules)).id;
      keep(this.id, this.rules);
      // Of requests at the same time each begins a session; only the last one stays.
      return this.again(question, tries - 1);
    }
  }

  at(what) { return `api/games/${encodeURIComponent(this.id)}/${what}`; }

  ask(what, body, signal) {
    return this.again(() => ask(this.at(what), what === 'position' ? asDrawn(body) : body, signal));
  }

  async* events(what, body, signal) {
    const [stream, first] = await this.again(async () => {
      const begun = events(this.at(what), body, signal);
      return [begun, await begun.next()];
    });
    try {
      if (!first.done) yield first.value;
      yield* stream;
    } finally {
      stream.return();
    }
  }
}

/**
 * The name, if the title does not contain it, such as that of one of several bundled puzzles with
 * the same rules. The name of a file that someone typed rules into says nothing.
 */
export function subtitled(game) {
  if (game.bundled === false) return null;
  const said = wordsOf(titled(game));
  return wordsOf(game.name).every((word) => said.includes(word)) ? null : game.name;
}

/** Maximum number of characters of a title. */
const LONGEST_TITLE = 60;

/** The first line of the description up to a colon, if it is a title, or else the name. */
export function titled({ name, about }) {
  // Frames of stars are no text, and a line such as `-*-Lisp-*-` is meant for a text editor.
  const lines = (about ?? '').split('\n').filter((line) => !/-\*-/.test(line)).map((line) => line.replaceAll(/^[^\p{L}\p{N}(]+|[\s*=#;.-]+$/gu, ''));
  const first = lines.find(Boolean) ?? '';
  const title = first.endsWith(':') ? '' : first.split(':')[0].trim().replace(/\.(kif|gdl)$/i, '');
  return title && title.length <= LONGEST_TITLE ? title : name;
}
