// The details of one position of a graph: its board, properties, and the path to it.

import { Board } from './board.js';
import { button, fill, make, trouble } from './dom.js';
import { ending, isEnd } from './ending.js';
import { onTheme } from './theme.js';

/** Maximum number of facts shown. */
const MOST = 400;

export class PositionDetails {
  /** `onGo(node)` opens the position, `onClose()` closes the details. */
  constructor(game, { onGo, onClose }) {
    Object.assign(this, { game, onGo, onClose });
    this.board = new Board({ still: true });
    this.board.element.classList.add('still');
    this.trouble = trouble();
    this.said = make('div', { 'aria-live': 'polite' });
    this.facts = make('div');
    this.element = make('section', { class: 'glance', 'aria-label': 'Selected position', hidden: true }, this.said, this.board.element, this.trouble, this.facts);
    this.ended = onTheme(() => this.board.paint());
  }

  /** Shows a node that these joint moves lead to. `lines` describe it. */
  async show(node, moves, title, lines) {
    this.node = node;
    this.element.hidden = false;
    this.trouble.say('');
    fill(this.said, make('h3', {}, title), lines.map((line) => make('p', {}, line)),
      make('div', { class: 'line-of' }, button('Go there', () => this.onGo(node), { class: 'strong small' }), button('Close', () => this.onClose(), { class: 'small' })));
    this.stop?.abort();
    this.stop = new AbortController();
    try {
      node.position ??= await this.game.ask('position', { moves }, this.stop.signal);
      if (this.node !== node) return;
      const { svg, facts } = node.position;
      this.board.element.hidden = false;
      this.board.show(svg, title);
      fill(this.facts, isEnd(node.position) && make('p', {}, ending(this.game, node.position)),
        make('details', { class: 'unfold' }, make('summary', {}, `Facts (${facts.length.toLocaleString('en')})`),
          make('ul', { class: 'facts' }, facts.slice(0, MOST).map((fact) => make('li', {}, make('code', {}, fact))), facts.length > MOST && make('li', { class: 'quiet' }, '…'))));
    } catch (error) {
      if (error.name === 'AbortError' || this.node !== node) return;
      this.board.element.hidden = true;
      fill(this.facts);
      this.trouble.say(error.message);
    }
  }

  close() {
    this.node = null;
    this.stop?.abort();
    this.element.hidden = true;
  }

  leave() {
    this.close();
    this.ended();
  }
}
