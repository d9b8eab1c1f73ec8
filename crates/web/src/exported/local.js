// The answers of the page without a server: files that were made with the page, and workers with
// the engine in WebAssembly.
//
// In: the requests that go to a server elsewhere. One worker answers short questions, others run
// players, solvers and searches. Work is stopped by ending its worker.

const here = import.meta.url;
/** Maximum number of workers that run players, solvers and searches at once. */
const JOBS = Math.max(1, Math.min(4, (navigator.hardwareConcurrency ?? 2) - 1));
/** Requests that take long and report meanwhile, by name: the event with their result. */
const RESULTS = { think: 'move', solve: 'answer', graph: 'graph', learn: 'learned' };
/** Requests without a body whose answers are files. */
const FILES = ['games', 'traits', 'players', 'methods'];

/** The rules of games as text, and the descriptions of bundled games, by name. */
const rules = new Map();
const described = new Map();

let compiled = null;
/** The engine, which all workers share. */
function code() {
  // Some servers do not know the media type, without which no stream is compiled.
  compiled ??= fetched('engine.wasm').then((answer) => (answer.headers.get('content-type')?.startsWith('application/wasm')
    ? WebAssembly.compileStreaming(answer)
    : answer.arrayBuffer().then((bytes) => WebAssembly.compile(bytes))));
  compiled.catch(() => { compiled = null; });
  return compiled;
}

function refusal(status, message, body) {
  return Object.assign(new Error(message), { status, body: body ?? { message } });
}

async function fetched(path) {
  const answer = await fetch(new URL(path, here)).catch(() => null);
  if (answer?.ok) return answer;
  throw refusal(answer?.status ?? 0, answer ? `The file ${path} of this page is missing.` : 'The files of this page cannot be reached.');
}

/** Bytes of memory beyond which a worker is ended when it is free, since it gives none back. */
const LARGE = 256 * 2 ** 20;

/** A worker, which does one thing at a time. */
class Runner {
  constructor() {
    this.start();
  }

  start() {
    this.ready = null;
    this.bytes = 0;
    /** The numbers of the learned values that it has, by the name of their game. */
    this.taught = new Map();
    this.worker = new Worker(new URL('worker.js', here), { type: 'module' });
    this.worker.onmessage = ({ data }) => this.took?.(data);
    this.worker.onerror = () => { this.failed = 'The engine could not be started.'; this.took?.({ failed: this.failed }); };
    this.failed = null;
  }

  /** Ends what it does now. */
  end() {
    this.worker.terminate();
    this.start();
  }

  /** Waits until the engine is in the worker. */
  begun() {
    this.ready ??= code().then((module) => this.sent({ module }, () => {}));
    return this.ready;
  }

  /** Sends a message and waits for its answer. */
  sent(message, heard, signal) {
    if (this.failed) return Promise.reject(refusal(500, this.failed));
    let stopped = null;
    return new Promise((resolve, reject) => {
      this.took = (data) => {
        if (data.lesson !== undefined) this.taught.set(message.id, keep(message.id, data.lesson));
        else if (data.event) heard(...data.event);
        else if (data.failed) reject(refusal(500, `The engine ended: ${data.failed}`));
        else resolve(data);
      };
      stopped = () => reject(signal.reason);
      signal?.addEventListener('abort', stopped);
      this.worker.postMessage(message);
    }).finally(() => {
      signal?.removeEventListener('abort', stopped);
      this.took = ({ failed }) => { this.failed ??= failed; };
    });
  }

  /** Asks for an answer `{ status, content }`. `heard` gets each event. */
  async ask({ what, id = null, body }, heard, signal) {
    // Background work may have failed since the last request.
    if (this.failed) this.end();
    try {
      await this.begun();
      signal?.throwIfAborted();
      const lesson = lessonOf(id);
      const message = { what, id, body, rules: rules.get(id) };
      if (lesson && this.taught.get(id) !== lesson.number) message.lesson = lesson.text;
      const { answer, bytes, taught } = await this.sent(message, heard, signal);
      if (taught) this.taught.set(id, lesson.number);
      this.bytes = bytes;
      return answer;
    } catch (error) {
      // It has stopped in the middle, or goes on with what nobody needs.
      this.end();
      throw error;
    }
  }
}

/** Workers with a number of requests at once; others wait for their turn. */
class Pool {
  constructor(most) {
    this.free = most;
    this.idle = [];
    this.queue = [];
  }

  async take(signal) {
    if (this.free === 0) {
      await new Promise((resolve, reject) => {
        this.queue.push(resolve);
        signal?.addEventListener('abort', () => {
          const at = this.queue.indexOf(resolve);
          if (at < 0) return;
          this.queue.splice(at, 1);
          reject(signal.reason);
        });
      });
    } else {
      this.free -= 1;
    }
    return this.idle.pop() ?? new Runner();
  }

  give(runner) {
    if (runner.bytes > LARGE) runner.end();
    this.idle.push(runner);
    const next = this.queue.shift();
    if (next) next();
    else this.free += 1;
  }

  /** Asks for an answer. A stop ends the work. */
  async ask(request, heard, signal) {
    const runner = await this.take(signal);
    return runner.ask(request, heard, signal).finally(() => this.give(runner));
  }

  /** Asks for an answer that takes little time, so that nothing ends the work. */
  async askBriefly(request, signal) {
    signal?.throwIfAborted();
    const runner = await this.take(signal);
    const answer = runner.ask(request, () => {}).finally(() => this.give(runner));
    if (!signal) return answer;
    const stopped = new Promise((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason)); });
    return Promise.race([answer, stopped]);
  }
}

