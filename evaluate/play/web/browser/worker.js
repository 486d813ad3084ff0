// The table in a worker, in the place of a server.

import { loadPyodide } from "./pyodide/pyodide.mjs";
import { openTable } from "./python.js";

// Python is stored compressed: not every file server compresses what it sends.
const fetched = fetch;
self.fetch = async (url, ...options) => {
  if (!String(url).endsWith("pyodide.asm.wasm")) return fetched(url, ...options);
  const stored = await fetched(new URL("pyodide/python.bin", import.meta.url));
  return new Response(stored.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": "application/wasm" } });
};

const OTHER = "The table is open in another tab of this browser: play there, or close it and load this page again.";

// One tab at a time writes the games.
const isOnly = new Promise(done => navigator.locks.request("cribbage", { ifAvailable: true }, lock => {
  done(Boolean(lock));
  return lock && new Promise(() => {});
}));

const ready = (async () => {
  if (!await isOnly) throw new Error(OTHER);
  const here = name => new URL(name, import.meta.url).href;
  const archive = fetch(here("table.zip")).then(answer => answer.arrayBuffer());
  return openTable({ loadPyodide, indexURL: here("pyodide/"), archive: await archive, keeps: true });
})();
ready.catch(() => {});

onmessage = async ({ data: { id, name, content } }) => {
  try {
    const [status, text] = (await ready).answer(name, content);
    postMessage({ id, status, text });
  } catch (error) {
    postMessage({ id, status: 500, text: JSON.stringify({ error: error.message }) });
  }
};
