// The end of a match: the game is over, or the rules are wrong in the position.

/** Returns whether no move follows. */
export function isEnd({ over, faults }) {
  return over || faults.length > 0;
}

/** The scores, or what is wrong with the rules. */
export function ending({ roles }, { goals, faults, over }) {
  const scores = roles.map(({ name }, role) => (goals[role] === null ? null : `${name} ${goals[role]}`)).filter(Boolean);
  const wrong = faults.map(({ message, rules }) => ` ${message}${rules.length ? ` (rules concerned: ${rules.join(' ')})` : ''}.`);
  return `${over ? `Game over${scores.length ? `: ${scores.join(', ')}` : ''}.` : 'The match ends here.'}${wrong.join('')}`;
}
