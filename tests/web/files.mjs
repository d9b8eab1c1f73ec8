// The exported page alone: what its files say, and what the engine says.

import assert from 'node:assert/strict';
import { home, place, says } from './person.mjs';

const PERSONS = 'seats=person;person';

const tests = {
  async files_say_what_the_engine_says({ page }) {
    await page.goto(home);
    for (const id of ['tic_tac_toe', 'kalah', 'hex', 'lights_out_5x5', 'prisoners_dilemma', 'senku', 'chess']) {
      const [file, engine] = await page.evaluate(async (id) => {
        const { ask } = await import(new URL('engine/local.js', document.baseURI).href);
        // The engine answers if more is asked than the file has.
        return Promise.all([{ moves: [] }, { moves: [], names: true }].map((asked) => ask(`api/games/${id}/position`, asked)));
      }, id);
      assert.deepEqual(file, engine, id);
    }
  },

  async rules_open_with_their_first_instance({ page }) {
    for (const name of ['sudoku', 'hitori', 'lights_out']) {
      await page.goto(`${home}#/${name}`);
      await page.waitForFunction((name) => location.hash.startsWith(`#/${name}_`), name);
      assert.ok(await page.locator('[data-cell]').count() > 0);
    }
    // What needs a server says so.
    await page.getByRole('button', { name: 'Invite (needs a server)' }).click();
    await page.getByText('start one with').waitFor();
  },

  async the_board_is_there_before_the_engine_and_takes_a_move({ browser }) {
    // The script for times without a network has files of its own.
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    const held = [];
    await context.route('**/engine.wasm', (route) => held.push(route));
    await page.goto(`${home}#/tic_tac_toe?${PERSONS}`);
    await page.locator('.game:not([aria-busy])').waitFor();
    await place(page, 1, 1).click();
    await page.waitForTimeout(300);
    assert.equal(held.length, 1);
    assert.doesNotMatch(await place(page, 1, 1).getAttribute('aria-label'), /cross/);
    await Promise.all(held.map((route) => route.continue()));
    await says(page, /Last: .*mark 2 2/);
    assert.match(await page.locator('.count').textContent(), /^1 \//);
    await context.close();
  },

  async the_code_of_a_game_is_compiled_once({ page }) {
    await page.goto(home);
    const think = (id) => page.evaluate(async (id) => {
      const { events } = await import(new URL('engine/local.js', document.baseURI).href);
      for await (const [name, said] of events(`api/games/${id}/think`, { role: 0, player: 'mcts', seconds: 0.3 })) if (name === 'move') return said.nodes;
      return 0;
    }, id);
    await think('connect_four');
    const workers = page.workers();
    await Promise.all(workers.map((worker) => worker.evaluate(() => {
      self.compiled = 0;
      WebAssembly.Module = class extends WebAssembly.Module {
        constructor(bytes) {
          super(bytes);
          self.compiled += 1;
        }
      };
    })));
    const compiled = async () => (await Promise.all(workers.map((worker) => worker.evaluate(() => self.compiled)))).reduce((sum, one) => sum + one, 0);
    assert.ok(await think('connect_four') > 0);
    assert.equal(await compiled(), 0);
    await think('breakthrough');
    assert.ok(await compiled() > 0, 'other rules are compiled');
  },
};

export { tests };
