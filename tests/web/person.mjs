// The actions of a person on the page.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';

/** The address of `ggp web`: the first command-line argument. */
const url = process.argv[2] ?? 'http://127.0.0.1:8000/';
export const home = url.endsWith('/') ? url : `${url}/`;

export const LINE_OF_THREE = 'tic_tac_toe';
export const ONE_LIGHT = `; One light
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
export const BOTH = `(role left) (role right)
(number 1) (number 2)
(init open)
(<= (legal ?player (name ?number)) (role ?player) (number ?number))
(<= (next (named ?player ?number)) (does ?player (name ?number)))
(<= terminal (not (true open)))
(<= (goal ?player 50) (role ?player))
`;

export const board = (page) => page.locator('.board');
export const status = (page) => page.locator('.status');
export const place = (page, row, column) => page.locator(`[data-cell="0 ${row} ${column}"]`).first();
export const facts = async (page) => {
  const folded = page.locator('.below details').first();
  if ((await folded.getAttribute('open')) === null) await folded.locator('summary').click();
  await page.locator('.facts code').first().waitFor();
  return (await page.locator('.facts code').allTextContents()).sort();
};

export async function opened(page, hash) {
  // A view of the same document stays until the next one is ready.
  await page.evaluate(() => document.querySelector('.game')?.classList.add('former'));
  await page.goto(`${home}${hash}`);
  await playable(page);
}

/** Waits for a game that can be played, which is later than its board is visible. */
async function playable(page) {
  await page.locator('.game:not([aria-busy], .former)').waitFor();
}

/** Waits until the status text matches. */
export async function says(page, pattern, timeout = 30_000) {
  await page.waitForFunction(([source]) => new RegExp(source).test(document.querySelector('.status')?.textContent ?? ''), [pattern.source], { timeout, polling: 100 });
}

/** Waits until the history has the text; its tab gives way to that of thinking when a player begins to think. */
export async function recorded(page, text) {
  await page.locator('.history', { hasText: text }).waitFor({ state: 'attached' });
}

/** Waits until as many elements are there: a page under load shows a change a moment later. */
export async function counted(locator, number) {
  for (let tries = 0; tries < 50 && await locator.count() !== number; tries += 1) await setTimeout(100);
  assert.equal(await locator.count(), number, `elements of ${locator}`);
}

/** Returns whether the match has ended. */
export const over = async (page) => await page.locator('.status.ended').count() > 0;

/** Waits until the match has ended. */
export const ended = (page, timeout = 30_000) => page.locator('.status.ended').waitFor({ timeout });

/** Unfolds the list of moves in all views, as a person who wants it does once. */
export const unfolded = (context) => context.addInitScript(() => {
  try { localStorage.setItem('play.moves', 'open'); } catch { /* An empty page has no storage. */ }
});

export async function seated(page, role, kind, seconds) {
  await page.getByLabel(`Player of ${role}`).selectOption(kind);
  if (seconds) {
    await page.getByLabel(`Seconds per move for ${role}`).fill(String(seconds));
    await page.getByLabel(`Seconds per move for ${role}`).press('Enter');
  }
}

export const rulesField = (page) => page.locator('.editor .cm-content');

/** The text in the editor, as far as it is visible. */
export const ruleText = (page) => page.locator('.editor .cm-line').evaluateAll((lines) => lines.map((line) => line.textContent).join('\n'));

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Finds problems of accessibility. */
export async function problems(page) {
  // The page may run no script but its own, so the checker is run by the browser itself.
  await page.evaluate(await readFile(AXE, 'utf8'));
  const { violations } = await page.evaluate(() => window.axe.run());
  // The list of completions is scrolled by the keys that choose from it, while the focus stays in the
  // rules, as the ARIA guide wants it. The checker knows that of a combobox, but not of a text of several lines.
  const found = violations.filter(({ id, nodes }) => id !== 'scrollable-region-focusable' || !nodes.every(({ html }) => html.startsWith('<ul id="cm-ac-')));
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).slice(0, 3).join(', ')}`);
}

/** Replaces the text in the editor. */
export async function entered(page, text) {
  await rulesField(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

export async function typed(page, text) {
  await page.goto(`${home}#/edit`);
  await entered(page, text);
}

export async function own(page, text) {
  await typed(page, text);
  await page.getByText(/^No errors/).waitFor();
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await playable(page);
}

/** Waits until the address matches; it is updated with a delay. */
export async function addressed(page, pattern) {
  await page.waitForFunction(([source]) => new RegExp(source).test(decodeURIComponent(location.hash)), [pattern.source], { timeout: 5000, polling: 100 });
}

/** Answers requests to a path with these events, in a stream that never ends. */
export async function unending(page, path, events) {
  const text = events.map(([name, value]) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`).join('');
  await page.addInitScript(([wanted, body]) => {
    const asked = window.fetch;
    window.fetch = (address, options) => (!String(address).endsWith(wanted) ? asked(address, options) : Promise.resolve(new Response(new ReadableStream({
      start(stream) {
        stream.enqueue(new TextEncoder().encode(body));
        options.signal.addEventListener('abort', () => stream.error(options.signal.reason));
      },
    }), { headers: { 'content-type': 'text/event-stream' } })));
  }, [path, text]);
}

/** A headless browser. */
export function browsing() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}
