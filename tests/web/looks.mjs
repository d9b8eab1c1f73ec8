// The appearance: colours, widths, long lists.

import assert from 'node:assert/strict';
import { counted, home, opened, says, typed, own, unfolded, LINE_OF_THREE } from './person.mjs';

export const tests = {
  async two_thousand_moves_make_no_lag({ page }) {
    const numbers = Array.from({ length: 45 }, (_, index) => index + 1);
    await own(page, `(role player) (init (at 1 1)) (<= terminal (true (at 45 45))) (goal player 100)
      ${numbers.map((number) => `(number ${number})`).join(' ')}
      (<= (legal player (to ?a ?b)) (number ?a) (number ?b))
      (<= (next (at ?a ?b)) (does player (to ?a ?b)))`);
    await page.getByText('2,025 moves').waitFor();
    await counted(page.locator('button.move'), 2025);
    await page.locator('.moves .search').fill('45');
    await page.waitForFunction(() => document.querySelectorAll('button.move').length < 2025);
    await counted(page.locator('button.move'), 89);
    await page.locator('button.move').first().click();
    await says(page, /Last: \(to 1 45\)/);
  },

  async moves_are_found_by_words_in_their_order({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    const found = async (text) => {
      await page.getByLabel('Search moves').fill(text);
      await page.waitForTimeout(300);
      return page.locator('.group.open .move').allTextContents();
    };
    assert.deepEqual(await found('1 3'), ['(mark 1 3)']);
    assert.deepEqual(await found('  (MARK  3 1 '), ['(mark 3 1)']);
    assert.deepEqual(await found('3 mark'), ['(mark 1 3)', '(mark 2 3)', '(mark 3 1)', '(mark 3 2)', '(mark 3 3)']);
    assert.deepEqual(await found('4'), []);
  },

  async dots_of_roles_are_as_their_pieces({ page }) {
    await opened(page, '#/connect_four');
    const dots = page.locator('.seat-head .dot');
    const colours = () => dots.evaluateAll((all) => all.map((dot) => getComputedStyle(dot).backgroundColor));
    await page.waitForFunction(() => document.querySelector('.seat-head .dot').style.background !== '');
    assert.deepEqual(await colours(), ['rgb(213, 64, 43)', 'rgb(242, 194, 0)']);
  },

  async thoughts_have_the_colours_of_the_dots({ page }) {
    for (const [hash, second] of [['#/connect_four', 'rgb(242, 194, 0)'], ['#/breakthrough_small', 'rgb(22, 22, 22)'], ['#/dots_and_boxes', null]]) {
      await opened(page, hash);
      await page.getByLabel(/Player of/).nth(1).selectOption('mcts');
      await page.getByLabel(/Seconds per move/).nth(1).fill('600');
      await page.getByLabel(/Seconds per move/).nth(1).press('Enter');
      await page.locator('.group.open button.move').first().click();
      await page.locator('.thoughts .chart .line').waitFor({ state: 'attached' });
      const style = (selector, name) => page.evaluate(([all, one]) => getComputedStyle(document.querySelector(all))[one], [selector, name]);
      const dot = await style('.seat-head .dot.r1', 'backgroundColor');
      assert.equal(await style('.thoughts .bar .r1', 'backgroundColor'), dot);
      if (second) assert.deepEqual([dot, await style('.thoughts .line.r1', 'stroke')], [second, second]);
      assert.equal(await style('.thoughts .edge', 'display'), second ? 'inline' : 'none');
    }
  },

  async the_board_is_seen_above_the_answer({ page }) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.locator('.why').first().click();
    await page.locator('.why-line').first().waitFor();
    const board = await page.locator('.stage .board').boundingBox();
    const drawer = await page.locator('.why-drawer').boundingBox();
    assert.ok((await page.locator('.status').boundingBox()).y >= 0);
    assert.ok(board.y >= 0 && board.y + board.height <= drawer.y, `${board.y}, ${board.y + board.height}, ${drawer.y}`);
  },

  async a_narrow_screen_is_wide_enough({ page }) {
    await page.setViewportSize({ width: 400, height: 800 });
    for (const hash of ['', '#/edit', `#/${LINE_OF_THREE}`]) {
      await page.goto(`${home}${hash}`);
      await page.locator('main h1').waitFor();
      await page.waitForTimeout(200);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400, hash);
    }
  },

  async colours_are_chosen_and_kept({ page }) {
    await page.goto(home);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByRole('button', { name: 'Dark colours' }).click();
    assert.notEqual(await ground(), light);
    const dark = await ground();
    await page.reload();
    assert.equal(await ground(), dark);
  },

  async all_text_can_be_read({ browser }) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ colorScheme });
      await unfolded(context);
      const page = await context.newPage();
      await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1) wait`);
      await page.getByRole('button', { name: 'Why is wait legal?' }).click();
      await page.locator('.why-line').first().waitFor();
      await page.getByRole('tab', { name: 'Graph' }).click();
      await page.getByLabel('Maximum number of moves from here').fill('1');
      await page.getByRole('button', { name: 'Explore' }).click();
      await page.locator('.graph[data-nodes]').waitFor();
      assert.deepEqual(await faint(page), [], colorScheme);
      await typed(page, '(role a)\n(<= (legal ?r go) (rol ?r))\n(goal ?x 100)');
      await page.locator('.findings > li').first().waitFor();
      assert.deepEqual(await faint(page), [], colorScheme);
      await page.goto(home);
      await page.locator('.card').first().waitFor();
      assert.deepEqual(await faint(page), [], colorScheme);
      await context.close();
    }
  },
};

/** Texts whose contrast with their background is less than 4.5 to 1. */
function faint(page) {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const parts = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (node) => {
      for (let at = node; at; at = at.parentElement) {
        const colour = parts(getComputedStyle(at).backgroundColor);
        if (colour[3] > 250) return colour;
      }
      return [255, 255, 255, 255];
    };
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { parentElement: node, data } = walk.currentNode;
      if (!data.trim() || !node.checkVisibility() || node.closest(':disabled, .behind, .skip')) continue;
      const [one, two] = [light(parts(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
      if ((one + 0.05) / (two + 0.05) < 4.5) found.push(`${data.trim().slice(0, 30)}: ${((one + 0.05) / (two + 0.05)).toFixed(2)}`);
    }
    return found;
  });
}
