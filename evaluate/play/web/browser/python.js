// Opens the table: Python with the memory that memory.mjs has made, tables and kernels. For the worker of the page, and for
// tests in Node.

export const PAGE = 4096; // bytes
const TABLES = /* tables */[];
export const FIRST = { files: ["memory", "kernels.so", "weights", "outlook"], messages: ["lobby", "new"] }; // until the first card lies

// A memory that begins with that of the file: all but its pages that a new memory has as well.
function begun(createPyodideModule, file) {
  const [n] = new Uint32Array(file.buffer, 0, 1), same = new Uint32Array(file.buffer, 4, n), snapshot = file.subarray(4 * (n + 1));
  const start = new Uint32Array(file.buffer, 4 * (n + 1), 2)[1], length = snapshot.length - start;
  return { _loadSnapshot: snapshot, createPyodideModule: async settings => {
    const module = await createPyodideModule(settings);
    for (const page of same) snapshot.set(module.HEAPU8.subarray(page * PAGE, (page + 1) * PAGE), start + page * PAGE);
    module._malloc(length - module.HEAPU32[module._emscripten_get_sbrk_ptr() >> 2]); // it grows; what it holds is replaced
    module.HEAPU8.fill(0);
    return module;
  } };
}

// What Pyodide is told, how a file of the site is read, and whether games are kept in the browser.
export async function openTable({ loadPyodide, createPyodideModule, read, keeps, ...told }) {
  const [memory, ...first] = FIRST.files.map(read);
  const python = await loadPyodide({ ...told, ...begun(createPyodideModule, await memory) });
  const put = async (name, content) => python.FS.writeFile(`/table/${name}`, await content);
  python.FS.mkdir("/games");
  python.FS.mkdir("/table");
  await Promise.all(first.map((content, k) => put(FIRST.files[k + 1], content)));
  if (keeps) python.FS.mount(python.FS.filesystems.IDBFS, {}, "/games");
  const synced = fromDisk => new Promise((done, failed) => python.FS.syncfs(fromDisk, error => error ? failed(error) : done()));
  if (keeps) await synced(true);
  const table = python.pyimport("table"), games = table.make_games();
  const later = Promise.all(TABLES.filter(name => !FIRST.files.includes(name)).map(name => put(name, read(name))));
  later.catch(() => {}); // the message that waits for it tells of it
  let saving = Promise.resolve();
  return {
    // The value of a program of Python, for tests.
    run: async source => (await later, python.runPython(source)),
    // Status and JSON of the answer to a message, whose fields are JSON too.
    async answer(name, content) {
      if (!FIRST.messages.includes(name)) await later;
      const found = table.answered(games, name, content), [status, text] = found.toJs();
      found.destroy();
      if (keeps) saving = saving.then(() => synced(false)).catch(() => {});
      return [status, text];
    },
  };
}
