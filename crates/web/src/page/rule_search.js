// Finds and replaces text in the rule editor.

import { button, icon, make } from './dom.js';

/** Maximum number of places that are found. */
const MOST = 10_000;

export class RuleSearch {
  /** `view()` returns the editor. */
  constructor(cm, view) {
    this.cm = cm;
    this.view = view;
    this.setWord = cm.StateEffect.define();
    this.found = this.field();
    const field = (label, listener) => make('input', { type: 'text', placeholder: label, 'aria-label': label, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', on: { input: listener } });
    this.word = field('Find', () => this.look());
    this.other = field('Replace with', () => {});
    this.count = make('span', { class: 'quiet', 'aria-live': 'polite' });
    this.element = make('div', { class: 'rule-search', role: 'search', hidden: true }, this.word, this.count,
      button('Previous', () => this.go(-1), { class: 'small' }), button('Next', () => this.go(1), { class: 'small' }),
      this.other, button('Replace', () => this.replace(), { class: 'small' }), button('Replace all', () => this.replaceAll(), { class: 'small' }),
      button(icon('close'), () => this.close(), { class: 'plain', 'aria-label': 'Close the search' }));
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
      else if (event.key === 'Enter' && event.target === this.word) this.go(event.shiftKey ? -1 : 1);
      else if (event.key === 'Enter' && event.target === this.other) this.replace();
      else return;
      event.preventDefault();
    });
    const go = (step) => () => { this.go(step); return true; };
    this.extensions = [this.found, cm.keymap.of([
      { key: 'Mod-f', run: () => this.open() }, { key: 'F3', run: go(1), shift: go(-1), preventDefault: true }, { key: 'Mod-g', run: go(1), shift: go(-1), preventDefault: true },
    ])];
  }

  /** The word, the places where it is, and their marks. */
  field() {
    const { Decoration, EditorView, StateField } = this.cm;
    const mark = Decoration.mark({ class: 'search-match' });
    const chosen = Decoration.mark({ class: 'search-match chosen' });
    const found = (word, doc) => {
      const places = [];
      const text = word ? doc.toString().toLowerCase() : '';
      for (let at = text.indexOf(word); word && at >= 0 && places.length < MOST; at = text.indexOf(word, at + word.length)) places.push(at);
      return { word, places };
    };
    return StateField.define({
      create: () => ({ word: '', places: [] }),
      update: (known, change) => {
        const effect = change.effects.find((one) => one.is(this.setWord));
        if (effect) return found(effect.value, change.state.doc);
        return change.docChanged && known.word ? found(known.word, change.state.doc) : known;
      },
      provide: (own) => EditorView.decorations.compute([own, 'selection'], (state) => {
        const { word, places } = state.field(own);
        const { from, to } = state.selection.main;
        return Decoration.set(places.map((at) => (at === from && at + word.length === to ? chosen : mark).range(at, at + word.length)));
      }),
    });
  }

  open() {
    const { state } = this.view();
    const { from, to } = state.selection.main;
    const text = state.sliceDoc(from, to);
    if (text && !text.includes('\n')) this.word.value = text;
    this.element.hidden = false;
    this.word.focus();
    this.word.select();
    this.look();
    return true;
  }

  close() {
    this.element.hidden = true;
    this.view().dispatch({ effects: this.setWord.of('') });
    this.view().focus();
  }

  /** Searches again, as after a change of the word or of the file. */
  look() {
    if (this.element.hidden) return;
    this.view().dispatch({ effects: this.setWord.of(this.word.value.toLowerCase()) });
    this.say();
  }

  say() {
    const { word, places } = this.view().state.field(this.found);
    const at = places.indexOf(this.view().state.selection.main.from);
    this.count.textContent = word ? `${at < 0 ? '' : `${at + 1} of `}${places.length.toLocaleString('en')}${places.length === MOST ? ' or more' : ''}` : '';
  }

  /** Selects the next place, or the one before. */
  go(step) {
    if (this.element.hidden) this.open();
    const { state } = this.view();
    const { word, places } = state.field(this.found);
    if (places.length === 0) return;
    const { from, to } = state.selection.main;
    const index = step > 0 ? places.findIndex((at) => at >= to) : places.findLastIndex((at) => at < from);
    this.select(places.at(index < 0 && step > 0 ? 0 : index), word.length);
  }

  select(at, length) {
    this.view().dispatch({ selection: { anchor: at, head: at + length }, effects: this.cm.EditorView.scrollIntoView(at, { y: 'center' }) });
    this.say();
  }

  /** Replaces the selected place and selects the next one. */
  replace() {
    const { state } = this.view();
    const { word, places } = state.field(this.found);
    const { from, to } = state.selection.main;
    if (places.includes(from) && to === from + word.length) this.view().dispatch({ changes: { from, to, insert: this.other.value }, selection: { anchor: from + this.other.value.length }, userEvent: 'input.replace' });
    this.go(1);
  }

  replaceAll() {
    const { word, places } = this.view().state.field(this.found);
    this.view().dispatch({ changes: places.map((from) => ({ from, to: from + word.length, insert: this.other.value })), userEvent: 'input.replace.all' });
    this.say();
  }
}
