// The rule editor: rules are typed, pasted or dropped, and checked while typing.

import { ask, check } from './api.js';
import { button, fill, icon, make, opener, settled, textOf, trouble } from './dom.js';
import { counted } from './moves.js';
import { RuleText, fixes, loaded, missing } from './rule_text.js';
import { Game } from './rules.js';
import { Trial } from './trial.js';

const DRAFT = 'draft';
/** The name under which the replaced draft is stored. */
const EARLIER = 'earlier draft';
/** Milliseconds without a keystroke before the rules are checked. */
const REST = 350;
/** Length of all rules above which the server is not asked about names while someone types. */
const LONGEST_ASKED = 200_000;

const SAMPLE = 'example.kif';
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
(<= (goal ?player 0)
    (beaten ?player))
(<= (goal ?player 100)
    (role ?player)
    (beaten ?other)
    (not (beaten ?player)))
(<= (goal ?player 50)
    (role ?player)
    (not (beaten left))
    (not (beaten right)))
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

/** Keys that a text area would not have. */
const KEYS = 'Ctrl+Space completes a name, F12 goes to its definition, Ctrl+F searches, Ctrl+Enter plays. To leave the editor with the keyboard, press Escape and then Tab.';

const empty = () => ({ files: [{ name: 'rules.kif', text: '' }], picture: null });

export class Editor {
  /** `onPlay(game, moves)` is called with a game that was loaded, and the moves to a position. */
  constructor(rules, onPlay, findings = null) {
    this.onPlay = onPlay;
    const left = kept(DRAFT);
    if (rules && left && JSON.stringify(rules) !== JSON.stringify(left)) keep(EARLIER, left);
    this.rules = rules ?? left ?? empty();
    if (this.rules.files.length === 0) this.rules.files.push(...empty().files);
    this.at = 0;
    this.findings = findings ?? [];
    /** The files as they were when they last had no errors. */
    this.correct = null;
    this.tabs = make('div', { class: 'files' });
    this.pane = make('div', { class: 'pane' }, make('p', { class: 'quiet waiting' }, 'Loading the editor …'));
    this.state = make('p', { class: 'state', 'aria-live': 'polite' });
    this.list = make('ol', { class: 'findings' });
    this.trouble = trouble();
    this.trial = new Trial({ onPlace: (place) => this.goto(place), onShow: (moves) => this.start(moves) });
    this.play = button('Play', () => this.start(), { class: 'strong', disabled: true });
    this.picture = make('p', { class: 'quiet', hidden: true });
    this.before = button('Restore earlier rules', () => this.earlier(), { class: 'small', hidden: kept(EARLIER) === null });
    this.other = make('p', { class: 'quiet', role: 'status', hidden: true }, 'Your earlier rules were replaced. “Restore earlier rules” brings them back.');
    this.element = make('section', { class: 'editor', 'aria-label': 'Your own rules' },
      make('h1', { tabindex: '-1' }, 'Your own rules'),
      make('p', { class: 'quiet' }, 'Paste rules in GDL, or drop files here. Several files together make one game. The rules are checked as you type.'),
      make('div', { class: 'line-of' }, this.tabs, opener('Open files …', (files) => this.take(files), { multiple: true, accept: '.kif,.gdl,.txt,.toml' }, { class: 'small' }),
        button('Insert example', () => this.example(), { class: 'small' }),
        this.before),
      this.pane,
      make('p', { class: 'quiet keys' }, KEYS),
      this.other, this.picture,
      make('div', { class: 'line-of' }, this.play, this.state), this.trouble, this.list, this.trial.element);
    this.check = settled(REST, () => this.ask());
    this.drops(this.element);
    if (findings) this.said({ right: false, findings, omitted: 0 });
    this.open(0);
    this.load();
    this.ask();
  }

