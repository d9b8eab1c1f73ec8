// Switches for the board: its side, sounds, and whether names are read.

import { button, icon, make } from './dom.js';
import { readsNames, switchNames } from './names.js';
import { click } from './sound.js';
import { remember, setting } from './settings.js';

export class Tools {
  /** `onTurn(turned)` turns the board, `onNames()` is called when names are read or no longer. */
  constructor(game, { onTurn, onNames }) {
    this.game = game;
    this.turn = button(icon('turn'), () => {
      remember(`turned ${game.name}`, this.turned ? null : 'yes');
      this.face();
      onTurn(this.turned);
    }, { title: 'Turn the board (f)' });
    this.sound = button('', () => {
      remember('sound', setting('sound') === 'on' ? null : 'on');
      this.face();
      click();
    });
    this.names = button(icon('names'), () => {
      switchNames();
      this.face();
      onNames();
    });
    this.element = make('div', { class: 'tools' }, this.names, this.turn, this.sound);
    this.face();
  }

  /** True if the board of this game is seen from the other side. */
  get turned() {
    return setting(`turned ${this.game.name}`) === 'yes';
  }

  face() {
    const on = setting('sound') === 'on';
    this.sound.replaceChildren(icon(on ? 'sound' : 'mute'));
    this.sound.setAttribute('aria-label', on ? 'Sound: on' : 'Sound: off');
    this.sound.title = on ? 'Sounds are on' : 'Sounds are off';
    this.sound.setAttribute('aria-pressed', String(on));
    const reads = readsNames();
    this.names.setAttribute('aria-label', 'Read names');
    this.names.setAttribute('aria-pressed', String(reads));
    this.names.title = `Names of colours, chess men and directions ${reads ? 'are read for drawing and for arrows' : 'are not read'}. The picture file of a bundled game goes before names.`;
    this.turn.setAttribute('aria-label', 'Turn the board');
    this.turn.setAttribute('aria-pressed', String(this.turned));
  }
}
