// The text of one file of the rules, in an editor: CodeMirror, with the colours, brackets and
// indentation of KIF, findings, explanations and completion.

import { fill, make } from './dom.js';
import { bracketAt, indentation, tokens } from './kif_text.js';
import { RuleSearch } from './rule_search.js';

/** The library, which the server sends when the editor opens. */
const LIBRARY = new URL('editor.js', import.meta.url).href;

let library = null;

/** Loads the library, once. Browsers do not load a module again that they could not load. */
export function loaded() {
  library ??= import(LIBRARY);
  return library;
}

/** A text with names between backquotes, and items on lines of their own. */
export function marked(text) {
  return text.split('\n').map((line) => make('p', { class: line.startsWith('- ') ? 'item' : null },
    line.replace(/^- /, '').split('`').map((part, index) => (index % 2 ? make('code', {}, part) : part))));
}

export class RuleText {
  /**
   * `listener` has `onChange(text)`, `onRun()`, `onFix(fix)`, `onPlace(file, line, character)`, and
   * `ask(what, position, signal)`, which requests `hover`, `completion` or `definition`.
   */
  constructor(cm, listener) {
    this.cm = cm;
    this.listener = listener;
    /** The state of the editor for each file. */
    this.states = new WeakMap();
    this.setFindings = cm.StateEffect.define();
    this.marks = this.markField();
    this.search = new RuleSearch(cm, () => this.view);
    this.extensions = this.behaviour();
    this.element = make('div', { class: 'rule-text' }, this.search.element);
    this.view = new cm.EditorView({ parent: this.element });
  }

  /** Shows a file. Undo and the selection are those of the file. */
  show(file) {
    if (this.file === file && this.text === file.text) return;
    if (this.file) this.states.set(this.file, this.view.state);
    const known = this.states.get(file);
    this.file = file;
    this.view.setState(known?.doc.toString() === file.text ? known : this.cm.EditorState.create({ doc: file.text, extensions: this.extensions }));
    this.search.look();
  }

  /** Shows the findings of the file that is shown: `[start, end, finding]`. */
  mark(findings) {
    this.view.dispatch({ effects: this.setFindings.of(findings) });
  }

  get text() {
    return this.view.state.sliceDoc();
  }

  /** The offset of a line, counted from 1, and a column in characters, counted from 1. */
  offset(line, column) {
    const { doc } = this.view.state;
    const { from, text } = doc.line(Math.min(line, doc.lines));
    // Characters may be two units of a string.
    return from + [...text].slice(0, column - 1).join('').length;
  }

  /** The offset of a position of the server: lines and units counted from 0. */
  unit({ line, character }) {
    const { doc } = this.view.state;
    if (line >= doc.lines) return doc.length;
    const { from, to } = doc.line(line + 1);
    return Math.min(from + character, to);
  }

  /** Replaces ranges of the text: `[start, end, text]`. */
  edit(changes) {
    this.view.dispatch({ changes: changes.map(([from, to, insert]) => ({ from, to, insert })), userEvent: 'input.fix' });
    this.view.focus();
  }

  select(from, to) {
    this.view.dispatch({ selection: { anchor: from, head: to }, effects: this.cm.EditorView.scrollIntoView(from, { y: 'center' }) });
    this.view.focus();
  }

  focus() {
    this.view.focus();
  }

