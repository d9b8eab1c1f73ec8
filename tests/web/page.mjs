// Tests of the page in a browser: `node tests/web/page.mjs URL [WORD…]`, with `ggp web`
// running at URL.
//
// Runs all tests, or those whose names contain a WORD; exits with 1 if one fails twice. At the page of
// `ggp web --export` those that look at requests to a server, or need one, are left out; those of
// files.mjs are for that page alone. CHROMIUM
// is the path of the browser (/usr/bin/chromium), PICTURES a folder for screenshots of
// failed tests.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { browsing, unfolded } from './person.mjs';
import { tests as addresses } from './addresses.mjs';
import { tests as clicks } from './clicking.mjs';
import { tests as editor } from './editor.mjs';
import { tests as files } from './files.mjs';
import { tests as graphs } from './graphs.mjs';
import { tests as start } from './home.mjs';
import { tests as looks } from './looks.mjs';
import { tests as matches } from './matches.mjs';
import { tests as openapi } from './openapi.mjs';
import { folds, tests as play } from './play.mjs';
import { tests as rules } from './rules.mjs';
import { tests as seats } from './seats.mjs';

const wanted = process.argv.slice(3);
const tests = { ...matches, ...play, ...rules, ...editor, ...graphs, ...looks, ...start, ...openapi, ...clicks, ...seats, ...files, ...addresses };
const browser = await browsing();
const exported = (await fetch(new URL('engine/local.js', process.argv[2]))).ok;
/** Returns whether a test asks the server itself, looks at requests, or needs a table. */
const needsServer = (test) => /\bfetch\(|\brequest\b|\.route\(|waitForRequest|\b(json|events)\('api|'Invite'|\bunending\(/.test(test.toString());
/** Runs a test in a context of its own; returns whether it passed. */
async function passes(name, test) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, acceptDownloads: true });
  context.setDefaultTimeout(20_000);
  if (!folds.has(test)) await unfolded(context);
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
    return true;
  } catch (error) {
    console.log(`FAILED  ${name}\n${error.stack}${errors.map((one) => `\n  ${one.stack ?? one}`).join('')}`);
    if (process.env.PICTURES) {
      await mkdir(process.env.PICTURES, { recursive: true });
      await page.screenshot({ path: `${process.env.PICTURES}/${name}.png` }).catch(() => {});
    }
    return false;
  } finally {
    await context.close();
  }
}

const names = Object.keys(tests).filter((name) => (wanted.length === 0 || wanted.some((word) => name.includes(word)))
  && (exported ? name in files || !needsServer(tests[name]) : !(name in files)));
let failed = 0;
async function worked() {
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    // On a machine under load a test may be late: it is tried again, and both results are shown.
    if (!await passes(name, tests[name]) && !await passes(name, tests[name])) failed += 1;
  }
}
// Tests wait for most of their time, so some run at once.
await Promise.all([worked(), worked()]);
await browser.close();
process.exit(failed > 0 ? 1 : 0);
