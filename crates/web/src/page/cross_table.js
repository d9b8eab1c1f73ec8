// The cross table of a tournament.

import { fill, make } from './dom.js';
import { elo } from './rating.js';

/**
 * The measures of a cell: name, label, and the text for `{points, share, count}` of a pair
 * of players.
 */
export const MEASURES = {
  share: ['share of the points', ({ share, count }) => (share / count).toFixed(2)],
  score: ['mean score', ({ score, count }) => (score / count).toFixed(0)],
};

function none() {
  return { score: 0, share: 0, count: 0, won: 0, met: 0 };
}

export class CrossTable {
  /** `players` are the names. */
  constructor(players) {
    this.players = players;
    this.cells = players.map(() => players.map(none));
    /** Number of matches and total score of each player. */
    this.played = players.map(none);
    this.element = make('div', { class: 'cross', tabindex: '0', role: 'region', 'aria-label': 'Cross table' });
  }

  /**
   * Adds the result of a match. `seats` are the player indices by role (null: chance),
   * `scores` are by role.
   */
  meet(seats, scores) {
    // Comparisons of one match depend on each other.
    const weight = 1 / (seats.filter((player, role) => player !== null && scores[role] !== null).length - 1);
    seats.forEach((player, role) => {
      if (player === null || scores[role] === null) return;
      add(this.played[player], scores[role], 0);
      seats.forEach((other, place) => {
        if (other === null || other === player || scores[place] === null) return;
        // 1 for a higher score than the other player's, one half for an equal score.
        const share = (Math.sign(scores[role] - scores[place]) + 1) / 2;
        const cell = this.cells[player][other];
        add(cell, scores[role], share);
        cell.won += weight * share;
        cell.met += weight;
      });
    });
  }

  /** Shows the table, best player first. */
  show(measure) {
    const [name, said] = MEASURES[measure];
    const { players, cells, played } = this;
    const cell = (counted) => (counted.count > 0 ? said(counted) : '');
    const sum = cells.map((row) => row.reduce((all, { score, share, count }) => ({ score: all.score + score, share: all.share + share, count: all.count + count }), none()));
    // In games for one player there are no opponents, so the score decides.
    const rank = (player) => (sum[player].count > 0 ? sum[player][measure] / sum[player].count : -1);
    const mean = (player) => (played[player].count > 0 ? played[player].score / played[player].count : -1);
    const order = players.map((_, index) => index).sort((a, b) => rank(b) - rank(a) || mean(b) - mean(a));
    const ratings = elo(cells);
    const rated = ({ rating, margin }) => `${rating.toFixed(0)} ± ${margin.toFixed(0)}`;
    fill(this.element, make('table', {},
      make('caption', { class: 'unseen' }, `Each player against each other player: ${name}`),
      make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Player'), order.map((_, place) => make('th', { scope: 'col' }, String(place + 1))),
        make('th', { scope: 'col' }, measure === 'score' ? 'Mean' : 'Share'), make('th', { scope: 'col' }, 'Score'), make('th', { scope: 'col', title: 'Number of matches' }, 'Games'), make('th', { scope: 'col', title: 'Elo rating with the 95 % confidence interval; the mean is 0' }, 'Elo'))),
      make('tbody', {}, order.map((player, place) => make('tr', {}, make('th', { scope: 'row' }, `${place + 1}. ${players[player]}`),
        order.map((other) => make('td', {}, other === player ? '·' : cell(cells[player][other]))),
        make('td', {}, make('strong', {}, cell(sum[player]))), make('td', {}, played[player].count > 0 ? mean(player).toFixed(1) : ''), make('td', {}, String(played[player].count)), make('td', {}, sum[player].count > 0 ? rated(ratings[player]) : ''))))));
  }
}

function add(cell, score, share) {
  cell.score += score;
  cell.share += share;
  cell.count += 1;
}
