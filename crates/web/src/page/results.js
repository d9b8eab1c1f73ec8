// Tournaments played with `ggp tournament`: the matches of a results file, and their cross
// table.

import { button, fill, make, opener, textOf, trouble } from './dom.js';
import { CrossTable, MEASURES } from './cross_table.js';
import { PERSON } from './match.js';
import { counted } from './moves.js';
import { address } from './route.js';

/**
 * Maximum size of a file in bytes, maximum number of matches, and maximum number of players
 * in a table.
 */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_MATCHES = 200_000;
const MOST_PLAYERS = 60;
/** Maximum number of matches in the list. */
const LISTED = 200;

/**
 * Returns whether a file contains tournament results, as opposed to a match record or
 * rules.
 */
export function isResults(name, text) {
  const first = text.trimStart().split('\n', 1)[0];
  if (/\.jsonl$/i.test(name)) return true;
  try {
    return Array.isArray(JSON.parse(first)?.players);
  } catch {
    return false;
  }
}

/** The matches of a results file, and whether its last line is incomplete. */
export function results(name, text) {
  const lines = text.split('\n');
  const matches = new Map();
  let cut = false;
  lines.forEach((line, index) => {
    if (!line.trim()) return;
    let row;
    try {
      row = JSON.parse(line);
    } catch {
      // The end of a file may be missing; the match is then played again.
      cut = index === lines.length - 1;
      if (cut) return;
      throw new Error(`${name}:${index + 1}: not a line of results: it is not JSON.`);
    }
    const right = typeof row?.game === 'string' && Array.isArray(row.players) && Array.isArray(row.roles) && row.players.length === row.roles.length
      && row.players.every((player) => player === null || typeof player === 'string')
      && (row.scores === null || (Array.isArray(row.scores) && row.scores.length === row.roles.length && row.scores.every((score) => score === null || Number.isFinite(score))));
    if (!right) throw new Error(`${name}:${index + 1}: not a line of results: it needs “game”, and “players”, “roles” and “scores” of equal length.`);
    matches.set(row.id ?? index, row);
    if (matches.size > MOST_MATCHES) throw new Error(`${name} has more than ${MOST_MATCHES.toLocaleString('en')} matches.`);
  });
  return { matches: [...matches.values()], cut };
}

export class TournamentResults {
  /** `known(name)` returns the bundled game of that name, if there is one. */
  constructor(known) {
    this.known = known;
    this.trouble = trouble();
    this.state = make('p', { 'aria-live': 'polite' });
    this.game = make('select', { 'aria-label': 'Game' });
    this.measure = make('select', { 'aria-label': 'Measure' }, Object.entries(MEASURES).map(([value, [name]]) => make('option', { value }, name)));
    for (const control of [this.game, this.measure]) control.addEventListener('change', () => this.show());
    this.choice = make('div', { class: 'line-of', hidden: true }, this.game, this.measure);
    this.table = make('div');
    this.list = make('ol', { class: 'results' });
    this.element = make('section', { class: 'panel cup', 'aria-label': 'Tournaments' }, make('h2', {}, 'Tournaments'),
      make('p', { class: 'quiet' }, 'Drop a file written by ', make('code', {}, 'ggp tournament --results FILE'), ' here to see who beat whom.'),
      make('div', { class: 'line-of' }, opener('Open results …', ([file]) => this.load(file), { accept: '.jsonl,.json', 'aria-label': 'Results of a tournament' }), this.state),
      this.trouble, this.choice, this.table, this.list);
  }

  async load(file) {
    try {
      if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than ${MOST_BYTES / 1024 / 1024} MiB.`);
      this.take(file.name, await textOf(file));
    } catch (error) {
      this.trouble.say(error.message);
    }
  }

  /** Shows the results of a file, or the error if it cannot be read. */
  take(name, text) {
    this.trouble.say('');
    try {
      const { matches, cut } = results(name, text);
      if (matches.length === 0) throw new Error(`${name} contains no matches.`);
      this.matches = matches;
      this.state.textContent = `${name}: ${counted(matches.length, 'match').replace(/matchs$/, 'matches')}${cut ? '; its last line is incomplete' : ''}.`;
      const games = [...new Set(matches.map(({ game }) => game))];
      fill(this.game, games.length > 1 && make('option', { value: '' }, `all ${games.length} games`), games.map((game) => make('option', { value: game }, game)));
      this.choice.hidden = false;
      this.show();
    } catch (error) {
      this.trouble.say(error.message);
    }
    this.element.scrollIntoView({ block: 'nearest' });
  }

  show() {
    const chosen = this.matches.filter(({ game }) => !this.game.value || game === this.game.value);
    const players = [...new Set(chosen.flatMap((match) => match.players.filter((player) => player !== null)))];
    if (players.length > MOST_PLAYERS) {
      this.trouble.say(`There are ${players.length} players; a table has at most ${MOST_PLAYERS}.`);
      return;
    }
    const cross = new CrossTable(players);
    const index = new Map(players.map((player, at) => [player, at]));
    const ended = chosen.filter(({ scores }) => scores !== null);
    for (const { players: seats, scores } of ended) cross.meet(seats.map((player) => index.get(player) ?? null), scores);
    cross.show(this.measure.value);
    const broken = chosen.length - ended.length;
    const errors = chosen.reduce((sum, match) => sum + (match.errors?.length ?? 0), 0);
    fill(this.table, cross.element, (broken > 0 || errors > 0) && make('p', { class: 'quiet' },
      [broken > 0 && `${broken} not finished`, errors > 0 && counted(errors, 'error')].filter(Boolean).join(', ')));
    fill(this.list, chosen.slice(-LISTED).reverse().map((match) => this.row(match)), chosen.length > LISTED && make('li', { class: 'quiet' }, `${(chosen.length - LISTED).toLocaleString('en')} more`));
  }

  /** A row for a match, with a link if the game is known here. */
  row({ game, players, scores, moves }) {
    const said = `${game}: ${players.map((player) => player ?? 'chance').join(' – ')}  ${scores ? scores.map((score) => score ?? '–').join(' : ') : 'not finished'}`;
    const known = this.known(game);
    return make('li', {}, known && Array.isArray(moves) && moves.every(Array.isArray)
      // Nobody at this page has played it.
      ? make('a', { href: address(encodeURIComponent(known.id), { moves, seats: players.map(() => PERSON) }) }, said) : make('span', {}, said));
  }
}
