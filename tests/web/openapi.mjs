// The answers of the server, compared with their description in OpenAPI format.

import assert from 'node:assert/strict';
import Ajv from 'ajv/dist/2020.js';
import { home, BOTH } from './person.mjs';

let cookie;

// The answer to a request, with `asked` as JSON if it is sent to the server.
async function request(path, asked, method = asked === undefined ? 'GET' : 'POST') {
  const headers = { ...(cookie && { cookie }), ...(asked && { 'content-type': 'application/json' }) };
  const answer = await fetch(new URL(path, home), { method, headers, body: asked && JSON.stringify(asked) });
  cookie ??= answer.headers.get('set-cookie')?.split(';')[0];
  return answer;
}

async function json(path, asked) {
  const answer = await request(path, asked);
  assert.equal(answer.status, 200, path);
  return answer.json();
}

const event = (text) => {
  const field = (name) => text.split('\n').find((line) => line.startsWith(name))?.slice(name.length);
  const data = field('data: ');
  return data === undefined ? [] : [{ name: field('event: '), data: JSON.parse(data) }];
};

async function events(path, asked) {
  const answer = await request(path, asked);
  assert.equal(answer.status, 200, path);
  return (await answer.text()).split('\n\n').flatMap(event);
}

// The first event of a stream that does not end.
async function firstEvent(path) {
  const answer = await request(path);
  let text = '';
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const found = text.split('\n\n').slice(0, -1).flatMap(event);
    if (found.length > 0) return found[0];
  }
  throw new Error(`${path} ended: ${text}`);
}

export const tests = {
  async answers_match_the_openapi_file() {
    const file = await json('api/openapi.json');
    const ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addSchema(file, 'api');
    const check = (name, answer) => {
      const validate = ajv.getSchema(`api#/components/schemas/${name}`);
      assert.ok(validate, name);
      assert.ok(validate(answer), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(answer)}`);
    };
    assert.throws(() => check('Game', {}), /Game: .*required/);
    for (const card of await json('api/games')) {
      check('Card', card);
      check('Game', await json(`api/games/${card.id}`));
      const picture = await request(`api/games/${card.id}/picture.svg`);
      assert.match(await picture.text(), /^<svg/, card.id);
      check('Position', await json(`api/games/${card.id}/position`, {}));
    }
    for (const traits of await json('api/traits')) check('Traits', traits);
    assert.match(await (await request('api/games/tic_tac_toe/film.svg')).text(), /class="f f1-/);
    for (const kind of await json('api/players')) check('Kind', kind);
    for (const method of await json('api/methods')) check('Method', method);
    const files = (text) => ({ files: [{ name: 'own.kif', text }] });
    check('Game', await json('api/games', files(BOTH)));
    check('Check', await json('api/check', files('(role')));
    const filled = await json('api/games/tic_tac_toe/position', { moves: [['(mark 1 1)']] });
    assert.ok(Array.isArray(filled.moves));
    check('Position', filled);
    check('Explanation', await json('api/games/tic_tac_toe/why', { question: '(legal cross ?m)' }));
    const known = await json('api/games/krieg_tic_tac_toe/position', { moves: [['(mark 1 1)']], seat: 1 });
    assert.ok(known.seat.unsure.length > 0);
    check('Position', known);
    check('Explanation', await json('api/games/krieg_tic_tac_toe/why', { moves: [['(mark 1 1)']], seat: 1, question: '(true (cell 1 1 cross))' }));
    const thoughts = await events('api/games/connect_four/think', { role: 0, player: 'mcts:0.5s', tree: 100 });
    assert.ok(thoughts.length > 1);
    for (const { name, data } of thoughts) check({ tree: 'Tree', preparing: 'Preparing' }[name] ?? 'Thought', data);
    check('Values', await json('api/games/connect_four/values', {}));
    for (const { data } of await events('api/games/connect_four/learn', { seconds: 1 })) check('Lessons', data);
    check('Values', await json('api/games/connect_four/values', {}));
    // A search that ends, and one that exceeds its time limit of a second and reports progress.
    await events('api/games/eight_puzzle/solve', { seconds: 30, method: 'breadth-first-packed' })
      .then((all) => all.forEach(({ name, data }) => check(name === 'answer' ? 'Answer' : 'Progress', data)));
    const long = await events('api/games/senku/solve', { seconds: 1, method: 'iterative-deepening' });
    for (const { name, data } of long) check(name === 'answer' ? 'Answer' : 'Progress', data);
    const byLevel = ({ name, data }) => name === 'progress' && data.method === 'iterative-deepening' && data.levels.length > 2;
    assert.ok(long.some(byLevel), JSON.stringify(long));
    for (const { name, data } of await events('api/games/eight_puzzle/graph', { most: 300 })) {
      check(name === 'graph' ? 'Graph' : 'GraphPart', data);
    }
    const created = await json('api/tables', { game: 'nim', seats: ['person', 'random'] });
    check('CreatedTable', created);
    check('Table', (await firstEvent(`api/tables/${created.table}`)).data);
    const { table, keys: [key] } = await json('api/tables', { game: 'krieg_tic_tac_toe', seats: ['person', 'person'] });
    check('Table', (await firstEvent(`api/tables/${table}?key=${key}`)).data);
    check('Position', await json(`api/tables/${table}/position`, { key, ply: 0 }));
    check('Explanation', await json(`api/tables/${table}/why`, { key, ply: 0, question: 'terminal' }));
    check('ApiError', await (await request('api/tables/none')).json());
    // Every path of the file exists, with its method.
    for (const [path, operations] of Object.entries(file.paths)) {
      const full = path.slice(1).replace('{game}', 'nim').replace('{table}', 'none');
      for (const method of Object.keys(operations).filter((name) => ['get', 'post'].includes(name))) {
        const { status } = await request(full, method === 'post' ? { 'no such field': 1 } : undefined);
        assert.notEqual(status, 405, `${method} ${path}`);
      }
    }
  },
};
