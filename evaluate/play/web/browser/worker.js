// The table in a worker, in the place of a server.

import { loadPyodide } from "./pyodide/pyodide.mjs";
import { openTable } from "./python.js";

const OTHER = "The table is open in another tab of this browser: play there, or close it and load this page again.";
const at = name => new URL(name, import.meta.url).href;

// The page shows how much has been loaded.
const fetched = fetch;
let loaded = 0;
globalThis.fetch = async (...asked) => {
  const answer = await fetched(...asked);
  if (!answer.ok) throw new Error(`${answer.url} could not be loaded: load the page again`);
  return new Response(answer.body.pipeThrough(new TransformStream({ transform(part, out) {
    postMessage({ loaded: loaded += part.length });
    out.enqueue(part);
  } })), answer);
};

// One tab at a time writes the games.
const isOnly = new Promise(done => navigator.locks.request("cribbage", { ifAvailable: true }, lock => {
  done(Boolean(lock));
  return lock && new Promise(() => {});
}));

const ready = (async () => {
  if (!await isOnly) throw new Error(OTHER);
  const archive = fetch(at("table.zip")).then(answer => answer.arrayBuffer());
  return openTable({ loadPyodide, indexURL: at("pyodide/"), archive, keeps: true });
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
