// Match records, as hosts and spectators of general game playing know them; `game` and `picture` are ours.

import { games } from './api.js';
import { tidy } from './kif.js';
import { PERSON } from './match.js';
import { Game } from './rules.js';

/** With blanks inside brackets, as records have it. */
const spread = (text) => text.replaceAll('(', '( ').replaceAll(')', ' )');

const joined = (files) => files.map(({ text }) => text).join('\n');

/** A record as text, of a line of nodes that all have positions. */
export function written(game, seats, line) {
  const [start] = line;
  const { over, goals } = line[line.length - 1].position;
  return `${JSON.stringify({
    matchId: `ggp.${game.name.replaceAll(/[^a-z0-9]/gi, '_')}.${start.time}`,
    randomToken: [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
    startTime: start.time,
    isCompleted: over,
    isAborted: false,
    states: line.map(({ position }) => `( ${position.facts.map(spread).sort().join(' ')} )`),
    moves: line.slice(1).map(({ joint }) => joint.map(spread)),
    stateTimes: line.map(({ time }) => time),
    errors: line.map(() => game.roles.map(() => '')),
    ...(over && !goals.includes(null) && { goalValues: goals }),
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

/** Whether a record is of this game: by these rules, or by its name where the record has none. */
export function isOf({ game, rules }, other) {
  return rules ? joined(rules.files) === joined(other.rules.files) : game === null || game === other.id || game === other.name;
}

/** The game of a record: a bundled one, or that of the rules in it; null if it is not known. */
export async function gameOf(record) {
  const named = (await games()).find(({ id, name }) => id === record.game || name === record.game);
  const game = named && await Game.named(named.id);
  if (game && isOf(record, game)) return game;
  return record.rules && Game.loaded(record.rules);
}

/**
 * `{game, moves, rules}` of a record; `game` and `rules` are null where it does not say.
 * The rules are `rulesheet`; in records that this page wrote before, `rules`.
 */
export function read(text) {
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    throw new Error('This is no match record: it is not JSON.');
  }
  if (!Array.isArray(record?.moves)) throw new Error('This is no match record: it has no list “moves”.');
  const moves = record.moves.map((joint, ply) => {
    if (!Array.isArray(joint)) throw new Error(`Move ${ply + 1} of the record is no list.`);
    return joint.map(tidy);
  });
  const named = typeof record.matchId === 'string' ? record.matchId.split('.').slice(1, -1).join('.') : null;
  const game = typeof record.game === 'string' ? record.game : named || null;
  const picture = typeof record.picture === 'string' ? record.picture : null;
  const rules = Array.isArray(record.rules?.files) ? record.rules
    : typeof record.rulesheet === 'string' ? { files: [{ name: `${game ?? 'match'}.kif`, text: record.rulesheet }], picture } : null;
  return { game, moves, rules };
}
