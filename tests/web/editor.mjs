// The rule editor: colours, fixes, names, keys, files, and random matches.

import assert from 'node:assert/strict';
import { counted, home, entered, opened, ruleText, rulesField, problems, says, typed, LINE_OF_THREE, ONE_LIGHT } from './person.mjs';

/** Two players who have two goals each at the end. */
const TWO_GOALS = `; Two goals: for a test
(role a) (role b)
(init (step 0)) (after 0 1) (after 1 2)
(<= (legal ?p (pick ?x)) (role ?p) (after ?x ?y))
(<= (next (step ?y)) (true (step ?x)) (after ?x ?y))
(<= terminal (true (step 2)))
(<= (goal ?p 100) (role ?p))
(<= (goal b 0) (true (step 2)))
`;
/** A player who has no legal move after the first one. */
const STUCK = `(role a) (role b)
(init (at 0))
(legal b wait)
(<= (legal a go) (true (at 0)))
(<= (legal a stay) (true (at 0)))
(<= (next (at 1)) (does a go))
(<= (next (at 0)) (does a stay))
(<= terminal (true (at 2)))
(<= (goal a 60) (true (at ?x)))
(goal b 40)
`;

const state = (page, text) => page.locator('.editor .state', { hasText: text }).waitFor();
const cursor = (page) => page.evaluate(() => {
  const { anchorNode, anchorOffset } = getSelection();
  const line = (anchorNode.nodeType === Node.TEXT_NODE ? anchorNode.parentNode : anchorNode).closest('.cm-line');
  const range = document.createRange();
  range.setStart(line, 0);
  range.setEnd(anchorNode, anchorOffset);
  return [[...line.parentNode.children].indexOf(line) + 1, range.toString().length];
});

