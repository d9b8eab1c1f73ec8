// Tournaments: all pairs of players in all seats, with a cross table of the scores.

import { CrossTable } from './cross_table.js';
import { button, fill, make, trouble } from './dom.js';
import { ending, isEnd } from './ending.js';
import { Node } from './history.js';
import { thought } from './match.js';

/** Maximum number of joint moves of a match. */
const LONGEST = 1000;

/** The seats in the matches of a round: each pair in turn, and then with seats swapped. */
export function pairings(players, roles) {
  const matches = [];
  for (let one = 0; one < players; one += 1) {
    for (let two = one + 1; two < players; two += 1) {
      matches.push(Array.from({ length: roles }, (_, role) => (role % 2 === 0 ? one : two)));
      matches.push(Array.from({ length: roles }, (_, role) => (role % 2 === 0 ? two : one)));
    }
  }
  return matches;
}

export class Tournament {
  /** `onMatch(moves)` is called to show a match. */
  constructor(game, onMatch) {
    this.game = game;
    this.onMatch = onMatch;
    this.players = make('textarea', { rows: '3', class: 'players', spellcheck: 'false', 'aria-label': 'Players, one per line', value: `${game.hidden ? 'ismcts:0.3s\nmcts:0.3s' : 'mcts:0.3s\nminimax:0.3s'}\nrandom` });
    this.rounds = make('input', { type: 'number', min: '1', max: '50', value: '1', 'aria-label': 'Rounds' });
    this.control = button('Start', () => (this.stop ? this.stop.abort() : this.start()), { class: 'strong' });
    this.trouble = trouble();
    this.state = make('p', { class: 'quiet', 'aria-live': 'polite' });
    this.table = make('div');
    this.list = make('ol', { class: 'results' });
    this.element = make('div', { class: 'solve' },
      make('p', { class: 'quiet' }, 'Everyone plays everyone, in every seat. One player per line, e.g. mcts:0.5s.'),
      this.players,
      make('div', { class: 'line-of' }, this.control, make('label', { class: 'seconds' }, 'Rounds ', this.rounds)),
      this.trouble, this.state, this.table, this.list);
  }

  async start() {
    const players = this.players.value.split('\n').map((line) => line.trim()).filter(Boolean);
    const wrong = players.length < 2 ? 'A tournament needs at least two players, one per line.'
      : players.some((player) => Number(/:([\d.]+)s/.exec(player)?.[1]) > 600) ? 'A player has at most 600 s per move.' : '';
    this.trouble.say(wrong);
    if (wrong || !this.rounds.reportValidity()) return;
    const roles = this.game.roles.filter((role) => !role.random).length;
    const matches = Array.from({ length: Number(this.rounds.value) || 1 }, () => pairings(players.length, roles)).flat();
    this.cross = new CrossTable(players);
    fill(this.table, this.cross.element);
    fill(this.list);
    this.stop = new AbortController();
    this.control.textContent = 'Stop';
    try {
      for (const [index, seats] of matches.entries()) {
        const names = seats.map((player) => players[player]);
        const said = `Match ${index + 1} of ${matches.length}: ${names.join(' – ')}`;
        const end = await this.match(names, said);
        this.count(players, seats, end);
      }
      this.state.textContent = `Matches played: ${matches.length}.`;
    } catch (error) {
      this.state.textContent = '';
      if (error.name === 'AbortError') this.state.textContent = 'Stopped.';
      else this.trouble.say(error.message);
    } finally {
      this.stop = null;
      this.control.textContent = 'Start';
    }
  }

  /** Plays one match, and returns its last node. */
  async match(names, said) {
    const { signal } = this.stop;
    let node = new Node(null, null);
    const players = [...names];
    const seats = this.game.roles.map((role) => (role.random ? 'random' : players.shift()));
    for (;;) {
      const moves = node.moves();
      node.position = await this.game.ask('position', { moves }, signal);
      this.state.textContent = `${said}, move ${node.ply}`;
      const { legal, turn } = node.position;
      if (isEnd(node.position) || node.ply >= LONGEST) return node;
      const joint = await Promise.all(legal.map((list, role) => (turn.includes(role)
        ? thought(this.game, { moves, role, player: seats[role] }, signal, () => {}) : list[0]?.move)));
      node = new Node(node, joint);
    }
  }

  count(players, seats, end) {
    const persons = this.game.roles.map((role, index) => index).filter((index) => !this.game.roles[index].random);
    const { over, faults } = end.position;
    const goals = persons.map((role) => end.position.goals[role]);
    const moves = end.moves();
    const score = goals.map((goal) => goal ?? '–').join(' : ');
    this.list.prepend(make('li', {}, button(`${seats.map((player) => players[player]).join(' – ')}  ${score}`, () => this.onMatch(moves), { class: 'joint' })));
    // Matches without scores are aborted, and not counted.
    if (faults.length > 0) this.trouble.say(ending(this.game, end.position));
    if (!over || faults.length > 0) return;
    this.cross.meet(seats, goals);
    this.cross.show('score');
  }

  leave() {
    this.stop?.abort();
  }
}
