// Graphs of positions, and search trees of players.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { counted, LINE_OF_THREE, ONE_LIGHT, addressed, opened, own, says, unending } from './person.mjs';

/** A property of the graph canvas. */
const sheet = (page, look, where = '.graph') => page.evaluate(([source, place]) => new Function('sheet', `return ${source}`)(document.querySelector(`${place} canvas`).sheet), [look, where]);
const summary = (page) => page.locator('.graph > p[aria-live]');
/** The position of a node in the window. */
const nodeAt = (page, node, where = '.graph') => sheet(page, `(() => { const box = sheet.canvas.getBoundingClientRect(); const [x, y] = sheet.at(${node}); return [x + box.left, y + box.top]; })()`, where);

async function exploring(page, { depth, most, merge } = {}) {
  await page.getByRole('tab', { name: 'Graph' }).click();
  if (depth) await page.getByLabel('Maximum number of moves from here').fill(String(depth));
  if (most) await page.getByLabel('Maximum number of positions').fill(String(most));
  if (merge) await page.getByLabel('Merge positions').selectOption(merge);
  await page.getByRole('button', { name: 'Explore' }).click();
}

async function explored(page, asked) {
  await exploring(page, asked);
  await page.locator('.graph[data-nodes]').waitFor({ timeout: 90_000 });
  await page.waitForFunction(() => document.querySelector('.graph canvas').sheet.settled);
}

/**
 * The server's events for a graph with `nodes` nodes: each has arcs to three nodes of the
 * next level.
 */