export const tests = {
  async a_fix_is_applied_in_the_text({ page }) {
    await typed(page, ONE_LIGHT.replace('(light 3)', '(light 3'));
    await state(page, /error/);
    await page.locator('.findings').getByRole('button', { name: 'Add )' }).first().click();
    await state(page, 'No errors found.');
    assert.equal(await ruleText(page), ONE_LIGHT);
    await page.keyboard.press('ControlOrMeta+z');
    await state(page, /error/);
    // The same fix is offered where the mistake is marked.
    await page.locator('.cm-line .found.error').first().hover();
    await page.locator('.rule-tip').getByRole('button', { name: 'Add )' }).click();
    await state(page, 'No errors found.');
    await entered(page, ONE_LIGHT.replace('(<= dark', '(unused x)\n(<= dark'));
    await page.locator('.state.warned', { hasText: 'No errors, 1 warning.' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Play', exact: true }).isEnabled(), true);
  },

  async names_are_coloured_explained_and_completed({ page }) {
    await typed(page, ONE_LIGHT);
    await state(page, 'No errors found.');
    const look = async (kind) => page.locator(`.kif-${kind}`).first().evaluate((one) => [one.textContent, getComputedStyle(one).color]);
    const looks = await Promise.all(['comment', 'variable', 'keyword', 'literal'].map(look));
    assert.deepEqual(looks.map(([text]) => text), ['; One light', '?light', 'role', '1']);
    assert.equal(new Set(looks.map(([, colour]) => colour)).size, 4);
    await page.locator('.cm-line', { hasText: '(<= terminal' }).locator('.kif-keyword', { hasText: 'not' }).hover();
    await page.locator('.rule-tip', { hasText: '(not LITERAL)' }).waitFor();
    await rulesField(page).press('ControlOrMeta+End');
    await page.keyboard.type('(<= (goal player 5');
    // Words of the rules come before the words of the language.
    await page.keyboard.type('0) (tr');
    await page.locator('.cm-tooltip-autocomplete', { hasText: 'true' }).waitFor();
    // A list that has just appeared ignores keys.
    await page.waitForTimeout(300);
    await page.keyboard.press('Enter');
    await page.keyboard.type(' (da');
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'dark' }).first().waitFor();
    await page.waitForTimeout(300);
    await page.keyboard.press('Enter');
    await page.keyboard.type(' 3)))');
    assert.ok((await ruleText(page)).endsWith('(<= (goal player 50) (true (dark 3)))'), await ruleText(page));
    await state(page, 'No errors found.');
  },

  async the_keyboard_edits_searches_and_leaves({ page }) {
    await typed(page, '(role a)\n; (not a bracket\n(role (b)');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowRight');
    // The bracket before the cursor and its match.
    assert.deepEqual(await page.locator('.bracket').allTextContents(), ['(', ')']);
    await entered(page, '(<= (p ?x)');
    await page.keyboard.press('Enter');
    await page.keyboard.type('(or (q ?x)');
    await page.keyboard.press('Enter');
    await page.keyboard.type('(r ?x)))');
    await page.keyboard.press('Enter');
    assert.equal(await ruleText(page), '(<= (p ?x)\n    (or (q ?x)\n        (r ?x)))\n');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+f');
    await page.keyboard.type('?X');
    await page.keyboard.press('Enter');
    await page.locator('.rule-search', { hasText: '1 of 3' }).waitFor();
    await page.keyboard.press('Shift+Enter');
    await page.locator('.rule-search', { hasText: '3 of 3' }).waitFor();
    assert.equal(await page.locator('.search-match.chosen').textContent(), '?x');
    await page.getByLabel('Replace with').fill('?y');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Replace all' }).click();
    assert.equal(await ruleText(page), '(<= (p ?y)\n    (or (q ?y)\n        (r ?y)))\n');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+z');
    await page.keyboard.press('ControlOrMeta+z');
    assert.match(await ruleText(page), /p \?x.*\n.*q \?x.*\n.*r \?x/);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className.includes('cm-content')), true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.closest('.cm-editor')), null);
  },

  async each_file_has_its_own_undo_and_names_lead_to_their_file({ page }) {
    await typed(page, '(role r) (init (at 0)) (legal r go)\n(<= terminal (far ?x) (true (at ?x)))');
    await page.getByRole('button', { name: 'Add a file' }).click();
    await entered(page, '(<= (next (at 1)) (does r go))\n(goal r 0)\n(far 1)');
    await state(page, 'No errors found.');
    await page.getByRole('button', { name: 'rules.kif', exact: true }).click();
    await page.locator('.cm-line', { hasText: 'terminal' }).click();
    await page.keyboard.press('Home');
    for (let step = 0; step < 14; step += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('F12');
    await page.locator('.file[aria-pressed=true]', { hasText: 'rules-2.kif' }).waitFor();
    assert.equal(await page.evaluate(() => getSelection().toString()), 'far');
    await page.keyboard.press('ControlOrMeta+z');
    assert.equal(await ruleText(page), 'Paste rules in GDL here, or drop files.');
    await page.getByRole('button', { name: 'rules.kif', exact: true }).click();
    assert.match(await ruleText(page), /role r/);
  },

  async the_example_replaces_what_is_there_and_that_is_kept({ page }) {
    await typed(page, ONE_LIGHT);
    await page.getByRole('button', { name: 'Insert example' }).click();
    await page.getByText('Your earlier rules were replaced.').waitFor();
    await counted(page.locator('.editor .file'), 1);
    await state(page, 'No errors found.');
    await page.locator('.trial .good', { hasText: /random matches: all end, after 1 joint move\..*Average score: left \d+, right \d+\./ }).waitFor();
    // It does not replace itself.
    await page.getByRole('button', { name: 'Insert example' }).click();
    await page.getByRole('button', { name: 'Restore earlier rules' }).click();
    assert.equal(await ruleText(page), ONE_LIGHT);
    // What is pasted over it is not the example any more.
    await page.getByRole('button', { name: 'Insert example' }).click();
    await page.locator('.editor .file', { hasText: 'example.kif' }).waitFor();
    await entered(page, ONE_LIGHT);
    await page.locator('.editor .file', { hasText: 'pasted.kif' }).waitFor();
    assert.equal(await ruleText(page), ONE_LIGHT);
  },

  async random_matches_say_what_they_showed({ page }) {
    await typed(page, ONE_LIGHT);
    await page.locator('.trial .good', { hasText: /^200 random matches: all end, after \d+ to \d+ joint moves \(.* on average\)\. On average, 3 moves are possible\. There is always a legal move/ }).waitFor();
    await entered(page, ONE_LIGHT.replace('(not dark))\n(<= (goal', '(not dark) never)\n(<= (goal').replace('(light 1)', '(light 1) (<= never (not (light 1)))'));
    await page.locator('.trial', { hasText: 'none ends within 1,000 joint moves' }).waitFor();
    // What is typed meanwhile ends the trial, and nothing late is shown.
    await page.route('**/api/try', async (route) => { await new Promise((resolve) => setTimeout(resolve, 700)); await route.continue().catch(() => {}); });
    await entered(page, ONE_LIGHT);
    await page.getByText('Playing random matches').waitFor();
    await entered(page, '(role a)');
    await page.waitForTimeout(1_200);
    assert.equal(await page.locator('.trial').textContent(), '');
  },

  async two_goals_are_shown_with_their_rules({ page }) {
    await typed(page, TWO_GOALS);
    const fault = page.locator('.trial li', { hasText: 'b has several goal values: 0, 100 (after 2 joint moves)' });
    await fault.getByRole('button', { name: 'rules.kif:8' }).click();
    assert.deepEqual(await cursor(page), [8, 0]);
    await fault.getByRole('button', { name: 'Show this position' }).click();
    await says(page, /b has several goal values: 0, 100\./);
    assert.match(await page.locator('.status').getAttribute('class'), /faulty/);
    assert.equal(await page.locator('h1').textContent(), 'Two goals');
    assert.deepEqual(await page.locator('.goal').allTextContents(), ['100', '?']);
    await page.locator('.stage .findings').getByRole('button', { name: 'rules.kif:8' }).click();
    assert.deepEqual(await page.locator('.source .lit').allTextContents(), ['(<= (goal b 0) (true (step 2)))']);
    await page.locator('.stage .findings').getByRole('button', { name: 'Why' }).click();
    await page.locator('.answer', { hasText: '(goal b 0)' }).waitFor();
    assert.match(await page.locator('.answer').textContent(), /goal b 100/);
  },

  async a_position_without_a_legal_move_can_be_looked_at({ page }) {
    const fault = page.locator('.stage .findings li');
    const played = async (rules) => {
      await typed(page, rules);
      await page.getByText('No errors found').waitFor();
      await page.getByRole('button', { name: 'Play', exact: true }).click();
    };
    await played(STUCK);
    await page.getByRole('button', { name: 'go', exact: true }).first().click();
    await says(page, /^The match ends here\. a has no legal move, but the game is not over\./);
    await fault.getByRole('button', { name: 'rules.kif:4' }).waitFor();
    await counted(page.locator('.trouble:visible'), 0);
    assert.deepEqual((await page.locator('.goal').allTextContents()).map((text) => text.replace(/\D+/g, '')), ['60', '40']);
    await fault.getByRole('button', { name: 'Why' }).click();
    await page.locator('.answer', { hasText: '(legal a ' }).waitFor();
    await page.locator('.answer', { hasText: '(true (at 0))' }).waitFor();
    // Undo leads back.
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Undo' }).first().click();
    await fault.waitFor({ state: 'hidden' });
    // The initial position.
    await played(STUCK.replace('(legal b wait)', ''));
    await says(page, /^The match ends here\. b has no legal move/);
  },

  async the_editor_is_accessible({ browser }) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ colorScheme });
      const page = await context.newPage();
      await typed(page, `${TWO_GOALS}(<= (unused ?x) (after ?x ?y))`);
      await page.locator('.trial li').waitFor();
      await page.keyboard.press('ControlOrMeta+f');
      await page.keyboard.type('goal');
      await page.keyboard.press('Enter');
      await page.locator('.search-match.chosen').waitFor();
      assert.deepEqual(await problems(page), [], colorScheme);
      await page.keyboard.press('Escape');
      await rulesField(page).press('ControlOrMeta+End');
      await page.keyboard.type(' (');
      const list = page.locator('.cm-tooltip-autocomplete > ul');
      await list.waitFor();
      assert.ok(await list.evaluate((one) => one.scrollHeight > one.clientHeight), 'a list to scroll');
      assert.deepEqual(await problems(page), [], `${colorScheme}, completions`);
      await context.close();
    }
  },

  async an_editor_that_does_not_load_says_so({ page }) {
    await page.route('**/page/editor.js', (route) => route.abort());
    await page.goto(`${home}#/edit`);
    await page.getByText('The editor did not load.').waitFor();
    await page.unroute('**/page/editor.js');
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await rulesField(page).waitFor();
  },

  async the_first_page_does_not_load_the_editor({ page }) {
    const loaded = [];
    page.on('request', (request) => { loaded.push(new URL(request.url()).pathname); });
    await opened(page, `#/${LINE_OF_THREE}`);
    assert.ok(loaded.includes('/page/page.js'));
    assert.equal(loaded.includes('/page/editor.js'), false);
  },
};
