// The start page: cards, groups, variants, search, the match at the top.

import assert from 'node:assert/strict';
import { counted, home, problems } from './person.mjs';

/** Opens the start page, and waits until the games are in their groups. */
async function atHome(page) {
  await page.goto(home);
  await page.locator('#shelf-at-once').waitFor();
}

const titles = (scope) => scope.locator('.card-link').allTextContents();

/** The titles that a search finds, in order. */
async function found(page, text) {
  await page.getByLabel('Search games').fill(text);
  await page.locator('.shelf.whole, .shelves > p').first().waitFor();
  await page.waitForTimeout(150);
  return titles(page);
}

export const tests = {
  async games_are_grouped_by_their_rules({ page }) {
    await atHome(page);
    const shelf = (id) => titles(page.locator(`.shelf:has(#shelf-${id})`));
    const [classics, atOnce, many, puzzles, small] = await Promise.all(['classics', 'at-once', 'many', 'puzzles', 'small'].map(shelf));
    assert.ok(classics.includes('Tic-Tac-Toe') && classics.includes('Connect Four'), String(classics));
    assert.ok(atOnce.includes('Goofspiel') && atOnce.includes('Light Cycles'), String(atOnce));
    assert.deepEqual(many, ['Pursuit', 'Three-Player Connect', 'Three-Player Race']);
    assert.ok(puzzles.includes('Sudoku') && puzzles.includes('Lights Out') && !puzzles.includes('Towers of Hanoi'), String(puzzles));
    assert.ok(small.includes('Towers of Hanoi') && small.includes('Wolf, Goat and Cabbage'), String(small));
    // Each game is in one place.
    const all = await titles(page);
    assert.equal(new Set(all).size, all.length);
    await page.getByRole('button', { name: /^At once/ }).click();
    const chosen = await titles(page);
    assert.ok(chosen.includes('Pursuit') && chosen.includes('Rock, Paper, Scissors') && !chosen.includes('Hex'), String(chosen));
    await page.getByRole('button', { name: /^All/ }).click();
    assert.deepEqual(await titles(page), all);
  },

  async variants_are_chosen_on_one_card({ page }) {
    await atHome(page);
    const card = page.locator('.card', { hasText: 'Lights Out' });
    await counted(card, 1);
    const variant = card.getByLabel('Variant of Lights Out');
    await counted(variant.locator('option'), 7);
    assert.equal(await card.locator('.card-link').getAttribute('href'), '#/lights_out_5x5');
    await variant.selectOption({ label: '3×3' });
    assert.equal(await card.locator('.card-link').getAttribute('href'), '#/lights_out_3x3');
    assert.match(await card.locator('img').getAttribute('src'), /lights_out_3x3/);
    assert.deepEqual(await page.getByLabel('Variant of Breakthrough').locator('option').allTextContents(), ['5×5', '6×6']);
    await card.locator('.card-link').click();
    await page.locator('.game h1', { hasText: 'Lights Out, three by three' }).waitFor();
  },

  async searches_find_words({ page }) {
    await atHome(page);
    assert.deepEqual(await found(page, '3 players'), await found(page, 'three players'));
    assert.deepEqual((await found(page, '3 players')).sort(), ['Pursuit', 'Three-Player Connect', 'Three-Player Race']);
    assert.equal((await found(page, 'connect'))[0], 'Connect Four');
    assert.ok(!(await found(page, 'connect')).includes('Hitori'));
    assert.deepEqual(await found(page, 'x'), []);
    assert.ok((await found(page, 'simultaneous')).includes('Goofspiel'));
    const puzzles = await found(page, 'puzzle');
    assert.ok(puzzles.includes('Sudoku') && !puzzles.includes('Hex'), String(puzzles));
    assert.deepEqual(await found(page, 'simultaneous 3 players'), ['Pursuit', 'Three-Player Race']);
    assert.deepEqual(await found(page, 'tic tac'), ['Tic-Tac-Toe', 'Blind Tic-Tac-Toe', 'Krieg Tic-Tac-Toe']);
    assert.equal((await found(page, 'oth'))[0], 'Othello');
    await page.getByText('No game has all these words.').waitFor({ state: 'detached' });
    await found(page, 'nosuchword');
    await page.getByText('No game has all these words.').waitFor();
    await page.getByLabel('Search games').press('Escape');
    await page.locator('#shelf-classics').waitFor();
  },

  async keys_walk_over_the_cards({ page }) {
    await atHome(page);
    await page.keyboard.press('/');
    const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent);
    assert.equal(await focused(), 'Search games');
    await page.keyboard.press('ArrowDown');
    const all = await titles(page);
    assert.equal(await focused(), all[0]);
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(), all[1]);
    const top = () => page.evaluate(() => document.activeElement.closest('.card').getBoundingClientRect().top + scrollY);
    const before = await top();
    await page.keyboard.press('ArrowDown');
    assert.ok(await top() > before);
    await page.keyboard.press('ArrowUp');
    assert.equal(await focused(), all[1]);
    await page.keyboard.press('End');
    assert.equal(await focused(), all.at(-1));
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.locator('.game').waitFor();
  },

  async a_match_moves_and_can_be_paused({ page }) {
    const requests = [];
    page.on('request', (request) => { if (request.url().includes('/api/')) requests.push(request.url()); });
    await atHome(page);
    const shown = () => page.locator('.featured').getAttribute('data-move').then(Number);
    await page.waitForFunction(() => Number(document.querySelector('.featured')?.dataset.move) >= 2);
    assert.equal(requests.filter((url) => url.includes('film')).length, 1);
    assert.equal(requests.filter((url) => url.includes('position')).length, 0);
    await page.getByRole('button', { name: 'Pause the match' }).click();
    const at = await shown();
    await page.waitForTimeout(1800);
    assert.equal(await shown(), at);
    await page.getByRole('button', { name: 'Play the match' }).click();
    await page.waitForFunction((last) => Number(document.querySelector('.featured').dataset.move) > last, at);
    // It rests while it cannot be seen.
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.waitForTimeout(300);
    const hidden = await shown();
    await page.waitForTimeout(1800);
    assert.equal(await shown(), hidden);
    await page.evaluate(() => scrollTo(0, 0));
    const pieces = await page.locator('.featured .board .f').count();
    assert.ok(pieces > 10, `${pieces} parts`);
    await page.locator('.hero').getByRole('link', { name: /^Play Connect Four/ }).first().click();
    await page.locator('.game h1', { hasText: 'Connect Four' }).waitFor();
  },

  async less_motion_is_a_still_picture({ browser }) {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    await atHome(page);
    await page.getByRole('button', { name: 'Play the match' }).waitFor();
    const shown = () => page.locator('.featured').getAttribute('data-move').then(Number);
    const at = await shown();
    assert.ok(at > 0, 'it is not the empty board');
    await page.waitForTimeout(1800);
    assert.equal(await shown(), at);
    await context.close();
  },

  async a_first_game_is_written({ page }) {
    await atHome(page);
    await page.getByRole('button', { name: 'Rules in five minutes' }).click();
    await page.getByText('a move that a player may make').waitFor();
    await page.locator('.hero').getByRole('button', { name: 'Write your first game' }).click();
    await page.getByText('No errors found').waitFor();
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.locator('.game h1', { hasText: 'Race to Ten' }).waitFor();
  },

  async the_start_page_is_accessible({ browser }) {
    for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, { colorScheme: 'light', viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      await atHome(page);
      await page.getByText('Rules in five minutes').last().click();
      await page.getByRole('button', { name: 'Pause the match' }).waitFor();
      assert.deepEqual(await problems(page), [], JSON.stringify(options));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      if (options.hasTouch) {
        const low = await page.locator('button:visible, a.button:visible, select:visible, input:visible').evaluateAll((all) => all
          .filter((node) => !node.matches('.link') && node.getBoundingClientRect().height < 44).map((node) => node.outerHTML.slice(0, 80)));
        assert.deepEqual(low, []);
      }
      await context.close();
    }
  },
};
