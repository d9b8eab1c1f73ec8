// The text of the rules, with highlighted lines.

import { button, fill, make } from './dom.js';
import { tokens } from './kif_text.js';

/** Maximum number of lines of a form that are searched for its end. */
const MOST_LINES = 1_000;

/** The last line of the form that begins in a line; lines are counted from 1. */
function endOf(text, line) {
  const lines = text.split('\n').slice(line - 1, line - 1 + MOST_LINES);
  let depth = 0;
  for (const [index, one] of lines.entries()) {
    for (const token of tokens(one)) if (token.kind === 'bracket') depth += token.text === '(' ? 1 : -1;
    if (depth <= 0) return line + index;
  }
  return line;
}

/** The lines of a source location: `[first, last]`, counted from 1. */
function linesOf(text, { line, bytes }) {
  if (!bytes) return [line, endOf(text, line)];
  const covered = new TextDecoder().decode(new TextEncoder().encode(text).subarray(bytes[0], bytes[1]));
  return [line, line + covered.trimEnd().split('\n').length - 1];
}

export class Source {
  constructor(files) {
    this.files = files;
    this.at = 0;
    this.tabs = make('div', { class: 'files' });
    this.text = make('div', { class: 'source', tabindex: '0', role: 'region', 'aria-label': 'Rules' });
    this.element = make('div', { class: 'source-box' }, this.tabs, this.text);
    this.open(0);
  }

  open(index) {
    this.at = index;
    fill(this.tabs, this.files.map(({ name }, other) => button(name, () => this.open(other), { class: 'file', 'aria-pressed': String(other === index) })));
    this.lines = this.files[index].text.split('\n').map((line) => make('div', { class: line.trimStart().startsWith(';') ? 'line comment' : 'line' }, line || ' '));
    fill(this.text, this.lines);
    this.lit = [];
  }

  unlit() {
    for (const line of this.lit) line.classList.remove('lit');
    this.lit = [];
  }

  /** Highlights the lines of a source location, and scrolls to them. */
  show(place) {
    const named = this.files.findIndex(({ name }) => name === place.file);
    const index = named >= 0 ? named : Math.max(0, this.files.findIndex(({ name }) => place.file.endsWith(`/${name}`) || name.endsWith(`/${place.file}`)));
    if (index !== this.at) this.open(index);
    this.unlit();
    const [first, last] = linesOf(this.files[index].text, place);
    this.lit = this.lines.slice(first - 1, last);
    for (const line of this.lit) line.classList.add('lit');
    const start = this.lit[0];
    if (!start) return;
    const top = start.offsetTop;
    const bottom = this.lit[this.lit.length - 1].offsetTop + start.offsetHeight;
    const { scrollTop, clientHeight } = this.text;
    if (top < scrollTop || bottom > scrollTop + clientHeight) this.text.scrollTop = Math.max(0, top - clientHeight / 3);
  }
}
