// The parts of CodeMirror that the rule editor uses. tests/web/bundle.mjs makes them into
// crates/web/src/served/editor.js.

export { EditorSelection, EditorState, Prec, RangeSet, StateEffect, StateField } from '@codemirror/state';
export { Decoration, EditorView, GutterMarker, ViewPlugin, gutterLineClass, hoverTooltip, keymap, lineNumbers, placeholder } from '@codemirror/view';
export {
  copyLineDown, copyLineUp, deleteLine, history, historyKeymap, indentLess, indentMore, indentSelection, moveLineDown, moveLineUp, standardKeymap,
} from '@codemirror/commands';
export { autocompletion, completionKeymap } from '@codemirror/autocomplete';
export { indentService, indentUnit } from '@codemirror/language';
