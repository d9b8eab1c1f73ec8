// Match records: ours, and those of GGP servers.

import { tidy } from './kif.js';

/** A record as text. Rules of one's own go with it. */
export function written(game, moves, goals) {
  const record = { game: game.bundled ? game.id : game.name, roles: game.roles.map(({ name }) => name), moves, goals };
  if (!game.bundled) record.rules = game.rules;
  return `${JSON.stringify(record, null, 1)}\n`;
}

/**
 * `{game, moves, rules}` of a record; `game` and `rules` are null where it does not say. In GGP
 * records the rules are `rulesheet`, and terms have blanks inside their brackets.
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
  const rules = Array.isArray(record.rules?.files) ? record.rules
    : typeof record.rulesheet === 'string' ? { files: [{ name: `${named || 'match'}.kif`, text: record.rulesheet }] } : null;
  return { game: typeof record.game === 'string' ? record.game : named || null, moves, rules };
}
