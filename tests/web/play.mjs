// Playing on the board: marks, picking, dragging, menus, motion, and the end of a match.

import assert from 'node:assert/strict';
import { counted, home, board, status, place, opened, says, ended, seated, own, addressed, LINE_OF_THREE, BOTH, unending } from './person.mjs';

const X_WINS = '(mark 1 1) wait;wait (mark 2 1);(mark 1 2) wait;wait (mark 2 2)';
const persons = 'seats=person;person';
/** The marks of a kind on the board. */
const marks = (page, kind) => page.locator(`.mark.${kind}`);
/** A menu of three digits at each of two cells. */
const DIGITS = `(role me) (number 1) (number 2) (digit 7) (digit 8) (digit 9) (succ 1 2)
(init (box 1 1 7)) (init (box 1 2 7)) (init (box 2 1 8))
(<= (legal me (write ?x ?y ?d)) (number ?x) (number ?y) (digit ?d) (not (filled ?x ?y)))
(<= (filled ?x ?y) (true (box ?x ?y ?d)))
(<= (next (box ?x ?y ?d)) (true (box ?x ?y ?d)))
(<= (next (box ?x ?y ?d)) (does me (write ?x ?y ?d)))
(<= terminal (filled 2 2))
(<= (goal me 100) (true (box 2 2 9)))
(<= (goal me 0) (not (true (box 2 2 9))))
`;

