// The cards of the start page, and moving between them with the arrow keys.

import { make } from './dom.js';
import { address } from './route.js';

/** The directions of keys: along, and against which side a card must lie. */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const pictureOf = ({ id }) => `api/games/${encodeURIComponent(id)}/picture.svg`;
export const addressOf = ({ id }) => address(encodeURIComponent(id), {});

/** The card of a family. Its variants are chosen on it. */
export function card(family) {
  const { moves = [] } = family.lead.traits ?? {};
  const picture = make('img', { alt: '', loading: 'lazy', decoding: 'async', width: 160, height: 160 });
  const link = make('a', { class: 'card-link' }, family.title);
  const show = (game) => {
    if (moves.length === 0) picture.src = pictureOf(game);
    link.href = addressOf(game);
  };
  show(family.lead);
  const choice = family.variants.length > 1 && make('select', { class: 'variant', 'aria-label': `Variant of ${family.title}` },
    family.variants.map(({ game, label }) => make('option', { value: game.id, selected: game === family.lead }, label)));
  if (choice) choice.addEventListener('change', () => show(family.variants.find(({ game }) => game.id === choice.value).game));
  return make('li', { class: 'card' },
    make('span', { class: 'card-picture', title: family.about },
      moves.length > 0 ? make('span', { class: 'card-words', 'aria-hidden': 'true' }, moves.map((move) => make('span', {}, move))) : picture),
    link,
    make('span', { class: 'card-line' }, make('span', { class: 'quiet' }, family.seats), choice));
}

/** Moves the focus between the cards in `element` with the arrow keys, Home and End. */
export function walkable(element) {
  element.addEventListener('keydown', (event) => {
    if (!event.target.matches('.card-link') || event.ctrlKey || event.metaKey || event.altKey) return;
    const links = [...element.querySelectorAll('.card-link')].filter((link) => link.checkVisibility());
    let next = null;
    if (event.key === 'Home') [next] = links;
    else if (event.key === 'End') next = links.at(-1);
    else if (ARROWS[event.key]) next = nearest(event.target, links, ARROWS[event.key]);
    else return;
    event.preventDefault();
    next?.focus();
    next?.closest('.card').scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
}

/** The nearest link in a direction; along a row, the next one in the order of the page. */
function nearest(from, links, [dx, dy]) {
  if (dx !== 0) return links[links.indexOf(from) + dx] ?? null;
  const centre = (link) => {
    const { x, y, width, height } = link.closest('.card').getBoundingClientRect();
    return [x + width / 2, y + height / 2];
  };
  const [x, y] = centre(from);
  let best = null;
  for (const link of links) {
    const [cx, cy] = centre(link);
    const along = (cy - y) * dy;
    // A row that is nearer goes before a card that is straight above or below.
    const far = along * 4 + Math.abs(cx - x);
    if (along > 8 && (best === null || far < best.far)) best = { link, far };
  }
  return best?.link ?? null;
}
