// The files of the site, as the table asks for them in a browser.

import createPyodideModule from "./pyodide/pyodide.asm.mjs";
import { loadPyodide } from "./pyodide/pyodide.mjs";

// Files are stored compressed, for not every file server compresses what it sends: *.xz is unpacked by Python, others here.
const fetched = fetch;
async function unpacked(name) {
  const isPacked = name.endsWith(".xz"), stored = await fetched(new URL(`files/${name}${isPacked ? "" : ".bin"}`, import.meta.url));
  if (!stored.ok) throw new Error(`${name} could not be loaded: load the page again`);
  return isPacked ? stored.body : stored.body.pipeThrough(new DecompressionStream("gzip"));
}
globalThis.fetch = async (url, ...options) => String(url).endsWith("pyodide.asm.wasm")
  ? new Response(await unpacked("python"), { headers: { "content-type": "application/wasm" } }) : fetched(url, ...options);

const read = async name => new Uint8Array(await new Response(await unpacked(name)).arrayBuffer());

export const files = { loadPyodide, createPyodideModule, indexURL: new URL("pyodide/", import.meta.url).href, read };
