// Access to the server: requests with one answer, and streams of events. A page without a server
// names a script that answers instead.

/**
 * An error response of the server. `status` is the HTTP status; 0 if the server cannot be
 * reached.
 */
export class ApiError extends Error {
  constructor(status, message, body) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

const script = document.querySelector('meta[name=engine]')?.content;
/** The script that answers instead of a server, as a module; null if there is a server. */
export const local = script ? import(new URL(script, document.baseURI).href) : null;

/** An error of that script, as one of the server. */
function localError(error) {
  return error.status === undefined ? error : new ApiError(error.status, error.message, error.body);
}

async function asked(path, body, signal) {
  const request = body === undefined
    ? { signal }
    : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), signal };
  let response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The server does not answer. Is `ggp web` still running?');
  }
  if (response.ok) return response;
  const text = await response.text();
  let answer;
  try { answer = JSON.parse(text); } catch { /* Not all that refuses speaks JSON. */ }
  throw new ApiError(response.status, answer?.message ?? firstError(answer) ?? (text.slice(0, 300) || `The server answered ${response.status}.`), answer);
}

/** The first error of rejected rules. */
function firstError(answer) {
  const first = answer?.findings?.find?.((finding) => finding.severity === 'error');
  return first && `The rules have errors: ${first.place ? `${first.place.file}:${first.place.line}: ` : ''}${first.message}.`;
}

/** Sends a request: GET, or POST if there is a body. */
export async function ask(path, body, signal) {
  if (local) return (await local).ask(path, body, signal).catch((error) => { throw localError(error); });
  return (await asked(path, body, signal)).json();
}

/** Yields server-sent events as `[name, value]`, until the server ends the stream. */
export async function* events(path, body, signal) {
  if (local) {
    try {
      yield* (await local).events(path, body, signal);
    } catch (error) {
      throw localError(error);
    }
    return;
  }
  const response = await asked(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value.replaceAll('\r', '');
      const blocks = rest.split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The connection to the server broke.');
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  let name = 'message';
  const said = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    if (line.startsWith('data:')) said.push(line.slice(5).trimStart());
  }
  return said.length ? [name, JSON.parse(said.join('\n'))] : null;
}

export const games = () => ask('api/games');
export const check = (rules, signal) => ask('api/check', rules, signal);

/** Requests data that does not change, only once. */
function once(path) {
  let asked;
  return () => {
    asked ??= ask(path).catch((error) => { asked = undefined; throw error; });
    return asked;
  };
}

/** The traits by which the bundled games are sorted. */
export const traits = once('api/traits');
/** The kinds of players. */
export const players = once('api/players');
/** The methods of the solver. */
export const methods = once('api/methods');
