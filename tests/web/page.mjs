// The page in a browser: `node tests/web/page.mjs URL [WORD…]`, with `ggp web` running at URL.
//
// Runs all tests, or those whose names contain a WORD; exits with 1 if one fails. CHROMIUM is the
// browser (/usr/bin/chromium), PICTURES a folder for screenshots of what failed, QUICK
// the milliseconds in which a board is there (500: for a machine that does nothing else).

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';

const [url = 'http://127.0.0.1:8000/', ...wanted] = process.argv.slice(2);
const home = url.endsWith('/') ? url : `${url}/`;

const LINE_OF_THREE = 'tic_tac_toe';
const ONE_LIGHT = `; One light
(role player)
(light 1) (light 2) (light 3)
(init (dark 1)) (init (dark 3))
(<= (legal player (press ?light)) (light ?light))
(<= (next (dark ?light)) (true (dark ?light)) (not (does player (press ?light))))
(<= (next (dark ?light)) (light ?light) (not (true (dark ?light))) (does player (press ?light)))
(<= dark (true (dark ?light)))
(<= terminal (not dark))
(<= (goal player 100) (not dark))
(<= (goal player 0) dark)
`;
const BOTH = `(role left) (role right)
(number 1) (number 2)
(init open)
(<= (legal ?player (name ?number)) (role ?player) (number ?number))
(<= (next (named ?player ?number)) (does ?player (name ?number)))
(<= terminal (not (true open)))
(<= (goal ?player 50) (role ?player))
`;

// What a person does.

const board = (page) => page.locator('.board');
const status = (page) => page.locator('.status');
const place = (page, row, column) => page.locator(`[data-spot="0 ${row} ${column}"]`).first();
const facts = async (page) => {
  const folded = page.locator('.below details').first();
  if ((await folded.getAttribute('open')) === null) await folded.locator('summary').click();
  await page.locator('.facts code').first().waitFor();
  return (await page.locator('.facts code').allTextContents()).sort();
};

async function opened(page, hash) {
  await page.goto(`${home}${hash}`);
  await board(page).locator('svg').waitFor();
}

/** Waits until the words of the status match. */
async function says(page, pattern, timeout = 30_000) {
  await page.waitForFunction(([source]) => new RegExp(source).test(document.querySelector('.status')?.textContent ?? ''), [pattern.source], { timeout, polling: 100 });
}

async function seated(page, role, kind, seconds) {
  await page.getByLabel(`Who plays ${role}`).selectOption(kind);
  if (seconds) {
    await page.getByLabel(`Seconds a move for ${role}`).fill(String(seconds));
    await page.getByLabel(`Seconds a move for ${role}`).press('Enter');
  }
}

async function typed(page, text) {
  await page.goto(`${home}#/edit`);
  await page.locator('textarea.rules').fill(text);
}

async function own(page, text) {
  await typed(page, text);
  await page.getByText('The rules are right').waitFor();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await board(page).locator('svg').waitFor();
}

/** Addresses follow a moment later. */
async function addressed(page, pattern) {
  await page.waitForFunction(([source]) => new RegExp(source).test(decodeURIComponent(location.hash)), [pattern.source], { timeout: 5000, polling: 100 });
}

