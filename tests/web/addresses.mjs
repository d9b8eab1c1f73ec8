// Wrong addresses: each is answered by a sentence.

import assert from 'node:assert/strict';
import { home } from './person.mjs';
import { parsed } from '../../crates/web/src/page/route.js';

const LONG = 'x'.repeat(3000);
/** Texts that are neither a name of a game nor a move of one. */
const ODD = ['no_such_name', '<b>bold</b>', '<img src=x onerror=alert(1)>', '../secret', 'a/b', '"', "it's", 'null', 'constructor', '__proto__', '-1', '1e99', '99999999999999999999', '%22', '%00', '\u2603', '~!', LONG];
/** Moves of no game: brackets, numbers, roles, and codes of characters. */
const MOVES = ['mark 2 2 wait', '(mark 2 2', 'mark 2 2)', '((((', '()', ';', '~', '~AAAA', '%', '%zz', '%E0%A4%A', '(mark 9 9)', '(mark -1 1)', '(mark 99999999999999999999 1)', '(mork 1 1)', '(mark ?x 1)', '(mark 1)',
  '(mark 1 1) wait wait', 'wait;wait', '(mark 1 1) wait;(mark 1 1) wait', '(mark 1 1);(mark 1 1);(mark 1 1)', 'a;b;c;d', ';;;x', '?x', '(<i> 1 1)'];
const PARTS = ['foo=1', '__proto__=1', 'constructor=x', 'MOVES=(mark 1 1)', 'moves', 'moves=', 'then=', 'then=(mark', 'then=;', 'seats=', 'key=3', 'names=', 'names=maybe', 'x&y', '=', '%3D=1', '<i>=1', `${LONG}=1`,
  'moves=(mark 1 1)&moves=(mark 2 2)', 'seats=person;person&seats=person;person', 'names=no&names=no', 'then=(mark 1 1)&foo'];
const SEATS = ['1', 'person', 'person;person;person', 'nobody;person', '<b>;person', '-1;-1', ';', LONG];

/** Addresses whose fault is in what is written, and those that only the server knows to be wrong. */
const misspelled = [
  ...PARTS.map((part) => `#/tic_tac_toe?${part}`), ...PARTS.slice(0, 4).flatMap((part) => [`#/?${part}`, `#/edit?${part}`, `#/eight_puzzle?names=no&${part}`]),
  ...['(mark 2 2', 'mark 2 2)', '((((', ';', '~', '~!', '%', '%zz'].map((moves) => `#/rock_paper_scissors?moves=${moves}`), '#/%', '#/tic_tac_toe%E0', '#/table/%zz', '#/?moves=(mark 1 1)',
];
const wrong = [
  ...ODD.map((name) => `#/${name}`), ...MOVES.map((moves) => `#/tic_tac_toe?moves=${moves}`), ...MOVES.slice(0, 8).map((moves) => `#/eight_puzzle?moves=${moves}`), ...SEATS.map((seats) => `#/tic_tac_toe?seats=${seats}`),
  ...['none', '', '<b>', '1?key=2', 'none?rules=AAAA'].map((table) => `#/table/${table}`), ...['', '!', 'AAAA', '%zz', LONG].map((rules) => `#/rules=${rules}`), ...misspelled,
];

/** Addresses with characters changed, left out and repeated. */
function* changed(count) {
  let state = 1;
  const random = (below) => { state = (state * 48271) % 2147483647; return state % below; };
  const odd = ['%', '&', '=', ';', '(', ')', '?', '#', '/', '~', ' ', '<', '\0', 'é', '9'];
  for (let made = 0; made < count; made += 1) {
    const letters = [...wrong[random(wrong.length)].slice(0, 200)];
    for (let at = random(4); at >= 0; at -= 1) letters.splice(random(letters.length + 1), random(3), ...Array(random(3)).fill(odd[random(odd.length)]));
    yield letters.join('');
  }
}

export const tests = {
  async addresses_are_read_without_an_exception() {
    for (const hash of [...wrong, ...changed(5000), '', '#', '#/']) {
      const { page, moves, then, trouble } = parsed(hash);
      assert.ok(['home', 'edit', 'game', 'table'].includes(page), hash);
      for (const joint of [...moves, ...then]) assert.ok(joint.length > 0 && joint.every((move) => typeof move === 'string'), hash);
      assert.ok(trouble === null || /^[A-Z].{10,}[.?]$/.test(trouble) && trouble.length < 300, `${hash}: ${trouble}`);
    }
    for (const hash of misspelled) assert.notEqual(parsed(hash).trouble, null, hash);
    for (const hash of ['', '#/', '#/edit', '#/?names=no', '#/hex', '#/hex?moves=(mark a 1) noop;noop (mark b 2)&then=(mark a 2)&seats=person;mcts:2s&names=no', '#/table/1?key=2&rules=AAAA', '#/table/1?&rules=A', '#/rules=AAAA?moves=a%20b'])
      assert.equal(parsed(hash).trouble, null, hash);
  },

  async a_wrong_address_is_answered_by_a_sentence({ context }) {
    assert.ok(wrong.length >= 100, `${wrong.length}`);
    const pages = await Promise.all([1, 2, 3].map(() => context.newPage()));
    const open = [...wrong.entries()];
    await Promise.all(pages.map(async (page) => {
      for (let next = open.shift(); next; next = open.shift()) {
        const [number, hash] = next;
        // Another search part loads the page anew.
        await page.goto(`${home}?${number}${hash}`);
        const said = page.locator('[role=alert]:visible', { hasText: /\S.{9,}/ });
        await said.first().waitFor().catch(() => assert.fail(`${hash} is not answered`));
        await page.waitForFunction(() => !document.querySelector('.game[aria-busy]'), null, { polling: 50 }).catch(() => assert.fail(`${hash} does not end`));
        assert.doesNotMatch(await said.first().innerText(), /undefined|\[object|TypeError/, hash);
        assert.equal(await page.locator('[role=alert] *').count(), 0, hash);
        assert.doesNotMatch(await page.locator('body').innerText(), /Preparing the rules/, hash);
      }
    }));
  },

  async moves_before_a_wrong_one_are_shown({ context }) {
    const page = await context.newPage();
    for (const line of ['(mark 1 1);(mark 2 1);(mark 2 1)', '(mark 1 1);(mark 2 1);(mark 1 2);(mark 2 2);(mark 1 3);(mark 3 3)']) {
      await page.goto(`${home}?${encodeURIComponent(line)}#/tic_tac_toe?moves=${line}`);
      const message = page.getByRole('alert').filter({ hasText: /./ }).first();
      await message.waitFor();
      const text = await page.locator('main').innerText();
      assert.ok(text.includes('mark 2 1') && !text.includes('undefined'), text);
    }
    await page.close();
  },
};
