// Makes crates/web/src/served/page.js of the modules in crates/web/src/page: `node tests/web/bundle.mjs`, and
// `--check` only tells whether it is what they make. One file, since a browser needs much longer
// to ask for forty and to read them.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('../../crates/web/src/page/', import.meta.url));
const target = fileURLToPath(new URL('../../crates/web/src/served/page.js', import.meta.url));

// tests/web.rs computes the same, so that a stale file is noticed where there is no Node.
const hash = createHash('sha256');
for (const name of readdirSync(source).sort()) hash.update(`${name}\n`).update(readFileSync(source + name));

const { outputFiles: [{ text }] } = await build({
  entryPoints: [`${source}main.js`], bundle: true, format: 'esm', minify: true, lineLimit: 200, write: false,
  banner: { js: `// Made by tests/web/bundle.mjs of crates/web/src/page, whose SHA-256 is ${hash.digest('hex')}.` },
});
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('crates/web/src/served/page.js is not what crates/web/src/page makes: node tests/web/bundle.mjs');
  process.exit(1);
}
