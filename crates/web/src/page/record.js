// Match records in the format of GGP hosts and spectators. `game` and `picture` are
// extensions.

import { games } from './api.js';
import { tidy } from './kif.js';
import { PERSON } from './match.js';
import { Game } from './rules.js';

/** Adds blanks inside brackets, as records have them. */
const spread = (text) => text.replaceAll('(', '( ').replaceAll(')', ' )');

const joined = (files) => files.map(({ text }) => text).join('\n');

/** Writes a record for a line of nodes whose positions are all loaded. */
export function written(game, seats, line) {
  const [start] = line;
  const { over, goals, faults } = line[line.length - 1].truth;
  const scored = over && faults.length === 0;
  return `${JSON.stringify({
    matchId: `ggp.${game.name.replaceAll(/[^a-z0-9]/gi, '_')}.${start.time}`,
    randomToken: [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
    startTime: start.time,
    isCompleted: scored,
    isAborted: faults.length > 0,
    states: line.map(({ truth }) => `( ${truth.facts.map(spread).sort().join(' ')} )`),
    moves: line.slice(1).map(({ joint }) => joint.map(spread)),
    stateTimes: line.map(({ time }) => time),
    errors: line.map(() => game.roles.map(() => '')),
    ...(scored && { goalValues: goals }),
    previewClock: -1,
    startClock: 0,
    playClock: 0,
    playerNamesFromHost: seats.map((player) => (player === PERSON ? 'human' : player)),
    isPlayerHuman: seats.map((player) => player === PERSON),
    tournamentNameFromHost: '',
    scrambled: false,
    rulesheet: joined(game.rules.files),
    game: game.bundled ? game.id : game.name,
    ...(!game.bundled && game.rules.picture && { picture: game.rules.picture }),
  })}\n`;
}

/**
 * Returns whether a record is of this game: by its rules, or by its name if it has no
 * rules.
 */
export function isOf({ game, rules }, other) {
  return rules ? joined(rules.files) === joined(other.rules.files) : game === null || game === other.id || game === other.name;
}

/**
 * The game of a record: a bundled one, or that of the rules in the record; null if it is
 * unknown.
 */
export async function gameOf(record) {
  const named = (await games()).find(({ id, name }) => id === record.game || name === record.game);
  const game = named && await Game.named(named.id);
  if (game && isOf(record, game)) return game;
  return record.rules && Game.loaded(record.rules);
}

/**
 * Reads `{game, moves, rules}` from a record; `game` and `rules` are null if absent. The
 * rules are in `rulesheet`; records written by earlier versions of this page have them in
 * `rules`.
 */
export function read(text) {
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    throw new Error('This is not a match record: it is not JSON.');
  }
  if (!Array.isArray(record?.moves)) throw new Error('This is not a match record: it has no list “moves”.');
  const moves = record.moves.map((joint, ply) => {
    if (!Array.isArray(joint)) throw new Error(`Move ${ply + 1} of the record is not a list.`);
    return joint.map(tidy);
  });
  const named = typeof record.matchId === 'string' ? record.matchId.split('.').slice(1, -1).join('.') : null;
  const game = typeof record.game === 'string' ? record.game : named || null;
  const picture = typeof record.picture === 'string' ? record.picture : null;
  const rules = Array.isArray(record.rules?.files) ? record.rules
    : typeof record.rulesheet === 'string' ? { files: [{ name: `${game ?? 'match'}.kif`, text: record.rulesheet }], picture } : null;
  return { game, moves, rules };
}
