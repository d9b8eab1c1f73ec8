// Short labels for moves.

/** A move without brackets: `(mark 1 2)` is `mark 1 2`. */
export function plain(move) {
  return move.replaceAll(/[()]/g, ' ').trim().replaceAll(/\s+/g, ' ');
}

/** The parts in which moves differ; whole moves if they have different forms. */
export function differences(moves) {
  const all = moves.map((move) => plain(move).split(' '));
  const [first] = all;
  if (moves.length < 2 || all.some((words) => words.length !== first.length)) return moves.map(plain);
  const differ = first.map((word, index) => all.some((words) => words[index] !== word));
  return all.map((words) => words.filter((_, index) => differ[index]).join(' '));
}

/** Names as a list: `a, b and c`. */
export function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}` : names[0] ?? '';
}

/** Splits a text into lower-case words. */
export function wordsOf(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}
