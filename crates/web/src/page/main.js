// The router: shows the page that the address names.

import { ask, players } from './api.js';
import { fill, make, sentence } from './dom.js';
import { Editor } from './editor.js';
import { GameView } from './game.js';
import { Home } from './home.js';
import { asDrawn } from './names.js';
import { address, parsed, unpacked } from './route.js';
import { Game } from './rules.js';
import { tableState } from './table.js';
import { themeSwitch } from './theme.js';

const place = document.getElementById('view');
let view = null;
/** Counts navigations, so that late results are discarded. */
let turn = 0;
/** Rules on their way to the editor, or a game on its way to its view. */
let handed = null;

function show(next, title, said = null) {
  const first = view === null;
  view?.leave?.();
  view = next;
  fill(place, said && make('p', { class: 'trouble', role: 'alert' }, said), next.element);
  document.title = title ? `${title} · ggp` : 'ggp';
  if (!first) {
    // Moves the focus, so that screen readers announce the page.
    scrollTo(0, 0);
    next.element.querySelector('h1')?.focus({ preventScroll: true });
  }
  next.shown?.()?.catch?.((error) => { next.failed?.(error); throw error; });
}

function edit(rules, findings, said) {
  show(new Editor(rules, play, findings), 'Your own rules', said);
}

function play(game, moves) {
  handed = { game };
  const target = address(game.path, { moves });
  if (location.hash === target) route();
  else location.hash = target;
}

/** The game of an address. Its position is requested at the same time. */
async function opened(target) {
  if (handed?.game && (handed.game.id === target.game || handed.game.path === `rules=${target.rules}`)) return handed.game;
  if (target.rules === undefined) {
    target.early = ask(`api/games/${encodeURIComponent(target.game)}/position`, asDrawn({ moves: target.moves })).catch(() => null);
    players().catch(() => {});
    return Game.named(target.game);
  }
  try {
    return await Game.loaded(await unpacked(target.rules));
  } catch (error) {
    if (error.status !== undefined) throw error;
    throw new Error('The rules in this address are damaged. Was it copied completely?');
  }
}

async function table(target) {
  const said = await tableState(target.table, target.key);
  target.refused = target.key && said.seat === null;
  if (target.refused) target.key = null;
  const game = await Game.named(said.game).catch(async (error) => {
    // The rules belong to another session; the link contains them.
    if (error.status !== 404 || !target.words.rules) throw error;
    return Game.loaded(await unpacked(target.words.rules));
  });
  return new GameView(game, { ...target, said });
}

async function route() {
  const mine = (turn += 1);
  const target = parsed(location.hash);
  const { page } = target;
  if (page === 'home') {
    show(new Home((rules) => { handed = { rules }; location.hash = '#/edit'; }), null, target.trouble);
  } else if (page === 'edit') {
    const rules = handed?.rules ?? null;
    handed = null;
    edit(rules, undefined, target.trouble);
  } else {
    if (!view) fill(place, make('p', { class: 'quiet waiting' }, 'Loading …'));
    try {
      const next = page === 'table' ? await table(target) : new GameView(await opened(target), target);
      if (mine !== turn) return;
      handed = null;
      next.onEdit = (rules) => { handed = { rules }; location.hash = '#/edit'; };
      show(next, next.game.title, page === 'table' ? target.trouble : null);
    } catch (error) {
      if (mine !== turn) return;
      if (error.status === 422 && error.body?.findings && target.rules) {
        edit(await unpacked(target.rules), error.body.findings);
        return;
      }
      show({ element: make('section', { class: 'home' }, make('h1', { tabindex: '-1' }, 'This page cannot be shown'),
        make('p', { class: 'trouble', role: 'alert' }, sentence(error.message)), make('p', {}, make('a', { href: '#/' }, 'Back to the games'))) }, 'Not found');
    }
  }
}

document.getElementById('theme').append(themeSwitch());
// The part after # is the address of the view, so this link must not change it.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  place.focus();
});
addEventListener('hashchange', route);
// A file dropped outside a drop area must not replace the page.
addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => event.preventDefault());
route();
