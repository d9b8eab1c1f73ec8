// Bundles the modules in crates/web/src/page into crates/web/src/served/page.js: `node
// tests/web/bundle.mjs`. With `--check`, only reports whether the bundle is up to date. One
// file, because a browser needs much longer to request and parse forty.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('../../crates/web/src/page/', import.meta.url));
const target = fileURLToPath(new URL('../../crates/web/src/served/page.js', import.meta.url));

// tests/web.rs computes the same hash, so that a stale bundle is noticed without Node.js.
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
