// The address: parses and writes the part after `#/`.
//
// `#/`, `#/edit`, `#/GAME?moves=…`, `#/rules=…?moves=…`, `#/table/ID?key=…`. Joint moves
// are separated by `;`, their moves by blanks. Rules are JSON, deflated, in base64url.

import { terms } from './kif.js';

/** Maximum size of rules in an address. */
export const LONGEST_RULES = 32 * 1024;

/** The parts of an address after `?`, by the page that it names. */
const PARTS = { home: ['names'], edit: ['names'], game: ['moves', 'then', 'seats', 'names'], table: ['key', 'rules', 'names'] };

/** The view that an address names. `trouble` is a sentence about what is wrong in the address, or null. */
export function parsed(hash) {
  const [path, query = ''] = split(hash.replace(/^#?\/?/, ''), '?');
  const place = placed(path);
  const words = Object.create(null);
  let trouble = null;
  const wrong = (sentence) => { trouble ??= sentence; };
  const read = (text) => {
    try { return decodeURIComponent(text); } catch { wrong('This address has a % without a code after it.'); }
    return text;
  };
  if (place.table !== undefined) place.table = read(place.table);
  if (place.game !== undefined) place.game = read(place.game);
  for (const part of query.split('&').filter(Boolean)) {
    const [name, value = ''] = split(part, '=');
    if (!PARTS[place.page].includes(name)) wrong(`This address has a part that this page does not know: “${shortened(name)}”.`);
    else if (value === '') wrong(`This address has no value after “${name}”.`);
    else if (name in words) wrong(`This address has “${name}” twice.`);
    words[name] = read(value);
  }
  if (words.names !== undefined && words.names !== 'no') wrong('Only “names=no” has a meaning in an address.');
  const [moves, then] = [joints(words.moves), joints(words.then)];
  if (moves === null || then === null) wrong('The moves in this address cannot be read. Was it copied completely?');
  return { ...place, moves: moves ?? [], then: then ?? [], seats: words.seats ? words.seats.split(';') : null, key: words.key ?? null, words, trouble };
}

/** The page that a path names, with the game, the rules or the table as they are written. */
function placed(path) {
  if (path === '') return { page: 'home' };
  if (path === 'edit') return { page: 'edit' };
  if (path.startsWith('rules=')) return { page: 'game', rules: path.slice(6) };
  if (path.startsWith('table/')) return { page: 'table', table: path.slice(6) };
  return { page: 'game', game: path };
}

const shortened = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

function split(text, at) {
  const index = text.indexOf(at);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function joints(text) {
  if (text === '') return [];
  try {
    if (text?.startsWith('~')) text = decodeURIComponent(atob(text.slice(1)));
    const found = (text ?? '').split(';').map(terms).filter((joint) => joint.length > 0);
    return text !== undefined && found.length === 0 ? null : found;
  } catch {
    return null;
  }
}

/**
 * The address of a position. `then` are the moves after it, `seats` the players. Moves that are
 * `veiled` cannot be read at a glance.
 */
export function address(path, { moves = [], then = [], seats = null, veiled = false }) {
  const words = [];
  const plain = (list) => list.map((joint) => joint.map(encodeURIComponent).join('%20')).join(';');
  const written = (list) => (veiled ? `~${btoa(plain(list))}` : plain(list));
  if (moves.length) words.push(`moves=${written(moves)}`);
  if (then.length) words.push(`then=${written(then)}`);
  if (seats) words.push(`seats=${seats.map(encodeURIComponent).join(';')}`);
  if (/[?&]names=no\b/.test(location.hash)) words.push('names=no');
  return `#/${path}${words.length ? `?${words.join('&')}` : ''}`;
}

async function piped(bytes, through) {
  const stream = new Blob([bytes]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Encodes a rule set for an address; null if it is too long. */
export async function packed(rules) {
  if (typeof CompressionStream === 'undefined') return null;
  const bytes = await piped(new TextEncoder().encode(JSON.stringify(rules)), new CompressionStream('deflate-raw'));
  let text = '';
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  const written = btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return written.length < LONGEST_RULES ? written : null;
}

/** Decodes the rule set of an address. */
export async function unpacked(written) {
  const text = atob(written.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = await piped(Uint8Array.from(text, (c) => c.charCodeAt(0)), new DecompressionStream('deflate-raw'));
  const rules = JSON.parse(new TextDecoder().decode(bytes));
  if (!Array.isArray(rules.files)) throw new Error('it contains no rule files');
  return rules;
}
