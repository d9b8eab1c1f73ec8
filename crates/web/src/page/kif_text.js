// The text of rules in KIF: its tokens, brackets and indentation.

/** The words of GDL. */
const KEYWORDS = new Set('role init true next legal does goal terminal base input sees distinct not or and <='.split(' '));
/** Maximum length of a line that is examined, and maximum number of lines searched for a bracket. */
const LONGEST_LINE = 5_000;
const MOST_LINES = 5_000;
/** The indentation of the body of a rule. */
const BODY = 4;

const TOKENS = /;.*|[()]|[^\s();]+/g;

function kindOf(token) {
  if (token.startsWith(';')) return 'comment';
  if (token === '(' || token === ')') return 'bracket';
  if (token.startsWith('?')) return 'variable';
  if (KEYWORDS.has(token.toLowerCase())) return 'keyword';
  return /^-?\d+$/.test(token) || token.startsWith('"') ? 'literal' : 'name';
}

/** The tokens of a line, as `{ from, to, text, kind }`. */
export function tokens(line) {
  if (line.length > LONGEST_LINE) return [];
  return [...line.matchAll(TOKENS)].map(({ 0: text, index }) => ({ from: index, to: index + text.length, text, kind: kindOf(text) }));
}

const brackets = (line) => tokens(line).filter(({ kind }) => kind === 'bracket');

/**
 * The bracket at a position of a document, and the position of its match, or null if it has
 * none. Null if there is no bracket.
 */
export function bracketAt(doc, position) {
  const line = doc.lineAt(position);
  const here = brackets(line.text).find(({ from }) => line.from + from === position);
  if (!here) return null;
  const direction = here.text === '(' ? 1 : -1;
  let depth = 0;
  for (let number = line.number; number >= 1 && number <= doc.lines && Math.abs(number - line.number) < MOST_LINES; number += direction) {
    const { text, from } = doc.line(number);
    const found = brackets(text);
    if (direction < 0) found.reverse();
    for (const bracket of found) {
      const at = from + bracket.from;
      if ((at - position) * direction < 0) continue;
      depth += bracket.text === here.text ? 1 : -1;
      if (depth === 0) return { from: position, match: at };
    }
  }
  return { from: position, match: null };
}

/** The column at which a line after this position begins. */
export function indentation(doc, position) {
  const last = doc.lineAt(position);
  let depth = 0;
  for (let { number } = last; number >= 1 && last.number - number < MOST_LINES; number -= 1) {
    const line = doc.line(number);
    const all = tokens(line.text).filter(({ kind, from }) => kind !== 'comment' && line.from + from < position);
    for (let index = all.length - 1; index >= 0; index -= 1) {
      const { text, from } = all[index];
      if (text === ')') depth += 1;
      else if (text === '(' && depth > 0) depth -= 1;
      else if (text === '(') return all[index + 1]?.text === '<=' ? from + BODY : aligned(all, index);
    }
  }
  return 0;
}

/** Below the first argument of a list, if there is one on the line of its bracket. */
function aligned(all, index) {
  const [name, argument] = all.slice(index + 1, index + 3);
  return argument && argument.text !== ')' && name.text !== '(' ? argument.from : all[index].from + 1;
}
