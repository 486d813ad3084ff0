// The table in a worker, in the place of a server.

import { files } from "./files.js";
import { openTable } from "./python.js";

const OTHER = "The table is open in another tab of this browser: play there, or close it and load this page again.";

// One tab at a time writes the games.
const isOnly = new Promise(done => navigator.locks.request("cribbage", { ifAvailable: true }, lock => {
  done(Boolean(lock));
  return lock && new Promise(() => {});
}));

const ready = (async () => {
  if (!await isOnly) throw new Error(OTHER);
  return openTable({ ...files, keeps: true });
})();
ready.catch(() => {});

onmessage = async ({ data: { id, name, content } }) => {
  try {
    const [status, text] = await (await ready).answer(name, content);
    postMessage({ id, status, text });
  } catch (error) {
    postMessage({ id, status: 500, text: JSON.stringify({ error: error.message }) });
  }
};
