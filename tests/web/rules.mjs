// Rules: checked, explained and solved.

import assert from 'node:assert/strict';
import { counted, home, board, status, place, facts, opened, says, over, seated, typed, own, addressed, rulesField, ruleText, LINE_OF_THREE, ONE_LIGHT, recorded, unending } from './person.mjs';

export const tests = {
  async a_puzzle_is_solved_and_the_plan_played({ page }) {
    const list = await (await fetch(`${home}api/games`)).json();
    const puzzle = list.find(({ id }) => /^lights_out.+/.test(id) && !/unsolvable|10|7x7/.test(id));
    if (puzzle) await opened(page, `#/${puzzle.id}`);
    else await own(page, ONE_LIGHT);
    if (await over(page)) await own(page, ONE_LIGHT);
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.getByText(/Solved in \d+ moves/).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Play the solution' }).click();
    await says(page, /Solved: 100/, 60_000);
  },

  async a_plan_is_played_in_its_order({ page }) {
    await opened(page, '#/wolf_goat_cabbage');
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.getByText(/Solved in \d+ moves/).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Play the solution' }).click();
    await says(page, /Solved: 100/, 60_000);
  },

  async broken_rules_say_where_and_what({ page }) {
    await typed(page, '(role a)\n(role b\n');
    const found = page.locator('.findings > li.error').first();
    await found.waitFor();
    assert.match(await found.textContent(), /:2:1/);
    assert.equal(await page.getByRole('button', { name: 'Play', exact: true }).isDisabled(), true);
    assert.equal(await page.locator('.cm-gutterElement.error').textContent(), '2');
    await found.locator('button.place').first().click();
    assert.equal(await page.evaluate(() => getSelection().toString()), '(');
    await page.reload();
    await page.locator('.findings > li.error').first().waitFor();
    await rulesField(page).waitFor();
    assert.match(await ruleText(page), /role b/, 'what was typed is lost');
  },

  async what_was_typed_is_kept_beside_other_rules({ page }) {
    await typed(page, '(role somebody)');
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.getByRole('button', { name: 'Edit rules' }).click();
    await rulesField(page).waitFor();
    assert.match(await ruleText(page), /role cross/);
    await rulesField(page).press('End');
    await rulesField(page).pressSequentially(' ');
    await page.getByRole('button', { name: 'Restore earlier rules' }).click();
    assert.equal(await ruleText(page), '(role somebody)');
  },

  async a_file_that_is_no_text_is_refused({ page }) {
    const files = [Buffer.from('(role a)\0'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff])].map((buffer, index) => ({ name: `${index}.kif`, mimeType: 'text/plain', buffer }));
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    for (const file of files) {
      await page.locator('[aria-label="Your own files"] input[type=file]').setInputFiles(file);
      await page.locator('.trouble', { hasText: `${file.name} is not UTF-8 text` }).waitFor();
    }
    assert.equal(await page.locator('.card').first().isVisible(), true);
    await typed(page, '(role somebody)');
    await page.locator('.editor input[type=file]').setInputFiles(files[1]);
    await page.locator('.trouble', { hasText: '1.kif is not UTF-8 text' }).waitFor();
    assert.equal(await ruleText(page), '(role somebody)');
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.locator('.sharing input[type=file]').setInputFiles(files[0]);
    await page.locator('.stage .trouble', { hasText: '0.kif is not UTF-8 text' }).waitFor();
  },

  async a_solver_that_is_stopped_keeps_what_it_said({ page }) {
    await unending(page, '/solve', [['progress', { seconds: 1.5, method: 'levels', nodes: 1234, depth: 3, said: '', levels: [1, 4, 8, 8] }]]);
    await opened(page, '#/eight_puzzle');
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll('.solve .chart .end').length === 4);
    await page.locator('.solve').getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText(/^Stopped\. .*1,234 positions · 1\.5 s$/).waitFor();
    await counted(page.locator('.solve .chart .end'), 4);
    await counted(page.locator('.solve .spinner'), 0);
  },

  async numbers_have_the_right_words({ page }) {
    await own(page, ONE_LIGHT);
    await page.locator('.group.open').getByText('(press 1)').click();
    await says(page, /Last: \(press 1\)/);
    await page.getByText('Finds a solution from this position').waitFor();
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.getByText(/^Solved in 1 move[;.]/).waitFor();
    await counted(page.locator('.solve').getByText(/\b(0 positions|1 positions)\b/), 0);
    await opened(page, `#/${LINE_OF_THREE}`);
    await seated(page, 'nought', 'random');
    await place(page, 1, 1).click();
    await says(page, /Last: nought/);
    await page.locator('.thoughts').getByText('Plays').waitFor();
    await counted(page.locator('.thoughts').getByText(/\b0 positions\b/), 0);
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
    await page.getByText('No errors found').waitFor();
    await counted(page.locator('.editor .file'), 2);
  },

  async rules_of_ones_own_travel_in_the_address({ page, browser }) {
    await own(page, ONE_LIGHT);
    await page.locator('.group.open button.move').first().click();
    await addressed(page, /#\/rules=.*moves=/);
    const elsewhere = await browser.newContext();
    const other = await elsewhere.newPage();
    await other.goto(page.url());
    await other.locator('.game:not([aria-busy])').waitFor();
    assert.deepEqual(await facts(other), await facts(page));
    await elsewhere.close();
  },

  async a_forgotten_game_is_loaded_again({ page, context }) {
    await own(page, ONE_LIGHT);
    // A restarted server knows neither the session nor its games.
    await context.clearCookies();
    const refused = new Set();
    await page.route(/api\/games\/\w+\//, (route) => {
      // Requests at the same time are all refused, and twice if another one's session replaced theirs.
      const asked = route.request().url() + route.request().postData();
      const tries = [1, 2].map((time) => `${time} ${asked.replace(/games\/\w+/, '')}`);
      const next = tries.find((one) => !refused.has(one));
      if (!next) return route.continue();
      refused.add(next);
      return route.fulfill({ status: 404, contentType: 'application/json', body: '{"message":"there is no such game"}' });
    });
    await page.locator('.group.open button.move').first().click();
    await says(page, /Last: \(press/);
    assert.ok(refused.size >= 2);
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.getByText(/Solved in \d+ moves?/).waitFor();
    await counted(page.locator('.trouble:visible'), 0);
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
    assert.equal(await page.locator('.answer .why-line').count(), 0, 'an answer to another question is there');
    await counted(page.locator('.source .lit'), 0);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.why-drawer').isVisible(), false);
    assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /^Why is \(mark 1 1\)/);
  },

  async an_address_may_leave_out_what_is_no_choice_and_facts_have_a_history({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark%201%201);(mark%202%202);(mark%203%203)&seats=nobody;random`);
    await page.getByText('This address names an unknown player, nobody').waitFor();
    await addressed(page, /moves=\(mark 1 1\) wait;wait \(mark 2 2\);\(mark 3 3\) wait/);
    await page.getByRole('button', { name: 'Rules & explanations' }).click();
    await page.getByLabel('A fact or relation to ask about').fill('(cell 1 1 cross)');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByRole('button', { name: 'Over the match' }).click();
    await page.locator('.answer', { hasText: '(does cross (mark 1 1))' }).waitFor();
    await page.getByRole('button', { name: 'In this position only' }).click();
    await page.getByRole('button', { name: 'Over the match' }).waitFor();
    // A legal move has no history.
    await page.getByLabel('A fact or relation to ask about').fill('(legal nought (mark 1 1))');
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.locator('.why-line.fails').first().waitFor();
    await counted(page.getByRole('button', { name: 'Over the match' }), 0);
  },

  async resting_on_a_thing_says_why_without_a_flood({ page }) {
    const questions = [];
    page.on('request', (request) => { if (request.url().endsWith('/why')) questions.push(request.postDataJSON().question); });
    await opened(page, `#/${LINE_OF_THREE}`);
    // Elements that the pointer only passes are not requested.
    await page.evaluate(() => {
      [...document.querySelectorAll('.move-list li')].forEach((row, at) => row.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse', clientX: 10 * at, clientY: 10 })));
    });
    const tip = page.locator('.why-tip');
    await tip.waitFor();
    assert.deepEqual(questions, ['(legal nought wait)']);
    await page.locator('.move-list li', { hasText: '(mark 2 2)' }).hover();
    await tip.getByText('(legal cross (mark 2 2))').waitFor();
    assert.match(await tip.textContent(), /rule at tic_tac_toe\.kif:\d+/);
    assert.ok(await tip.locator('.why-line').count() <= 7);
    await page.locator('.goal').first().hover();
    await tip.getByText('(goal cross ').first().waitFor();
    const asked = questions.length;
    await page.locator('.move-list li', { hasText: '(mark 2 2)' }).hover();
    await tip.getByText('(legal cross (mark 2 2))').waitFor();
    assert.equal(questions.length, asked, 'it is asked twice');
    await page.keyboard.press('Escape');
    await page.mouse.move(5, 5);
    await page.getByLabel('Search moves').focus();
    await page.keyboard.press('ArrowDown');
    await tip.getByText('(legal cross (mark 1 1))').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-describedby')), 'why-tip');
    await page.keyboard.press('Escape');
    await page.locator('.below summary').first().click();
    await page.locator('.facts li').first().hover();
    await tip.getByText('(true ').first().waitFor();
    await page.locator('.facts .why').first().click();
    await page.locator('.why-drawer .why-line').first().waitFor();
    assert.equal(await tip.isVisible(), false);
    await page.keyboard.press('Escape');
    // Elements that appear under a resting pointer are ignored.
    await seated(page, 'nought', 'person');
    await page.locator('.move-list li', { hasText: '(mark 1 1)' }).locator('button.move').click();
    await recorded(page, 'mark 1 1');
    await page.waitForTimeout(600);
    assert.equal(await tip.isVisible(), false, 'a tip comes by itself');
  },

  async a_method_is_chosen_and_its_levels_are_seen({ page }) {
    await opened(page, '#/eight_puzzle');
    const known = await (await fetch(`${home}api/methods`)).json();
    const select = page.getByLabel('Method');
    await page.waitForFunction((count) => document.querySelectorAll('.solve select option').length === count, known.length);
    assert.deepEqual(await select.locator('option').allTextContents(), known.map(({ name }) => name));
    const groups = await select.locator('optgroup').evaluateAll((all) => all.map((group) => [group.label, group.querySelectorAll('option').length]));
    assert.deepEqual(groups.map(([label]) => label), [...new Set(known.map(({ group }) => group))]);
    assert.ok(groups.length > 3 && groups.every(([, count]) => count < 8), JSON.stringify(groups));
    await select.selectOption('breadth-first');
    await page.getByText(known.find(({ name }) => name === 'breadth-first').title).waitFor();
    const [request] = await Promise.all([page.waitForRequest('**/solve'), page.getByRole('button', { name: 'Solve', exact: true }).click()]);
    assert.equal(request.postDataJSON().method, 'breadth-first');
    await page.waitForFunction(() => document.querySelector('.solve .spinner') && document.querySelectorAll('.solve .chart .end').length > 4, undefined, { timeout: 60_000 });
    const early = await page.locator('.solve .chart .end').count();
    await page.waitForFunction((before) => document.querySelectorAll('.solve .chart .end').length > before || !document.querySelector('.solve .spinner'), early, { timeout: 60_000 });
  },

  async results_of_a_tournament_are_a_cross_table({ page }) {
    const match = (id, players, scores) => JSON.stringify({ id, game: LINE_OF_THREE, round: 0, number: 0, players, roles: ['cross', 'nought'], seed: 1, scores, errors: [], slowest: [0, 0], moves: [['(mark 1 1)', 'wait']] });
    const lines = [match('a', ['one', 'two'], [100, 0]), match('b', ['two', 'one'], [50, 50]), match('c', ['one', 'three'], [0, 100]), match('d', ['two', 'three'], null)];
    const dropped = async (name, text) => page.locator('.home').dispatchEvent('drop', {
      dataTransfer: await page.evaluateHandle(([one, two]) => {
        const items = new DataTransfer();
        items.items.add(new File([two], one));
        return items;
      }, [name, text]),
    });
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    await dropped('cup.jsonl', `${lines.join('\n')}\n{"id":"e","ga`);
    await page.getByText('cup.jsonl: 4 matches; its last line is incomplete.').waitFor();
    const rows = () => page.locator('.cup tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent).join(' ')));
    assert.deepEqual(await rows(), ['1. three · 1.00  1.00 100.0 1 368 ± 814', '2. one 0.00 · 0.75 0.50 50.0 3 -99 ± 448', '3. two  0.25 · 0.25 25.0 2 -269 ± 520']);
    await page.getByLabel('Measure').selectOption('score');
    assert.deepEqual((await rows())[1], '2. one 0 · 75 50 50.0 3 -99 ± 448');
    await page.getByText('1 not finished').waitFor();
    await page.locator('.results a').first().click();
    await says(page, /Last: cross \(mark 1 1\)/);
    assert.match(page.url(), /seats=person;person/);
    await page.goto(home);
    await page.locator('.card').first().waitFor();
    await dropped('cup.jsonl', `${lines[0]}\n{"game": 3, "players": []}\n${lines[1]}`);
    await page.getByText('cup.jsonl:2: not a line of results').waitFor();
  },

  async a_scrambled_game_has_the_same_board({ page }) {
    const game = await (await fetch(`${home}api/games/breakthrough_small`)).json();
    const plain = game.files.map((file) => file.text).join('\n');
    const text = scrambled(plain);
    // Names of colours are not read.
    await page.addInitScript(() => {
      try { localStorage.setItem('play.names', 'no'); } catch { /* An empty page has no storage. */ }
    });
    // As uploaded rules: without the picture file, which contains names.
    await own(page, plain);
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

  async an_illegal_link_says_so_and_shows_what_is_legal({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 9 9) wait`);
    await page.locator('.stage .trouble').waitFor();
    await says(page, /Your move \(cross\)/);
    // The readable part of the moves is shown.
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1);(mark 2 2);(mark 1 1);(mark 3 3)`);
    await page.locator('.stage .trouble', { hasText: 'move 3' }).waitFor();
    await page.locator('.count', { hasText: '2 / 2' }).waitFor();
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1`);
    await page.getByText('cannot be read').waitFor();
    await page.goto(`${home}#/no_such_game`);
    await page.getByText('This page cannot be shown').waitFor();
  },
};

/** Other names for everything except keywords and numbers that are scores. */
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

/** The positions of cells and pieces on the board. */
function shapes(page) {
  return page.evaluate(() => {
    const found = [];
    for (const group of document.querySelector('.board').shadowRoot.querySelectorAll('[data-cell]')) {
      for (const shape of group.querySelectorAll('rect, circle, polygon')) {
        const { x, y, width, height } = shape.getBBox();
        found.push([group.dataset.cell, shape.tagName, shape.getAttribute('class'), x, y, width, height]);
      }
    }
    // The labels next to the board may be longer.
    const [left, top] = [Math.min(...found.map((one) => one[3])), Math.min(...found.map((one) => one[4]))];
    return found.map(([cell, tag, look, x, y, ...size]) => [cell, tag, look, x - left, y - top, ...size].join(' '));
  });
}
