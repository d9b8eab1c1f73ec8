// Who got how much from whom: the cross table of a tournament.

import { fill, make } from './dom.js';

/** What a cell may say: name, in words, and the number of a meeting's `{points, share, count}`. */
export const MEASURES = {
  share: ['share of the points', ({ share, count }) => (share / count).toFixed(2)],
  score: ['mean score', ({ score, count }) => (score / count).toFixed(0)],
};

function none() {
  return { score: 0, share: 0, count: 0 };
}

export class Cross {
  /** `players` are their names. */
  constructor(players) {
    this.players = players;
    this.cells = players.map(() => players.map(none));
    /** How many matches a player was in, and what it scored there in all. */
    this.played = players.map(none);
    this.element = make('div', { class: 'cross', tabindex: '0', role: 'region', 'aria-label': 'Cross table' });
  }

  /** A match has ended: `seats` are indices of players by role (null: chance), `scores` by role. */
  meet(seats, scores) {
    seats.forEach((player, role) => {
      if (player === null || scores[role] === null) return;
      add(this.played[player], scores[role], 0);
      seats.forEach((other, place) => {
        if (other === null || other === player || scores[place] === null) return;
        // 1 for a higher score than another's, a half for the same.
        add(this.cells[player][other], scores[role], (Math.sign(scores[role] - scores[place]) + 1) / 2);
      });
    });
  }

  /** Shows the table, best first. */
  show(measure) {
    const [name, said] = MEASURES[measure];
    const { players, cells, played } = this;
    const cell = (counted) => (counted.count > 0 ? said(counted) : '');
    const sum = cells.map((row) => row.reduce((all, { score, share, count }) => ({ score: all.score + score, share: all.share + share, count: all.count + count }), none()));
    // In games for one there is nobody to meet: the scores tell.
    const rank = (player) => (sum[player].count > 0 ? sum[player][measure] / sum[player].count : -1);
    const mean = (player) => (played[player].count > 0 ? played[player].score / played[player].count : -1);
    const order = players.map((_, index) => index).sort((a, b) => rank(b) - rank(a) || mean(b) - mean(a));
    fill(this.element, make('table', {},
      make('caption', { class: 'unseen' }, `Of each player against each other: ${name}`),
      make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Player'), order.map((_, place) => make('th', { scope: 'col' }, String(place + 1))),
        make('th', { scope: 'col' }, measure === 'score' ? 'Mean' : 'Share'), make('th', { scope: 'col' }, 'Score'), make('th', { scope: 'col', title: 'matches' }, 'Met'))),
      make('tbody', {}, order.map((player, place) => make('tr', {}, make('th', { scope: 'row' }, `${place + 1}. ${players[player]}`),
        order.map((other) => make('td', {}, other === player ? '·' : cell(cells[player][other]))),
        make('td', {}, make('strong', {}, cell(sum[player]))), make('td', {}, played[player].count > 0 ? mean(player).toFixed(1) : ''), make('td', {}, String(played[player].count)))))));
  }
}

function add(cell, score, share) {
  cell.score += score;
  cell.share += share;
  cell.count += 1;
}
