// Matches that are played by clicks alone: what is clicked is what the page marks, and nothing is
// known of the rules.

import assert from 'node:assert/strict';
import { home } from './person.mjs';

/** Milliseconds after which a page that did not change is stuck. */
const PATIENCE = 20_000;
/** Milliseconds in which a click must change something. */
const ANSWER = 4_000;
/** The share of picks that are changed. */
const CHANGES = 0.1;

/** Pseudorandom numbers from 0 to below 1. */
export function chances(seed) {
  let state = (seed * 2654435761 + 97) % 2 ** 32;
  return () => {
    state = (state * 69069 + 12345) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** What a person sees of a match. It runs in the page. */
function watching() {
  const shown = (one) => one.getClientRects().length > 0 && !one.disabled;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
  const text = (selector) => document.querySelector(selector)?.textContent ?? '';
  const onBoard = (selector) => [...document.querySelector('.board')?.shadowRoot.querySelectorAll(selector) ?? []];
  /** The things that can be clicked, by kind. */
  const things = {
    menu: () => all('.cell-menu button'),
    near: () => onBoard('.mark.near').filter((one) => one.getClientRects().length > 0),
    cell: () => onBoard('[data-cell].open[aria-selected=false]').filter((one) => one.getClientRects().length > 0),
    button: () => all('.pad button'),
    list: () => all('.group.open button.move'),
    more: () => all('.controls button').filter((one) => ['Continue', 'Start'].includes(one.textContent)),
    again: () => all('.failure button').slice(-1),
  };
  const look = () => {
    const counts = Object.fromEntries(Object.entries(things).map(([kind, found]) => [kind, found().length]));
    const status = document.querySelector('.status');
    const seen = {
      counts,
      busy: document.querySelector('.game:not(.former)')?.hasAttribute('aria-busy') ?? true,
      over: status?.classList.contains('ended') ?? false,
      faulty: status?.classList.contains('faulty') ?? false,
      status: text('.status'),
      remark: text('.status .remark'),
      trouble: all('.stage > .trouble, .failure').map((one) => one.textContent).join(' '),
      chosen: onBoard('.mark.chosen').map((one) => one.closest('[data-cell]')?.dataset.cell ?? '?'),
      ply: Number.parseInt(text('.count'), 10),
    };
    seen.signature = JSON.stringify([seen, text('.cell-menu'), text('.pad'), text('.count')]);
    const { menu, near, cell, button, list, more, again } = counts;
    seen.asks = seen.over || seen.faulty || menu + near + cell + button + list + more + again > 0;
    return seen;
  };
  /** Waits until something is asked that differs from what was seen before. */
  const wait = async (before, answer, patience) => {
    const begun = performance.now();
    for (;;) {
      const seen = look();
      const waited = performance.now() - begun;
      if (!seen.busy && seen.signature !== before && seen.asks) return seen;
      // Programs may prepare large rules for long.
      const times = /thinking|Preparing/.test(seen.status) ? 4 : 1;
      if (waited > times * (seen.signature === before ? answer : patience)) return { ...seen, late: true, same: seen.signature === before };
      await new Promise((done) => { setTimeout(done, 4); });
    }
  };
  /** The point of a thing at which a click meets it; `hidden` if something else lies above it. */
  const point = (kind, index) => {
    const thing = things[kind]()[index];
    const isCell = kind === 'cell' || kind === 'near';
    // A mark is in the middle of its cell, but the ground of a cell may have any shape.
    const shape = kind === 'cell' ? thing.querySelector('rect,circle,ellipse,polygon,path') ?? thing : thing;
    const boxed = () => shape.getBoundingClientRect();
    const name = isCell ? thing.dataset.cell ?? thing.dataset.mark ?? 'mark' : thing.textContent;
    const middle = () => [boxed().x + boxed().width / 2, boxed().y + boxed().height / 2];
    const inside = ([x, y]) => x > 0 && y > 0 && x < innerWidth && y < innerHeight;
    if (!isCell) thing.scrollIntoView({ block: 'nearest' });
    else if (!inside(middle())) shape.scrollIntoView({ block: 'center', inline: 'center' });
    const { x, y, width, height } = boxed();
    for (const [over, down] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.2, 0.2], [0.8, 0.8], [0.2, 0.8], [0.8, 0.2]]) {
      const at = [x + over * width, y + down * height];
      if (!inside(at)) continue;
      const met = document.elementFromPoint(...at);
      if (!isCell && met && thing.contains(met)) return { at, name };
      if (!isCell || !met?.shadowRoot) continue;
      const cell = met.shadowRoot.elementFromPoint(...at)?.closest('[data-cell]');
      if (kind === 'near' ? cell : cell === thing) return { at, name };
    }
    return { hidden: true, name };
  };
  window.clicking = { look, wait, point };
}

