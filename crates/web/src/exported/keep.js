// Keeps the files of the page for use without a network. What the network has comes first.

const FILES = [/* paths */];
/** The name of what is kept begins with the folder, and ends with the version. */
const FOLDER = `ggp ${self.registration.scope} `;
const NAME = `${FOLDER}/* version */`;

self.addEventListener('install', (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(['./', ...FILES])));
});

async function renewed() {
  const old = (await caches.keys()).filter((name) => name.startsWith(FOLDER) && name !== NAME);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

self.addEventListener('activate', (event) => event.waitUntil(renewed()));

async function answered(event) {
  const { request } = event;
  const cache = await caches.open(NAME);
  try {
    const answer = await fetch(request);
    // The answer does not wait until it is kept, and does not need to be.
    if (answer.status === 200) event.waitUntil(cache.put(request, answer.clone()).catch(() => {}));
    return answer;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method === 'GET' && new URL(request.url).origin === location.origin) event.respondWith(answered(event));
});
