// A worker with the engine: takes requests one after the other, and sends events and answers.

import { Engine, initSync } from './engine.js';

/** Milliseconds between two times that values which are being learned are sent. */
const TEACHING = 1000;

let engine = null;
let memory = null;
/** True while background work waits for its turn. */
let isScheduled = false;
let taught = 0;

function work() {
  try {
    isScheduled = engine.rest();
    if (isScheduled) setTimeout(work);
  } catch (error) {
    // The engine cannot go on.
    self.postMessage({ failed: error.message ?? String(error) });
  }
}

function teach(id) {
  const lesson = engine.learned(id);
  taught = Date.now();
  if (lesson !== undefined) self.postMessage({ lesson });
}

/** Sends an event. Values that are being learned go with it, as the work may be ended. */
function tell(what, id, name, content) {
  if (what === 'learn' && Date.now() - taught >= TEACHING) teach(id);
  self.postMessage({ event: [name, content] });
}

function answered({ what, id, body, rules, lesson }) {
  if (what === 'load') return { answer: JSON.parse(engine.load(undefined, body)) };
  if (rules !== undefined && !engine.has(id)) {
    const loaded = JSON.parse(engine.load(id, rules));
    if (loaded.status !== 200) return { answer: loaded };
  }
  const isTaught = lesson !== undefined && engine.teach(id, lesson);
  taught = 0;
  const answer = engine.ask(what, id ?? undefined, body, (name, content) => tell(what, id, name, content));
  if (what === 'learn') teach(id);
  return { answer: JSON.parse(answer), taught: isTaught };
}

self.onmessage = ({ data }) => {
  try {
    if (data.module) {
      memory = initSync({ module: data.module }).memory;
      engine = new Engine();
      self.postMessage({});
      return;
    }
    self.postMessage({ ...answered(data), bytes: memory.buffer.byteLength });
    if (!isScheduled) {
      isScheduled = true;
      setTimeout(work);
    }
  } catch (error) {
    self.postMessage({ failed: error.message ?? String(error) });
  }
};
