// A thin bar that runs down while a player with a time thinks.

import { make } from './dom.js';

export class Clock {
  constructor() {
    this.hand = make('span', {});
    this.element = make('div', { class: 'clock', 'aria-hidden': 'true' }, this.hand);
    this.seconds = null;
  }

  /** Starts the bar for a number of seconds, unless it runs; null stops it. */
  run(seconds) {
    if (seconds === this.seconds) return;
    this.seconds = seconds;
    this.motion?.cancel();
    this.element.classList.toggle('runs', seconds !== null);
    if (seconds === null) return;
    this.motion = this.hand.animate([{ transform: 'scaleX(1)' }, { transform: 'scaleX(0)' }], { duration: 1000 * seconds, fill: 'forwards' });
  }
}
