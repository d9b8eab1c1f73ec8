// The line above the board: whose move it is, or how the match ended.

import { fill, make, sentence } from './dom.js';
import { ending, isEnd, isWon } from './ending.js';
import { listed, plain } from './labels.js';
import { PERSON } from './match.js';
import { counted } from './moves.js';
import { Views } from './views.js';

export class Status {
  constructor(view) {
    this.view = view;
    this.turn = make('strong', {});
    this.note = make('span', { class: 'note-line' });
    this.element = make('p', { class: 'status', 'aria-live': 'polite' }, this.turn, this.note);
  }

  /** Shows words about a click that had no effect until the next change. */
  remark(words) {
    this.said = words;
    this.show();
  }

  show(states = this.states) {
    this.states = states;
    const { history, game } = this.view;
    const { position, joint, parent } = history.here;
    if (!position) return;
    const over = isEnd(position);
    const before = parent?.position;
    const { seat } = position;
    const chose = (role) => (seat ? role === seat.role && joint[role] : !before || before.turn.length === 0 || before.turn.includes(role));
    const played = joint ? game.roles.map(({ name }, role) => (chose(role) ? `${game.roles.length > 1 ? `${name} ` : ''}${joint[role]}` : null)).filter(Boolean).join(', ') : '';
    const isFaulty = position.faults.length > 0;
    this.element.classList.toggle('ended', over && !isFaulty);
    this.element.classList.toggle('won', over && isWon(game, position, this.person()));
    this.element.classList.toggle('faulty', isFaulty);
    this.element.classList.toggle('mine', !over && states.includes('open'));
    const turn = this.words(position, states);
    if (turn !== this.turn.textContent) this.turn.textContent = turn;
    fill(this.note, this.said && make('span', { class: 'remark' }, ` ${this.said}`),
      !this.said && played && make('span', { class: 'quiet' }, ` Last: ${[played, Views.saw(seat, history.here.ply)].filter(Boolean).join(', ')}`),
      !this.said && parent?.hurried && make('span', { class: 'remark' }, ' No time to think: a random legal move.'));
  }

  words(position, states) {
    const { game, match, history, atTable, sharing } = this.view;
    const names = (wanted) => listed(game.roles.filter((_, role) => wanted(role)).map(({ name }) => name));
    if (isEnd(position)) return ending(game, position, this.person());
    if (atTable && history.here !== match.end) return `This is an earlier position; the match has ${counted(match.end.ply, 'move')}.`;
    if (match.failed) return sentence(match.failed);
    if (sharing.locked) return 'The invitation is open. This board is locked.';
    const preparing = this.preparing();
    const thinkers = position.seat ? '' : names((role) => states[role] === 'thinking');
    const many = states.filter((state) => state === 'thinking').length > 1;
    if (states.includes('open')) {
      const who = game.roles.length > 1 ? ` (${names((role) => states[role] === 'open')})` : '';
      return `Your move${who}${thinkers ? `; ${thinkers} ${many ? 'choose' : 'chooses'} at the same time` : ''}.`;
    }
    if (preparing) return preparing;
    if (position.seat && !atTable) return match.fresh ? 'Ready.' : match.paused ? 'Paused.' : 'Waiting for the others …';
    if (thinkers) return `${thinkers} ${many ? 'are' : 'is'} thinking …`;
    const waiting = names((role) => position.turn.includes(role) && states[role] !== 'chosen') || names((role) => position.turn.includes(role));
    if (atTable) return `Waiting for ${waiting || 'the next move'}.`;
    if (!match.paused) return position.turn.length === 0 ? 'Only one move is possible.' : `${waiting} to move.`;
    return match.fresh ? 'Ready.' : position.turn.length === 0 ? 'Only one move is possible.' : `Paused: ${waiting} to move.`;
  }

  /** The words while the server prepares the rules for a player; null if it does not. */
  preparing() {
    const { begun } = this.view.match.preparing ?? {};
    if (begun === undefined) return null;
    return `Preparing the rules … ${Math.floor((Date.now() - begun) / 1000)} s`;
  }

  /** The role of the one person at this page; null if it is nobody or several persons. */
  person() {
    const { match, atTable, game } = this.view;
    if (atTable) return match.seat ?? null;
    const persons = match.seats.flatMap((player, role) => (player === PERSON ? [role] : []));
    return persons.length === 1 && game.roles.length > 1 ? persons[0] : null;
  }
}

/** The reason why a click on a cell did nothing. `cells` are the cells that were selected before. */
export function refusal({ game, match, history }, cell, contents, cells) {
  const { position } = history.here;
  if (isEnd(position)) return 'The game is over.';
  const states = game.roles.map((_, role) => match.stateOf(role));
  if (!states.includes('open')) {
    const who = listed(game.roles.filter((_, role) => position.turn.includes(role)).map(({ name }) => name));
    return who ? `It is the turn of ${who}.` : '';
  }
  if (cells.length > 0) return 'The selected piece cannot go there.';
  const { owners = {} } = position.drawing.boards[cell.split(' ')[0]] ?? {};
  const owner = (contents ?? []).map((content) => owners[content]).find((role) => role !== undefined);
  if (owner !== undefined && states[owner] !== 'open') return `This belongs to ${game.roles[owner].name}.`;
  if (contents?.length > 0) return `No move uses this ${plain(contents.join(' ').replaceAll('/', ' '))} now.`;
  return 'No move uses this cell now.';
}
