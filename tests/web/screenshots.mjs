// Takes screenshots of the page: `node tests/web/screenshots.mjs URL FOLDER [GAME…]`, with
// `ggp web` running at URL.
//
// FOLDER receives the start page, wide and narrow (`home.wide.light.png`), and for all
// bundled games, or the named ones, the initial state (`GAME.start.light.png`, `.dark.png`)
// and a position in the middle of a match (`GAME.after_7_moves.light.png`; always the same
// one). Exits with 1 if a game cannot be shown, nothing is drawn of it, or the page writes
// an error to the console. Games without a board, which have only tables, are listed.
// CHROMIUM is the path of the browser (/usr/bin/chromium).

import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { asker, middle } from './middle.mjs';

const [url, folder, ...wanted] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node tests/web/screenshots.mjs URL FOLDER [GAME…]');
  process.exit(2);
}
const home = url.endsWith('/') ? url : `${url}/`;
const asked = asker(home);

const WIDE = { width: 1400, height: 900 };
const NARROW = { width: 400, height: 800 };

let failed = 0;
function fail(what, error) {
  failed += 1;
  console.log(`FAILED  ${what}: ${error.message ?? error}`);
}

/** The address of a position with persons in all seats; see `crates/web/src/page/route.js`. */
function address({ id, roles }, moves) {
  const written = moves.map((joint) => joint.map(encodeURIComponent).join('%20')).join(';');
  return `${home}#/${encodeURIComponent(id)}?${written && `moves=${written}&`}seats=${roles.map(() => 'person').join(';')}`;
}

/** Opens an address in a new page, and takes a screenshot when `ready(page)` is done. */
async function shot(name, at, { colorScheme = 'light', viewport = WIDE }, ready) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (line) => { if (line.type() === 'error') errors.push(line.text()); });
  try {
    await page.goto(at);
    await ready(page);
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    if (errors.length > 0) throw new Error(`the page says: ${errors.join('; ')}`);
    console.log(`ok      ${name}`);
  } catch (error) {
    await page.screenshot({ path: `${folder}/${name}.failed.png`, fullPage: true }).catch(() => {});
    fail(name, error);
  }
  await context.close();
}

/** Waits until a game is shown after the given number of moves, with something drawn. */
async function drawn(page, moves) {
  await page.locator('main .board svg, main .trouble:visible').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('article.game')?.getAttribute('aria-busy')?.includes('true'));
  const told = await page.locator('.trouble:visible').allTextContents();
  if (told.join('').trim()) throw new Error(told.join(' ').trim());
  const made = Number((await page.locator('.count').first().textContent()).split('/')[0]);
  if (made !== moves) throw new Error(`${made} moves were made, not ${moves}`);
  const things = await page.evaluate(() => {
    const svg = document.querySelector('.board').shadowRoot.querySelector('svg');
    const all = [...svg.querySelectorAll('rect, circle, ellipse, polygon, path, line, text, image, use')];
    return all.filter((one) => !one.closest('[aria-hidden]') && !one.classList.contains('paper')).length;
  });
  if (things === 0) throw new Error('nothing is drawn');
}

async function cards(page) {
  await page.locator('.card').first().waitFor();
  await page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 400) {
      scrollTo(0, y);
      await new Promise((done) => { setTimeout(done, 60); });
    }
    scrollTo(0, 0);
    const images = [...document.querySelectorAll('main img')];
    await Promise.all(images.map((image) => { image.loading = 'eager'; return image.decode(); }));
  });
}

await mkdir(folder, { recursive: true });
const all = await asked('games');
const unknown = wanted.filter((game) => !all.some(({ id }) => id === game));
if (unknown.length > 0) fail(unknown.join(', '), `there is no such game; there are ${all.map(({ id }) => id).join(', ')}`);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
if (wanted.length === 0) {
  for (const colorScheme of ['light', 'dark']) {
    await shot(`home.wide.${colorScheme}`, home, { colorScheme }, cards);
    await shot(`home.narrow.${colorScheme}`, home, { colorScheme, viewport: NARROW }, cards);
  }
}
const tables = [];
for (const game of all.filter(({ id }) => wanted.length === 0 || wanted.includes(id))) {
  const { id } = game;
  try {
    const { drawing } = await asked(`games/${id}/position`, { moves: [] });
    if (drawing.boards.length === 0) tables.push(id);
    for (const colorScheme of ['light', 'dark']) {
      await shot(`${id}.start.${colorScheme}`, address(game, []), { colorScheme }, (page) => drawn(page, 0));
    }
    const moves = (await middle(asked, id)).moves;
    const name = `${id}.after_${moves.length}_moves.light`;
    if (moves.length > 0) await shot(name, address(game, moves), {}, (page) => drawn(page, moves.length));
  } catch (error) {
    fail(id, error);
  }
}
await browser.close();
if (tables.length > 0) console.log(`without a board: ${tables.join(', ')}`);
if (failed > 0) console.log(`${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
