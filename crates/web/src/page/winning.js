// The cells that decided a match: those of the facts from which the rules derive the
// winner's score.

import { terms } from './kif.js';

/**
 * The cells that the score of the winner follows from, or an empty set. Only a few facts on
 * one board count, as in a line; a majority does not.
 */
export async function winningCells(game, node) {
  const { goals, drawing, faults } = node.position;
  if (faults.length > 0 || game.roles.length < 2) return new Set();
  const best = Math.max(...goals.map((score) => score ?? 0));
  const winners = game.roles.filter((_, role) => goals[role] === best);
  if (winners.length !== 1) return new Set();
  const { trees } = await game.ask('why', { moves: node.moves(), question: `(goal ${winners[0].name} ${best})` });
  const facts = new Set();
  for (const tree of trees) collect(tree, facts);
  const most = Math.max(8, ...drawing.boards.flatMap(({ rows, columns }) => [rows.length, columns.length]));
  if (facts.size < 2 || facts.size > most) return new Set();
  return cellsOfFacts(node.position, [...facts]);
}

/** The facts of the state that a derivation uses. */
function collect({ mark, text, because }, facts) {
  const [, fact] = /^\(true (.*)\)$/s.exec(text ?? '') ?? [];
  if (fact && mark === 'holds') facts.add(fact);
  for (const below of because) collect(below, facts);
}

/**
 * The cells of facts such as `(cell 1 2 cross)`. The arguments that are the row, the column
 * and the content are found by comparing all facts of that name with the board. Without a
 * single answer, there are no cells.
 */
export function cellsOfFacts({ facts, drawing }, wanted) {
  const split = (fact) => terms(fact.replace(/^\((.*)\)$/s, '$1'));
  const all = facts.map(split);
  const found = new Set();
  for (const [name, ...arguments_] of wanted.map(split)) {
    const alike = all.filter((other) => other[0] === name && other.length === arguments_.length + 1).map((other) => other.slice(1));
    const cells = new Set();
    drawing.boards.forEach((board, index) => {
      for (const [row, column] of axes(board, alike)) cells.add(`${index} ${board.rows.indexOf(arguments_[row])} ${board.columns.indexOf(arguments_[column])}`);
    });
    if (cells.size !== 1) continue;
    found.add([...cells][0]);
  }
  return found.size === wanted.length || found.size >= 3 ? found : new Set();
}

/** The pairs of arguments that can be the row and the column for all facts. */
function axes({ rows, columns, contents }, facts) {
  const count = facts[0]?.length ?? 0;
  const fits = (fact, row, column) => {
    const content = contents[rows.indexOf(fact[row])]?.[columns.indexOf(fact[column])];
    const rest = fact.filter((_, index) => index !== row && index !== column);
    return content && (content.includes(rest.join('/')) || (rest.length === 0 && content.length > 0));
  };
  const found = [];
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < count; column += 1) {
      if (row !== column && facts.every((fact) => fits(fact, row, column))) found.push([row, column]);
    }
  }
  return found;
}