function many(nodes, wide) {
  const events = [];
  const level = (id) => (id === 0 ? 0 : 1 + Math.floor((id - 1) / wide));
  for (let first = 0; first < nodes; first = first === 0 ? 1 : first + wide) {
    const ids = Array.from({ length: first === 0 ? 1 : Math.min(wide, nodes - first) }, (_, index) => first + index);
    const before = (id, turn) => (level(id) === 1 ? 0 : first - wide + ((id - first) * (turn + 1) + turn * 7) % wide);
    const arcs = ids.flatMap((to) => (to === 0 ? [] : [0, 1, 2].filter((turn) => turn === 0 || level(to) > 1).map((turn) => ({ from: before(to, turn), to, move: `(to ${to})` }))));
    events.push(['grown', { level: level(first), arcs, nodes: ids.map((id) => ({ id, level: level(id), status: id % 997 === 996 ? 'solved' : 'open', same: id, from: id === 0 ? null : before(id, 0), joint: id === 0 ? [] : [`(to ${id})`] })) }]);
  }
  events.push(['graph', { nodes, arcs: 0, levels: [], complete: false, said: 'there are more', dead: [], seconds: 1 }]);
  return events.map(([name, value]) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`).join('');
}

export const tests = {
  async a_graph_grows_level_by_level_and_its_counts_agree({ page }) {
    await opened(page, `#/${LINE_OF_THREE}`);
    await page.evaluate(() => {
      window.told = [];
      new MutationObserver(() => window.told.push(document.querySelector('.graph > p[aria-live]').textContent)).observe(document.querySelector('.graph > p[aria-live]'), { childList: true, characterData: true, subtree: true });
    });
    await explored(page, { depth: 4 });
    const told = await page.evaluate(() => window.told);
    assert.ok(new Set(told.filter((one) => one.endsWith('…'))).size >= 4, `it did not grow: ${told}`);
    // 9 squares, and equal positions for all orders of moves.
    assert.match(await summary(page).textContent(), /^1,090 positions, /);
    const rows = await page.locator('.counts tbody tr').evaluateAll((all) => all.map((row) => [...row.children].map((cell) => Number(cell.textContent.replaceAll(',', '')))));
    assert.deepEqual(rows.map(([level, count]) => [level, count]), [[0, 1], [1, 9], [2, 72], [3, 252], [4, 756]]);
    const moves = rows.reduce((sum, row) => sum + row[4], 0);
    assert.equal(moves, 9 + 9 * 8 + 72 * 7 + 252 * 6);
    assert.match(await summary(page).textContent(), new RegExp(`, ${moves.toLocaleString('en')} moves, 5 levels`));
    assert.deepEqual(await sheet(page, '[sheet.scene.ranks.map((rank) => rank.length), sheet.scene.arcs.length]'), [[1, 9, 72, 252, 756], moves]);
    assert.ok(await sheet(page, 'sheet.drawn.nodes') > 500);
  },

  async a_search_for_a_graph_is_stopped({ page }) {
    const node = (id) => ({ id, level: id && 1, status: 'open', same: id, from: id ? 0 : null, joint: id ? ['(to 1)'] : [] });
    await unending(page, '/graph', [
      ['grown', { level: 0, nodes: [node(0)], arcs: [] }],
      ['grown', { level: 1, nodes: [node(1)], arcs: [{ from: 0, to: 1, move: '(to 1)' }] }],
    ]);
    await opened(page, '#/amazons');
    await exploring(page);
    await page.waitForFunction(() => document.querySelector('.graph canvas').sheet.scene.ranks.length > 1);
    await page.locator('.graph').getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^2 positions, .*; stopped\./).waitFor();
    await page.getByRole('button', { name: 'Explore' }).waitFor();
  },

  async plans_endings_and_repeated_positions_are_distinguished({ page }) {
    await own(page, ONE_LIGHT);
    await explored(page);
    // Three lights that are on or off; two must be turned off, in either order.
    assert.match(await summary(page).textContent(), /^8 positions, 21 moves, 4 levels/);
    assert.deepEqual(await sheet(page, `[...sheet.scene.lit.arcs].map((arc) => arc.move).sort()`), ['(press 1)', '(press 1)', '(press 3)', '(press 3)']);
    assert.deepEqual(await sheet(page, `sheet.scene.ranks.map((rank) => rank.map((node) => sheet.scene.kind(node)).sort().join(' '))`),
      ['open', 'open open open', 'open open solved', 'open']);
    assert.equal(await sheet(page, 'sheet.drawn.arcs'), 21);
    assert.deepEqual(await page.locator('.graph .legend:not([hidden]) > span:not([hidden])').allTextContents(), ['position', 'solved', 'shortest paths', 'to an earlier position']);
    await page.getByLabel('Repeated positions').uncheck();
    await page.waitForFunction(() => document.querySelector('.graph canvas').sheet.drawn.arcs < 21);
    assert.equal(await sheet(page, 'sheet.drawn.arcs'), await sheet(page, 'sheet.scene.arcs.filter((arc) => arc.to.level > arc.from.level).length'));
  },

  async the_nodes_of_a_small_graph_are_boards({ page }) {
    await opened(page, '#/wolf_goat_cabbage');
    await explored(page);
    await page.waitForFunction(() => document.querySelector('.graph canvas').sheet.scene.ranks.flat().every((node) => node.image?.complete));
    assert.ok(await sheet(page, 'sheet.scene.radius(sheet.scene.ranks[0][0], 100)') > 40);
    assert.ok(await sheet(page, 'sheet.canvas.clientHeight') > 500);
  },

  async dead_positions_fade({ page }) {
    await own(page, `(role player) (init (at 1)) (way 1 2) (way 1 3) (way 3 4)
      (<= (legal player (go ?to)) (true (at ?from)) (way ?from ?to))
      (<= (next (at ?to)) (does player (go ?to)))
      (<= terminal (true (at 2))) (<= terminal (true (at 4)))
      (<= (goal player 100) (true (at 2))) (<= (goal player 0) (not (true (at 2))))`);
    await explored(page);
    const look = (scene) => sheet(page, `sheet.scene.ranks.flat().map((node) => ${scene})`);
    assert.deepEqual((await look('sheet.scene.kind(node)')).sort(), ['end', 'lost', 'open', 'solved']);
    assert.equal((await look('sheet.scene.isFaint(node)')).filter(Boolean).length, 2);
    await page.getByLabel('Fade dead ends').uncheck();
    assert.equal((await look('sheet.scene.isFaint(node)')).filter(Boolean).length, 0);
  },

  async positions_that_differ_in_steps_only_are_marked_together({ page }) {
    await own(page, `(role player) (init (step 1)) (after 1 2) (after 2 3) (after 3 4) (init (at 1)) (way 1 2) (way 2 1) (way 2 3)
      (<= terminal (true (step 4))) (<= terminal (true (at 3)))
      (legal player wait) (<= (legal player (go ?to)) (true (at ?from)) (way ?from ?to))
      (<= (next (at ?to)) (does player (go ?to))) (<= (next (at ?from)) (does player wait) (true (at ?from)))
      (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
      (<= (goal player 100) (true (at 3))) (<= (goal player 0) (not (true (at 3))))`);
    await explored(page, { merge: 'state' });
    assert.deepEqual(await sheet(page, 'sheet.scene.ranks.map((rank) => rank.length)'), [1, 2, 3, 3]);
    await page.mouse.move(...await nodeAt(page, 'sheet.scene.ranks[0][0]'));
    await page.waitForFunction(() => document.querySelector('.graph canvas').sheet.alike.length > 0);
    assert.deepEqual(await sheet(page, 'sheet.alike.map((node) => node.level)'), [1, 2, 3]);
  },

  async a_node_shows_its_board_and_is_opened_with_the_keyboard({ page }) {
    await opened(page, `#/${LINE_OF_THREE}?moves=(mark 1 1) wait`);
    await explored(page, { depth: 2 });
    assert.match(await summary(page).textContent(), /^After 1 move: 65 positions, /);
    await page.locator('.graph canvas').focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    assert.match(await page.locator('.graph .unseen').first().textContent(), /^Position \d+, level 2, /);
    assert.match(await page.locator('.sheet-tip').last().textContent(), /level 2/);
    await page.keyboard.press('Enter');
    const glance = page.locator('.glance');
    await glance.locator('.board svg').waitFor();
    assert.match(await glance.textContent(), /paths? of 2 moves/);
    const lit = await sheet(page, 'sheet.scene.lit.arcs.size');
    assert.ok(lit >= 2);
    const way = await sheet(page, `[...sheet.scene.lit.arcs].map((arc) => arc.move)`);
    await glance.getByRole('button', { name: 'Go there' }).click();
    await page.waitForFunction(() => /^3 \//.test(document.querySelector('.count').textContent));
    await addressed(page, /moves=\(mark 1 1\) wait;wait \(mark \d \d\);\(mark \d \d\) wait$/);
    assert.ok(way.some((move) => decodeURIComponent(page.url()).includes(move)));
    await says(page, /Paused: nought to move/);
  },

  async values_from_a_file_colour_positions_and_are_told({ page }) {
    const node = (id, value) => ({ id, level: Math.min(id, 1), status: 'open', same: id, from: id ? 0 : null, joint: [], ...(value && { value }) });
    const events = [['grown', { level: 0, arcs: [], nodes: [node(0, { least: 100, most: 100, distance: 3 })] }],
      ['grown', { level: 1, arcs: [1, 2].map((to) => ({ from: 0, to, move: `(to ${to})` })), nodes: [node(1, { least: 50, most: 50, distance: null }), node(2, { least: 0, most: 100, distance: null })] }],
      ['graph', { nodes: 3, arcs: 2, levels: [1, 2], complete: true, said: '', dead: [], seconds: 1 }]];
    const body = events.map(([name, value]) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`).join('');
    await page.route('**/graph', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
    await opened(page, `#/${LINE_OF_THREE}`);
    await explored(page);
    assert.deepEqual(await sheet(page, 'sheet.scene.ranks.flat().map((node) => sheet.scene.look(node, "open"))'), ['value-10', 'value-5', 'open']);
    assert.equal(await page.locator('.graph .legend', { hasText: 'endless' }).isVisible(), true);
    await page.locator('.graph canvas').focus();
    for (const key of ['ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    assert.match(await page.locator('.graph .unseen').first().textContent(), /cross gets 100 in 3 joint moves/);
  },

  async twenty_thousand_nodes_move_smoothly({ page }) {
    await page.route('**/graph', (route) => route.fulfill({ contentType: 'text/event-stream', body: many(20_000, 900) }));
    await opened(page, `#/${LINE_OF_THREE}`);
    await explored(page, { most: 20000 });
    assert.equal(await page.locator('.graph').getAttribute('data-nodes'), '20000');
    // Nodes on the same pixel are drawn once, and of the arcs only a uniform selection.
    assert.ok(await sheet(page, 'sheet.drawn.nodes') <= 23 * await sheet(page, 'sheet.canvas.clientWidth'), 'all nodes are drawn');
    assert.ok(await sheet(page, 'sheet.drawn.arcs') <= 20_600, 'all arcs are drawn');
    await sheet(page, `(() => { sheet.counts = []; const { frame } = sheet; sheet.frame = function (now) { frame.call(this, now); this.counts.push({ ...this.drawn, moving: this.moving }); }; })()`);
    await page.locator('.graph canvas').scrollIntoViewIfNeeded();
    // The mouse wheel works in whole pixels.
    const [x, y] = (await nodeAt(page, 'sheet.scene.ranks[11][450]')).map(Math.round);
    const [fx, fy] = await nodeAt(page, 'sheet.scene.ranks[11][450]');
    const before = await sheet(page, '({ ...sheet.view })');
    await page.mouse.move(x, y);
    for (let turn = 0; turn < 12; turn += 1) await page.mouse.wheel(0, -100);
    await page.waitForFunction(() => !document.querySelector('.graph canvas').sheet.moving);
    const after = await sheet(page, '({ ...sheet.view })');
    assert.ok(Math.abs(after.zoom - before.zoom * Math.exp(12 * 0.16)) < 1e-6, `${before.zoom} to ${after.zoom}`);
    const [nx, ny] = await nodeAt(page, 'sheet.scene.ranks[11][450]');
    const [px, py] = [x + (fx - x) * after.kx / before.kx, y + (fy - y) * after.ky / before.ky];
    assert.ok(Math.hypot(nx - px, ny - py) < 0.1, `what is under the pointer moved by ${nx - px}, ${ny - py}`);
    await page.mouse.down();
    for (let turn = 1; turn <= 10; turn += 1) await page.mouse.move(x - 6 * turn, y + 2 * turn);
    await page.mouse.up();
    const moved = await sheet(page, '({ ...sheet.view })');
    assert.ok(Math.abs(moved.left - after.left + 60) < 0.01 && Math.abs(moved.top - after.top - 20) < 0.01, 'the pointer and the picture part');
    const counts = await sheet(page, 'sheet.counts');
    assert.ok(counts.length >= 3 && counts.length <= 60, `${counts.length} frames`);
    for (const { arcs, moving } of counts) assert.ok(!moving || arcs <= 4700, `${arcs} arcs while it moves`);
    await page.locator('.graph canvas').focus();
    await page.keyboard.press('0');
    assert.deepEqual(await sheet(page, '({ ...sheet.view })'), before);
    await page.keyboard.press('+');
    assert.ok(await sheet(page, 'sheet.view.zoom') > 1.4);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('-');
    assert.ok(Math.abs(await sheet(page, 'sheet.view.zoom') - 1) < 1e-9);
  },

  async existing_nodes_keep_their_order_while_a_level_grows({ page }) {
    const source = readFileSync(new URL('../../crates/web/src/page/layers.js', import.meta.url), 'utf8').replaceAll('export ', '');
    const orders = await page.evaluate((module) => {
      const layers = new (new Function(`${module}; return Layers;`)())();
      const node = (id, level, ...parents) => ({ id, level, in: parents.map((from) => ({ from, repeats: false })) });
      const root = node(0, 0);
      layers.add([root]);
      const [a, b, c] = [node(1, 1, root), node(2, 1, root), node(3, 1, root)];
      layers.add([a, b, c]);
      const order = () => layers.ranks[2].map(({ id }) => id);
      layers.add([node(4, 2, c), node(5, 2, a)]);
      const first = order();
      layers.add([node(6, 2, b), node(7, 2, a)]);
      const second = order();
      const goals = layers.ranks.flat().map(({ goal }) => goal);
      return { first, second, inside: goals.every((goal) => goal > 0 && goal < 1) };
    }, source);
    assert.deepEqual(orders, { first: [5, 4], second: [5, 7, 6, 4], inside: true });
  },

  async a_graph_on_a_narrow_screen_is_moved_by_fingers({ browser }) {
    const context = await browser.newContext({ viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await opened(page, `#/${LINE_OF_THREE}`);
    await explored(page, { depth: 2 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
    await page.locator('.graph canvas').scrollIntoViewIfNeeded();
    const [x, y] = await nodeAt(page, 'sheet.scene.ranks[1][4]');
    const zoom = await sheet(page, 'sheet.view.zoom');
    const touch = await context.newCDPSession(page);
    const fingers = (type, far) => touch.send('Input.dispatchTouchEvent', { type, touchPoints: far === null ? [] : [{ x: x - far, y, id: 1 }, { x: x + far, y, id: 2 }] });
    await fingers('touchStart', 20);
    for (const far of [24, 28, 32, 36, 40]) await fingers('touchMove', far);
    await fingers('touchEnd', null);
    const wider = await sheet(page, 'sheet.view.zoom') / zoom;
    assert.ok(wider > 1.8 && wider < 2.2, `${wider}`);
    await page.getByRole('button', { name: 'Large', exact: true }).first().click();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
    await context.close();
  },

  async a_tree_is_there_when_it_is_opened_late({ page }) {
    await opened(page, '#/connect_four');
    const questions = [];
    page.on('request', (request) => { if (request.url().endsWith('/think')) questions.push(request.postDataJSON()); });
    await page.getByLabel(/Player of/).nth(1).selectOption('mcts');
    await page.getByLabel(/Seconds per move/).nth(1).fill('600');
    await page.getByLabel(/Seconds per move/).nth(1).press('Enter');
    await page.locator('.group.open button.move').first().click();
    await page.getByText('Best so far').waitFor();
    await page.waitForFunction(() => /[2-9]\.\d s/.test(document.querySelector('.thought').textContent));
    await page.getByRole('button', { name: 'Show the tree' }).click();
    const shown = page.locator('.tree > p', { hasText: /\d+ of [\d,]+ nodes? shown/ });
    assert.equal(await shown.count(), 1, 'the tree is not there at once');
    await page.getByRole('button', { name: 'Hide the tree' }).click();
    await page.getByRole('button', { name: 'Move now' }).click();
    await page.waitForFunction(() => /^2 \//.test(document.querySelector('.count').textContent));
    await counted(page.locator('.thought .spinner'), 0);
    await page.getByRole('button', { name: 'Show the tree' }).click();
    await counted(shown, 1);
    assert.ok(await sheet(page, 'sheet.scene.ranks.flat().length', '.tree') > 50);
    assert.equal(questions.length, 1, 'opening the tree asks for a hint');
  },

  async the_tree_of_a_player_grows_and_is_gone_into({ page }) {
    await opened(page, '#/connect_four_small');
    const moves = await page.locator('.group.open button.move').count();
    await page.getByRole('tab', { name: 'Thinking' }).click();
    await page.getByRole('button', { name: 'Show the tree' }).click();
    await page.getByText(/mcts:5s as \S+: \d+ of [\d,]+ nodes? shown/).waitFor();
    const all = async () => Number((await page.locator('.tree > p').first().textContent()).match(/of ([\d,]+) nodes? shown/)[1].replaceAll(',', ''));
    const early = await all();
    await page.getByText('Would play').waitFor();
    assert.ok(await all() > early, 'it does not grow');
    await page.locator('.tree .variation').waitFor();
    const look = await sheet(page, `({ visits: sheet.scene.ranks[0][0].visits, below: sheet.scene.ranks[1].map((node) => node.visits),
      radius: sheet.scene.ranks[1].map((node) => sheet.scene.radius(node)), nodes: sheet.scene.ranks.flat().length,
      line: [...sheet.scene.lit.nodes].slice(1).map((node) => node.move) })`, '.tree');
    assert.ok(look.nodes > 50 && look.nodes <= 600, `${look.nodes} nodes`);
    assert.equal(look.below.length, moves);
    assert.deepEqual(look.below, [...look.below].sort((a, b) => b - a), 'siblings are not by visits');
    assert.deepEqual(look.radius, [...look.radius].sort((a, b) => b - a), 'what is visited more is not larger');
    const words = await page.locator('.tree .variation code').allTextContents();
    assert.ok(look.line.length > 0 && look.line.every((move, index) => move === words[index]), `${look.line} along ${words}`);
    await page.locator('.tree canvas').scrollIntoViewIfNeeded();
    const node = 'sheet.scene.ranks[2][0]';
    const [first, second] = await sheet(page, `[${node}.parent.move, ${node}.move]`, '.tree');
    await page.mouse.move(...await nodeAt(page, node, '.tree'));
    await page.locator('.tree .sheet-tip').getByText(/visits?, expected score \d/).waitFor();
    await page.mouse.click(...await nodeAt(page, node, '.tree'));
    await page.waitForFunction(() => /^2 \//.test(document.querySelector('.count').textContent));
    await addressed(page, new RegExp(`moves=${`${first} wait;wait ${second}`.replaceAll(/[()]/g, '\\$&')}`));
  },
};