const tests = {
  async cells_light_up_and_a_move_is_previewed({ page }) {
    await opened(page, '#/connect_four');
    await page.locator('[data-cell="0 2 3"]').hover();
    await counted(marks(page, 'hover'), 6);
    await page.locator('.ghost').waitFor();
    await page.locator('.status').hover();
    await page.waitForFunction(() => document.querySelector('.board').shadowRoot.querySelectorAll('.ghost, .mark.hover').length === 0);
    assert.match(await page.locator('.count').textContent(), /^0 \//);
  },

  async two_quick_clicks_are_one_move({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?${persons}`);
    await place(page, 1, 1).dblclick();
    await says(page, /Last: cross \(mark \d \d\)/);
    assert.match(await page.locator('.count').textContent(), /^1 \//);
  },

  async the_last_move_is_marked({ page }) {
    await opened(page, `#/checkers?moves=(move 2 2 3 3) wait&${persons}`);
    await page.locator('.arrow.last').waitFor();
    await counted(marks(page, 'last'), 2);
    const [cell] = await page.locator('[data-cell="0 3 2"]').all();
    await counted(cell.locator('.mark.last'), 1);
    await opened(page, `#/connect_four?moves=(drop 4) wait&${persons}`);
    await page.locator('[data-cell="0 5 3"] .mark.last').waitFor();
    await counted(page.locator('[data-cell="0 5 3"] .mark.last'), 1);
  },

  async a_piece_is_picked_and_nothing_moves_before_a_second_click({ page }) {
    await opened(page, `#/amazons?${persons}`);
    const legal = (await (await fetch(`${home}api/games/amazons/position`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).json()).legal[0];
    const about = (cell) => legal.filter(({ cells }) => cells.some((one) => one.join(' ') === cell));
    const cells = [...new Set(legal.flatMap((move) => move.cells.map((one) => one.join(' '))))];
    // A square that only one move leads to: clicking on it makes no move.
    const single = cells.find((cell) => about(cell).length === 1);
    await page.locator(`[data-cell="${single}"]`).click();
    await marks(page, 'chosen').waitFor();
    assert.match(await page.locator('.count').textContent(), /^0 \//);
    await counted(marks(page, 'near'), 1);
    await page.keyboard.press('Escape');
    const from = cells.find((cell) => about(cell).length > 2);
    await page.locator(`[data-cell="${from}"]`).click();
    await page.waitForFunction((count) => document.querySelector('.board').shadowRoot.querySelectorAll('.mark.near').length === count, about(from).length);
    const to = about(from)[0].cells.map((one) => one.join(' ')).find((cell) => cell !== from);
    await page.locator(`[data-cell="${to}"]`).click();
    await says(page, /Last: white \(move/);
  },

  async a_piece_is_dragged({ page }) {
    await opened(page, `#/checkers?${persons}`);
    const middle = async (cell) => {
      const { x, y, width, height } = await page.locator(`[data-cell="${cell}"]`).boundingBox();
      return [x + width / 2, y + height / 2];
    };
    const drag = async (from, to) => {
      await page.mouse.move(...await middle(from));
      await page.mouse.down();
      await page.mouse.move(...await middle(to), { steps: 6 });
      await page.mouse.up();
    };
    await drag('0 4 1', '0 1 2');
    await says(page, /The selected piece cannot go there/);
    assert.match(await page.locator('.count').textContent(), /^0 \//);
    await drag('0 4 1', '0 3 2');
    await says(page, /Last: white \(move 2 2 3 3\)/);
    await counted(page.locator('.board .held'), 0);
  },

  async a_finger_drags_a_piece_too({ browser }) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await opened(page, `#/checkers?${persons}`);
    const touch = await context.newCDPSession(page);
    const middle = async (cell) => {
      const { x, y, width, height } = await page.locator(`[data-cell="${cell}"]`).boundingBox();
      return { x: x + width / 2, y: y + height / 2 };
    };
    const [from, to] = [await middle('0 4 1'), await middle('0 3 2')];
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [from] });
    for (const share of [0.2, 0.5, 1]) {
      await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) }] });
    }
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await says(page, /Last: white \(move 2 2 3 3\)/);
    await context.close();
  },

  async a_click_that_does_nothing_says_why({ page }) {
    await opened(page, `#/checkers?${persons}`);
    await page.locator('[data-cell="0 0 1"]').click();
    await says(page, /This belongs to black\./);
    await page.locator('[data-cell="0 5 0"]').click();
    await says(page, /No move uses this white man now\./);
    await page.locator('[data-cell="0 2 1"]').click();
    await says(page, /No move uses this cell now\./);
  },

  async several_moves_at_a_cell_are_in_a_menu({ page }) {
    await own(page, DIGITS);
    await page.locator('[data-cell="0 1 1"]').click();
    const menu = page.locator('.cell-menu');
    await menu.waitFor();
    assert.deepEqual(await menu.locator('button').allTextContents(), ['7', '8', '9']);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'hidden' });
    await page.locator('.board svg').focus();
    await page.keyboard.press('Enter');
    await menu.waitFor();
    await page.keyboard.press('9');
    await says(page, /^Solved: 100\./);
  },

  async a_picked_cell_stays_so_beside_its_menu({ page }) {
    await own(page, `${DIGITS}(legal me (carry 2 2 1 1)) (<= (next (box 2 2 9)) (does me (carry 2 2 1 1)))`);
    await place(page, 1, 1).click();
    await page.locator('.cell-menu').waitFor();
    await marks(page, 'near').waitFor();
    await place(page, 0, 0).click();
    await says(page, /^Solved: 100\..*carry 2 2 1 1/);
  },

  async directions_have_arrows_and_keys({ page }) {
    await opened(page, `#/light_cycles?${persons}`);
    const pad = page.locator('.pad');
    await counted(pad.locator('.way'), 4);
    await page.keyboard.press('ArrowRight');
    await says(page, /Your move \(east\)/);
    await page.keyboard.press('ArrowLeft');
    await says(page, /Last: west \(drive right\), east \(drive left\)/);
    const asked = page.waitForRequest((request) => request.url().endsWith('/position') && request.postDataJSON().names === false);
    await page.getByRole('button', { name: 'Read names' }).click();
    await asked;
    await pad.getByRole('button', { name: 'drive up' }).waitFor();
    await counted(pad.locator('.way'), 0);
    await page.reload();
    await pad.getByRole('button', { name: 'drive up' }).waitFor();
    await counted(pad.locator('.way'), 0);
    await page.getByRole('button', { name: 'Read names' }).click();
    await pad.locator('.way').first().waitFor();
    await page.goto(`${home}?names=no#/light_cycles`);
    await pad.getByRole('button', { name: 'drive up' }).waitFor();
    // The switch and the address agree.
    await opened(page, `#/light_cycles?${persons}&names=no`);
    const reads = page.getByRole('button', { name: 'Read names' });
    assert.equal(await reads.getAttribute('aria-pressed'), 'false');
    await pad.getByRole('button', { name: 'drive up' }).click();
    await says(page, /Your move \(east\)/);
    await pad.getByRole('button', { name: 'drive up' }).click();
    await addressed(page, /moves=.*names=no/);
    await reads.click();
    await pad.locator('.way').first().waitFor();
    assert.equal(await reads.getAttribute('aria-pressed'), 'true');
    await page.waitForFunction(() => !location.href.includes('names=no'));
  },

  async directions_may_be_among_other_moves({ page }) {
    await opened(page, `#/pursuit?${persons};person`);
    await page.locator('.pad').getByRole('button', { name: 'stay' }).waitFor();
    assert.deepEqual(await page.locator('.pad .way').allTextContents(), ['→', '↑']);
    const [first] = (await status(page).textContent()).split(')');
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction((before) => !document.querySelector('.status').textContent.startsWith(before), first);
  },

  async moves_without_a_place_have_large_buttons({ page }) {
    await own(page, BOTH);
    await seated(page, 'right', 'person');
    await page.locator('.pad').getByText('left:').waitFor();
    await page.locator('.pad').getByRole('button', { name: 'name 2' }).click();
    await page.locator('.pad').getByRole('button', { name: 'name 1' }).click();
    await says(page, /^A draw, 50 : 50\. +Last: left \(name 2\), right \(name 1\)/);
  },

  async the_end_says_who_won_and_a_new_match_begins({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=${X_WINS}&${persons}`);
    await place(page, 0, 2).click();
    await says(page, /^cross wins, 100 : 0\./);
    await page.waitForFunction(() => document.querySelector('.board').shadowRoot.querySelectorAll('.mark.win').length === 3);
    await page.getByRole('button', { name: 'Play again' }).click();
    await says(page, /^Your move \(cross\)\. *$/);
    assert.match(await page.locator('.count').textContent(), /^0 \/ 0/);
    await page.goBack();
    await says(page, /^cross wins/);
    // Against a program: the person sees its own result, and changes sides.
    await opened(page, `#/${LINE_OF_THREE}?moves=${X_WINS}&seats=person;first`);
    await place(page, 0, 2).click();
    await says(page, /^You won, 100 : 0\./);
    await page.getByRole('button', { name: 'Swap seats' }).click();
    await says(page, /^Your move \(nought\)\. *Last: cross/);
    await opened(page, `#/${LINE_OF_THREE}?moves=${X_WINS};(mark 1 3) wait&seats=first;person`);
    await says(page, /^You lost: cross wins, 100 : 0\./);
    await page.getByRole('button', { name: 'New match' }).click();
    await says(page, /^Ready\./);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Player of cross');
  },

  async a_winning_line_is_marked({ page }) {
    await opened(page, `#/connect_four_small?${persons}`);
    const [rows, columns] = await page.evaluate(() => {
      const all = [...document.querySelector('.board').shadowRoot.querySelectorAll('[data-cell]')].map((one) => one.dataset.cell.split(' ').map(Number));
      return [Math.max(...all.map((one) => one[1])), Math.max(...all.map((one) => one[2]))];
    });
    assert.ok(rows > 2 && columns > 2);
    for (let turn = 0; turn < 20 && await page.locator('.status.ended').count() === 0; turn += 1) {
      const ply = await page.locator('.count').textContent();
      await page.locator(`[data-cell="0 ${rows} ${turn % 2}"]`).click();
      await page.waitForFunction((before) => document.querySelector('.count').textContent !== before && !document.querySelector('.game[aria-busy]'), ply);
    }
    await ended(page);
    await page.waitForFunction(() => document.querySelector('.board').shadowRoot.querySelectorAll('.mark.win').length >= 3);
    assert.equal(await page.locator('[data-cell$=" 0"] .mark, .mark.win').first().isVisible(), true);
  },

  async scores_before_the_end_are_labelled({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    assert.equal(await page.locator('.goal').first().textContent(), 'score now 50');
  },

  async the_board_is_turned_and_stays_so({ page }) {
    await opened(page, '#/breakthrough_small');
    const top = (cell) => page.locator(`[data-cell="${cell}"]`).boundingBox().then(({ y }) => y);
    const before = await top('0 0 0');
    await page.keyboard.press('f');
    assert.ok(await top('0 0 0') > before + 50);
    await page.reload();
    await board(page).locator('svg').waitFor();
    assert.ok(await top('0 0 0') > before + 50);
    await page.getByRole('button', { name: 'Turn the board' }).click();
    assert.ok(Math.abs(await top('0 0 0') - before) < 2);
  },

  async pieces_slide_unless_motion_is_reduced({ browser }) {
    for (const reducedMotion of ['no-preference', 'reduce']) {
      const context = await browser.newContext({ reducedMotion });
      const page = await context.newPage();
      await opened(page, `#/checkers?${persons}`);
      await page.evaluate(() => {
        window.flown = 0;
        new MutationObserver((all) => {
          for (const { addedNodes } of all) for (const node of addedNodes) if (node.matches?.('.flying')) window.flown += 1;
        }).observe(document.querySelector('.board').shadowRoot, { childList: true, subtree: true });
      });
      await page.locator('[data-cell="0 4 1"]').click();
      await page.locator('[data-cell="0 3 2"]').click();
      await says(page, /Last: white/);
      await page.waitForTimeout(300);
      assert.equal(await page.evaluate(() => window.flown), reducedMotion === 'reduce' ? 0 : 1);
      assert.equal(await page.locator('.flying').count(), 0);
      await context.close();
    }
  },

  async piles_and_heaps_are_played_on_too({ page }) {
    await opened(page, '#/hanoi');
    await page.evaluate(() => {
      window.flown = 0;
      new MutationObserver((all) => {
        for (const { addedNodes } of all) for (const node of addedNodes) if (node.matches?.('.flying')) window.flown += 1;
      }).observe(document.querySelector('.board').shadowRoot, { childList: true, subtree: true });
    });
    await place(page, 0, 0).click();
    await page.waitForFunction(() => document.querySelector('.board').shadowRoot.querySelectorAll('.mark.near').length === 2);
    await place(page, 0, 2).click();
    await says(page, /Last: \(move 1 right\)/);
    await marks(page, 'last').first().waitFor();
    await counted(page.locator('.arrow.last'), 1);
    assert.equal(await page.evaluate(() => window.flown), 1);
    await opened(page, `#/nim?${persons}`);
    await page.getByText('Your move (left)').waitFor();
    await place(page, 0, 1).click();
    assert.deepEqual(await page.locator('.cell-menu button').allTextContents(), ['1', '2', '3', '4']);
    await page.keyboard.press('3');
    await says(page, /Last: left \(take b 3\)/);
    await page.waitForFunction(() => document.querySelector('.board').shadowRoot.querySelectorAll('.mark.last').length === 1);
  },

  async counters_are_large_without_a_drawing({ page }) {
    // On a phone on its side, they and the buttons have the whole width.
    await page.setViewportSize({ width: 844, height: 390 });
    await opened(page, `#/rock_paper_scissors?${persons}`);
    const { x, y, height } = await page.locator('.pad').boundingBox();
    assert.ok(x < 60 && y + height < 390, `${x} ${y} ${height}`);
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.locator('.tables.alone').waitFor();
    assert.equal(await board(page).first().isVisible(), false);
    await page.locator('.pad').getByRole('button', { name: 'rock' }).click();
    await page.locator('.pad').getByRole('button', { name: 'paper' }).click();
    await says(page, /Last: left rock, right paper/);
    assert.match(await page.locator('.tables').textContent(), /rounds won *left *0 *right *1/);
    await opened(page, '#/dots_and_boxes');
    await page.locator('.tables:not(.alone) dl').first().waitFor();
    assert.match(await page.locator('.tables:not(.alone)').textContent(), /points *left *0 *right *0/);
  },

  async no_text_field_takes_the_focus({ browser }) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await context.addInitScript(() => localStorage.setItem('play.moves', 'open'));
    const page = await context.newPage();
    await opened(page, `#/${LINE_OF_THREE}`);
    for (let turn = 0; turn < 2; turn += 1) {
      await page.locator('.group.open button.move').first().tap();
      assert.notEqual(await page.evaluate(() => document.activeElement.localName), 'input');
      await says(page, /^Your move \(cross\)\. *Last: nought/);
      assert.notEqual(await page.evaluate(() => document.activeElement.localName), 'input');
    }
    await context.close();
  },

  async the_page_says_that_rules_are_prepared({ page }) {
    await page.route('**/position', async (route) => {
      await new Promise((done) => { setTimeout(done, 2500); });
      await route.continue();
    });
    await page.goto(`${home}#/${LINE_OF_THREE}`);
    await board(page).getByText(/Preparing the rules … [1-9] s/).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Pause', exact: true }).isVisible(), false);
    assert.equal(await page.getByRole('button', { name: 'Move now' }).isVisible(), false);
    await says(page, /Your move/);
  },

  async a_position_that_does_not_come_is_asked_for_again({ page }) {
    await page.route('**/position', (route) => route.fulfill({ status: 422, json: { message: 'there was no answer' } }));
    await page.goto(`${home}#/${LINE_OF_THREE}`);
    await board(page).getByText('There is no position to show.').waitFor();
    await page.locator('.trouble', { hasText: 'there was no answer' }).waitFor();
    await page.unroute('**/position');
    await page.getByRole('button', { name: 'Try again' }).click();
    await says(page, /Your move/);
    await counted(page.locator('.failure, .trouble').locator('visible=true'), 0);
  },

  async a_player_prepares_the_rules_first({ page }) {
    await unending(page, '/think', [['preparing', { seconds: 3 }], ['unheard-of', {}]]);
    await opened(page, `#/${LINE_OF_THREE}`);
    await place(page, 1, 1).click();
    await says(page, /^Preparing the rules … [3-6] s/);
  },

  async a_player_without_time_moves_by_chance({ page }) {
    const thought = { move: '(mark 1 1)', value: null, bounds: [0, 100], nodes: 0, seconds: 0, by_chance: true, candidates: [], line: [], why: [] };
    await unending(page, '/think', [['move', thought]]);
    await opened(page, `#/${LINE_OF_THREE}`);
    await place(page, 1, 1).click();
    await says(page, /No time to think: a random legal move\./);
    assert.match(await status(page).textContent(), /Last: nought \(mark 1 1\)/);
  },

  async a_match_goes_on_after_a_player_failed({ page }) {
    await unending(page, '/think', [['failed', { message: 'out of luck' }]]);
    await opened(page, `#/${LINE_OF_THREE}`);
    await place(page, 1, 1).click();
    await page.getByText('nought made no move: out of luck').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('nought made no move: out of luck').waitFor();
    await page.getByRole('button', { name: 'Play a random move' }).click();
    await says(page, /^Your move \(cross\)\. *Last: nought/);
    assert.equal(await page.locator('.failure').isVisible(), false);
  },

  async the_expectation_is_next_to_the_board({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=${X_WINS}&${persons}`);
    await page.getByRole('button', { name: 'Hint', exact: true }).click();
    await page.getByText('Would play').waitFor();
    const bar = page.getByRole('meter');
    assert.match(await bar.getAttribute('aria-label'), /cross expects 100\.0 of 100, proved/);
    assert.match(await page.locator('.outlook-line').textContent(), /cross expects 100\.0 ✓5\. mark 1 3/);
  },

  async the_history_leaves_out_forced_moves({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=${X_WINS}&${persons}`);
    await page.waitForFunction(() => !document.querySelector('.history').textContent.includes('wait'));
    assert.deepEqual(await page.locator('.history .joint').allTextContents(), ['cross mark 1 1', 'nought mark 2 1', 'cross mark 1 2', 'nought mark 2 2']);
  },

  async the_list_is_folded_where_the_board_takes_all_moves({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    assert.equal(await page.locator('.move-list').isVisible(), false);
    await page.locator('.moves summary').click();
    await page.locator('.group.open button.move').first().waitFor();
    await page.reload();
    await page.locator('.group.open button.move').first().waitFor();
    await page.locator('.moves summary').click();
    await opened(page, '#/light_cycles');
    assert.equal(await page.locator('.move-list').isVisible(), false);
    // More moves without a place than there is room for.
    await own(page, BOTH.replace('(number 2)', Array.from({ length: 20 }, (_, index) => `(number ${index + 2})`).join(' ')));
    await page.locator('.group.open button.move').first().waitFor();
    assert.equal(await page.locator('.pad').isVisible(), false);
  },

  async a_program_gives_up_its_seat_for_an_invitation({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByRole('button', { name: 'Free the seat of nought' }).click();
    await page.getByLabel('Link for nought', { exact: true }).waitFor();
  },

  async questions_are_suggested_and_brackets_are_added({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1) wait`);
    await page.getByRole('button', { name: 'Rules & explanations' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.chip').length === 4 || document.querySelectorAll('.chip').length === 5);
    await page.getByRole('button', { name: '(true (cell 1 1 cross))' }).click();
    await page.locator('.why-line.holds').first().waitFor();
    const field = page.locator('.question');
    await field.fill('goal cross 50');
    await field.press('Enter');
    await page.locator('.why-line', { hasText: '(goal cross 50)' }).first().waitFor();
    assert.equal(await field.inputValue(), '(goal cross 50)');
    await counted(page.locator('.answer summary a'), 0);
  },

  async the_plan_is_next_to_the_board({ page }) {
    await opened(page, '#/lights_out_3x3');
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.locator('.plan button').nth(2).click();
    await page.locator('.plan button[aria-current]').waitFor();
    assert.match(await page.locator('.count').textContent(), /^3 \/ /);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction(() => [...document.querySelectorAll('.plan button')].findIndex((one) => one.matches('[aria-current]')) === 1);
  },
};

/** The tests that begin with a folded list of moves. */
const folds = new Set([tests.the_list_is_folded_where_the_board_takes_all_moves]);

export { folds, tests };
