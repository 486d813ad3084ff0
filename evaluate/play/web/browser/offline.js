// Keeps the files of the page, so that it opens without a network. A new build has another name here.

const BUILD = "/* build */", FILES = [/* files */];

addEventListener("install", event => event.waitUntil(caches.open(BUILD).then(kept => kept.addAll(FILES)).then(() => skipWaiting())));
addEventListener("activate", event => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("cribbage-") && name !== BUILD) await caches.delete(name);
  await clients.claim();
})()));
addEventListener("fetch", event => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(caches.open(BUILD).then(async kept => await kept.match(event.request, { ignoreSearch: true }) ?? fetch(event.request)));
});