const tests = {
  async a_game_is_found_and_loaded({ page }) {
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    const all = await page.locator('.card').count();
    await page.getByLabel('Search games').fill('tic tac');
    await page.waitForFunction((before) => document.querySelectorAll('.card').length < before, all);
    await page.locator(`.card[href="#/${LINE_OF_THREE}"]`).click();
    await board(page).locator('svg').waitFor();
    assert.equal(await page.locator('[data-spot]').count(), 9);
    assert.match(await status(page).textContent(), /cross to move/);
  },

  async a_match_is_played_to_its_end_against_mcts({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'mcts', 0.2);
    for (let turn = 0; turn < 5; turn += 1) {
      await says(page, /cross to move\.|is over/);
      if (/is over/.test(await status(page).textContent())) break;
      const ply = Number((await page.locator('.count').textContent()).split('/')[0]);
      await page.locator('.group.open button.move').first().click();
      await page.waitForFunction((before) => Number(document.querySelector('.count').textContent.split('/')[0]) > before, ply);
    }
    await says(page, /The game is over: cross \d+, nought \d+/);
    assert.ok(await page.locator('.goal.final').count() === 2);
  },

  async thoughts_are_seen_while_a_player_thinks({ page }) {
    await opened(page, '#/connect_four');
    await seated(page, 'yellow', 'mcts', 8);
    await page.locator('.group.open button.move').first().click();
    await page.getByText('Best so far').waitFor();
    assert.ok(await page.locator('.candidates tbody tr').count() > 1);
    await page.locator('.thoughts .chart').waitFor();
    await page.getByRole('button', { name: 'Move now' }).click();
    await says(page, /red to move/, 4000);
  },

  async a_pause_stops_players_and_they_go_on({ page }) {
    await opened(page, '#/connect_four');
    await seated(page, 'yellow', 'mcts', 8);
    await page.locator('.group.open button.move').first().click();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await says(page, /yellow to move \(paused\)/);
    await seated(page, 'yellow', 'mcts', 0.3);
    await page.getByRole('button', { name: 'Go on' }).click();
    await says(page, /red to move/);
  },

  async programs_play_each_other_once_started({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'random');
    await seated(page, 'cross', 'random');
    await says(page, /cross to move \(paused\)/);
    await page.getByRole('button', { name: 'Go on' }).click();
    await says(page, /The game is over/);
    await addressed(page, /seats=random;random/);
  },

  async chance_moves_by_itself({ page }) {
    await own(page, `(role you) (role random) (init (round 1)) (after 1 2) (after 2 3)
      (<= (legal you (bet ?side)) (side ?side) (true (round 1)))
      (<= (legal you wait) (not (true (round 1))))
      (<= (legal random (show ?side)) (side ?side) (true (round 2)))
      (<= (legal random wait) (not (true (round 2))))
      (side heads) (side tails)
      (<= (next (bet ?side)) (does you (bet ?side)))
      (<= (next (bet ?side)) (true (bet ?side)))
      (<= (next (coin ?side)) (does random (show ?side)))
      (<= (next (round ?next)) (true (round ?now)) (after ?now ?next))
      (<= terminal (true (round 3)))
      (<= won (true (bet ?side)) (true (coin ?side)))
      (<= (goal you 100) won) (<= (goal you 0) (not won)) (goal random 0)`);
    await page.locator('.group.open').getByText('(bet heads)').click();
    await says(page, /is over: you (0|100)/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await says(page, /you to move/);
  },

  async a_tournament_makes_a_cross_table({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('tab', { name: 'Tournament' }).click();
    await page.getByLabel('Players, one a line').fill('random\nmcts:0.2s\nfirst');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('6 matches were played.').waitFor({ timeout: 90_000 });
    assert.match(await page.locator('.cross tbody tr').first().textContent(), /mcts/);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/tournament.png` });
    await page.locator('.results button').first().click();
    await says(page, /The game is over/);
  },

  async a_hint_names_a_move_and_makes_none({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('button', { name: 'Hint', exact: true }).click();
    await page.getByText('Would play').waitFor();
    assert.match(await page.locator('.count').textContent(), /^0 \//);
    await page.getByRole('button', { name: 'Play it' }).click();
    await says(page, /Last: (cross|nought) /);
  },

  async a_puzzle_is_solved_and_the_plan_played({ page }) {
    const list = await (await fetch(`${home}api/games`)).json();
    const puzzle = list.find(({ id }) => /^lights_out.+/.test(id) && !/unsolvable|10|7x7/.test(id));
    if (puzzle) await opened(page, `#/${puzzle.id}`);
    else await own(page, ONE_LIGHT);
    if (/is over/.test(await status(page).textContent())) await own(page, ONE_LIGHT);
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.getByText(/Solved in \d+ moves/).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Play the plan' }).click();
    await says(page, /The game is over: player 100/, 60_000);
  },

  async a_plan_is_played_in_its_order({ page }) {
    await opened(page, '#/wolf_goat_cabbage');
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.getByText(/Solved in \d+ moves/).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Play the plan' }).click();
    await says(page, /The game is over: \S+ 100/, 60_000);
  },

  async broken_rules_say_where_and_what({ page }) {
    await typed(page, '(role a)\n(role b\n');
    const found = page.locator('.findings > li.error').first();
    await found.waitFor();
    assert.match(await found.textContent(), /:2:1/);
    assert.equal(await page.getByRole('button', { name: 'Play', exact: true }).isDisabled(), true);
    assert.equal(await page.locator('.number.error').textContent(), '2');
    await found.locator('button.place').click();
    assert.equal(await page.locator('textarea.rules').evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd)), '(');
    await page.reload();
    await page.locator('.findings > li.error').first().waitFor();
    assert.match(await page.locator('textarea.rules').inputValue(), /role b/, 'what was typed is lost');
  },

  async what_was_typed_is_kept_beside_other_rules({ page }) {
    await typed(page, '(role somebody)');
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('button', { name: 'Change rules' }).click();
    await page.locator('textarea.rules').waitFor();
    assert.match(await page.locator('textarea.rules').inputValue(), /role cross/);
    await page.locator('textarea.rules').press('End');
    await page.locator('textarea.rules').pressSequentially(' ');
    await page.getByRole('button', { name: 'What you typed before' }).click();
    assert.equal(await page.locator('textarea.rules').inputValue(), '(role somebody)');
  },

  async files_are_dropped({ page }) {
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    const dropped = await page.evaluateHandle(([text]) => {
      const items = new DataTransfer();
      const at = text.indexOf('(init');
      items.items.add(new File([text.slice(0, at)], 'one.kif'));
      items.items.add(new File([text.slice(at)], 'two.kif'));
      return items;
    }, [ONE_LIGHT]);
    await page.locator('.home').dispatchEvent('drop', { dataTransfer: dropped });
    await page.getByText('The rules are right').waitFor();
    assert.equal(await page.locator('.editor .file').count(), 2);
  },

  async rules_of_ones_own_travel_in_the_address({ page, browser }) {
    await own(page, ONE_LIGHT);
    await page.locator('.group.open button.move').first().click();
    await addressed(page, /#\/rules=.*moves=/);
    const elsewhere = await browser.newContext();
    const other = await elsewhere.newPage();
    await other.goto(page.url());
    await board(other).locator('svg').waitFor();
    assert.deepEqual(await facts(other), await facts(page));
    await elsewhere.close();
  },

  async a_forgotten_game_is_loaded_again({ page, context }) {
    await own(page, ONE_LIGHT);
    // A server that was started anew knows neither the session nor its games.
    await context.clearCookies();
    let refused = 0;
    await page.route('**/position', (route) => {
      if (refused > 0) return route.continue();
      refused += 1;
      return route.fulfill({ status: 404, contentType: 'application/json', body: '{"message":"there is no such game"}' });
    });
    await page.locator('.group.open button.move').first().click();
    await says(page, /Last: player/);
    assert.equal(refused, 1);
    assert.equal(await page.locator('.trouble:visible').count(), 0);
  },

  async choices_stay_hidden_until_all_have_chosen({ page }) {
    await own(page, BOTH);
    await seated(page, 'right', 'person');
    await page.locator('.group.open', { hasText: 'left' }).getByRole('button', { name: '(name 2)', exact: true }).click();
    await says(page, /right to move/);
    assert.equal(await page.locator('.group', { hasText: 'left' }).getByText('(name').count(), 0);
    assert.match(await page.locator('.moves').textContent(), /Has chosen; hidden/);
    await page.locator('.group.open', { hasText: 'right' }).getByRole('button', { name: '(name 1)', exact: true }).click();
    await says(page, /is over/);
    assert.match(await status(page).textContent(), /left \(name 2\), right \(name 1\)/);
  },

  async two_tabs_sit_at_one_table({ page, context }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'person');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = (role) => page.getByLabel(`Link for ${role}`, { exact: true }).inputValue();
    const [cross, nought] = [await link('cross'), await link('nought')];
    const [one, two] = [await context.newPage(), await context.newPage()];
    await one.goto(cross);
    await two.goto(nought);
    await says(one, /cross to move/);
    await says(two, /Waiting for cross/);
    await place(one, 1, 1).click();
    await says(two, /nought to move/);
    await place(two, 0, 0).click();
    await says(one, /cross to move\. Last: nought/);
    assert.deepEqual(await facts(one), await facts(two));
    assert.equal((await facts(one)).length, 3);
  },

  async undo_redo_branch_and_share({ page, browser }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'person');
    await place(page, 0, 0).click();
    await says(page, /nought to move/);
    await place(page, 1, 1).click();
    await says(page, /cross to move\. Last: nought/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await says(page, /nought to move/);
    await page.getByRole('button', { name: 'Redo' }).click();
    await says(page, /Last: nought \(mark 2 2\)/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await says(page, /nought to move/);
    await place(page, 2, 2).click();
    await says(page, /Last: nought \(mark 3 3\)/);
    await page.locator('.branches').getByText('(mark 2 2)').click();
    await says(page, /Last: nought \(mark 2 2\)/);
    await addressed(page, /moves=\(mark 1 1\) wait;wait \(mark 2 2\)/);
    const elsewhere = await browser.newContext();
    const other = await elsewhere.newPage();
    await other.goto(page.url());
    await board(other).locator('svg').waitFor();
    assert.deepEqual(await facts(other), await facts(page));
    await page.getByLabel('Position in the match').fill('0');
    await says(page, /cross to move\.$/);
    assert.equal((await facts(page)).length, 1);
    await elsewhere.close();
  },

  async a_match_is_saved_and_loaded({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1) wait;wait (mark 2 2)`);
    const before = await facts(page);
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save' }).click()]);
    const path = await file.path();
    await page.goto(home);
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.locator('.sharing input[type=file]').setInputFiles({ name: 'match.json', mimeType: 'application/json', buffer: await (await import('node:fs/promises')).readFile(path) });
    await says(page, /Last: nought/);
    assert.deepEqual(await facts(page), before);
    const record = { matchId: `x.${LINE_OF_THREE}.1`, moves: [['( mark 3 3 )', 'wait']] };
    await page.locator('.sharing input[type=file]').setInputFiles({ name: 'ggp.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(record)) });
    await says(page, /Last: cross \(mark 3 3\)/);
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    await page.locator('.home input[type=file]').setInputFiles(path);
    await says(page, /Last: nought/);
    assert.deepEqual(await facts(page), before);
  },

  async why_and_why_not_show_the_rule({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('button', { name: 'Why is (mark 1 1) legal?' }).click();
    await page.locator('.why-line.holds').first().waitFor();
    assert.match(await page.locator('.source .lit').allTextContents().then((lines) => lines.join('\n')), /legal \?player \(mark/);
    await page.getByLabel('A fact or relation to ask about').fill('(legal nought (mark 1 1))');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.locator('.why-line.fails').first().waitFor();
    assert.match(await page.locator('.answer').textContent(), /turn nought/);
    await page.getByLabel('A fact or relation to ask about').fill('(legal nought');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.locator('.why-drawer .trouble').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.why-drawer').isVisible(), false);
  },

  async a_move_is_made_with_keys_alone({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'person');
    await page.locator('.board svg').focus();
    for (const key of ['ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await says(page, /Last: cross \(mark 2 2\)/);
    await page.keyboard.press('u');
    await says(page, /cross to move\.$/);
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'view');
    assert.match(page.url(), /tic_tac_toe/);
  },

  async two_clicks_name_a_piece_and_its_way({ page }) {
    await opened(page, '#/breakthrough_small');
    const { legal } = await (await fetch(`${home}api/games/breakthrough_small/position`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).json();
    const about = (spot) => legal[0].filter((move) => move.spots.some((one) => one.join() === spot.join()));
    const from = legal[0].flatMap((move) => move.spots).find((spot) => about(spot).length > 1);
    const move = about(from)[0];
    const to = move.spots.find((spot) => spot.join() !== from.join());
    await page.locator(`[data-spot="${from.join(' ')}"]`).first().click();
    await page.getByText(`${about(from).length} moves about this place`).waitFor();
    await page.locator(`[data-spot="${to.join(' ')}"]`).first().click();
    await page.waitForFunction((made) => document.querySelector('.status').textContent.includes(made), move.move);
  },

  async a_scrambled_game_has_the_same_board({ page }) {
    const game = await (await fetch(`${home}api/games/breakthrough_small`)).json();
    const text = scrambled(game.files.map((file) => file.text).join('\n'));
    await opened(page, '#/breakthrough_small');
    const before = await shapes(page);
    assert.ok(before.length > 20);
    await own(page, text);
    assert.deepEqual(await shapes(page), before);
  },

  async markup_in_names_does_nothing({ page }) {
    const evil = '<script>window.hurt=1</script><img/src=x/onerror=window.hurt=1>';
    const text = `; ${evil}\n${ONE_LIGHT}`.replaceAll('player', `p${evil}`).replaceAll(/\bdark\b/g, `d${evil}`).replaceAll('(light 1)', '(light 1) (light </title></svg><script>window.hurt=1</script>)');
    await own(page, text);
    await facts(page);
    await page.locator('.why').first().click();
    await page.locator('.why-line').first().waitFor();
    await page.locator('.group.open button.move').first().click();
    await says(page, /Last/);
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => window.hurt), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll('main script, main img').length), 0);
    assert.ok((await page.locator('.seat strong').textContent()).includes('<script>'));
  },

  async an_illegal_link_says_so_and_shows_the_start({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 9 9) wait`);
    await page.locator('.stage .trouble').waitFor();
    await says(page, /cross to move/);
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1`);
    await page.getByText('cannot be read').waitFor();
    await page.goto(`${home}#/no_such_game`);
    await page.getByText('This cannot be shown').waitFor();
  },

  async two_thousand_moves_make_no_lag({ page }) {
    const numbers = Array.from({ length: 45 }, (_, index) => index + 1);
    await own(page, `(role player) (init (at 1 1)) (<= terminal (true (at 45 45))) (goal player 100)
      ${numbers.map((number) => `(number ${number})`).join(' ')}
      (<= (legal player (to ?a ?b)) (number ?a) (number ?b))
      (<= (next (at ?a ?b)) (does player (to ?a ?b)))`);
    await page.getByText('2,025 moves').waitFor();
    assert.equal(await page.locator('button.move').count(), 2025);
    const took = await page.evaluate(() => new Promise((done) => {
      const field = document.querySelector('.moves .search');
      field.value = '45';
      const begun = performance.now();
      field.dispatchEvent(new Event('input'));
      const look = () => (document.querySelectorAll('button.move').length < 2025 ? done(performance.now() - begun) : requestAnimationFrame(look));
      look();
    }));
    assert.ok(took < 300, `${took} ms`);
    assert.equal(await page.locator('button.move').count(), 89);
    await page.locator('button.move').first().click();
    await says(page, /Last: player \(to 1 45\)/);
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
      const page = await context.newPage();
      await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1) wait`);
      await page.getByRole('button', { name: 'Why is wait legal?' }).click();
      await page.locator('.why-line').first().waitFor();
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

  async the_first_paint_of_a_game_is_quick({ browser }) {
    const times = [];
    for (let run = 0; run < 5; run += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${home}#/connect_four`);
      await board(page).locator('svg').waitFor();
      times.push(await page.evaluate(() => performance.now()));
      await context.close();
    }
    assert.ok(Math.min(...times) < Number(process.env.QUICK ?? 500), `a board after ${times.map(Math.round).join(', ')} ms`);
  },

  async fifty_sessions_play_at_once({ page }) {
    const session = async (index) => {
      let cookie = '';
      const ask = async (path, body) => {
        const answer = await fetch(`${home}api/${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...(cookie && { cookie }) }, body: JSON.stringify(body) });
        cookie ||= (answer.headers.get('set-cookie') ?? '').split(';')[0];
        assert.equal(answer.status, 200, `session ${index}: ${path}: ${await answer.clone().text()}`);
        return answer.json();
      };
      const { id } = await ask('games', { files: [{ name: 'own.kif', text: `; ${index}\n${ONE_LIGHT}` }] });
      const moves = [];
      for (const move of ['(press 1)', '(press 2)', '(press 3)', '(press 2)']) {
        moves.push([move]);
        const position = await ask(`games/${id}/position`, { moves });
        assert.equal(position.over, moves.length === 4);
      }
    };
    const all = Promise.all(Array.from({ length: 50 }, (_, index) => session(index)));
    await opened(page, `#/${LINE_OF_THREE}`);
    await all;
    await place(page, 1, 1).click();
    await says(page, /Last: cross/);
  },
};

/** Other words for all names but those of the language, and numbers that are scores. */
function scrambled(text) {
  const kept = new Set(['role', 'init', 'true', 'next', 'legal', 'does', 'goal', 'terminal', 'base', 'input', 'not', 'or', 'distinct', '<=']);
  const plain = text.replaceAll(/;.*/g, '');
  for (const [, score] of plain.matchAll(/\(goal\s+\S+\s+(\d+)\)/g)) kept.add(score);
  const words = new Map();
  return plain.replaceAll(/[^\s()]+/g, (word) => {
    if (word.startsWith('?') || kept.has(word)) return word;
    if (!words.has(word)) words.set(word, `w${((words.size + 7) * 7919) % 10007}`);
    return words.get(word);
  });
}

/** Texts that stand out from what is behind them by less than 4.5 to 1. */
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

/** Where the places and pieces of the board stand. */
function shapes(page) {
  return page.evaluate(() => {
    const found = [];
    for (const group of document.querySelector('.board').shadowRoot.querySelectorAll('[data-spot]')) {
      for (const shape of group.querySelectorAll('rect, circle, polygon')) {
        const { x, y, width, height } = shape.getBBox();
        found.push([group.dataset.spot, shape.tagName, shape.getAttribute('class'), x, y, width, height]);
      }
    }
    // Labels beside the board may be longer.
    const [left, top] = [Math.min(...found.map((one) => one[3])), Math.min(...found.map((one) => one[4]))];
    return found.map(([spot, tag, look, x, y, ...size]) => [spot, tag, look, x - left, y - top, ...size].join(' '));
  });
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, acceptDownloads: true });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const errors = [];
  context.on('page', (other) => other.on('pageerror', (error) => errors.push(error)));
  page.on('pageerror', (error) => errors.push(error));
  page.on('console', (line) => { if (/Content.Security.Policy/i.test(line.text())) errors.push(new Error(line.text())); });
  const begun = Date.now();
  try {
    await test({ page, context, browser });
    assert.deepEqual(errors, []);
    console.log(`ok      ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}${errors.map((one) => `\n  ${one.stack ?? one}`).join('')}`);
    if (process.env.PICTURES) {
      await mkdir(process.env.PICTURES, { recursive: true });
      await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` }).catch(() => {});
    }
  }
  await context.close();
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
