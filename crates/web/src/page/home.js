// The start page: a match to watch, the bundled games as cards, and access to your own rules.

import { games, local, traits } from './api.js';
import { addressOf, card, walkable } from './cards.js';
import { TournamentResults, isResults } from './results.js';
import { button, fill, icon, make, opener, settled, trouble } from './dom.js';
import { readFiles } from './editor.js';
import { GROUPS, familiesOf } from './families.js';
import { Featured } from './featured.js';
import { Finder } from './finder.js';
import { FIRST_GAME, WORDS } from './first_game.js';
import { counted } from './moves.js';
import { gameOf, read } from './record.js';
import { address } from './route.js';

/** The longest wait in milliseconds for the traits by which games are sorted. */
const PATIENCE = 600;

export class Home {
  /** `onRules(rules)` is called with rules that were dropped or pasted, or an example. */
  constructor(onRules) {
    this.onRules = onRules;
    this.search = make('input', { type: 'search', class: 'search', placeholder: 'Search games', 'aria-label': 'Search games', 'aria-keyshortcuts': '/' });
    this.search.addEventListener('input', settled(80, () => this.render()));
    this.search.addEventListener('keydown', (event) => this.searching(event));
    this.trouble = trouble();
    this.groups = make('div', { class: 'groups', role: 'group', 'aria-label': 'Groups' });
    this.shelves = make('div', { class: 'shelves' });
    walkable(this.shelves);
    this.count = make('p', { class: 'quiet', role: 'status' });
    this.cup = new TournamentResults((name) => this.named(name));
    this.featured = new Featured();
    this.play = make('a', { class: 'button strong large-button', href: '#/' }, icon('play'), 'Play');
    this.group = null;
    this.primer = primer(() => this.first());
    this.element = make('section', { class: 'home', 'aria-label': 'Games' },
      this.hero(), this.trouble,
      make('div', { class: 'finder' }, make('div', { class: 'search-box' }, this.search, make('kbd', { 'aria-hidden': 'true' }, '/')), this.groups, this.count),
      this.shelves,
      make('div', { class: 'more' },
        make('section', { class: 'panel', 'aria-label': 'Your own files' }, make('h2', {}, 'Your own files'),
          make('p', { class: 'quiet' }, 'Drop or paste rules anywhere on this page. A saved match opens at its last position.'),
          make('div', { class: 'line-of' }, opener('Open files …', (files) => this.take(files), { multiple: true }), make('a', { class: 'button', href: '#/edit' }, 'Write or paste rules'))),
        make('section', { class: 'panel', 'aria-label': 'Play with others' }, make('h2', {}, 'Play with others'),
          make('p', { class: 'quiet' }, local ? 'This needs a server: start one with `ggp web`.' : 'Open a game and choose “Invite”: everyone who has the link of a seat plays in their own browser.')),
        this.cup.element, this.primer));
    this.element.addEventListener('dragover', (event) => event.preventDefault());
    this.element.addEventListener('drop', (event) => {
      event.preventDefault();
      this.take(event.dataTransfer.files);
    });
    this.pasted = (event) => {
      const text = event.clipboardData?.getData('text') ?? '';
      if (text.includes('(') && !event.target.closest?.('input')) this.onRules({ files: [{ name: 'rules.kif', text }], picture: null });
    };
    this.typed = (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, textarea, select')) return;
      event.preventDefault();
      this.search.focus();
      this.search.select();
    };
    document.addEventListener('paste', this.pasted);
    document.addEventListener('keydown', this.typed);
    this.load();
  }

  hero() {
    return make('div', { class: 'hero' },
      make('div', { class: 'hero-words' },
        make('h1', { tabindex: '-1' }, 'Play any game, from its rules'),
        make('p', {}, make('strong', {}, 'ggp'), ' is short for general game playing: a game is only a text with its rules, written in GDL, the Game Description Language. From this text we draw the board, play against you, solve the game and explain every move. ',
          make('button', { type: 'button', class: 'link', on: { click: () => this.explain() } }, 'Rules in five minutes')),
        make('div', { class: 'line-of hero-buttons' }, this.play, button('Write your first game', () => this.first(), { class: 'large-button' }))),
      this.featured.element);
  }

  leave() {
    document.removeEventListener('paste', this.pasted);
    document.removeEventListener('keydown', this.typed);
    this.featured.leave();
    this.left = true;
  }

  async load() {
    try {
      // The server keeps what it has found so far.
      const known = traits().catch(traits).catch(traits).catch(() => []);
      this.games = await games();
      if (this.left) return;
      const pause = new Promise((resolve) => { setTimeout(resolve, PATIENCE, null); });
      this.sort(await Promise.race([known, pause]) ?? []);
      this.feature();
      // Games move to their groups when their traits are known.
      if (!this.sorted) this.sort(await known);
    } catch (error) {
      this.trouble.say(error.message);
    }
  }