  /** Loads the library and shows the text. */
  async load() {
    try {
      const library = await loaded();
      if (this.gone) return;
      this.text = new RuleText(library, {
        onChange: (text) => this.changed(text), onRun: () => { if (!this.play.disabled) this.start(); }, onFix: (fix) => this.fix(fix),
        onPlace: (file, range) => this.reveal(file, () => [this.text.unit(range.start), this.text.unit(range.end)]),
        ask: (what, position, signal) => this.askAbout(what, position, signal),
      });
      fill(this.pane, this.text.element);
      this.open(this.at);
    } catch (error) {
      missing(this.pane);
      // A module that cannot be loaded is a TypeError; all others are errors of this page.
      if (!(error instanceof TypeError)) throw error;
    }
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
      if (event.dataTransfer.files.length > 0) this.take(event.dataTransfer.files);
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
      this.putAside();
      own = [];
    }
    this.rules.files = [...own, ...files];
    if (this.rules.files.length === 0) this.rules.files.push(...empty().files);
    this.rules.picture = picture ?? this.rules.picture;
    this.open(Math.max(0, this.rules.files.length - files.length));
    this.typed();
  }

  /** Keeps the current rules as the earlier draft, and begins with nothing. */
  putAside() {
    keep(EARLIER, this.rules);
    this.before.hidden = false;
    this.other.hidden = false;
    this.rules = { files: [], picture: null };
  }

  example() {
    const { files } = this.rules;
    if (files.some(({ text }) => text.trim() !== '' && text !== EXAMPLE)) this.putAside();
    this.rules = { files: [{ name: SAMPLE, text: EXAMPLE }], picture: null };
    this.open(0);
    this.typed();
    this.text?.focus();
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
    fill(this.tabs, this.rules.files.map(({ name }, other) => {
      const tab = button(name, () => this.open(other), { class: 'file', 'aria-pressed': String(other === index) });
      return this.rules.files.length > 1
        ? make('span', { class: 'file-tab' }, tab, button(icon('close'), () => this.drop(other), { class: 'plain', 'aria-label': `Remove ${name}` })) : tab;
    }), button(icon('add'), () => this.add(), { class: 'plain', 'aria-label': 'Add a file', title: 'Add a file' }));
    this.picture.hidden = !this.rules.picture;
    fill(this.picture, 'Uses a picture file. ', button('Remove', () => { this.rules.picture = null; this.open(this.at); this.typed(); }, { class: 'small' }));
    this.text?.show(this.rules.files[index]);
    this.mark();
  }

  add() {
    const names = new Set(this.rules.files.map(({ name }) => name));
    let number = this.rules.files.length + 1;
    while (names.has(`rules-${number}.kif`)) number += 1;
    this.rules.files.push({ name: `rules-${number}.kif`, text: '' });
    this.open(this.rules.files.length - 1);
    this.text?.focus();
  }

  drop(index) {
    this.rules.files.splice(index, 1);
    this.open(0);
    this.typed();
  }

  changed(text) {
    const file = this.rules.files[this.at];
    file.text = text;
    if (file.name === SAMPLE && text && !text.includes('(name ?number)')) {
      file.name = 'pasted.kif';
      this.open(this.at);
    }
    this.typed();
  }

  typed() {
    keep(DRAFT, this.rules);
    this.play.disabled = true;
    this.stop?.abort();
    this.state.textContent = '';
    this.trial.clear();
    this.check();
  }

  get whole() {
    return { files: this.rules.files.map(({ name, text }) => ({ name, text })), picture: this.rules.picture ?? null };
  }

  /** Asks the server about a position in the file that is shown. */
  async askAbout(what, position, signal) {
    const { files } = this.whole;
    if (files.reduce((sum, { text }) => sum + text.length, 0) > LONGEST_ASKED) throw new Error('These rules are too long to ask about them while typing.');
    return ask(`api/${what}`, { files, before: this.correct ?? undefined, at: { file: files[this.at].name, ...position } }, signal);
  }

  async ask() {
    if (this.rules.files.every((file) => file.text.trim() === '')) {
      this.said({ right: false, findings: [], omitted: 0 });
      this.state.textContent = '';
      return;
    }
    this.stop?.abort();
    const stop = new AbortController();
    this.stop = stop;
    this.state.textContent = 'Checking …';
    this.state.className = 'state';
    const asked = this.whole;
    try {
      const report = await check(asked, stop.signal);
      this.said(report);
      this.trouble.say('');
      if (!report.right) return;
      this.correct = asked.files;
      this.trial.clear('Playing random matches …');
      this.trial.show(await ask('api/try', asked, stop.signal));
    } catch (error) {
      if (error.name === 'AbortError') return;
      if (this.state.textContent === 'Checking …') this.state.textContent = '';
      this.trial.clear();
      this.trouble.say(error.message);
    }
  }

  said({ right, findings, omitted }) {
    this.findings = findings;
    this.play.disabled = !right;
    const errors = findings.filter((one) => one.severity === 'error').length;
    const warnings = findings.length - errors;
    const counts = [errors && counted(errors, 'error'), warnings && counted(warnings, 'warning')].filter(Boolean).join(', ');
    if (right) this.state.textContent = counts ? `No errors, ${counts}.` : 'No errors found.';
    else this.state.textContent = counts || 'These rules are not a complete game yet.';
    this.state.className = `state ${right && warnings > 0 ? 'warned' : right ? 'right' : 'wrong'}`;
    fill(this.list, findings.map((finding) => this.finding(finding)), omitted > 0 && make('li', { class: 'quiet' }, `${omitted} more.`));
    this.mark();
  }

  finding(finding) {
    const { code, severity, message, place, notes, help } = finding;
    return make('li', { class: severity },
      button(place ? `${place.file}:${place.line}:${place.column}` : 'rules', () => this.goto(place), { class: 'place', disabled: !place }),
      ' ', make('span', { class: 'severity' }, `${severity} ${code}`), ' ', make('span', { class: 'message' }, message),
      (notes ?? []).map((note) => make('p', { class: 'note' }, button(`${note.place.line}:${note.place.column}`, () => this.goto(note.place), { class: 'place' }), ` ${note.message}`)),
      help && make('p', { class: 'note' }, help), fixes(finding, (fix) => this.fix(fix)));
  }

  /** Applies a fix, which may change several files. */
  fix({ edits }) {
    const names = [...new Set(edits.map(({ file }) => file))];
    // The file that is shown comes last, so that it is shown again.
    names.sort((a, b) => (a === this.rules.files[this.at].name) - (b === this.rules.files[this.at].name));
    for (const name of names) {
      this.openNamed(name);
      this.text.edit(edits.filter(({ file }) => file === name).map(({ range, text }) => [this.text.unit(range.start), this.text.unit(range.end), text]));
    }
  }

  /** The text offsets of a source location in the file that is shown. */
  range({ line, column, text }) {
    const start = this.text.offset(line, column);
    return [start, start + Math.max(1, text?.length ?? 1)];
  }

  indexOf(name) {
    return Math.max(0, this.rules.files.findIndex((file) => file.name === name));
  }

  openNamed(name) {
    if (this.indexOf(name) !== this.at) this.open(this.indexOf(name));
  }

  /** Opens a file and selects a range. */
  reveal(name, range) {
    this.openNamed(name);
    this.text.select(...range());
  }

  goto(place) {
    if (place && this.text) this.reveal(place.file, () => this.range(place));
  }

  mark() {
    if (!this.text) return;
    const here = this.findings.filter(({ place }) => place && this.indexOf(place.file) === this.at);
    this.text.mark(here.map((finding) => [...this.range(finding.place), finding]));
  }

  async start(moves = []) {
    this.play.disabled = true;
    this.trouble.say('');
    try {
      this.onPlay(await Game.loaded(this.whole), moves);
    } catch (error) {
      if (error.status === 422 && error.body?.findings) this.said(error.body);
      else this.trouble.say(error.message);
    } finally {
      this.play.disabled = false;
    }
  }

  leave() {
    this.gone = true;
    this.check.cancel();
    this.stop?.abort();
    this.text?.leave();
  }
}
