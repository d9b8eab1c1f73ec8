// A contact sheet of boards: `node tests/web/sheet.mjs URL PICTURE.png [--only WORD] [FILE…]`, with
// `ggp web` running at URL.
//
// Shows the first position and one in the middle of a match of every bundled game, or of the
// given rule files, and prints a line for each: how many boards, heaps and piles are drawn, how
// much of the position is only listed, and the share of the moves in a match that name places in
// the picture, so that they can be made by clicks. CHROMIUM is the path of the browser
// (/usr/bin/chromium).

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { chromium } from 'playwright-core';
import { asker, middle } from './middle.mjs';

const [url, target, ...rest] = process.argv.slice(2);
if (!target) {
  console.error('usage: node tests/web/sheet.mjs URL PICTURE.png [--only WORD] [FILE…]');
  process.exit(2);
}
const only = rest[0] === '--only' ? rest.splice(0, 2)[1] : '';
const asked = asker(url.endsWith('/') ? url : `${url}/`);

/** The games to show. Each rule file is uploaded when its turn comes, since the server keeps only a few. */
async function* games() {
  if (rest.length === 0) {
    for (const { id } of await asked('games')) yield { id, name: id };
  }
  for (const path of rest) {
    const name = basename(path, '.kif');
    try {
      const text = await readFile(path, 'utf8');
      yield { name, id: (await asked('games', { files: [{ name: basename(path), text }] })).id };
    } catch (error) {
      yield { name, error };
    }
  }
}

/** The share of the moves of roles that can choose for which the picture has places. */
function clickable(positions) {
  const moves = positions.flatMap(({ legal }) => legal.filter((own) => own.length > 1).flat());
  return moves.length === 0 ? null : moves.filter(({ cells }) => cells.length > 0).length / moves.length;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const cells = [];
for await (const { name, id, error } of games()) {
  if (only && !name.includes(only)) continue;
  try {
    if (error) throw error;
    const { start, position, positions, moves } = await middle(asked, id, name);
    const { boards, tables, facts } = position.drawing;
    const share = clickable(positions);
    const listed = tables.filter(({ style }) => style === 'plain').length + facts.length;
    console.log(`${name}: ${boards.length} boards, ${tables.length} tables, ${listed} listed, ${share === null ? 'no choice' : `${Math.round(100 * share)} % by clicks`}${boards[0] ? `, ${boards[0].look}` : ''}`);
    const rest = [...tables.filter(({ style }) => style === 'plain' || style === 'turn').map(({ title, entries }) => `${title}: ${entries.map(({ key, values }) => [key, ...values].join(' ')).join('; ')}`), ...facts];
    cells.push(`<figure><figcaption><b>${escaped(name)}</b> ${moves.length} moves · ${share === null ? '–' : `${Math.round(100 * share)} %`}</figcaption>${start.svg}${position.svg}<small>${escaped(rest.join(' | ').slice(0, 160))}</small></figure>`);
  } catch (failure) {
    console.log(`${name}: FAILED ${failure.message}`);
    process.exitCode = 1;
  }
}
const page = `<!doctype html><style>body{font:13px sans-serif;margin:8px;display:grid;grid-template-columns:repeat(4,1fr);gap:8px}
figure{margin:0;border:1px solid #ccc;padding:4px;overflow:hidden}figcaption{margin-bottom:2px}svg{width:49%;height:auto;max-height:260px;vertical-align:top}small{display:block;color:#666}</style>${cells.join('')}`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const sheet = await browser.newPage({ viewport: { width: 1900, height: 900 } });
await sheet.setContent(page);
await sheet.screenshot({ path: target, fullPage: true });
await browser.close();
