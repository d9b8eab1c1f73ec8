// The course of a match: persons at this page choose, and programs that the server runs.
//
// A joint move is made when every role has a move. Roles with a single legal move choose it
// automatically. Choices are hidden until all roles have chosen.

import { isEnd } from './ending.js';
import { counted } from './moves.js';

export const PERSON = 'person';
/** Milliseconds for which a position without a choice is shown. */
const GLANCE = 350;
/** Number of consecutive positions without a choice that are skipped at once. */
const FORCED = 40;
/** Number of tree nodes that are requested. */
const TREE = 600;
/** Milliseconds before a busy server is asked again. */
const PATIENCE = 700;

export class Match {
  /**
   * `listener.onJoint(joint)` is called for a complete joint move, `listener.onChange()` for any
   * other change, `listener.onThought(role, thought, running)` for reports of programs,
   * `listener.onTree(role, node, tree)` for their trees, `listener.onStop(role)` when a program
   * was stopped, `listener.onFailure(role, message)` when a program ended without a move.
   */
  constructor(game, listener) {
    this.game = game;
    this.listener = listener;
    this.seats = game.roles.map(() => PERSON);
    this.choices = new Map();
    this.thinking = new Map();
    this.paused = false;
    this.node = null;
    /** Number of consecutive positions without a choice. */
    this.forced = 0;
    /** True if the user may go anywhere in the tree and continue from there. */
    this.branches = true;
    /** Milliseconds for which each position is shown when only programs play. */
    this.pace = 0;
    /** The time at which the server began to prepare the rules for a player; null if it does not. */
    this.preparing = null;
  }

  /** Leaves a position. Nothing can be chosen until the next one is shown. */
  depart() {
    this.stop();
    this.node = null;
  }

  /** Shows a position. `forward` is true if a move was just made. */
  arrive(node, forward) {
    this.stop();
    this.node = node;
    this.since = Date.now();
    this.choices.clear();
    const { legal, turn } = node.truth;
    if (!isEnd(node.truth)) {
      legal.forEach((moves, role) => { if (moves.length === 1) this.choices.set(role, moves[0].move); });
      const programs = turn.filter((role) => this.seats[role] !== PERSON);
      if (!forward && programs.length > 0) this.paused = true;
      this.forced = turn.length === 0 && forward ? this.forced + 1 : 0;
      if (turn.length === 0 && (!forward || this.forced > FORCED)) this.paused = true;
      if (!this.paused) this.go();
    }
    this.listener.onChange();
  }

  /** Starts programs, and continues where no role has a choice. */
  go() {
    const { turn } = this.node.truth;
    if (isEnd(this.node.truth)) return;
    if (turn.length === 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.complete(), GLANCE);
      return;
    }
    for (const role of turn) {
      if (this.seats[role] !== PERSON && !this.choices.has(role) && !this.thinking.has(role)) this.think(role);
    }
  }

  async think(role) {
    const node = this.node;
    const stop = new AbortController();
    const mine = { stop, thought: null };
    this.thinking.set(role, mine);
    try {
      const move = await thought(this.game, thinkRequest(node, role, this.seats[role]), stop.signal, (seen, running) => {
        mine.thought = seen;
        if (seen.value !== null && !node.position.seat) node.values.set(role, seen.value);
        this.listener.onThought(role, seen, running);
      }, (tree) => this.listener.onTree(role, node, tree), (seconds) => this.prepares(seconds));
      if (this.thinking.get(role) !== mine) return;
      this.thinking.delete(role);
      this.choices.set(role, move);
      this.complete();
    } catch (error) {
      if (error.name === 'AbortError' || this.thinking.get(role) !== mine) return;
      this.thinking.delete(role);
      this.listener.onStop(role);
      this.paused = true;
      this.listener.onFailure(role, error.message);
      this.listener.onChange();
    }
  }

  /** The server has prepared the rules for this many seconds; null if it does so no longer. */
  prepares(seconds) {
    if (seconds === null && !this.preparing) return;
    this.preparing = seconds === null ? null : { begun: Date.now() - 1000 * seconds };
    this.listener.onChange();
  }

  /** Makes a random legal move for a role. */
  chance(role) {
    const moves = this.node?.truth.legal[role] ?? [];
    if (moves.length > 0) this.choose(role, moves[Math.floor(Math.random() * moves.length)].move);
  }

  choose(role, move) {
    if (!this.node) return;
    this.choices.set(role, move);
    this.paused = false;
    this.go();
    this.complete();
  }

  /** Takes a choice back before all roles have chosen. */
  back(role) {
    this.choices.delete(role);
    this.listener.onChange();
  }

  complete() {
    const joint = this.seats.map((_, role) => this.choices.get(role));
    if (joint.some((move) => move === undefined)) {
      this.listener.onChange();
      return;
    }
    const rest = this.seats.includes(PERSON) ? 0 : this.since + this.pace - Date.now();
    clearTimeout(this.timer);
    if (rest <= 0) {
      this.listener.onJoint(joint);
      return;
    }
    this.timer = setTimeout(() => this.listener.onJoint(joint), rest);
    this.listener.onChange();
  }

  /**
   * The state of a role: `open` (to be chosen at this page), `chosen`, `single`, `thinking`
   * or `others`.
   */
  stateOf(role) {
    if (!this.node || isEnd(this.node.truth)) return 'others';
    const { turn } = this.node.truth;
    if (!turn.includes(role)) return 'single';
    if (this.thinking.has(role)) return 'thinking';
    if (this.choices.has(role)) return 'chosen';
    return this.seats[role] === PERSON ? 'open' : 'others';
  }

  /** True if a person chooses with others who have not all chosen, so that the thoughts of programs must be hidden. */
  get secret() {
    const turn = this.node === null || isEnd(this.node.truth) ? [] : this.node.truth.turn;
    return turn.some((role) => this.seats[role] === PERSON) && !turn.every((role) => this.choices.has(role));
  }

  /** True in the first position before any choice. */
  get fresh() {
    return this.node?.ply === 0 && !this.node.truth.turn.some((role) => this.choices.has(role));
  }

  /** True if programs have to move, or nobody has a choice. */
  get waits() {
    if (!this.node || isEnd(this.node.truth)) return false;
    const { turn } = this.node.truth;
    return turn.length === 0 || !this.seats.includes(PERSON) || turn.some((role) => this.seats[role] !== PERSON && !this.choices.has(role));
  }

  pause() {
    this.paused = true;
    this.stop();
    this.listener.onChange();
  }

  resume() {
    this.paused = false;
    this.forced = 0;
    if (!this.node) return;
    if (this.node.truth.turn.length > 0 && this.seats.every((_, role) => this.choices.has(role))) this.complete();
    else this.go();
    this.listener.onChange();
  }

  /** Makes thinking programs play their best moves so far. */
  moveNow() {
    for (const [role, { stop, thought: seen }] of [...this.thinking]) {
      if (!seen) continue;
      this.thinking.delete(role);
      stop.abort();
      this.listener.onThought(role, seen, false);
      this.choices.set(role, seen.move);
    }
    this.complete();
  }

  sit(role, player) {
    this.seats[role] = player;
    const mine = this.thinking.get(role);
    this.thinking.delete(role);
    mine?.stop.abort();
    if (mine) this.listener.onStop(role);
    this.choices.delete(role);
    const moves = this.node?.truth.legal[role] ?? [];
    if (moves.length === 1) this.choices.set(role, moves[0].move);
    if (!this.seats.includes(PERSON)) this.paused = true;
    if (this.node && !this.paused) this.go();
    this.listener.onChange();
  }

  /** Stops all programs. */
  stop() {
    clearTimeout(this.timer);
    this.preparing = null;
    const stopped = [...this.thinking];
    this.thinking.clear();
    for (const [role, { stop }] of stopped) {
      stop.abort();
      this.listener.onStop(role);
    }
  }
}

