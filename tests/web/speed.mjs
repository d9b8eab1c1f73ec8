// The speed of the engine in a browser and of the server: `node tests/web/speed.mjs EXPORTED
// SERVER [SECONDS]`, with the page of `ggp web --export` at EXPORTED and `ggp web` at SERVER.
//
// For each of ten games, `mcts` thinks about the first position for SECONDS, which are two by default, three times at each
// place in turn; the medians of iterations a second are compared. Then the time until the first board
// is shown, from a cold start.

import { browsing } from './person.mjs';

const GAMES = ['tic_tac_toe', 'connect_four', 'breakthrough', 'othello', 'checkers', 'chess', 'go', 'hex', 'kalah', 'amazons'];
const TIMES = 3;

const [exported, served, seconds = '2'] = process.argv.slice(2);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const browser = await browsing();

async function opened(url) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  return page;
}

/** Iterations a second of a player. */
function think(page, id, inBrowser) {
  return page.evaluate(async ([id, seconds, inBrowser]) => {
    const path = `api/games/${id}/think`;
    const asked = { role: 0, player: 'mcts', seconds };
    let move = null;
    if (inBrowser) {
      const { events } = await import(new URL('engine/local.js', document.baseURI).href);
      for await (const [name, said] of events(path, asked)) if (name === 'move') move = said;
    } else {
      const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) });
      move = JSON.parse((await answer.text()).match(/event: move\ndata: (.*)/)[1]);
    }
    if (!move?.move) throw new Error(`no move in ${id}`);
    return move.nodes / move.seconds;
  }, [id, Number(seconds), inBrowser]);
}

const pages = [await opened(exported), await opened(served)];
console.log('| game | browser, iterations a second | server | server / browser |\n|---|---:|---:|---:|');
const format = (number) => Math.round(number).toLocaleString('en-US');
for (const id of GAMES) {
  const speeds = [[], []];
  for (let time = 0; time < TIMES; time += 1) {
    for (const place of [0, 1]) speeds[place].push(await think(pages[place], id, place === 0));
  }
  const [own, server] = speeds.map(median);
  console.log(`| ${id} | ${format(own)} | ${format(server)} | ${(server / own).toFixed(1)} |`);
}
for (const id of GAMES) {
  const times = [];
  for (let time = 0; time < TIMES; time += 1) {
    const context = await browser.newContext();
    const page = await context.newPage();
    const began = Date.now();
    await page.goto(`${exported}#/${id}`);
    await page.locator('.board svg').first().waitFor();
    times.push(Date.now() - began);
    await context.close();
  }
  console.log(`first board of ${id}: ${median(times)} ms`);
}
await browser.close();
