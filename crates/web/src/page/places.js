// Places in the rules as buttons.

import { button } from './dom.js';

/** The parts of `FILE:LINE:COLUMN`. */
function parsed(rule) {
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(rule) ?? [null, rule, 1, 1];
  return { file, line: Number(line), column: Number(column) };
}

/** Buttons with blanks between them; `onPlace(place)` is called with a file, line and column. */
export function places(rules, onPlace) {
  return rules.map((rule) => {
    const place = parsed(rule);
    const name = place.file.split('/').pop();
    return [button(`${name}:${place.line}`, () => onPlace(place), { class: 'place' }), ' '];
  }).flat();
}
