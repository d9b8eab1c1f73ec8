// The board of a game's view, with everything that belongs to making moves on it.

import { Board } from './board.js';
import { changes, named } from './changes.js';
import { make } from './dom.js';
import { isEnd } from './ending.js';
import { Legend } from './legend.js';
import { arrowOf, lastMove, reachable } from './marks.js';
import { Menu } from './menu.js';
import { Outlook } from './outlook.js';
import { Pad } from './pad.js';
import { Preview } from './preview.js';
import { Selection } from './selection.js';
import { click } from './sound.js';
import { Tables } from './tables.js';
import { Tools } from './tools.js';
import { winningCells } from './winning.js';

export class Stage {
  /** `view` is the view of the game. */
  constructor(view) {
    this.view = view;
    const { game } = view;
    this.hovered = [];
    this.tools = new Tools(game, { onTurn: (turned) => this.turn(turned), onNames: () => { view.own = location.hash; view.redraw(true); } });
    this.selection = new Selection(this, { onChange: () => view.changed(), onMove: (move) => view.move(view.active, move.move) });
    this.board = new Board({
      onCell: (cell, byKey) => this.selection.pick(cell, byKey), onClear: () => this.selection.set([]), onHover: (cell) => this.hoverCell(cell),
      onLift: (cell) => this.selection.lift(cell), onDrop: (from, to) => this.drop(from, to),
    });
    this.board.turned = this.tools.turned;
    this.legend = new Legend();
    this.tables = new Tables();
    this.outlook = new Outlook(game.roles);
    this.preview = new Preview(game, () => view.history.here, (shown) => this.mark({ preview: shown }));
    this.menu = new Menu({ onChoose: (move) => view.move(view.active, move.move), onClose: () => this.selection.leave(), onHover: (move) => this.hoverMove(view.active, move) });
    this.pad = new Pad({ onMove: (role, move) => view.move(role, move), onHover: (role, move) => this.hoverMove(role, move) });
    this.elements = [make('div', { class: 'board-row' }, this.outlook.bars, this.board.element), this.tables.element, this.outlook.line, this.pad.element];
  }

  /** Ends what was begun in a position. */
  clear() {
    this.selection.cells = [];
    this.view.status.said = null;
    this.preview.stop();
    this.menu.close(true);
  }

  leave() {
    this.ready();
    this.preview.stop();
    this.menu.close(true);
  }

  /** The choices in the position have changed. `name` is the role that chooses here, if there are several. */
  changed(name) {
    const { active, match, history: { here } } = this.view;
    this.pad.show(active, this.choices, name, active < 0 && !match.paused && (match.end ?? here) === here && !isEnd(here.position));
    // The pointer may rest on a cell since before.
    this.aim(this.board.hovered ?? null);
    this.mark({ preview: null });
  }

  /** Returns whether all moves can be made on the board or with the buttons below it. */
  takes(moves) {
    return moves.every(({ cells }) => (cells.length > 0 ? this.board.cells.size > 0 : !this.pad.element.hidden));
  }

  /** Marks the move of a hint. */
  advise(role, text) {
    const move = this.moveOf(role, text);
    this.hint = move && { cells: new Set(move.cells.map(named)), arrow: arrowOf(this.view.history.here.position, role, move) };
    this.mark();
  }

  /** The rules are prepared. */
  ready() {
    clearInterval(this.ticking);
  }

  /** Draws a node's position. `before`, if given, is a neighbour that was shown before. */
  draw(node, before = null) {
    const { position } = node;
    this.hint = null;
    const forward = before && node.parent === before;
    const change = before?.position && (forward ? lastMove(node).change : changes(before.position, position));
    if (change && this.landed) change.landed = new Set([this.landed]);
    if (forward) click(Boolean(change?.gone.length));
    this.landed = null;
    this.board.show(position.svg, `Board of ${this.view.game.title}`, change);
    this.legend.show(position, this.board);
    this.tables.show(position);
  }

  /** Tells that the rules are prepared, until there is a position. */
  prepare() {
    clearInterval(this.ticking);
    const begun = Date.now();
    const tell = () => {
      const seconds = Math.floor((Date.now() - begun) / 1000);
      this.board.wait(`Preparing the rules …${seconds > 0 ? ` ${seconds} s` : ''}`);
      if (this.view.match.preparing) this.view.status.show();
    };
    tell();
    this.ticking = setInterval(tell, 1000);
  }

  /** Marks the cells that decided the match. */
  async decide(node) {
    node.winning ??= await winningCells(this.view.game, node).catch(() => new Set());
    if (this.view.history.here === node && !this.view.gone) this.mark();
  }

  get choices() {
    return this.view.history.here.position?.legal[this.view.active] ?? [];
  }

  moveOf(role, move) {
    return (move !== null && this.view.history.here.position?.legal[role]?.find((one) => one.move === move)) || null;
  }

  /** Offers moves with the same cells in a menu at a cell. */
  offer(moves, cell, byKey) {
    this.menu.open(moves, this.board.boxOf(cell), byKey, byKey ? this.board : null);
  }

  drop(from, to) {
    this.landed = to;
    this.selection.drop(from, to);
  }

  /** The pointer enters a cell (null: leaves): the move that a click would make or complete is previewed. */
  hoverCell(cell) {
    const only = this.aim(cell);
    this.mark({ preview: null });
    this.preview.of(this.view.active, only);
  }

  /** Finds what a click on a cell means, and returns the move if there is only one. */
  aim(cell) {
    const { cells } = this.selection;
    const narrowed = cell === null || cells.includes(cell) ? [] : this.selection.left([...cells, cell]);
    const meant = narrowed.length > 0 || cell === null ? narrowed : this.selection.left([cell]);
    const only = meant.length === 1 ? meant[0] : null;
    const isWhole = only && cells.length === 0 && this.selection.complete(meant, [cell]).length === 1;
    this.hovered = isWhole ? only.cells.map(named) : meant.length > 0 ? [cell] : [];
    this.planned = only && arrowOf(this.view.history.here.position, this.view.active, only);
    return only;
  }

  /** The pointer enters a move elsewhere on the page; null if it leaves. */
  hoverMove(role, move) {
    this.hovered = move ? move.cells.map(named) : [];
    this.planned = move && arrowOf(this.view.history.here.position, role, move);
    this.mark({ preview: null });
    if (role === this.view.active) this.preview.of(role, move);
  }

  turn(turned) {
    this.board.turned = turned;
    this.board.text = null;
    if (this.view.history.here.position) this.draw(this.view.history.here);
    this.view.changed();
  }

  /** Draws the marks on the board; `preview`, if given, replaces that of a move. */
  mark({ preview } = {}) {
    const { here } = this.view.history;
    if (!here.position) return;
    if (preview !== undefined) this.previewed = preview;
    const { cells } = this.selection;
    if (here.parent?.position) here.last ??= lastMove(here);
    const last = here.last ?? lastMove(here);
    const marks = reachable(here.position, this.choices, cells);
    for (const cell of this.previewed?.ghost?.shown ?? []) marks.near.delete(cell);
    const arrows = this.previewed?.arrows.length > 0 ? this.previewed.arrows : [this.planned].filter(Boolean);
    this.board.mark({
      ...marks, chosen: new Set(cells), hover: new Set(this.hovered), last: last.cells, hint: this.hint?.cells, win: here.winning,
      arrows: [...last.arrows, this.hint?.arrow && { ...this.hint.arrow, kind: 'hint' }, ...arrows].filter(Boolean),
      ghost: this.previewed?.ghost, taken: this.previewed?.taken,
    });
  }
}
