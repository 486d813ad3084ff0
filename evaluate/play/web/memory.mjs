// Makes the memory that Python in the browser begins with: all modules are imported. Its arguments are the folder of the npm package
// pyodide, a ZIP file of the modules, and the file to write. One Python compiles the modules and another imports them, in whose
// memory nothing of the compiler is left.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { PAGE } from "./browser/python.js";

const [pyodide, modules, made] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const { default: createPyodideModule } = await import(pathToFileURL(`${pyodide}/pyodide.asm.mjs`).href);
const told = { indexURL: pyodide };

const compiler = await loadPyodide(told);
compiler.FS.writeFile("/modules.zip", readFileSync(modules));
compiler.FS.writeFile("/python.zip", readFileSync(`${pyodide}/python_stdlib.zip`));
compiler.runPython(`
import ast, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

def compiled(path, folder):
    named = set()
    with zipfile.ZipFile(path) as sources, zipfile.ZipFile(path + ".compiled", "w") as target:
        for name in sources.namelist():
            content = sources.read(name)
            if name.endswith(".py"):
                named.add(name.removeprefix("lib/").removesuffix(".py").removesuffix("/__init__").replace("/", "."))
                for node in ast.walk(ast.parse(content)):
                    named |= {one.name for one in node.names} if isinstance(node, ast.Import) else set()
                    named |= {node.module} if isinstance(node, ast.ImportFrom) and not node.level else set()
                code = compile(content, folder + name, "exec", dont_inherit=True, optimize=2)
                name, content = name + "c", _code_to_hash_pyc(code, bytes(8), False)
            target.writestr(name, content)
    return named

compiled("/python.zip", "/lib/python314.zip/")
named = compiled("/modules.zip", "/") | {"linecache"}
`);
const archive = compiler.FS.readFile("/modules.zip.compiled");
const named = compiler.runPython("' '.join(sorted(named))");
writeFileSync(`${made}.zip`, compiler.FS.readFile("/python.zip.compiled"));

// The memory before Python begins: pages that stay as they are need not be stored.
let before;
const stopped = new Error("it has been read");
await loadPyodide({ ...told, createPyodideModule: async settings => {
  before = (await createPyodideModule({ ...settings, noInitialRun: true })).HEAPU8.slice();
  throw stopped;
} }).catch(error => { if (error !== stopped) throw error; });

const table = await loadPyodide({ ...told, stdLibURL: `${made}.zip`, _makeSnapshot: true });
table.unpackArchive(archive, "zip", { extractDir: "/" });
table.runPython(`
import gc, importlib, sys, zipimport
sys.path.insert(0, "/lib")
import table
for name in ${JSON.stringify(named)}.split():
    try:
        importlib.import_module(name)
    except ImportError:  # nobody calls it on the page
        pass
from crib_env.evaluate.play.lesson import casebook
casebook()
sys.path_importer_cache.clear()
zipimport._zip_directory_cache.clear()
gc.collect()
`);

// What is free becomes zeros, which need no place when they are compressed.
const module = table._module, end = () => module.HEAPU32[module._emscripten_get_sbrk_ptr() >> 2], held = [];
for (let size = 1 << 20; size >= 16; size >>= 1) {
  for (let was = end(); ;) {
    const place = module._malloc(size);
    held.push(place);
    if (end() !== was) break;
    module.HEAPU8.fill(0, place, place + size);
  }
}
held.forEach(place => module._free(place));

const whole = table.makeMemorySnapshot(), start = new Uint32Array(whole.buffer)[1], snapshot = whole.subarray(0, start + end());
const same = [];
for (let page = 0; (page + 1) * PAGE <= Math.min(before.length, end()); page++) {
  const here = snapshot.subarray(start + page * PAGE, start + (page + 1) * PAGE), there = before.subarray(page * PAGE, (page + 1) * PAGE);
  if (Buffer.compare(here, there) === 0) { same.push(page); here.fill(0); }
}
writeFileSync(made, Buffer.concat([Buffer.from(Uint32Array.of(same.length, ...same).buffer), snapshot]));