const questions = new Pool(1);
/** Does something when the page has been shown. */
function whenIdle(work) {
  if (globalThis.requestIdleCallback) requestIdleCallback(work, { timeout: 1_000 });
  else setTimeout(work, 300);
}
// The first worker starts before there is a question.
whenIdle(() => {
  if (questions.free === 0 || questions.idle.length > 0) return;
  const first = new Runner();
  first.begun().catch(() => first.end());
  questions.idle.push(first);
});
// The page works without a network after the first visit, where the browser allows that. All files are
// loaded for it, so the engine comes before.
whenIdle(() => code().catch(() => {}).then(() => navigator.serviceWorker?.register(new URL('../keep.js', here))).catch(() => {}));
const jobs = new Pool(JOBS);
/** Learned values as text, by the name of their game. */
const lessons = new Map();
let learned = 0;
const KEPT = 'lesson ';

function lessonOf(id) {
  if (id === null || lessons.has(id)) return lessons.get(id);
  try {
    const text = sessionStorage.getItem(KEPT + id);
    if (text !== null) lessons.set(id, { text, number: (learned += 1) });
  } catch { /* The browser keeps nothing. */ }
  return lessons.get(id);
}

/** Keeps learned values; the answer is their number. */
function keep(id, text) {
  lessons.set(id, { text, number: (learned += 1) });
  try { sessionStorage.setItem(KEPT + id, text); } catch { /* Full: it is only for reloading. */ }
  return learned;
}

/** The content of an answer; throws if it is a refusal. */
function content({ status, content: said }) {
  if (status === 200) return said;
  throw refusal(status, said.message ?? firstError(said) ?? 'There is no answer.', said);
}

function firstError({ findings }) {
  const first = findings?.find(({ severity }) => severity === 'error');
  return first && `The rules have errors: ${first.place ? `${first.place.file}:${first.place.line}: ` : ''}${first.message}.`;
}

/** The parts of a path: `api/games/ID/WHAT`, `api/games/ID` or `api/WHAT`. */
function parts(path) {
  const [, , what, id, about] = `/${path}`.split('/');
  if (what === 'tables') throw refusal(404, 'Matches between several people need a server: start one with `ggp web`.');
  return what === 'games' && id !== undefined ? { id: decodeURIComponent(id), what: about ?? 'game' } : { id: null, what };
}

/** Reads the rules of a bundled game, unless they are there. */
async function readied(id) {
  if (rules.has(id)) return;
  const answer = await fetch(new URL(`../api/games/${encodeURIComponent(id)}.json`, here)).catch(() => null);
  if (!answer) throw refusal(0, 'The files of this page cannot be reached.');
  // Some hosts send a page of their own for what is not there.
  const said = answer.ok ? await answer.json().catch(() => null) : null;
  if (!said?.files) throw refusal(404, `there is no game \`${id}\``);
  described.set(id, said);
  rules.set(id, JSON.stringify({ files: said.files, picture: said.picture }));
}

/** The first position of a bundled game: a file that was made with the page. Null for other games. */
async function firstPosition(id) {
  // Some hosts send a page of their own for what is not there.
  const said = await fetched(`../api/games/${encodeURIComponent(id)}/first.json`).then((answer) => answer.json()).catch(() => null);
  return said?.legal ? said : null;
}

/** Answers a request, as the server does. */
export async function ask(path, body, signal) {
  const { id, what } = parts(path);
  if (body === undefined && id === null && FILES.includes(what)) return (await fetched(`../api/${what}.json`)).json();
  const isOwn = rules.has(id) && !described.has(id);
  if (what === 'position' && body.moves?.length === 0 && body.names === undefined && !isOwn) {
    const first = await firstPosition(id);
    signal?.throwIfAborted();
    if (first) {
      // The engine reads the rules while the board is looked at.
      whenIdle(() => readied(id).then(() => questions.askBriefly({ what, id, body: '{}' })).catch(() => {}));
      return first;
    }
  }
  if (id !== null) await readied(id);
  if (what === 'game' && described.has(id)) return described.get(id);
  const text = body === undefined ? '' : JSON.stringify(body);
  if (what === 'games') {
    const said = content(await questions.askBriefly({ what: 'load', body: text }, signal));
    rules.set(said.id, text);
    return said;
  }
  return content(await questions.askBriefly({ what, id, body: text }, signal));
}

/** Yields the events of long work, as the server does. */
export async function* events(path, body, signal) {
  const { id, what } = parts(path);
  await readied(id);
  signal?.throwIfAborted();
  const stop = new AbortController();
  signal?.addEventListener('abort', () => stop.abort(signal.reason));
  const heard = [];
  let [wake, end] = [() => {}, null];
  const hear = (name, text) => { heard.push([name, JSON.parse(text)]); wake(); };
  const request = { what, id, body: JSON.stringify(body) };
  const work = jobs.ask(request, hear, stop.signal);
  work.then((answer) => { end = { answer }; }, (error) => { end = { error }; }).then(() => wake());
  try {
    while (heard.length > 0 || !end) {
      if (heard.length > 0) yield heard.shift();
      else await new Promise((resolve) => { wake = resolve; });
    }
    if (end.error) throw end.error;
    const { status, content: said } = end.answer;
    // The server refuses what is wrong with a request before the first event.
    if (status === 400 || status === 404) content(end.answer);
    yield status === 200 ? [RESULTS[what], said] : ['failed', said];
  } finally {
    if (!end) stop.abort(new DOMException('The work is not needed any more.', 'AbortError'));
  }
}
