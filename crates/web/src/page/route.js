// The address: parses and writes the part after `#/`.
//
// `#/`, `#/edit`, `#/GAME?moves=…`, `#/rules=…?moves=…`, `#/table/ID?key=…`. Joint moves
// are separated by `;`, their moves by blanks. Rules are JSON, deflated, in base64url.

import { terms } from './kif.js';

/** Maximum size of rules in an address. */
export const LONGEST_RULES = 32 * 1024;

/** The view that an address names. `damaged` is true if its moves cannot be read. */
export function parsed(hash) {
  const [path, query = ''] = split(hash.replace(/^#?\/?/, ''), '?');
  const words = {};
  for (const part of query.split('&').filter(Boolean)) {
    const [name, value = ''] = split(part, '=');
    words[name] = decoded(value);
  }
  const route = {
    moves: joints(words.moves) ?? [], then: joints(words.then) ?? [], damaged: joints(words.moves) === null,
    seats: words.seats ? words.seats.split(';') : null,
    key: words.key ?? null, words,
  };
  if (path === '') return { ...route, page: 'home' };
  if (path === 'edit') return { ...route, page: 'edit' };
  if (path.startsWith('rules=')) return { ...route, page: 'game', rules: path.slice(6) };
  if (path.startsWith('table/')) return { ...route, page: 'table', table: decoded(path.slice(6)) };
  return { ...route, page: 'game', game: decoded(path) };
}

function split(text, at) {
  const index = text.indexOf(at);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function joints(text) {
  try {
    if (text?.startsWith('~')) text = decodeURIComponent(atob(text.slice(1)));
    return (text ?? '').split(';').map(terms).filter((joint) => joint.length > 0);
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
