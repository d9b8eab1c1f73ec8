// Games whose rules hide what others do: what a seat sees at this page and at a table.

import assert from 'node:assert/strict';
import { counted, board, ended, facts, home, opened, place, recorded, says, seated, status } from './person.mjs';

const PERSONS = 'seats=person;person';
const note = (page) => page.locator('.seat-note');
/** All text of the page, and its address. */
const all = async (page) => `${await page.locator('.game').innerText()} ${await board(page).evaluate((host) => host.shadowRoot.textContent)} ${decodeURIComponent(page.url())}`;

const tests = {
  async a_seat_sees_its_own_card_only({ page }) {
    await opened(page, '#/kuhn_poker?moves=wait wait (deal jack queen)&seats=person;random;random');
    await says(page, /^Your move/);
    assert.match(await note(page).textContent(), /what left knows: 2 positions fit/);
    assert.deepEqual((await facts(page)).filter((fact) => fact.includes('card')), ['(card left jack)', '(card right king)', '(card right queen)']);
    assert.match(await page.locator('.facts li', { hasText: '(card right queen)' }).textContent(), /50\.0 %/);
    assert.doesNotMatch(await all(page), /deal/);
    // Who asks learns what the role knows.
    await page.locator('.facts li', { hasText: '(card right queen)' }).getByRole('button').click();
    await page.locator('.answer', { hasText: 'You cannot know' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    // Everything can be shown, and hidden again.
    await note(page).getByRole('button', { name: 'Show everything' }).click();
    await recorded(page, 'deal jack queen');
    await note(page).getByRole('button', { name: 'Hide what others know' }).click();
    await recorded(page, 'saw (own jack)');
    assert.doesNotMatch(await all(page), /deal/);
    // At the end, all is shown.
    await page.getByRole('button', { name: 'check', exact: true }).first().click();
    const call = page.locator('.pad').getByRole('button', { name: 'call', exact: true });
    await page.locator('.status.ended').or(call).first().waitFor();
    if (await call.isVisible()) await call.click();
    await ended(page);
    await recorded(page, 'deal jack queen');
  },

  async deals_differ({ page }) {
    const deals = new Set();
    for (let match = 0; match < 12 && deals.size < 2; match += 1) {
      await opened(page, `#/kuhn_poker?seats=person;random;random&match=${match}`);
      await says(page, /^Your move/);
      deals.add((await facts(page)).find((fact) => fact.startsWith('(card left')));
    }
    assert.equal(deals.size, 2);
  },

  async the_thoughts_of_others_are_not_shown({ page }) {
    await opened(page, '#/krieg_tic_tac_toe?seats=person;ismcts:0.3s');
    await place(page, 1, 1).click();
    await says(page, /^Waiting for the others/);
    await says(page, /^Your move/);
    assert.doesNotMatch(await page.locator('.thoughts').textContent(), /nought/);
    assert.match(await status(page).textContent(), /saw/);
    // Where the other may have marked is faint, with its share.
    const shares = await board(page).evaluate((host) => [...host.shadowRoot.querySelectorAll('title')].map((title) => title.textContent).filter((title) => title.includes('empty')));
    assert.ok(shares.length > 0, 'uncertain cells');
    // A hint is made of the same knowledge.
    await page.getByRole('button', { name: 'Hint' }).click();
    await page.locator('.thoughts', { hasText: 'Would play' }).waitFor();
  },

  async two_at_one_screen_take_turns({ page }) {
    await opened(page, `#/krieg_tic_tac_toe?${PERSONS}`);
    const cover = page.locator('.cover');
    await cover.getByRole('button', { name: 'I am cross' }).click();
    await place(page, 0, 0).click();
    await cover.getByRole('button', { name: 'I am nought' }).waitFor();
    assert.equal(await place(page, 0, 0).isVisible(), false);
    await cover.getByRole('button', { name: 'I am nought' }).click();
    await says(page, /^Your move \(nought\)/);
    assert.match(await note(page).textContent(), /what nought knows: 9 positions fit/);
    // The same cell is refused, and who named it stays.
    await place(page, 0, 0).click();
    await says(page, /saw refused/);
    assert.equal(await cover.isVisible(), false);
    assert.match(await note(page).textContent(), /1 position fits/);
  },

  async a_table_tells_a_seat_what_it_may_know({ page, context }) {
    await opened(page, `#/krieg_tic_tac_toe?${PERSONS}`);
    await page.locator('.cover').getByRole('button').click();
    await page.getByRole('button', { name: 'Invite' }).click();
    const link = (role) => page.getByLabel(`Link for ${role}`, { exact: true }).inputValue();
    const [one, two] = [await context.newPage(), await context.newPage()];
    const heard = [];
    two.on('response', async (response) => { if (response.url().includes('api/tables/')) heard.push(await response.text().catch(() => '')); });
    const links = [await link('cross'), await link('nought')];
    await one.goto(links[0]);
    await two.goto(links[1]);
    await says(two, /^Waiting for the next move/);
    await says(one, /^Your move \(cross\)/);
    await place(one, 2, 0).click();
    await says(two, /^Your move \(nought\)/);
    assert.match(await note(two).textContent(), /9 positions fit/);
    assert.doesNotMatch(`${await all(two)} ${heard.join()}`, /mark 3 1\)","wait/);
    // The server tells nobody else: neither the table itself nor who has no seat.
    const table = /table\/([^?]+)/.exec(links[0])[1];
    const answer = await fetch(`${home}api/tables/${table}/position`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ply: 1 }) });
    assert.equal(answer.status, 403);
    const third = await context.newPage();
    await third.goto(links[0].replace(/\?.*/, ''));
    await third.getByText('The match is shown when it is over').waitFor();
    assert.equal(await third.locator('.count').textContent(), '');
    await two.getByRole('button', { name: 'Save' }).click();
    await two.getByText('shows all moves when the match is over').waitFor();
    await place(two, 2, 0).click();
    await says(two, /saw refused/);
    await place(two, 1, 1).click();
    for (const [player, row, column] of [[one, 2, 1], [two, 0, 0], [one, 2, 2]]) {
      await says(player, /^Your move/);
      await place(player, row, column).click();
    }
    for (const each of [one, two, third]) {
      await ended(each);
      await recorded(each, 'mark 3 1');
      await recorded(each, 'mark 2 2');
      await counted(each.locator('.branches'), 0);
    }
  },

  async programs_alone_are_watched_with_all_cards({ page }) {
    await opened(page, '#/kuhn_poker?moves=wait wait (deal jack queen)&seats=random;random;random');
    await recorded(page, 'deal jack queen');
    assert.equal(await note(page).isVisible(), false);
    await seated(page, 'left', 'person');
    await recorded(page, 'saw (own jack)');
    assert.match(await note(page).textContent(), /what left knows/);
  },
};

export { tests };
