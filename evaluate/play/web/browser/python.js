// Opens the table: Python with NumPy, the modules of the project, kernels and tables. For the worker of the page, and for
// tests in Node.

// What Pyodide is told, the archive of the table, and whether games are kept in the browser.
export async function openTable({ loadPyodide, archive, keeps, ...told }) {
  const python = await loadPyodide({ ...told, packages: ["numpy"] });
  python.FS.mkdir("/games");
  python.unpackArchive(await archive, "zip", { extractDir: "/table" });
  if (keeps) python.FS.mount(python.FS.filesystems.IDBFS, {}, "/games");
  const synced = fromDisk => new Promise((done, failed) => python.FS.syncfs(fromDisk, error => error ? failed(error) : done()));
  if (keeps) await synced(true);
  python.runPython("import sys; sys.path.insert(0, '/table')");
  const table = python.pyimport("table"), games = table.make_games();
  let saving = Promise.resolve();
  return {
    // The value of a program of Python, for tests.
    run: source => python.runPython(source),
    // Status and JSON of the answer to a message, whose fields are JSON too.
    answer(name, content) {
      const found = table.answered(games, name, content), [status, text] = found.toJs();
      found.destroy();
      if (keeps) saving = saving.then(() => synced(false)).catch(() => {});
      return [status, text];
    },
  };
}
