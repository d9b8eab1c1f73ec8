// Matches that programs play at the top of the start page.

import { fill, icon, make } from './dom.js';
import { addressOf, pictureOf } from './cards.js';
import { Film } from './film.js';
import { onTheme } from './theme.js';

/** Milliseconds between moves, and after the end of a match. */
const PACE = 1300;
const END = 4500;

const still = matchMedia('(prefers-reduced-motion: reduce)');

/** The films that were loaded, by the name of the game. */
const films = new Map();

async function filmOf({ id }) {
  if (!films.has(id)) {
    const answer = await fetch(`api/games/${encodeURIComponent(id)}/film.svg`, { priority: 'low' });
    films.set(id, answer.ok ? await answer.text() : null);
  }
  return films.get(id);
}

/**
 * Shows the matches of games, one request each, and ends after the last one. It pauses while
 * it cannot be seen, and begins only on request if less motion is wanted.
 */
export class Featured {
  constructor() {
    this.screen = make('span', { class: 'featured-screen', 'aria-hidden': 'true' });
    this.label = make('span', { class: 'unseen' });
    this.frame = make('a', { class: 'featured-board' }, this.screen, this.label);
    this.title = make('strong');
    this.line = make('span', { class: 'quiet' });
    this.button = make('button', { type: 'button', class: 'plain featured-button', hidden: true, on: { click: () => this.toggled() } });
    this.progress = make('span', { class: 'featured-progress', 'aria-hidden': 'true' });
    this.element = make('figure', { class: 'featured', hidden: true }, this.frame, this.progress,
      make('figcaption', {}, make('span', { class: 'featured-words' }, this.title, this.line), this.button));
    this.runs = !still.matches;
    this.isVisible = false;
    this.watcher = new IntersectionObserver(([entry]) => { this.isVisible = entry.isIntersecting; this.turn(); }, { threshold: 0.25 });
    this.watcher.observe(this.element);
    this.changed = () => this.turn();
    this.stilled = () => { this.runs = !still.matches; this.turn(); };
    document.addEventListener('visibilitychange', this.changed);
    still.addEventListener('change', this.stilled);
    this.offTheme = onTheme(() => this.film?.board.paint());
  }

  leave() {
    clearTimeout(this.timer);
    this.left = true;
    this.watcher.disconnect();
    this.offTheme();
    document.removeEventListener('visibilitychange', this.changed);
    still.removeEventListener('change', this.stilled);
  }

  /** Begins with the first of the games, which are `{ id, title }`. */
  begin(games) {
    this.games = games;
    if (games.length > 0) this.open(0);
  }

  async open(index) {
    const game = this.games[index];
    this.index = index;
    this.film = null;
    this.over = false;
    this.element.hidden = false;
    this.button.hidden = true;
    this.title.textContent = game.title;
    this.line.textContent = '';
    this.frame.href = addressOf(game);
    this.label.textContent = `Play ${game.title}`;
    fill(this.screen, make('img', { src: pictureOf(game), alt: '' }));
    const text = await filmOf(game).catch(() => null);
    if (this.left || this.index !== index || !text) return;
    const film = new Film(text, game.title);
    fill(this.screen, film.element);
    if (!film.open()) {
      fill(this.screen, make('img', { src: pictureOf(game), alt: '' }));
      return;
    }
    this.film = film;
    this.button.hidden = false;
    if (!this.runs) film.show(Math.floor(film.length / 2));
    this.turn();
  }

  toggled() {
    this.runs = !this.runs;
    if (this.runs && this.over) {
      this.open(0);
      return;
    }
    if (this.runs && this.film.at === this.film.length - 1) this.film.show(0);
    this.turn();
  }

  /** Sets the timer for the next move, if there is to be one. */
  turn() {
    clearTimeout(this.timer);
    const { film } = this;
    if (!film || this.left) return;
    const last = film.length - 1;
    this.element.dataset.move = film.at;
    this.line.textContent = this.over ? 'The match is over' : film.at === 0 ? 'Two programs play' : `Move ${film.at} of ${last}`;
    this.progress.style.setProperty('--part', `${(film.at / last) * 100}%`);
    fill(this.button, icon(this.runs ? 'pause' : 'play'));
    this.button.setAttribute('aria-label', this.runs ? 'Pause the match' : 'Play the match');
    this.button.title = this.button.getAttribute('aria-label');
    if (!this.runs || !this.isVisible || document.hidden) return;
    this.timer = setTimeout(() => this.next(), film.at === last ? END : PACE);
  }

  next() {
    const { film } = this;
    if (film.at < film.length - 1) {
      film.show(film.at + 1, !still.matches);
    } else if (this.index + 1 < this.games.length) {
      this.open(this.index + 1);
      return;
    } else {
      this.runs = false;
      this.over = true;
    }
    this.turn();
  }
}