/**
 * The request for a player's move at a node of the history, including its tree in case it
 * is opened later.
 */
export function thinkRequest(node, role, player) {
  return { moves: node.moves(), role, player, tree: TREE, seed: Math.floor(2 ** 32 * Math.random()) };
}

/**
 * Requests a move from a player, and reports its thoughts and trees. `prepares` is called
 * with the seconds while the server prepares the rules, and with null afterwards. Waits while
 * the server is busy.
 */
export async function thought(game, question, signal, say, grown = () => {}, prepares = () => {}) {
  for (;;) {
    try {
      for await (const [name, seen] of game.events('think', question, signal)) {
        if (name === 'failed') throw new Error(seen.message);
        if (name === 'preparing') prepares(seen.seconds ?? 0);
        if (name === 'tree') grown(seen);
        if (name !== 'thought' && name !== 'move') continue;
        prepares(null);
        say(seen, name === 'thought');
        if (name === 'move') return seen.move;
      }
      throw new Error('The player ended without a move.');
    } catch (error) {
      if (error.status !== 429) throw error;
      await new Promise((done) => { setTimeout(done, PATIENCE); });
      signal.throwIfAborted();
    }
  }
}

/** The parts `{kind, time, options}` of a player such as `mcts:2s,exploration=1`. */
export function parsedPlayer(player) {
  const [kind, rest = ''] = player.split(/:(.*)/s);
  const [time, ...options] = rest.split(',');
  const timed = /^[\d.]+s?$/.test(time);
  return { kind, time: timed ? time : '', options: (timed ? options : [time, ...options]).filter(Boolean).join(',') };
}

export function written({ kind, time, options }) {
  const rest = [time, options].filter(Boolean).join(',');
  return rest ? `${kind}:${rest}` : kind;
}

/** The default seats: a person first, programs elsewhere. */
export function defaultSeats(roles, kinds) {
  const program = kinds.find((kind) => kind.name === 'auto') ?? kinds.find((kind) => kind.thinks) ?? kinds[0];
  const first = roles.findIndex((role) => !role.random);
  return roles.map((role, index) => {
    if (index === first || !program) return PERSON;
    if (role.random && kinds.some((kind) => kind.name === 'random')) return 'random';
    return program.thinks ? `${program.name}:1s` : program.name;
  });
}

/** The error in the seats of an address, or null. */
export function wrongSeats(seats, roles, kinds) {
  if (seats.length !== roles.length) return `This address names ${counted(seats.length, 'player')}, but the game has ${counted(roles.length, 'role')}. The default players are used.`;
  const known = new Set([PERSON, ...kinds.map(({ name }) => name)]);
  const unknown = seats.map((seat) => parsedPlayer(seat).kind).find((kind) => !known.has(kind));
  return unknown === undefined ? null : `This address names an unknown player, ${unknown}. The default players are used.`;
}