  /** Sorts the games into families and groups. */
  sort(found) {
    if (this.left) return;
    this.sorted = found.length > 0;
    const byId = new Map(found.map((one) => [one.id, one]));
    this.families = familiesOf(this.games.map((game) => ({ ...game, traits: byId.get(game.id) })));
    this.finder = new Finder(this.families);
    this.render();
  }

  /** Shows matches of the games that are listed for this, or else of the first one for two. */
  feature() {
    const known = (id) => this.families.find(({ variants }) => variants.some(({ game }) => game.id === id));
    const featured = this.games.filter((game) => game.featured).sort((a, b) => a.featured - b.featured);
    const listed = featured.map(({ id }) => ({ id, title: known(id).title }));
    const other = this.families.find(({ players, simultaneous }) => players === 2 && !simultaneous) ?? this.families[0];
    const shown = listed.length > 0 || !other ? listed : [{ id: other.lead.id, title: other.title }];
    this.featured.begin(shown);
    if (shown.length > 0) {
      this.play.href = addressOf(shown[0]);
      fill(this.play, icon('play'), 'Play', make('span', { class: 'unseen' }, ` ${shown[0].title}`));
    }
  }

  render() {
    if (!this.families) return;
    const text = this.search.value.trim();
    const wanted = this.group && GROUPS.find(({ id }) => id === this.group);
    const inGroup = (families) => (wanted ? families.filter(({ groups }) => groups.includes(wanted)) : families);
    const found = inGroup(text ? this.finder.find(text) : this.families);
    this.choices();
    this.count.textContent = text || wanted ? counted(found.length, 'game') : '';
    if (text || wanted) {
      fill(this.shelves, found.length > 0
        ? make('section', { class: 'shelf whole', 'aria-label': wanted?.name ?? 'Games found' }, make('ul', { class: 'cards' }, found.map(card)))
        : make('p', { class: 'quiet' }, 'No game has all these words.'));
      return;
    }
    fill(this.shelves, GROUPS.map(({ id, name }) => {
      const members = found.filter(({ home }) => home === id);
      return members.length > 0 && make('section', { class: 'shelf', 'aria-labelledby': `shelf-${id}` },
        make('h2', { id: `shelf-${id}` }, name), make('ul', { class: 'cards' }, members.map(card)));
    }));
  }

  /** Shows the groups as buttons, of which one may be pressed. */
  choices() {
    const focused = this.groups.contains(document.activeElement) ? document.activeElement.dataset.group : null;
    const chip = (id, name, count) => button([name, make('span', { class: 'group-count' }, String(count))], () => { this.group = id; this.render(); },
      { class: 'group-choice', 'aria-pressed': String(this.group === id), 'data-group': id ?? '' });
    const present = GROUPS.map((group) => [group, this.families.filter(({ groups }) => groups.includes(group)).length]).filter(([, count]) => count > 0);
    fill(this.groups, chip(null, 'All', this.families.length), present.map(([{ id, name, short }, count]) => chip(id, short ?? name, count)));
    if (focused !== null) this.groups.querySelector(`[data-group="${focused}"]`)?.focus();
  }

  searching(event) {
    if (event.key === 'Escape' && this.search.value) {
      this.search.value = '';
      this.render();
      event.preventDefault();
    } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
      this.render();
      this.shelves.querySelector('.card-link')?.focus();
      event.preventDefault();
    }
  }

  explain() {
    this.primer.open = true;
    this.primer.scrollIntoView({ block: 'nearest' });
    this.primer.querySelector('summary').focus({ preventScroll: true });
  }

  /** Opens an example with comments in the editor. */
  first() {
    this.onRules({ files: [{ name: 'race_to_ten.kif', text: FIRST_GAME }], picture: null });
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

/** A short explanation of the language, and a way to begin. */
function primer(onFirst) {
  return make('details', { class: 'panel primer' },
    make('summary', {}, make('h2', {}, 'Rules in five minutes')),
    make('p', { class: 'quiet' }, 'Rules say what is true: ', make('code', {}, '(<= (legal ?p wait) (role ?p))'), ' means that each player may wait. Seven words have a fixed meaning:'),
    make('dl', { class: 'words' }, WORDS.map(([word, meaning]) => make('div', {}, make('dt', {}, make('code', {}, word)), make('dd', {}, meaning)))),
    make('div', { class: 'line-of' }, button('Write your first game', onFirst),
      make('span', { class: 'quiet' }, 'The tutorial is docs/writing-games.md, the reference docs/reference/language.md in the source of ggp.')));
}
