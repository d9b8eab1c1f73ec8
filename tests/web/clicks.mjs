// Matches by clicks alone: `node tests/web/clicks.mjs URL [--files FOLDER] [--only WORD] [--moves N]
// [--seed N] [--width N] [FILE…]`, with `ggp web` running at URL.
//
// Plays every bundled game to its end, or for --moves moves (150), with persons in all seats. It
// clicks on what the page marks: cells, menus at cells, large buttons, and the list of moves where
// nothing else is marked. Prints a line for each game with the number of moves by each of them.
// With --files, it enters the rule files of a folder in the editor, all or those that are named,
// plays them with a person in the first seat and `auto:0.3s` in the others, and makes ten moves.
// Exits with 1 if something was wrong. CHROMIUM is the path of the browser (/usr/bin/chromium).

import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { browsing, entered, home } from './person.mjs';
import { played, prepared, seatedByPersons } from './clicking.mjs';

const { values: options, positionals: [url, ...names] } = parseArgs({
  allowPositionals: true,
  options: { files: { type: 'string' }, only: { type: 'string', default: '' }, moves: { type: 'string' }, seed: { type: 'string', default: '1' },
    width: { type: 'string', default: '1400' } },
});
if (!url) {
  console.error('usage: node tests/web/clicks.mjs URL [--files FOLDER] [--only WORD] [--moves N] [--seed N] [--width N] [FILE…]');
  process.exit(2);
}
/** Seconds of a program's move. */
const SECONDS = '0.3';
const most = Number(options.moves ?? (options.files ? 10 : 150));

/** The games to play: a name, and how to open it in a page. */
async function games() {
  if (!options.files) {
    const all = await (await fetch(`${home}api/games`)).json();
    return all.map(({ id, roles }) => ({ name: id, open: (page) => seatedByPersons(page, id, roles) }));
  }
  const all = (await readdir(options.files)).filter((name) => name.endsWith('.kif')).sort();
  return all.filter((name) => names.length === 0 || names.includes(name) || names.includes(name.slice(0, -4)))
    .map((name) => ({ name: name.slice(0, -4), open: async (page) => enteredAndSeated(page, await readFile(join(options.files, name), 'utf8')) }));
}

/** Enters rules in the editor, plays them, and seats programs for all roles but the first. */
async function enteredAndSeated(page, text) {
  await page.goto(`${home}#/edit`);
  await entered(page, text);
  await page.waitForFunction(() => /^(No errors|\d+ errors?|These rules)/.test(document.querySelector('.editor .state')?.textContent ?? ''));
  const state = await page.locator('.editor .state').textContent();
  if (!state.startsWith('No errors')) throw new Error(`${state} ${(await page.locator('.findings li').allTextContents()).slice(0, 2).join(' ')}`);
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.locator('.game:not([aria-busy], .former)').waitFor();
  let first = true;
  for (const row of await page.locator('.seat').all()) {
    const player = row.locator('select');
    if (await player.inputValue() === 'random') continue;
    await player.selectOption(first ? 'person' : 'auto');
    if (first) {
      first = false;
      continue;
    }
    await row.locator('.seconds input').fill(SECONDS);
    await row.locator('.seconds input').press('Enter');
  }
}

const browser = await browsing();
const sums = { games: 0, ended: 0, right: 0 };
for (const [index, { name, open }] of (await games()).entries()) {
  if (!name.includes(options.only)) continue;
  const context = await browser.newContext({ viewport: { width: Number(options.width), height: 900 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(30_000);
  await prepared(context);
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(`error in the page: ${error.stack ?? error}`));
  const begun = Date.now();
  let line;
  try {
    await open(page);
    const { over, faulty, moves, count, faults, status } = await played(page, { most, seed: Number(options.seed) + index });
    errors.push(...faults);
    if (faulty) errors.push(`the rules are wrong: ${status}`);
    sums.ended += over ? 1 : 0;
    line = `${count} moves: ${Object.entries(moves).filter(([, number]) => number > 0).map(([kind, number]) => `${kind} ${number}`).join(', ')}; ${over ? `ended: ${status.split('Last:')[0].trim()}` : 'not ended'}`;
  } catch (error) {
    errors.push(error.message.split('\n')[0]);
    line = 'not played';
  }
  sums.games += 1;
  sums.right += errors.length === 0 ? 1 : 0;
  console.log(`${errors.length === 0 ? 'ok    ' : 'FAILED'} ${name}: ${line} (${((Date.now() - begun) / 1000).toFixed(1)} s)${errors.map((error) => `\n         ${error}`).join('')}`);
  if (errors.length > 0) {
    process.exitCode = 1;
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` }).catch(() => {});
  }
  await context.close();
}
await browser.close();
console.log(`${sums.games} games, ${sums.ended} played to the end, ${sums.right} without a fault`);
