// Makes src/web/served/page.js of the modules in src/web/page: `node tests/web/bundle.mjs`, and
// `--check` only tells whether it is what they make. One file, since a browser needs much longer
// to ask for forty and to read them.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('../../src/web/page/', import.meta.url));
const target = fileURLToPath(new URL('../../src/web/served/page.js', import.meta.url));

// tests/web.rs computes the same, so that a stale file is noticed where there is no Node.
const hash = createHash('sha256');
for (const name of readdirSync(source).sort()) hash.update(`${name}\n`).update(readFileSync(source + name));

const { outputFiles: [{ text }] } = await build({
  entryPoints: [`${source}main.js`], bundle: true, format: 'esm', minify: true, lineLimit: 200, write: false,
  banner: { js: `// Made by tests/web/bundle.mjs of src/web/page, whose SHA-256 is ${hash.digest('hex')}.` },
});
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/web/served/page.js is not what src/web/page makes: node tests/web/bundle.mjs');
  process.exit(1);
}
