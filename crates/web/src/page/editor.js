// The rule editor: rules are typed, pasted or dropped, and checked while typing.

import { check } from './api.js';
import { button, fill, icon, make, settled, textOf, trouble } from './dom.js';
import { Game } from './rules.js';
import { counted } from './moves.js';

const DRAFT = 'draft';
/** The name under which the replaced draft is stored. */
const EARLIER = 'earlier draft';
/** Milliseconds without a keystroke before the rules are checked. */
const REST = 350;
/** Length above which findings are only listed, not marked in the text. */
const LONGEST_MARKED = 200_000;

const EXAMPLE = `; Two players name a number; the higher one wins.

(role left)
(role right)

(number 1) (number 2) (number 3)
(higher 2 1) (higher 3 1) (higher 3 2)

(init open)
(<= (legal ?player (name ?number))
    (role ?player)
    (number ?number)
    (true open))
(<= (next (named ?player ?number))
    (does ?player (name ?number)))

(<= terminal
    (not (true open)))

(<= (beaten ?player)
    (true (named ?player ?low))
    (true (named ?other ?high))
    (higher ?high ?low))
(<= decided
    (beaten ?player))
(<= (goal ?player 0)
    (beaten ?player))
(<= (goal ?player 100)
    (role ?player)
    decided
    (not (beaten ?player)))
(<= (goal ?player 50)
    (role ?player)
    (not decided))
`;

/** A stored draft, if there is one. */
function kept(name) {
  try { return JSON.parse(localStorage.getItem(name)); } catch { return null; }
}

function keep(name, rules) {
  try { localStorage.setItem(name, JSON.stringify(rules)); } catch { /* Too long to keep. */ }
}

