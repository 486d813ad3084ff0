// Messages to the worker, which answers them as the server of `crib-env play` does.

export const SITE = location.href.split("#")[0];

export class Refused extends Error {
  constructor(text, status) { super(text); this.status = status; }
}

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let last = 0;

// Until the first answer the page shows how much has been loaded.
const LOADS = /* bytes */1, bar = Object.assign(document.createElement("progress"), { max: LOADS }), opening = document.createElement("label");
opening.append("Loading the table ", bar);
document.querySelector("main").prepend(opening);

worker.onmessage = ({ data: { id, status, text, loaded } }) => {
  if (loaded) { bar.value = loaded; return; }
  opening.remove();
  const [done, failed] = waiting.get(id), found = JSON.parse(text);
  waiting.delete(id);
  if (status === 200) done(found); else failed(new Refused(found.error, status));
};
worker.onerror = event => {
  opening.remove();
  for (const [, failed] of waiting.values()) failed(new Refused(`The table could not be opened: ${event.message ?? "load the page again"}`, 0));
  waiting.clear();
};

export async function ask(name, message = {}) {
  last += 1;
  worker.postMessage({ id: last, name, content: JSON.stringify(message) });
  const answer = await new Promise((done, failed) => waiting.set(last, [done, failed]));
  if (name !== "lobby") keepFiles();
  return answer;
}

// From then on the page opens without a network. Not before a game has begun: its first card would lie later.
function keepFiles() {
  if ("serviceWorker" in navigator) navigator.serviceWorker.register(new URL("offline.js", import.meta.url)).catch(() => {});
}
