// The table of a site in Node. It reads messages from its input, a line of JSON each, and writes their answers. Each message is
// [name, fields]; each answer [status, fields, milliseconds]. A message "python" has source, whose value is JSON.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [site] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${site}/pyodide/pyodide.mjs`).href);
const { openTable } = await import(pathToFileURL(`${site}/python.js`).href);
const archive = new Uint8Array(readFileSync(`${site}/table.zip`));
const table = await openTable({ loadPyodide, indexURL: `${site}/pyodide`, archive, keeps: false, stdout: console.error });
for await (const line of createInterface({ input: process.stdin })) {
  const [name, fields] = JSON.parse(line), before = performance.now();
  const [status, text] = name === "python" ? [200, table.run(fields.source)] : table.answer(name, JSON.stringify(fields));
  console.log(`[${status},${text},${(performance.now() - before).toFixed(2)}]`);
}
