// Matches: alone, against programs, and against other persons.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { counted, home, board, status, place, facts, opened, says, ended, over, seated, own, addressed, LINE_OF_THREE, ONE_LIGHT, BOTH, recorded } from './person.mjs';

export const tests = {
  async a_game_is_found_and_loaded({ page }) {
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    const all = await page.locator('.card').count();
    await page.getByLabel('Search games').fill('tic tac');
    await page.waitForFunction((before) => document.querySelectorAll('.card').length < before, all);
    await page.locator(`.card-link[href="#/${LINE_OF_THREE}"]`).click();
    await page.locator('.game .board svg').waitFor();
    await counted(page.locator('[data-cell]'), 9);
    assert.match(await status(page).textContent(), /Your move \(cross\)/);
  },

  async a_match_is_played_to_its_end_against_mcts({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'mcts', 0.2);
    for (let turn = 0; turn < 5; turn += 1) {
      await says(page, /Your move \(cross\)\.|wins|won|lost|draw/);
      if (await over(page)) break;
      const ply = Number((await page.locator('.count').textContent()).split('/')[0]);
      // The last move of all is forced, and may be made before it is clicked.
      const made = page.locator('.group.open button.move').first().click({ timeout: 5000 });
      await made.catch((error) => ended(page).catch(() => { throw error; }));
      await page.waitForFunction((before) => Number(document.querySelector('.count').textContent.split('/')[0]) > before, ply);
    }
    await says(page, /(wins|You won|A draw), \d+ : \d+\./);
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
    await says(page, /Your move \(red\)/, 4000);
  },

  async a_pause_stops_players_and_they_go_on({ page }) {
    await opened(page, '#/connect_four');
    await seated(page, 'yellow', 'mcts', 8);
    await page.locator('.group.open button.move').first().click();
    await page.getByText('Best so far').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await says(page, /Paused: yellow to move/);
    await page.getByText('Stopped. Best so far').waitFor();
    await counted(page.locator('.thought .spinner'), 0);
    await seated(page, 'yellow', 'mcts', 0.3);
    await page.getByRole('button', { name: 'Continue' }).click();
    await says(page, /Your move \(red\)/);
  },

  async programs_play_each_other_once_started({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'random');
    await seated(page, 'cross', 'random');
    await says(page, /^Ready\./);
    await page.getByLabel('Speed').selectOption('as fast as they think');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await ended(page);
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
    await says(page, /(Solved: 100|Not solved: 0)\./);
    await page.getByRole('button', { name: 'Undo' }).click();
    await says(page, /Your move \(you\)/);
  },

  async a_tournament_makes_a_cross_table({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('tab', { name: 'Tournament' }).click();
    await page.getByLabel('Players, one per line').fill('random\nmcts:0.2s\nfirst');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Matches played: 6.').waitFor({ timeout: 90_000 });
    assert.match(await page.locator('.cross tbody tr').first().textContent(), /mcts.*4\d+ ± \d+$/);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/tournament.png` });
    await page.locator('.results button').first().click();
    await ended(page);
  },

  async a_hint_names_a_move_and_makes_none({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('button', { name: 'Hint', exact: true }).click();
    await page.getByText('Would play').waitFor();
    assert.match(await page.locator('.count').textContent(), /^0 \//);
    await page.getByRole('button', { name: 'Play it' }).click();
    await says(page, /Last: (cross|nought) /);
  },

  async a_hint_says_why({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1) wait;wait (mark 1 2);(mark 2 2) wait;wait (mark 3 2)&seats=person;person`);
    await page.getByRole('button', { name: 'Hint', exact: true }).click();
    await page.getByText('Would play').waitFor();
    assert.match(await page.getByRole('list', { name: 'Reasons' }).textContent(), /proved: the move is worth 100 with best play/);
  },

  async learned_values_are_kept_after_a_stop({ page }) {
    await own(page, BOTH.replace('(number 2)', '(number 2) (number 3)'));
    await page.getByRole('tab', { name: 'Thinking' }).click();
    await page.getByLabel('Time to learn').selectOption('60');
    await page.getByRole('button', { name: 'Learn values' }).click();
    await page.getByText(/Learning: \d.* games so far/).waitFor();
    await page.locator('.learned').getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/From \d.* games of self-play/).waitFor();
    // Another view of the game finds them, too.
    await page.reload();
    await page.getByRole('tab', { name: 'Thinking' }).click();
    await page.getByText(/From \d.* games of self-play/).waitFor();
    await page.getByRole('button', { name: 'Learn again' }).waitFor();
  },

  async learned_values_are_a_second_curve({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'mcts', 0.2);
    await place(page, 0, 0).click();
    await says(page, /Your move \(cross\)\. Last: nought/);
    const ply = async () => Number((await page.locator('.count').textContent()).split('/')[0]);
    const before = await ply();
    await page.locator('.group.open button.move').first().click();
    await page.waitForFunction((before) => Number(document.querySelector('.count').textContent.split('/')[0]) === before + 2, before);
    await page.getByRole('tab', { name: 'Thinking' }).click();
    await counted(page.locator('.over .dashed'), 0);
    await page.getByLabel('Time to learn').selectOption('3');
    await page.getByRole('button', { name: 'Learn values' }).click();
    await page.getByText(/Learning: \d.* games so far/).waitFor();
    await page.getByText('Facts that speak for each role').waitFor();
    await page.getByText(/From \d.* games of self-play/).waitFor();
    // The search has a value for each of its moves, learned values for each position.
    const points = (kind) => page.locator(`.over polyline.line${kind}`).evaluateAll((lines) => lines.map((line) => line.getAttribute('points').split(' ').length));
    assert.deepEqual(await points('.dashed'), [5, 5]);
    assert.deepEqual(await points(':not(.dashed)'), [2]);
    assert.match(await page.locator('.over .legend').textContent(), /cross.*nought.*search.*learned values/);
    await counted(page.locator('.speaks'), 2);
    const here = await page.locator('.speaks').first().textContent();
    assert.match(here, /cross, expected score \d+\.\d/);
    assert.match(here, /\(cell \d \d (cross|nought)\)\+\d\.\d\d/);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/learned.png`, fullPage: true });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction((text) => document.querySelector('.speaks').textContent !== text, here);
    assert.deepEqual(await points('.dashed'), [5, 5]);
    await page.getByRole('button', { name: 'Hint', exact: true }).click();
    await page.getByText('Would play').waitFor();
    assert.match(await page.getByRole('list', { name: 'Reasons' }).textContent(), /learned values: \d.* before the move, \d.* after it/);
  },

  async a_hint_ends_where_a_move_is_made({ page }) {
    await opened(page, '#/connect_four');
    await seated(page, 'yellow', 'person');
    await page.getByRole('tab', { name: 'Thinking' }).click();
    await page.getByRole('button', { name: 'Show the tree' }).click();
    await page.locator('.thought .spinner').waitFor();
    await page.locator('.group.open button.move').first().click();
    await says(page, /Your move \(yellow\)/);
    await page.getByText('Stopped. Best so far').waitFor();
    await counted(page.locator('.thought .spinner'), 0);
    await page.getByRole('button', { name: 'Hint', exact: true }).waitFor();
    await counted(page.getByRole('button', { name: 'Play it' }), 0);
  },

  async choices_stay_hidden_until_all_have_chosen({ page }) {
    await own(page, BOTH);
    await seated(page, 'right', 'person');
    await page.locator('.group.open', { hasText: 'left' }).getByRole('button', { name: '(name 2)', exact: true }).click();
    await says(page, /Your move \(right\)/);
    await counted(page.locator('.group', { hasText: 'left' }).getByText('(name'), 0);
    assert.match(await page.locator('.moves').textContent(), /Has chosen \(hidden/);
    await page.locator('.group.open', { hasText: 'right' }).getByRole('button', { name: '(name 1)', exact: true }).click();
    await ended(page);
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
    await says(one, /Your move \(cross\)/);
    await says(two, /Waiting for cross/);
    await place(one, 1, 1).click();
    await says(two, /Your move \(nought\)/);
    await place(two, 0, 0).click();
    await says(one, /Your move \(cross\)\. Last: nought/);
    assert.deepEqual(await facts(one), await facts(two));
    assert.equal((await facts(one)).length, 3);
    // A player who looks at an earlier position is informed that the match goes on.
    await two.getByRole('button', { name: 'Back' }).click();
    await says(two, /an earlier position; the match has 2 moves/);
    await place(one, 2, 2).click();
    await says(two, /the match has 3 moves/);
    await two.locator('.count', { hasText: '1 / 3' }).waitFor();
    await two.getByRole('button', { name: 'To the end' }).click();
    await says(two, /Your move \(nought\)\. Last: cross/);
    // The players of a match that is over may play another, each in the seat of the other.
    for (const [player, row, column] of [[two, 0, 1], [one, 0, 2], [two, 1, 2], [one, 2, 0]]) {
      await says(player, /Your move/);
      await place(player, row, column).click();
    }
    await says(one, /You won/);
    await says(two, /You lost/);
    assert.deepEqual([await one.locator('.status.won').count(), await two.locator('.status.won').count()], [1, 0]);
    // Who watches goes on with them.
    const third = await context.newPage();
    await third.goto(cross.replace(/\?.*/, ''));
    await ended(third);
    await counted(third.getByRole('button', { name: /next match|Play again/ }), 0);
    await one.getByRole('button', { name: 'Swap seats' }).click();
    await says(one, /Waiting for cross/);
    await third.getByRole('button', { name: 'Watch the next match' }).click();
    await says(third, /Waiting for cross\.$/);
    await two.getByRole('button', { name: 'Join the next match' }).click();
    await says(two, /Your move \(cross\)/);
    await place(two, 1, 1).click();
    await says(one, /Your move \(nought\)\. Last: cross/);
  },

  async the_board_of_an_invitation_is_locked({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByText('Take yours, too').waitFor();
    assert.ok(await page.locator('.stage').evaluate((stage) => stage.inert));
    assert.ok(await page.locator('.seats').evaluate((seats) => seats.inert));
    await says(page, /^The invitation is open/);
    await page.getByRole('button', { name: 'Close' }).click();
    await says(page, /^Your move/);
    await place(page, 1, 1).click();
    await says(page, /Last: (cross|nought)/);
  },

  async a_new_match_begins_without_thoughts({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?seats=person;mcts:0.2s`);
    await place(page, 1, 1).click();
    await says(page, /Your move \(cross\)\. Last: nought/);
    await page.getByRole('tab', { name: 'Thinking' }).click();
    await page.locator('.candidates:not(.speaks)').waitFor();
    await page.getByRole('button', { name: 'New match' }).click();
    await says(page, /Your move \(cross\)\.$/);
    await counted(page.locator('.candidates:not(.speaks)'), 0);
    // A program that has the first move waits.
    await seated(page, 'nought', 'person');
    await place(page, 1, 1).click();
    await seated(page, 'cross', 'mcts', 0.2);
    await page.getByRole('button', { name: 'New match' }).click();
    await says(page, /^Ready\.$/);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await says(page, /Your move \(nought\)/);
  },

  async numbers_keep_to_their_limits({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?seats=person;mcts:0.2s`);
    await seated(page, 'nought', 'mcts', 5000);
    assert.ok(!await page.getByLabel('Seconds per move for nought').evaluate((field) => field.checkValidity()));
    await place(page, 1, 1).click();
    // It has the time that it had before.
    await says(page, /Your move \(cross\)\. Last: nought/, 5000);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByLabel('Maximum number of positions').fill('0');
    await page.getByRole('button', { name: 'Explore' }).click();
    assert.equal(await page.locator('.graph').getAttribute('data-nodes'), null);
  },

  async rules_that_need_an_instance_open_the_first({ page }) {
    for (const name of ['sudoku', 'hitori', 'lights_out']) {
      await opened(page, `#/${name}`);
      await addressed(page, new RegExp(`^#/${name}_`));
      assert.ok(await page.locator('[data-cell]').count() > 0);
    }
  },

  async a_double_click_chooses_for_one({ page }) {
    await own(page, BOTH);
    await seated(page, 'right', 'person');
    await page.locator('.pad button').first().dblclick();
    await says(page, /Your move \(right\)/);
    await page.getByRole('button', { name: 'Choose again' }).click();
    await page.locator('.pad').getByText('left:').waitFor();
  },

  async clicks_just_after_a_choice_change_nothing({ page }) {
    await opened(page, '#/rock_paper_scissors?seats=person;mcts:3s');
    const pad = page.locator('.pad');
    const box = await pad.getByRole('button', { name: 'paper' }).boundingBox();
    const click = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await click();
    for (let count = 0; count < 3; count += 1) {
      await page.waitForTimeout(120);
      await click();
    }
    await says(page, /right is thinking/);
    assert.deepEqual(await pad.boundingBox().then(({ y }) => y <= box.y), true);
    assert.ok(await pad.isVisible() && await pad.evaluate((one) => one.inert));
    // What the program thinks is hidden until both have chosen.
    await page.getByText('their thoughts are hidden').waitFor();
    await page.waitForTimeout(400);
    await counted(page.getByText('Best so far'), 0);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await says(page, /Paused: right to move/);
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await says(page, /Your move \(left\).*Last: left paper/);
    assert.equal(await pad.evaluate((one) => one.inert), false);
  },

  async a_spectator_takes_a_seat_with_an_invitation({ page, context }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'person');
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByLabel('Link for cross', { exact: true }).inputValue();
    const key = link.match(/key=([^&]+)/)[1];
    const other = await context.newPage();
    await other.goto(link.replace(/\?.*/, ''));
    await says(other, /Waiting for cross/);
    await other.getByLabel('Invitation: the link').fill('nobody');
    await other.getByRole('button', { name: 'Take a seat' }).click();
    await other.getByText('does not belong to a seat').waitFor();
    await other.getByLabel('Invitation: the link').fill(key);
    await other.getByRole('button', { name: 'Take a seat' }).click();
    await says(other, /Your move/);
    await place(other, 1, 1).click();
    await says(other, /Waiting for nought\. Last: cross/);
    const third = await context.newPage();
    await third.goto(link.replace(/key=[^&]+/, 'key=nobodys'));
    await third.getByText('key in this address does not belong to a seat').waitFor();
    await says(third, /Waiting for nought/);
    await third.getByLabel('Invitation: the link').fill(await page.getByLabel('Link for nought', { exact: true }).inputValue());
    await third.getByRole('button', { name: 'Take a seat' }).click();
    await says(third, /Your move \(nought\)/);
  },

  async undo_redo_branch_and_share({ page, browser }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'person');
    await place(page, 0, 0).click();
    await says(page, /Your move \(nought\)/);
    await place(page, 1, 1).click();
    await says(page, /Your move \(cross\)\. Last: nought/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await says(page, /Your move \(nought\)/);
    await page.getByRole('button', { name: 'Redo' }).click();
    await says(page, /Last: nought \(mark 2 2\)/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await says(page, /Your move \(nought\)/);
    await place(page, 2, 2).click();
    await says(page, /Last: nought \(mark 3 3\)/);
    await page.locator('.branches').getByText('mark 2 2').click();
    await says(page, /Last: nought \(mark 2 2\)/);
    await addressed(page, /moves=\(mark 1 1\) wait;wait \(mark 2 2\)/);
    const elsewhere = await browser.newContext();
    const other = await elsewhere.newPage();
    await other.goto(page.url());
    await board(other).locator('svg').waitFor();
    assert.deepEqual(await facts(other), await facts(page));
    await page.getByLabel('Position in the match').fill('0');
    await says(page, /Your move \(cross\)\.$/);
    assert.equal((await facts(page)).length, 1);
    await elsewhere.close();
  },

  async a_match_is_saved_and_loaded({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1) wait;wait (mark 2 2)`);
    const before = await facts(page);
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save' }).click()]);
    const path = await file.path();
    const saved = JSON.parse(await readFile(path, 'utf8'));
    assert.deepEqual(saved.moves, [['( mark 1 1 )', 'wait'], ['wait', '( mark 2 2 )']]);
    assert.deepEqual(saved.states, ['( ( turn cross ) )', '( ( cell 1 1 cross ) ( turn nought ) )', '( ( cell 1 1 cross ) ( cell 2 2 nought ) ( turn cross ) )']);
    assert.equal(saved.isCompleted, false);
    assert.equal(saved.stateTimes.length, 3);
    assert.deepEqual(saved.errors, Array(3).fill(['', '']));
    assert.match(saved.matchId, /^ggp\.tic_tac_toe\.\d+$/);
    assert.match(saved.randomToken, /^[0-9a-f]{32}$/);
    assert.match(saved.rulesheet, /\(role cross\)/);
    assert.equal(saved.isPlayerHuman[0], true);
    assert.equal(saved.playerNamesFromHost.length, 2);
    await page.goto(home);
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.locator('.sharing input[type=file]').setInputFiles({ name: 'match.json', mimeType: 'application/json', buffer: await readFile(path) });
    await says(page, /Last: nought/);
    assert.deepEqual(await facts(page), before);
    const record = { matchId: `x.${LINE_OF_THREE}.1`, moves: [['( mark 3 3 )', 'wait']] };
    await page.locator('.sharing input[type=file]').setInputFiles({ name: 'ggp.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(record)) });
    await says(page, /Last: cross \(mark 3 3\)/);
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    await page.locator('[aria-label="Your own files"] input[type=file]').setInputFiles(path);
    await says(page, /Last: nought/);
    assert.deepEqual(await facts(page), before);
  },

  async a_match_by_other_rules_of_that_name_brings_its_rules({ page }) {
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    const record = { matchId: `ggp.${LINE_OF_THREE}.1`, moves: [['( press 1 )'], ['( press 3 )']], rulesheet: ONE_LIGHT };
    const file = { name: 'match.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(record)) };
    await page.locator('[aria-label="Your own files"] input[type=file]').setInputFiles(file);
    await says(page, /Solved: 100/);
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save' }).click()]);
    const { isCompleted, goalValues, rulesheet } = JSON.parse(await readFile(await saved.path(), 'utf8'));
    assert.deepEqual([isCompleted, goalValues, rulesheet], [true, [100], ONE_LIGHT]);
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.locator('.sharing input[type=file]').setInputFiles(file);
    await says(page, /Solved: 100/);
  },

  async a_fault_in_the_rules_ends_the_match_and_is_named({ page }) {
    for (const [move, pattern] of [
      ['two', /The game is over\. me has several goal values: 1, 2\./],
      ['stuck', /The match ends here\. me has no legal move, but the game is not over\./],
    ]) {
      await own(page, `(role me) (init start) (choice two) (choice stuck)
(<= (legal me ?c) (true start) (choice ?c))
(<= (next (done ?c)) (does me ?c))
(<= terminal (true (done two)))
(<= (goal me 1) (true (done two)))
(<= (goal me 2) (true (done two)))`);
      await says(page, /Your move\./);
      await page.locator('.group.open').getByRole('button', { name: move, exact: true }).click();
      await says(page, pattern);
      const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save' }).click()]);
      const { isCompleted, isAborted, goalValues } = JSON.parse(await readFile(await saved.path(), 'utf8'));
      assert.deepEqual([isCompleted, isAborted, goalValues], [false, true, undefined]);
    }
  },

  async no_move_is_offered_where_another_role_is_stuck({ page }) {
    await own(page, `(role one) (role two) (number 1) (number 2) (init start)
(<= (legal one (go ?n)) (number ?n) (true start))
(<= (legal two (go ?n)) (number ?n))
(<= (next (done ?n)) (does one (go ?n)))
(<= terminal (true (done 3)))
(<= (goal ?role 50) (role ?role))`);
    await seated(page, 'two', 'person');
    for (const role of ['one', 'two']) {
      await page.locator('.group.open', { hasText: role }).getByRole('button', { name: '(go 1)', exact: true }).click();
    }
    await says(page, /The match ends here\. one has no legal move/);
    await counted(page.locator('.group'), 0);
    assert.doesNotMatch(await page.locator('.side').first().textContent(), /to move/);
  },

  async a_move_is_made_with_keys_alone({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'person');
    await page.locator('.board svg').focus();
    for (const key of ['ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await says(page, /Last: cross \(mark 2 2\)/);
    await page.keyboard.press('u');
    await says(page, /Your move \(cross\)\.$/);
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'view');
    assert.match(page.url(), /tic_tac_toe/);
  },

  async two_clicks_name_a_piece_and_its_way({ page }) {
    await opened(page, '#/breakthrough_small');
    const { legal } = await (await fetch(`${home}api/games/breakthrough_small/position`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).json();
    const about = (cell) => legal[0].filter((move) => move.cells.some((one) => one.join() === cell.join()));
    const from = legal[0].flatMap((move) => move.cells).find((cell) => about(cell).length > 1);
    const move = about(from)[0];
    const to = move.cells.find((cell) => cell.join() !== from.join());
    await page.locator(`[data-cell="${from.join(' ')}"]`).first().click();
    await page.getByText(`${about(from).length} moves here`).waitFor();
    await page.locator(`[data-cell="${to.join(' ')}"]`).first().click();
    await page.waitForFunction((made) => document.querySelector('.status').textContent.includes(made), move.move);
  },

  async an_edge_between_places_is_clicked({ page }) {
    await opened(page, '#/dots_and_boxes');
    await page.locator('[data-cell="1 0 2"]').first().click();
    await recorded(page, 'draw upright 3 1');
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
