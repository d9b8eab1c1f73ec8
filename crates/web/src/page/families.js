// The games of the start page: variants of a game are one family, and families are sorted into
// groups by what their rules allow.

import { CLASSICS, FIRST } from './shelf.js';
import { titled } from './rules.js';

/**
 * The groups, in the order of the page. A family is shown in the first group that takes it.
 * `words` find the group in a search; `short` is the name on its button.
 */
export const GROUPS = [
  { id: 'classics', name: 'Classics', words: 'classic classics', takes: (family) => family.rank < CLASSICS.length },
  { id: 'two', name: 'Two players', words: '', takes: ({ players }) => players === 2 },
  { id: 'at-once', name: 'Everyone moves at once', short: 'At once', words: 'simultaneous simultaneously at once same time', takes: ({ simultaneous }) => simultaneous },
  { id: 'many', name: 'Three and more players', short: 'Three and more', words: 'multiplayer', takes: ({ players }) => players > 2 },
  { id: 'puzzles', name: 'Puzzles', words: 'puzzle puzzles solitaire', takes: ({ players }) => players === 1 },
  { id: 'small', name: 'Small games to learn from', short: 'Small', words: 'tiny small', takes: ({ small }) => small },
];
/** The groups in the order in which they take a family that is not a classic. */
const TAKING = ['classics', 'small', 'many', 'at-once', 'puzzles', 'two'];

/** The number of cells that a small game has at most. */
const SMALL = 30;
const RANKS = new Map([...CLASSICS, ...FIRST].map((name, rank) => [name, rank]));
const rankOf = ({ id }) => RANKS.get(id) ?? RANKS.size;

/** The description of the rules, without the instance. */
export function rulesOf({ about }) {
  const found = about.match(/^Rules:\s*([\s\S]*?)(?=^\S+:|$(?![\s\S]))/m);
  const text = found ? found[1] : about.split('\n').slice(1).join('\n');
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The beginning that all titles share, or else the title of the family's own rules. */
function commonTitle(id, games) {
  const own = games.find((game) => game.id === id);
  if (own || games.length === 1) return titled(own ?? games[0]);
  const [first, ...others] = games.map((game) => titled(game).split(' '));
  const bare = (word) => word?.replace(/\P{L}+$/u, '');
  let shared = 0;
  while (first[shared] && others.every((words) => bare(words[shared]) === bare(first[shared]))) shared += 1;
  return shared > 0 ? first.slice(0, shared).join(' ').replace(/[^\p{L}\p{N})]+$/u, '') : id.replaceAll('_', ' ');
}

/** Names the variants of a family: by the size of the board, or by the rest of their names. */
function named(id, games) {
  const board = ({ traits }) => traits?.board?.join('×');
  const sizes = games.map(board);
  const isAlone = (size) => size !== undefined && sizes.indexOf(size) === sizes.lastIndexOf(size);
  if (sizes.every(isAlone)) return sizes;
  return games.map((game) => {
    const rest = game.id.slice(id.length + 1).replaceAll(/(\d)x(?=\d)/g, '$1×').replaceAll('_', ' ');
    return rest || (isAlone(board(game)) ? board(game) : 'standard');
  });
}

export class Family {
  constructor(id, games) {
    this.id = id;
    this.title = commonTitle(id, games);
    const labels = named(id, games);
    const area = ({ traits }) => (traits?.board ?? [0, 0]).reduce((one, two) => one * two);
    /** The variants, the smaller ones first. */
    this.variants = games.map((game, index) => ({ game, label: labels[index] }))
      .sort((one, two) => area(one.game) - area(two.game) || one.label.localeCompare(two.label, 'en', { numeric: true }));
    this.lead = games.reduce((best, game) => (rankOf(game) < rankOf(best) ? game : best), games.find((game) => game.id === id) ?? games[0]);
    this.rank = rankOf(this.lead);
    this.roles = this.lead.roles.filter((role) => !role.random);
    this.players = this.roles.length;
    this.chance = this.lead.roles.length > this.players;
    this.simultaneous = games.some(({ traits }) => traits?.simultaneous);
    this.small = games.every((game) => Number.isInteger(game.traits?.positions) && area(game) <= SMALL);
    this.groups = GROUPS.filter((group) => group.takes(this));
    this.home = TAKING.find((taking) => this.groups.some(({ id: one }) => one === taking));
    this.about = rulesOf(this.lead);
  }

  /** The number of players in words. */
  get seats() {
    const seats = this.players === 1 ? 'Puzzle' : `${this.players} players`;
    return `${seats}${this.simultaneous ? ', at once' : ''}${this.chance ? ', chance' : ''}`;
  }
}

/** The families of a list of games, sorted as they are shown. */
export function familiesOf(games) {
  const byId = Map.groupBy ? Map.groupBy(games, ({ family }) => family) : games.reduce((map, game) => map.set(game.family, [...map.get(game.family) ?? [], game]), new Map());
  return [...byId].map(([id, members]) => new Family(id, members))
    .sort((one, two) => one.rank - two.rank || one.title.localeCompare(two.title, 'en'));
}
