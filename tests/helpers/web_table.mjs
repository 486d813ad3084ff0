// The table of a site in Node, with Pyodide from its npm package. It reads messages from its input, a line of JSON each, and
// writes their answers. Each message is [name, fields]; each answer [status, fields, milliseconds]. A message "python" has
// source, whose value is JSON.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [site, pyodide] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const { default: createPyodideModule } = await import(pathToFileURL(`${pyodide}/pyodide.asm.mjs`).href);
const { FIRST, openTable } = await import(pathToFileURL(`${site}/python.js`).href);
let goOn;
const asked = new Promise(done => { goOn = done; }); // until then only the first files are there
const read = async name => {
  if (!FIRST.files.includes(name)) await asked;
  return new Uint8Array(name.endsWith(".xz") ? readFileSync(`${site}/files/${name}`) : gunzipSync(readFileSync(`${site}/files/${name}.bin`)));
};
const stdLibURL = `${site}/pyodide/python_stdlib.zip`;
const table = await openTable({ loadPyodide, createPyodideModule, indexURL: pyodide, stdLibURL, read, keeps: false });
for await (const line of createInterface({ input: process.stdin })) {
  const [name, fields] = JSON.parse(line), before = performance.now();
  if (!FIRST.messages.includes(name)) goOn();
  const [status, text] = name === "python" ? [200, await table.run(fields.source)] : await table.answer(name, JSON.stringify(fields));
  console.log(`[${status},${text},${(performance.now() - before).toFixed(2)}]`);
}
