// Helpers that create elements. Text is always inserted as text, never as markup.

const SVG = 'http://www.w3.org/2000/svg';

function prepared(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === 'value') {
      node.value = value;
    } else {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...present(children));
  return node;
}

function present(children) {
  return children.flat().filter((child) => child !== null && child !== undefined && child !== false);
}

/** Creates an HTML element. `attributes.on` are its event listeners. */
export function make(tag, attributes = {}, ...children) {
  return prepared(document.createElement(tag), attributes, children);
}

/** Creates an SVG element. */
export function draw(tag, attributes = {}, ...children) {
  return prepared(document.createElementNS(SVG, tag), attributes, children);
}

/** Replaces all children of a node. */
export function fill(node, ...children) {
  node.replaceChildren(...present(children));
  return node;
}

const ICONS = {
  first: 'M5 4v12M16 4 7.5 10l8.5 6z',
  last: 'M15 4v12M4 4l8.5 6L4 16z',
  play: 'M6 4l10 6-10 6z',
  pause: 'M6.5 4v12M13.5 4v12',
  close: 'M5 5l10 10M15 5 5 15',
  add: 'M10 4v12M4 10h12',
  names: 'M3 15.5 6.8 5h.6l3.8 10.5M4.3 12h5.6M17 9.5v6M17 12.5a2.3 3 0 1 1-4.6 0 2.3 3 0 0 1 4.6 0',
  turn: 'M4.5 8a6 6 0 0 1 10.6-1.8M15.5 12A6 6 0 0 1 4.9 13.8M15.5 3v3.6h-3.6M4.5 17v-3.6h3.6',
  sound: 'M3.5 8v4h3l4 3.2V4.8L6.5 8zM13 7.5a3.6 3.6 0 0 1 0 5M15 5a7 7 0 0 1 0 10',
  mute: 'M3.5 8v4h3l4 3.2V4.8L6.5 8zM13.5 8l4 4M17.5 8l-4 4',
  dark: 'M15.5 12.2A6.5 6.5 0 0 1 7.8 4.5a6.5 6.5 0 1 0 7.7 7.7z',
  light: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6 16 16M4 16l1.4-1.4M14.6 5.4 16 4',
};

/** A small icon for a button that has a label. */
export function icon(name) {
  return draw('svg', { viewBox: '0 0 20 20', width: 16, height: 16, class: 'icon', 'aria-hidden': 'true' }, draw('path', { d: ICONS[name] }));
}

export function button(label, listener, attributes = {}) {
  return make('button', { type: 'button', ...attributes, on: { click: listener } }, label);
}

/** A message of the server with a capital letter. */
export const sentence = (text) => text.replace(/^\p{Ll}+ /u, (word) => word[0].toUpperCase() + word.slice(1));

/** An error line that screen readers announce. */
export function trouble() {
  const line = make('p', { class: 'trouble', role: 'alert', hidden: true });
  line.say = (message) => {
    line.textContent = sentence(message ?? '');
    line.hidden = !message;
  };
  return line;
}

/**
 * Waits until the current content is visible: one frame, or a moment if no frames are
 * drawn.
 */
export function seen() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, 100);
  });
}

/** Calls `listener` when it was not requested again for this many milliseconds. */
export function settled(milliseconds, listener) {
  let timer = 0;
  const ask = (...words) => {
    clearTimeout(timer);
    timer = setTimeout(() => listener(...words), milliseconds);
  };
  ask.cancel = () => clearTimeout(timer);
  return ask;
}

export async function copied(text, control) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages on plain HTTP have no clipboard access: show a field to copy from.
    const field = make('textarea', { value: text, class: 'copied', readonly: true });
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
  const label = control.textContent;
  control.textContent = 'Copied';
  setTimeout(() => { control.textContent = label; }, 1200);
}

/** The text of a file; an error if it is not text. */
export async function textOf(file) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    if (!text.includes('\0')) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw new Error(`${file.name} is not UTF-8 text.`);
}

/** A button that opens files; `take(files)` is called for those that were chosen. */
export function opener(label, take, more, attributes) {
  const field = make('input', { type: 'file', hidden: true, ...more });
  field.addEventListener('change', async () => {
    if (field.files[0]) await take(field.files);
    field.value = '';
  });
  return [button(label, () => field.click(), attributes), field];
}

/** Offers a text as a file download. */
export function offerDownload(name, text, kind) {
  const link = make('a', { download: name, href: URL.createObjectURL(new Blob([text], { type: kind })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
