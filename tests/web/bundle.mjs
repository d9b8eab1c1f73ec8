// Makes the scripts that browsers load, in crates/web/src/served: `node tests/web/bundle.mjs`.
// With `--check`, only reports whether they are up to date.
//
// page.js is made of the modules in crates/web/src/page: one file, because a browser needs much
// longer to request and parse forty. editor.js is made of CodeMirror, as far as
// tests/web/library/editor.js names it, and browsers load it when the rule editor opens. Their
// licences are in licences.txt.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const served = path('../../crates/web/src/served/');

// tests/web.rs computes the same hashes, so that a stale bundle is noticed without Node.js.
function hashed(folder) {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(`${name}\n`).update(readFileSync(folder + name));
  return hash.digest('hex').slice(0, 16);
}

const wordsOf = (source) => readdirSync(source).flatMap((name) => readFileSync(source + name, 'utf8').match(/[\w$]+/g));

/** Removes the methods of CodeMirror whose names occur nowhere else, neither in it nor in the page. */
function used(text, words) {
  let kept = text.replaceAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  for (let before = ''; kept !== before;) {
    before = kept;
    const counts = new Map();
    for (const word of [...words, ...words, ...kept.match(/[\w$]+/g)]) counts.set(word, (counts.get(word) ?? 0) + 1);
    // Members of classes, as esbuild writes them.
    kept = kept.replaceAll(/^  (?:static |async |\*|get |set )*([\w$]+)\([^\n]*\) \{\n(?:(?:    [^\n]*)?\n)*?  \}\n/gm, (member, name) => (counts.get(name) > 1 ? member : ''));
  }
  return kept;
}

/**
 * The properties of CodeMirror that may get short names: long names that are no words of the page
 * and of no string. Terser itself knows the names of browsers.
 */
function own(text, words) {
  const strings = text.match(/"[^"\n]*"|'[^'\n]*'|`[^`]*`/g).flatMap((string) => string.match(/[\w$]+/g) ?? []);
  return { regex: /^(?!webkit)([a-z]+[A-Z][A-Za-z]*|[a-z]{6,})$/, keep_quoted: true, reserved: [...words, ...strings] };
}

/** Bundles a script. `source`, if given, is the folder of the scripts that use it. */
async function bundled(entry, source = null, options = {}) {
  const { outputFiles: [{ text }], metafile } = await build({
    entryPoints: [entry], bundle: true, format: 'esm', legalComments: 'none', write: false, metafile: true, ...options,
  });
  // Terser makes the scripts 3 % smaller than esbuild does, and short names of properties those of CodeMirror 5 % smaller.
  const words = source === null ? [] : wordsOf(source);
  const whole = source === null ? text : used(text, words);
  const mangle = { properties: source !== null && own(whole, words) };
  const { code } = await minify(whole, { module: true, ecma: 2020, compress: { passes: 3, keep_fargs: false, pure_getters: true, inline: 1, sequences: source === null }, mangle, format: { max_line_len: 20_000 } });
  return { code, inputs: Object.keys(metafile.inputs) };
}

const source = path('../../crates/web/src/page/');

async function page() {
  const { code } = await bundled(`${source}main.js`);
  return `// Made by tests/web/bundle.mjs of crates/web/src/page, whose SHA-256 begins with ${hashed(source)}.\n${code}\n`;
}

async function library() {
  const library = path('library/');
  const language = `${library}language.js`;
  const alias = { '@codemirror/language': language, '@lezer/common': language };
  const { code, inputs } = await bundled(`${library}editor.js`, source, { alias, nodePaths: [path('node_modules')] });
  const { packages } = JSON.parse(readFileSync(path('package-lock.json'), 'utf8'));
  const names = [...new Set(inputs.map((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1]).filter(Boolean))].sort();
  // One text, with the copyright of each package above it.
  const owners = new Map();
  for (const name of names) {
    const licence = readFileSync(path(`node_modules/${name}/LICENSE`), 'utf8').trim();
    const copyright = /^Copyright .*$/m.exec(licence)?.[0];
    if (!copyright) throw new Error(`the licence of ${name} has no copyright`);
    const terms = licence.replace(copyright, '').replaceAll(/\s+/g, ' ').replace(/^(The )?MIT License (\(MIT\) )?/i, '').trim();
    owners.set(terms, new Set([...(owners.get(terms) ?? []), copyright]));
  }
  const licences = [
    'editor.js contains', ...names.map((name) => `${name} ${packages[`node_modules/${name}`].version}`),
    ...[...owners].flatMap(([terms, owners]) => ['', 'MIT License', ...owners, ...terms.match(/.{1,98}(?:\s|$)/g).map((line) => line.trim())]),
  ];
  return [`// Made by tests/web/bundle.mjs of tests/web/library, whose SHA-256 begins with ${hashed(library)}. Licences: licences.txt\n${code}\n`, `${licences.join('\n')}\n`];
}

const [editor, licences] = await library();
for (const [name, text] of [['page.js', await page()], ['editor.js', editor], ['licences.txt', licences]]) {
  if (!process.argv.includes('--check')) {
    writeFileSync(served + name, text);
  } else if (readFileSync(served + name, 'utf8') !== text) {
    console.error(`crates/web/src/served/${name} is not what its sources make: node tests/web/bundle.mjs`);
    process.exitCode = 1;
  }
}
