// The end of a match: the game is over, or the rules are wrong in the position.

import { listed } from './labels.js';

/** Returns whether no move follows. */
export function isEnd({ over, faults }) {
  return over || faults.length > 0;
}

/**
 * The result in words, or what is wrong with the rules. `person` is the role of the one
 * person at this page, or null.
 */
export function ending({ roles }, { goals, faults, over }, person = null) {
  if (faults.length === 0) return result(roles, goals, person);
  const scores = roles.map(({ name }, role) => (goals[role] === null ? null : `${name} ${goals[role]}`)).filter(Boolean);
  const wrong = faults.map(({ message }) => ` ${message}.`);
  return `${over ? `The game is over${scores.length ? `: ${scores.join(', ')}` : ''}.` : 'The match ends here.'}${wrong.join('')}`;
}

/** Returns whether the person has won, or somebody if `person` is null. */
export function isWon({ roles }, { goals }, person) {
  const scores = goals.filter((_, role) => !roles[role].random);
  const best = Math.max(...scores);
  return scores.length === 1 ? best === 100 : best > Math.min(...scores) && (person === null || goals[person] === best);
}

function result(roles, goals, person) {
  const all = roles.map(({ name, random }, role) => ({ name, role, random, score: goals[role] })).filter(({ random, score }) => !random && score !== null);
  if (all.length === 0) return 'The game is over.';
  if (all.length === 1) {
    const [{ score }] = all;
    if (roles.length > 1 && !roles.some(({ random }) => random)) return `The game is over, ${all[0].name} ${score}.`;
    return score === 100 ? 'Solved: 100.' : score === 0 ? 'Not solved: 0.' : `The end: ${score} of 100.`;
  }
  const ranked = all.toSorted((a, b) => b.score - a.score);
  const best = ranked[0].score;
  const winners = ranked.filter(({ score }) => score === best);
  const scores = all.length === 2 ? ranked.map(({ score }) => score).join(' : ') : ranked.map(({ name, score }) => `${name} ${score}`).join(', ');
  if (winners.length === all.length) {
    const words = best === 0 ? 'Nobody wins' : best === 100 ? 'Everyone wins' : 'A draw';
    return `${words}, ${all.length === 2 ? scores : `${best} each`}.`;
  }
  const names = listed(winners.map(({ name }) => name));
  const won = winners.some(({ role }) => role === person);
  if (won && winners.length === 1) return `You won${all.length === 2 ? `, ${scores}` : `: ${scores}`}.`;
  const side = person === null || !all.some(({ role }) => role === person) ? '' : won ? 'You won: ' : 'You lost: ';
  return `${side}${names} ${winners.length === 1 ? 'wins' : 'win'}${all.length === 2 ? `, ${scores}` : side || winners.length > 1 ? ` (${scores})` : `: ${scores}`}.`;
}