  behaviour() {
    const { cm, listener } = this;
    const { EditorView, Prec, keymap } = cm;
    const enter = ({ state, dispatch }) => {
      dispatch(state.update(state.changeByRange(({ from, to }) => {
        const insert = `\n${' '.repeat(indentation(state.doc, from))}`;
        const rest = /^[ \t]*/.exec(state.doc.lineAt(to).text.slice(to - state.doc.lineAt(to).from))[0].length;
        return { changes: { from, to: to + rest, insert }, range: cm.EditorSelection.cursor(from + insert.length) };
      }), { scrollIntoView: true, userEvent: 'input' }));
      return true;
    };
    const define = (view) => { this.define(view.state.selection.main.head); return true; };
    return [
      cm.lineNumbers(), cm.history(), this.marks, this.colours(), this.brackets(), this.tips(),
      this.search.extensions,
      cm.autocompletion({ override: [(context) => this.complete(context)], icons: false }),
      cm.indentUnit.of('    '),
      cm.indentService.of((state, position) => indentation(state.doc, position)),
      cm.placeholder('Paste rules in GDL here, or drop files.'),
      Prec.high(keymap.of([
        { key: 'Mod-Enter', run: () => { listener.onRun(); return true; } },
        { key: 'F12', run: define },
      ])),
      keymap.of([
        ...cm.completionKeymap, ...cm.historyKeymap, { key: 'Enter', run: enter },
        { key: 'Tab', run: cm.indentMore, shift: cm.indentLess },
        { key: 'Alt-ArrowUp', run: cm.moveLineUp, shift: cm.copyLineUp }, { key: 'Alt-ArrowDown', run: cm.moveLineDown, shift: cm.copyLineDown },
        { key: 'Shift-Mod-k', run: cm.deleteLine }, { key: 'Mod-Alt-\\', run: cm.indentSelection },
        ...cm.standardKeymap,
      ]),
      EditorView.contentAttributes.of({ 'aria-label': 'Rules', tabindex: '0', spellcheck: 'false', autocapitalize: 'off', autocorrect: 'off' }),
      EditorView.updateListener.of((update) => update.docChanged && listener.onChange(update.state.sliceDoc())),
      EditorView.domEventHandlers({
        // Files are taken by the page.
        drop: (event) => (event.dataTransfer?.files.length ?? 0) > 0,
        mousedown: (event, view) => {
          if (event.button !== 0 || !(event.ctrlKey || event.metaKey)) return false;
          const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
          if (position !== null) this.define(position);
          return position !== null;
        },
      }),
    ];
  }

  /** Findings as marks in the text, and at the numbers of their lines. */
  markField() {
    const { cm, setFindings } = this;
    const { Decoration, EditorView, RangeSet } = cm;
    const line = Object.fromEntries(['error', 'warning'].map((severity) => [severity, new (class extends cm.GutterMarker {
      get elementClass() { return severity; }
    })()]));
    const none = { marks: Decoration.none, lines: RangeSet.empty };
    const placed = (doc, findings) => {
      const marks = [];
      const lines = new Map();
      for (const [start, end, finding] of findings) {
        const to = Math.min(doc.length, Math.max(end, start + 1));
        if (to > start) marks.push(Decoration.mark({ class: `found ${finding.severity}`, finding }).range(start, to));
        const { from } = doc.lineAt(Math.min(start, doc.length));
        if (lines.get(from) !== 'error') lines.set(from, finding.severity);
      }
      return { marks: Decoration.set(marks, true), lines: RangeSet.of([...lines].map(([from, severity]) => line[severity].range(from)), true) };
    };
    return cm.StateField.define({
      create: () => none,
      update: (found, change) => {
        for (const effect of change.effects) if (effect.is(setFindings)) return placed(change.state.doc, effect.value);
        return change.docChanged ? { marks: found.marks.map(change.changes), lines: found.lines.map(change.changes) } : found;
      },
      provide: (field) => [
        EditorView.decorations.from(field, ({ marks }) => marks), cm.gutterLineClass.from(field, ({ lines }) => lines),
      ],
    });
  }

  /** The colours of the visible lines. */
  colours() {
    const { Decoration, ViewPlugin } = this.cm;
    const looks = Object.fromEntries(['comment', 'variable', 'keyword', 'literal'].map((kind) => [kind, Decoration.mark({ class: `kif-${kind}` })]));
    const visible = (view) => {
      const ranges = [];
      let last = -1;
      for (const { from, to } of view.visibleRanges) {
        for (let position = from; position <= to;) {
          const line = view.state.doc.lineAt(position);
          if (line.number > last) for (const token of tokens(line.text)) if (looks[token.kind]) ranges.push(looks[token.kind].range(line.from + token.from, line.from + token.to));
          last = line.number;
          position = line.to + 1;
        }
      }
      return Decoration.set(ranges);
    };
    return ViewPlugin.define((view) => ({
      decorations: visible(view),
      update(change) { if (change.docChanged || change.viewportChanged) this.decorations = visible(change.view); },
    }), { decorations: (plugin) => plugin.decorations });
  }

