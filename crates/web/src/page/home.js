// The start page: the bundled games as cards, and access to your own rules.

import { games } from './api.js';
import { TournamentResults, isResults } from './results.js';
import { button, fill, make, settled, trouble } from './dom.js';
import { readFiles } from './editor.js';
import { gameOf, read } from './record.js';
import { address } from './route.js';
import { subtitled, titled } from './rules.js';

export class Home {
  /** `onRules(rules)` is called with rules that were dropped or pasted. */
  constructor(onRules) {
    this.onRules = onRules;
    this.search = make('input', { type: 'search', class: 'search wide', placeholder: 'Search games', 'aria-label': 'Search games' });
    this.search.addEventListener('input', settled(80, () => this.render()));
    this.trouble = trouble();
    this.cards = make('ul', { class: 'cards' });
    this.count = make('p', { class: 'quiet', 'aria-live': 'polite' });
    this.cup = new TournamentResults((name) => this.named(name));
    const picker = make('input', { type: 'file', multiple: true, hidden: true });
    picker.addEventListener('change', () => this.take(picker.files));
    this.element = make('section', { class: 'home', 'aria-label': 'Games' },
      make('div', { class: 'hero' },
        make('h1', { tabindex: '-1' }, 'Play any game, from its rules'),
        make('p', {}, 'Choose a game, or bring your own rules: ggp draws the board, plays against you, solves the game and explains every move, from the rules alone.'),
        make('div', { class: 'line-of' }, make('a', { class: 'button strong', href: '#/edit' }, 'Write or paste rules'),
          button('Open files or a match record …', () => picker.click()), picker)),
      this.trouble,
      make('div', { class: 'line-of' }, this.search, this.count), this.cards, this.cup.element);
    this.element.addEventListener('dragover', (event) => event.preventDefault());
    this.element.addEventListener('drop', (event) => {
      event.preventDefault();
      this.take(event.dataTransfer.files);
    });
    this.pasted = (event) => {
      const text = event.clipboardData?.getData('text') ?? '';
      if (text.includes('(') && !event.target.closest?.('input')) this.onRules({ files: [{ name: 'rules.kif', text }], picture: null });
    };
    document.addEventListener('paste', this.pasted);
    this.load();
  }

  leave() {
    document.removeEventListener('paste', this.pasted);
  }

  async load() {
    try {
      this.games = await games();
      this.render();
    } catch (error) {
      this.trouble.say(error.message);
    }
  }

  render() {
    if (!this.games) return;
    const wanted = this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.games.filter((game) => {
      const text = `${game.id} ${game.name} ${game.about} ${game.roles.map((role) => role.name).join(' ')} ${seats(game)}`.toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    this.count.textContent = found.length === 1 ? '1 game' : `${found.length} games`;
    fill(this.cards, found.map(card));
  }

  async take(files) {
    this.trouble.say('');
    try {
      const rules = await readFiles(files);
      const [first] = rules.files;
      if (rules.files.length === 1 && isResults(first.name, first.text)) this.cup.take(first.name, first.text);
      else if (rules.files.length === 1 && first.text.trimStart().startsWith('{')) await this.record(first.text);
      else if (first) this.onRules(rules);
    } catch (error) {
      this.trouble.say(error.message);
    }
  }

  /** The bundled game of that name. */
  named(game) {
    return this.games?.find(({ id, name }) => id === game || name === game);
  }

  /** Opens the game of a match record, at its last position. */
  async record(text) {
    const record = read(text);
    const game = await gameOf(record);
    if (!game) throw new Error(`There is no game called “${record.game}” here. Open its rules first, then load the record there.`);
    location.hash = address(game.path, { moves: record.moves });
  }
}

function card(game) {
  const about = game.about.trim().split('\n').slice(titled(game) === game.name ? 0 : 1).join('\n').trim();
  return make('li', {}, make('a', { class: 'card', href: address(encodeURIComponent(game.id), {}) },
    make('img', { src: `/api/games/${encodeURIComponent(game.id)}/picture.svg`, alt: '', loading: 'lazy', decoding: 'async' }),
    make('strong', {}, titled(game)),
    subtitled(game) && make('span', { class: 'quiet subtitle' }, subtitled(game)),
    make('span', { class: 'badge' }, seats(game)),
    make('span', { class: 'about' }, rulesOf(about))));
}

function seats({ roles }) {
  const persons = roles.filter((role) => !role.random).length;
  return `${persons === 1 ? 'puzzle' : `${persons} players`}${roles.length > persons ? ', chance' : ''}`;
}

/** The description of the rules, without the instance. */
function rulesOf(about) {
  const found = about.match(/^Rules:\s*([\s\S]*?)(?=^\S+:|$(?![\s\S]))/m);
  return (found ? found[1] : about).replaceAll(/\s+/g, ' ').trim();
}
