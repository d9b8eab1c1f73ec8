// The part of @codemirror/language and @lezer/common that other packages of CodeMirror use. KIF
// needs no syntax tree, so the bundle contains these few lines instead, which makes it a fifth
// smaller: there is no tree, and the page matches brackets itself and sets the indentation.

import { Facet } from '@codemirror/state';

const nothing = { name: '', from: 0, to: 0, parent: null, firstChild: null, type: { prop: () => undefined }, childBefore: () => null, childAfter: () => null };
export const syntaxTree = () => ({ resolveInner: () => nothing, resolveStack: () => ({ node: nothing, next: null }) });
export const NodeProp = { closedBy: null, openedBy: null };

/** The text of one level of indentation. */
export const indentUnit = Facet.define({ combine: (values) => values[0] ?? '  ' });
export const getIndentUnit = (state) => state.facet(indentUnit).length;
export const indentString = (state, columns) => ' '.repeat(columns);

/** A function of a state and a position: the column of a line that begins there, or null. */
export const indentService = Facet.define();
export class IndentContext {
  constructor(state) { this.state = state; }

  lineIndent(position) { return /^\s*/.exec(this.state.doc.lineAt(position).text)[0].length; }
}
export const getIndentation = ({ state }, position) => state.facet(indentService)[0]?.(state, position) ?? null;
export const matchBrackets = () => null;