  /** Marks the bracket at the cursor, and its match. */
  brackets() {
    const { Decoration, EditorView } = this.cm;
    const found = Decoration.mark({ class: 'bracket' });
    const alone = Decoration.mark({ class: 'bracket alone' });
    return EditorView.decorations.compute(['doc', 'selection'], ({ doc, selection }) => {
      const { head, empty } = selection.main;
      const at = empty ? (bracketAt(doc, Math.max(0, head - 1)) ?? bracketAt(doc, head)) : null;
      if (!at) return Decoration.none;
      if (at.match === null) return Decoration.set([alone.range(at.from, at.from + 1)]);
      return Decoration.set([at.from, at.match].sort((a, b) => a - b).map((position) => found.range(position, position + 1)));
    });
  }

  /** The findings at a position, or else the explanation of the name there. */
  tips() {
    return this.cm.hoverTooltip(async (view, position) => {
      const { state } = view;
      const found = [];
      state.field(this.marks).marks.between(position, position, (from, to, { spec }) => { found.push([from, to, spec.finding]); });
      if (found.length > 0) {
        const [from, to] = found[0];
        return { pos: from, end: to, above: true, create: () => ({ dom: this.tip(found.map(([, , finding]) => finding)) }) };
      }
      const meaning = await this.listener.ask('hover', this.position(position)).catch(() => null);
      if (!meaning || view.state.doc !== state.doc) return null;
      return { pos: this.unit(meaning.range.start), end: this.unit(meaning.range.end), above: true, create: () => ({ dom: make('div', { class: 'rule-tip' }, marked(meaning.text)) }) };
    }, { hideOnChange: true });
  }

  tip(findings) {
    return make('div', { class: 'rule-tip' }, findings.map((finding) => [
      make('p', {}, finding.message), finding.help && make('p', { class: 'quiet' }, finding.help), fixes(finding, this.listener.onFix)]).flat());
  }

  position(offset) {
    const line = this.view.state.doc.lineAt(offset);
    return { line: line.number - 1, character: offset - line.from };
  }

  async complete(context) {
    const word = context.matchBefore(/[^\s();]*/);
    const before = context.state.sliceDoc(Math.max(0, word.from - 1), word.from);
    if (!context.explicit && word.from === word.to && before !== '(') return null;
    const line = context.state.doc.lineAt(context.pos);
    if (tokens(line.text).some(({ kind, from }) => kind === 'comment' && line.from + from < context.pos)) return null;
    const stop = new AbortController();
    context.addEventListener('abort', () => stop.abort());
    const words = await this.listener.ask('completion', this.position(context.pos), stop.signal).catch(() => []);
    if (context.aborted || words.length === 0) return null;
    const rank = { variable: 3, function: 2, relation: 2, constant: 1, keyword: 0 };
    return {
      from: word.from, validFor: /^[^\s();]*$/,
      options: words.map(({ word: label, kind, detail }) => ({ label, detail: kind === 'constant' ? '' : detail, type: kind, boost: rank[kind] ?? 0 })),
    };
  }

  /** Goes to the first definition of the name at an offset that is not the name itself. */
  async define(offset) {
    const at = this.position(offset);
    const places = await this.listener.ask('definition', at).catch(() => []);
    const own = ({ file, range: { start } }) => file === this.file.name && start.line === at.line && start.character <= at.character;
    const place = places.find((one) => !own(one)) ?? places[0];
    if (place) this.listener.onPlace(place.file, place.range);
  }

  leave() {
    this.view.destroy();
  }
}

/** Buttons that apply the fixes of a finding. */
export function fixes(finding, onFix) {
  const offered = finding.fixes ?? [];
  if (offered.length === 0) return null;
  const apply = (fix) => {
    const control = make('button', { type: 'button', class: 'small fix' }, fix.title);
    control.addEventListener('click', () => onFix(fix));
    return control;
  };
  return make('div', { class: 'line-of fixes' }, offered.map(apply));
}

/** Replaces the content of an element with the reason why the library is missing. */
export function missing(element) {
  const control = make('button', { type: 'button' }, 'Reload the page');
  control.addEventListener('click', () => location.reload());
  fill(element, make('p', { class: 'trouble', role: 'alert' }, 'The editor did not load. Is `ggp web` still running? Your rules are kept.'), control);
}
