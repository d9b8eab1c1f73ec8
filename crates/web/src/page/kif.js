// Moves as text: terms in brackets, separated by blanks.

/** Splits a text into terms: `(mark 1 1) wait` is two. Blanks are normalized. */
export function terms(text) {
  const found = [];
  let depth = 0;
  let term = '';
  for (const [token] of text.matchAll(/[()]|[^\s()]+/g)) {
    if (token === ')') {
      if (depth === 0) throw new SyntaxError('there is a closing bracket without an opening one');
      depth -= 1;
      term += ')';
    } else {
      term += (term === '' || term.endsWith('(') ? '' : ' ') + token;
      if (token === '(') depth += 1;
    }
    if (depth === 0) {
      found.push(term);
      term = '';
    }
  }
  if (depth > 0) throw new SyntaxError('a bracket is not closed');
  return found;
}

/** One move with single blanks, as the server writes it. */
export function tidy(move) {
  return terms(String(move)).join(' ');
}
