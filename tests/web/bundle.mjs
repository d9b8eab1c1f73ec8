// Makes the scripts that browsers load, in crates/web/src/served: `node tests/web/bundle.mjs`.
// With `--check`, only reports whether they are up to date.
//
// page.js is made of the modules in crates/web/src/page: one file, because a browser needs much
// longer to request and parse forty. editor.js is made of CodeMirror, as far as
// tests/web/library/editor.js names it. It changes only with those files and the versions in
// package-lock.json, and browsers load it when the rule editor opens.

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
  return hash.digest('hex');
}

async function bundled(entry, options = {}) {
  const { outputFiles: [{ text }], metafile } = await build({
    entryPoints: [entry], bundle: true, format: 'esm', legalComments: 'none', write: false, metafile: true, ...options,
  });
  // Terser makes the scripts 3 % smaller than esbuild does.
  const { code } = await minify(text, { module: true, ecma: 2020, compress: { passes: 2 }, format: { max_line_len: 2_000 } });
  return { code, inputs: Object.keys(metafile.inputs) };
}

async function page() {
  const source = path('../../crates/web/src/page/');
  const { code } = await bundled(`${source}main.js`);
  return `// Made by tests/web/bundle.mjs of crates/web/src/page, whose SHA-256 is ${hashed(source)}.\n${code}\n`;
}

async function library() {
  const source = path('library/');
  const language = `${source}language.js`;
  const alias = { '@codemirror/language': language, '@lezer/common': language };
  const { code, inputs } = await bundled(`${source}editor.js`, { alias, nodePaths: [path('node_modules')] });
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
  const comment = [
    `Made by tests/web/bundle.mjs of tests/web/library, whose SHA-256 is ${hashed(source)}, and of`,
    ...names.map((name) => `${name} ${packages[`node_modules/${name}`].version}`),
    ...[...owners].flatMap(([terms, own]) => ['', 'MIT License', ...own, ...terms.match(/.{1,98}(?:\s|$)/g).map((line) => line.trim())]),
  ];
  return `${comment.map((line) => `// ${line}`.trimEnd()).join('\n')}\n${code}\n`;
}

for (const [name, text] of [['page.js', await page()], ['editor.js', await library()]]) {
  if (!process.argv.includes('--check')) {
    writeFileSync(served + name, text);
  } else if (readFileSync(served + name, 'utf8') !== text) {
    console.error(`crates/web/src/served/${name} is not what its sources make: node tests/web/bundle.mjs`);
    process.exitCode = 1;
  }
}