/** Prepares the pages of a context. */
export const prepared = (context) => context.addInitScript(watching);

/** What can be clicked next: the kind and the index. */
function chosen({ counts, chosen: picked }, chance) {
  const among = (...kinds) => {
    let number = Math.floor(chance() * kinds.reduce((sum, kind) => sum + counts[kind], 0));
    for (const kind of kinds) {
      if (number < counts[kind]) return { kind, index: number };
      number -= counts[kind];
    }
    return null;
  };
  // Sometimes a person changes its mind, and picks something else.
  if (picked.length > 0 && counts.cell > 0 && chance() < CHANGES) return among('cell');
  if (counts.menu > 0 || picked.length > 0) return among('menu', 'near') ?? among('list');
  return among('cell', 'button') ?? among('list') ?? among('again') ?? among('more');
}

/**
 * Plays the match that a page shows until it ends, or for `most` moves. Returns `{over, moves,
 * faults, status}`; `moves` counts them by what made them.
 */
export async function played(page, { most = 150, seed = 1 } = {}) {
  const chance = chances(seed);
  const moves = { board: 0, menu: 0, buttons: 0, list: 0 };
  const faults = [];
  let count = 0;
  let seen = await page.evaluate((patience) => window.clicking.wait('', patience, patience), PATIENCE);
  const trail = [];
  const fault = (words) => faults.push(`${words} after ${count} moves (${trail.slice(-4).join(', ')}; ${seen.status.trim().slice(0, 160)})`);
  while (count < most && !seen.over && !seen.faulty) {
    if (seen.late && seen.same) {
      fault('a click changed nothing');
      break;
    }
    const next = chosen(seen, chance);
    if (!next) {
      fault(seen.chosen.length > 0 ? 'nothing follows the picked cells' : 'nothing is marked');
      break;
    }
    const target = await page.evaluate(([kind, index]) => window.clicking.point(kind, index), [next.kind, next.index]);
    // A menu may cover cells, until something is chosen or it is left.
    if (target.hidden && seen.counts.menu > 0) continue;
    trail.push(`${next.kind} ${target.name}`);
    if (target.hidden) {
      fault(`${next.kind} ${target.name} lies below something`);
      break;
    }
    const before = seen;
    await page.mouse.click(...target.at);
    seen = await page.evaluate(([old, answer, patience]) => window.clicking.wait(old, answer, patience), [before.signature, ANSWER, PATIENCE]);
    if (seen.late && seen.same) continue;
    if (seen.remark && !/No time to think/.test(seen.remark)) {
      fault(`a marked place was refused: ${seen.remark.trim()}`);
      break;
    }
    if (next.kind === 'near' && before.counts.menu > 0 && seen.ply === before.ply && before.chosen.some((cell) => !seen.chosen.includes(cell))) {
      fault('the picked cells were dropped by a click on a marked one');
      break;
    }
    // A pick is no move yet.
    if (seen.chosen.length > 0 || seen.counts.menu > 0 || next.kind === 'more' || next.kind === 'again') continue;
    count += 1;
    moves[{ cell: 'board', near: 'board', menu: 'menu', button: 'buttons', list: 'list' }[next.kind]] += 1;
  }
  if (seen.trouble) fault(`trouble: ${seen.trouble}`);
  return { over: seen.over, faulty: seen.faulty, moves, count, faults, status: seen.status.trim() };
}

/** Opens a game with a person in each seat but those of chance. */
export async function seatedByPersons(page, id, roles) {
  const seats = roles.map(({ random }) => (random ? 'random' : 'person')).join(';');
  await page.evaluate(() => document.querySelector('.game')?.classList.add('former'));
  await page.goto(`${home}#/${id}?seats=${seats}`);
  await page.locator('.game:not([aria-busy], .former)').waitFor();
}

/** Small games of different kinds, and what their moves are made by. */
const SMALL = {
  tic_tac_toe: 'board', breakthrough_small: 'board', nim: 'menu', light_cycles: 'buttons', rock_paper_scissors: 'buttons', domineering: 'board',
};

export const tests = {
  async small_games_are_played_to_their_end_by_clicks({ page, context }) {
    await prepared(context);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(home);
    for (const [id, kind] of Object.entries(SMALL)) {
      await seatedByPersons(page, id, [{}, {}]);
      const { over, faults, moves } = await played(page);
      assert.deepEqual([id, faults, over], [id, [], true]);
      assert.ok(moves[kind] > 0 && moves.list === 0, `${id}: ${JSON.stringify(moves)}`);
    }
  },
};
