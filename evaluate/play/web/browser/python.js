// Opens the table: Pyodide, the house's Python and its kernels. For the worker of the page, and for tests in Node.

// What Pyodide is told, the archive of the table, and whether games are kept in the browser.
export async function openTable({ loadPyodide, archive, keeps, ...told }) {
  const python = await loadPyodide(told);
  python.unpackArchive(archive, "zip", { extractDir: "/" });
  python.FS.mkdir("/games");
  if (keeps) python.FS.mount(python.FS.filesystems.IDBFS, {}, "/games");
  const synced = fromDisk => new Promise((done, failed) => python.FS.syncfs(fromDisk, error => error ? failed(error) : done()));
  if (keeps) await synced(true);
  python.runPython("import sys; sys.path.insert(0, '/lib')");
  const table = python.pyimport("table"), games = table.make_games();
  let saving = Promise.resolve();
  return {
    python,
    // Status and JSON of the answer to a message, whose fields are JSON too.
    answer(name, content) {
      const found = table.answer(games, name, content), [status, text] = found.toJs();
      found.destroy();
      if (keeps) saving = saving.then(() => synced(false)).catch(() => {});
      return [status, text];
    },
  };
}
