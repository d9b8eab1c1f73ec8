// An optional layer that reads names as people do: words for directions. In drawings, the
// server reads names.
//
// Everything else on the page is derived from structure. `?names=no` in the address, or the
// switch in the settings, turns this layer off.

import { remember, setting } from './settings.js';

/** Words for directions. A direction is a step to the right and a step down. */
const WORDS = new Map();
for (const [words, way] of [
  ['up upward upwards north n u', [0, -1]], ['down downward downwards south s d', [0, 1]],
  ['left leftward leftwards west w l', [-1, 0]], ['right rightward rightwards east e r', [1, 0]],
  ['northeast ne upright', [1, -1]], ['northwest nw upleft', [-1, -1]],
  ['southeast se downright', [1, 1]], ['southwest sw downleft', [-1, 1]],
]) for (const word of words.split(' ')) WORDS.set(word, way);

const SIGNS = { '0,-1': '↑', '0,1': '↓', '-1,0': '←', '1,0': '→', '1,-1': '↗', '-1,-1': '↖', '1,1': '↘', '-1,1': '↙' };
const KEYS = { '0,-1': 'ArrowUp', '0,1': 'ArrowDown', '-1,0': 'ArrowLeft', '1,0': 'ArrowRight' };

/** Returns whether names are read. */
export function readsNames() {
  return !/[?&]names=no\b/.test(location.search + location.hash) && setting('names', 'yes') !== 'no';
}

/** Reads names, or no longer; the address does not say so any more. */
export function switchNames() {
  const reads = readsNames();
  remember('names', reads ? 'no' : null);
  history.replaceState(null, '', location.href.replaceAll(/\bnames=no\b&?/g, ''));
}

/** A request for a position, with how it is to be drawn. */
export function asDrawn(request) {
  return readsNames() ? request : { ...request, names: false };
}

/** The directions that words name, unless names are not read. */
export function directions(words) {
  return readsNames() ? waysOf(words) : null;
}

/**
 * The directions `{way, sign, key}` that words name, or null unless two of them are opposite or
 * across, and no two are the same. Other words may be among them, with null as `way`, but not
 * among letters, and not more than there are directions.
 */
export function waysOf(words) {
  const plain = words.map((word) => word.toLowerCase().replaceAll(/[-_]/g, ''));
  const ways = plain.map((word) => WORDS.get(word) ?? null);
  const known = ways.filter((way) => way !== null);
  const letters = plain.filter((word) => word.length === 1).length;
  if (new Set(known.map(String)).size < known.length || (letters > 0 ? letters < words.length || known.length < words.length : 2 * known.length < words.length)) return null;
  const isPair = ([x, y], [u, v]) => (x === -u && y === -v) || (known.length < words.length && x * u + y * v === 0);
  if (!known.some((one) => known.some((other) => isPair(one, other)))) return null;
  return ways.map((way) => ({ way, sign: SIGNS[way] ?? '', key: KEYS[way] ?? null }));
}
