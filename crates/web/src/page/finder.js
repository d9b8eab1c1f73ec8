// Search in the games of the start page: by words of titles, groups, players and descriptions.

import { wordsOf } from './labels.js';

const NUMBERS = ' one two three four five six seven eight'.split(' ');
/** The length from which a word in a description may be abbreviated. */
const LONG = 4;
/** Points for a word that is found in the title, in the group or number of players, or in the description. */
const POINTS = { title: 8, traits: 4, about: 1 };

/** The words by which a family is found. */
function indexOf(family) {
  const { players, groups, variants, roles } = family;
  return {
    title: wordsOf([family.title, ...variants.flatMap(({ game, label }) => [game.id, label.replaceAll('×', 'x'), label])].join(' ').replaceAll('_', ' ')),
    traits: wordsOf([...groups.flatMap(({ name, words }) => [name, words]), ...roles.map(({ name }) => name)].join(' ')),
    about: wordsOf(family.about),
    players,
  };
}

/** The points of a word in a family; 0 if it is not found. A title may be abbreviated. */
function points(index, word, loose) {
  let best = 0;
  for (const [where, value] of Object.entries(POINTS)) {
    if (index[where].includes(word)) best = Math.max(best, 2 * value);
    else if ((where === 'title' || (loose && word.length >= LONG)) && index[where].some((one) => one.startsWith(word))) best = Math.max(best, value);
  }
  return best;
}

export class Finder {
  constructor(families) {
    this.entries = families.map((family) => ({ family, index: indexOf(family) }));
  }

  /**
   * Returns the families that a text finds, the best first. Words in descriptions are
   * abbreviated only if nothing is found otherwise.
   */
  find(text) {
    let rest = text.toLowerCase();
    const wanted = [];
    // A number of players is one condition.
    rest = rest.replaceAll(/(\p{L}+|\d+)[\s-]*(?:players?|persons?)\b/gu, (all, number) => {
      const count = /^\d+$/.test(number) ? Number(number) : NUMBERS.indexOf(number);
      if (count < 1) return all;
      wanted.push(count);
      return ' ';
    });
    const words = wordsOf(rest.replaceAll('×', 'x'));
    const entries = this.entries.filter(({ index }) => wanted.every((count) => index.players === count));
    for (const loose of [false, true]) {
      const found = entries.map(({ family, index }) => ({ family, scores: words.map((word) => points(index, word, loose)) }))
        .filter(({ scores }) => scores.every((score) => score > 0))
        .map(({ family, scores }) => ({ family, score: scores.reduce((sum, score) => sum + score, 0) }));
      if (found.length > 0) return found.sort((one, two) => two.score - one.score).map(({ family }) => family);
    }
    return [];
  }
}
