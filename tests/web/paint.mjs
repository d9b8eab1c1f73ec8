// Measures the time until a board is visible: `node tests/web/paint.mjs URL [GAME…]`, with
// `ggp web` running at URL. Prints milliseconds from opening an address in a new browser
// session: the minimum and the median of RUNS (7). There is no limit, since the times
// depend on the machine.

import assert from 'node:assert/strict';
import { board, browsing, home } from './person.mjs';

const named = process.argv.slice(3);
const games = named.length > 0 ? named : ['tic_tac_toe', 'connect_four', 'othello', 'checkers', 'amazons', 'sudoku', 'eight_puzzle'];
const runs = Number(process.env.RUNS ?? 7);
const browser = await browsing();
for (const game of games) {
  const times = [];
  for (let run = 0; run < runs; run += 1) {
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
    const page = await context.newPage();
    // Measured in the page, so that requests do not add to the time.
    await page.addInitScript(() => {
      const look = () => {
        if (document.querySelector('.board')?.shadowRoot?.querySelector('svg')) requestAnimationFrame(() => { window.painted = performance.now(); });
        else requestAnimationFrame(look);
      };
      look();
    });
    await page.goto(`${home}#/${game}`);
    await page.waitForFunction(() => window.painted !== undefined, undefined, { timeout: 60_000 });
    assert.ok(await board(page).first().locator('svg *').count() > 3, `${game}: the board is empty`);
    times.push(await page.evaluate(() => window.painted));
    await context.close();
  }
  times.sort((a, b) => a - b);
  console.log(`${game.padEnd(16)} min ${times[0].toFixed(0).padStart(5)} ms   median ${times[times.length >> 1].toFixed(0).padStart(5)} ms`);
}
await browser.close();