/** Returns whether a file declares roles, as the rules of a complete game do. */
const declaresRoles = ({ text }) => /\(\s*role\s/i.test(text);

/** Reads files as a rule set: `.toml` is the picture file, all others are rules. */
export async function readFiles(files) {
  const rules = { files: [], picture: null };
  for (const file of files) {
    const text = await textOf(file);
    if (file.name.endsWith('.toml')) rules.picture = text;
    else rules.files.push({ name: file.name, text });
  }
  return rules;
}

export class Editor {
  /** `onPlay(game)` is called with a game that was loaded. */
  constructor(rules, onPlay, findings = null) {
    this.onPlay = onPlay;
    const left = kept(DRAFT);
    if (rules && left && JSON.stringify(rules) !== JSON.stringify(left)) keep(EARLIER, left);
    this.rules = rules ?? left ?? { files: [{ name: 'rules.kif', text: '' }], picture: null };
    if (this.rules.files.length === 0) this.rules.files.push({ name: 'rules.kif', text: '' });
    this.at = 0;
    this.findings = findings ?? [];
    this.numbers = make('pre', { class: 'numbers', 'aria-hidden': 'true' });
    this.behind = make('pre', { class: 'behind', 'aria-hidden': 'true' });
    this.text = make('textarea', {
      class: 'rules', wrap: 'off', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off',
      'aria-label': 'Rules', placeholder: 'Paste rules in GDL here, or drop files.',
    });
    this.text.addEventListener('input', () => this.typed());
    this.text.addEventListener('scroll', () => this.scrolled());
    this.text.addEventListener('keydown', (event) => this.key(event));
    this.tabs = make('div', { class: 'files' });
    this.state = make('p', { class: 'state', 'aria-live': 'polite' });
    this.list = make('ol', { class: 'findings' });
    this.trouble = trouble();
    this.play = button('Play', () => this.start(), { class: 'strong', disabled: true });
    const picker = make('input', { type: 'file', multiple: true, accept: '.kif,.gdl,.txt,.toml', hidden: true });
    picker.addEventListener('change', () => this.take(picker.files));
    this.picture = make('p', { class: 'quiet', hidden: true });
    this.before = button('Restore earlier rules', () => this.earlier(), { class: 'small', hidden: kept(EARLIER) === null });
    this.other = make('p', { class: 'quiet', role: 'status', hidden: true }, 'Your earlier rules were replaced. “Restore earlier rules” brings them back.');
    this.element = make('section', { class: 'editor', 'aria-label': 'Your own rules' },
      make('h1', { tabindex: '-1' }, 'Your own rules'),
      make('p', { class: 'quiet' }, 'Paste rules in GDL, or drop files here. Several files together make one game. The rules are checked as you type.'),
      make('div', { class: 'line-of' }, this.tabs, button('Open files …', () => picker.click(), { class: 'small' }), picker,
        button('Insert example', () => this.example(), { class: 'small' }),
        this.before),
      make('div', { class: 'pane' }, this.numbers, make('div', { class: 'layers' }, this.behind, this.text)),
      this.other, this.picture,
      make('div', { class: 'line-of' }, this.play, this.state), this.trouble, this.list);
    this.check = settled(REST, () => this.ask());
    this.drops(this.element);
    this.open(0);
    if (findings) this.said({ right: false, findings, omitted: 0 });
    this.ask();
  }

  drops(zone) {
    zone.addEventListener('dragover', (event) => {
      event.preventDefault();
      zone.classList.add('over');
    });
    zone.addEventListener('dragleave', () => zone.classList.remove('over'));
    zone.addEventListener('drop', (event) => {
      event.preventDefault();
      zone.classList.remove('over');
      this.take(event.dataTransfer.files);
    });
  }

  /** Adds files. A file replaces one of the same name, or an empty one. */
  async take(dropped) {
    this.trouble.say('');
    let read;
    try {
      read = await readFiles(dropped);
    } catch (error) {
      this.trouble.say(error.message);
      return;
    }
    const { files, picture } = read;
    let own = this.rules.files.filter((file) => file.text.trim() !== '' && !files.some((other) => other.name === file.name));
    if (files.some(declaresRoles) && own.some(declaresRoles)) {
      // This is another game, not a part of the current one.
      keep(EARLIER, this.rules);
      this.before.hidden = false;
      this.other.hidden = false;
      this.rules = { files: [], picture: null };
      own = [];
    }
    this.rules.files = [...own, ...files];
    if (this.rules.files.length === 0) this.rules.files.push({ name: 'rules.kif', text: '' });
    this.rules.picture = picture ?? this.rules.picture;
    this.open(Math.max(0, this.rules.files.length - files.length));
    this.typed();
  }

  example() {
    if (this.text.value.trim() && !this.text.value.startsWith('; Two players name')) {
      this.rules.files.push({ name: 'example.kif', text: EXAMPLE });
      this.open(this.rules.files.length - 1);
    } else {
      this.text.value = EXAMPLE;
    }
    this.typed();
  }

  /** Swaps the current rules with the earlier draft. */
  earlier() {
    const rules = kept(EARLIER);
    this.other.hidden = true;
    keep(EARLIER, this.rules);
    this.rules = rules;
    this.open(0);
    this.typed();
  }

  open(index) {
    this.at = index;
    this.text.value = this.rules.files[index].text;
    fill(this.tabs, this.rules.files.map(({ name }, other) => {
      const tab = button(name, () => this.open(other), { class: 'file', 'aria-pressed': String(other === index) });
      return this.rules.files.length > 1
        ? make('span', { class: 'file-tab' }, tab, button(icon('close'), () => this.drop(other), { class: 'plain', 'aria-label': `Remove ${name}` })) : tab;
    }), button(icon('add'), () => this.add(), { class: 'plain', 'aria-label': 'Add a file', title: 'Add a file' }));
    this.picture.hidden = !this.rules.picture;
    fill(this.picture, 'Uses a picture file. ', button('Remove', () => { this.rules.picture = null; this.open(this.at); this.typed(); }, { class: 'small' }));
    this.mark();
    this.scrolled();
  }

  add() {
    this.rules.files.push({ name: `rules-${this.rules.files.length + 1}.kif`, text: '' });
    this.open(this.rules.files.length - 1);
    this.text.focus();
  }

  drop(index) {
    this.rules.files.splice(index, 1);
    this.open(0);
    this.typed();
  }

  typed() {
    this.rules.files[this.at].text = this.text.value;
    keep(DRAFT, this.rules);
    this.findings = [];
    this.mark();
    this.play.disabled = true;
    this.state.textContent = '';
    this.check();
  }

  key(event) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !this.play.disabled) this.start();
  }

  scrolled() {
    this.behind.style.transform = `translate(${-this.text.scrollLeft}px, ${-this.text.scrollTop}px)`;
    this.numbers.style.transform = `translateY(${-this.text.scrollTop}px)`;
  }

  async ask() {
    if (this.rules.files.every((file) => file.text.trim() === '')) {
      this.said({ right: false, findings: [], omitted: 0 });
      this.state.textContent = '';
      return;
    }
    this.stop?.abort();
    this.stop = new AbortController();
    this.state.textContent = 'Checking …';
    try {
      this.said(await check({ files: this.rules.files, picture: this.rules.picture ?? null }, this.stop.signal));
      this.trouble.say('');
    } catch (error) {
      if (error.name === 'AbortError') return;
      this.state.textContent = '';
      this.trouble.say(error.message);
    }
  }

  said({ right, findings, omitted }) {
    this.findings = findings;
    this.play.disabled = !right;
    const errors = findings.filter((one) => one.severity === 'error').length;
    const warnings = findings.length - errors;
    const counts = [errors && counted(errors, 'error'), warnings && counted(warnings, 'warning')].filter(Boolean).join(', ');
    this.state.textContent = right ? `No errors found${counts ? `; ${counts}` : ''}.` : counts || 'These rules are not a complete game yet.';
    this.state.className = `state ${right ? 'right' : 'wrong'}`;
    fill(this.list, findings.map((finding) => this.finding(finding)), omitted > 0 && make('li', { class: 'quiet' }, `${omitted} more.`));
    this.mark();
  }

  finding(finding) {
    const { code, severity, message, place, notes, help } = finding;
    return make('li', { class: severity },
      button(place ? `${place.file}:${place.line}:${place.column}` : 'rules', () => this.goto(place), { class: 'place', disabled: !place }),
      ' ', make('span', { class: 'severity' }, `${severity} ${code}`), ' ', make('span', { class: 'message' }, message),
      (notes ?? []).map((note) => make('p', { class: 'note' }, button(`${note.place.line}:${note.place.column}`, () => this.goto(note.place), { class: 'place' }), ` ${note.message}`)),
      help && make('p', { class: 'note' }, help));
  }

  /** The text offsets of a source location. */
  range({ line, column, text }) {
    const value = this.text.value;
    let start = 0;
    for (let at = 1; at < line; at += 1) {
      const end = value.indexOf('\n', start);
      if (end < 0) break;
      start = end + 1;
    }
    // Columns count characters, which may be two units of a string.
    start += [...value.slice(start, start + 4 * column)].slice(0, column - 1).join('').length;
    return [start, Math.min(value.length, start + Math.max(1, text?.length ?? 1))];
  }

  fileOf(place) {
    return Math.max(0, this.rules.files.findIndex(({ name }) => name === place.file));
  }

  goto(place) {
    if (!place) return;
    if (this.fileOf(place) !== this.at) this.open(this.fileOf(place));
    const [start, end] = this.range(place);
    this.text.focus();
    this.text.setSelectionRange(start, end);
    const height = Number.parseFloat(getComputedStyle(this.text).lineHeight);
    this.text.scrollTop = Math.max(0, (place.line - 4) * height);
    this.scrolled();
  }

  mark() {
    const value = this.text.value;
    const here = this.findings.filter((finding) => finding.place && this.fileOf(finding.place) === this.at);
    const worst = new Map();
    for (const { severity, place } of here) if (worst.get(place.line) !== 'error') worst.set(place.line, severity);
    const count = value.split('\n').length;
    const said = `${count} ${[...worst].join()}`;
    // This runs on every keystroke, so unchanged numbers are kept.
    if (said !== this.numbered) this.number(count, worst);
    this.numbered = said;
    const parts = [];
    let from = 0;
    if (here.length > 0 && value.length <= LONGEST_MARKED) {
      const ranges = here.map((finding) => [...this.range(finding.place), finding]).sort((a, b) => a[0] - b[0]);
      for (const [start, end, { severity, message }] of ranges) {
        if (start < from) continue;
        parts.push(value.slice(from, start), make('mark', { class: severity, title: message }, value.slice(start, end)));
        from = end;
      }
      parts.push(`${value.slice(from)}\n`);
    }
    fill(this.behind, parts);
  }

  number(count, worst) {
    const lines = [];
    let plain = [];
    const flush = () => { if (plain.length) lines.push(`${plain.join('\n')}\n`); plain = []; };
    for (let line = 1; line <= count; line += 1) {
      if (worst.has(line)) {
        flush();
        lines.push(make('span', { class: `number ${worst.get(line)}` }, String(line)), '\n');
      } else {
        plain.push(String(line));
      }
    }
    flush();
    fill(this.numbers, lines);
  }

  async start() {
    this.play.disabled = true;
    this.trouble.say('');
    try {
      this.onPlay(await Game.loaded({ files: this.rules.files, picture: this.rules.picture ?? null }));
    } catch (error) {
      if (error.status === 422 && error.body?.findings) this.said(error.body);
      else this.trouble.say(error.message);
    } finally {
      this.play.disabled = false;
    }
  }

  leave() {
    this.check.cancel();
    this.stop?.abort();
  }
}

