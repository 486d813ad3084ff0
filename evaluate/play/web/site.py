"""The site: the files of the page, Pyodide, and one archive with Python's modules, kernels and tables."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from crib_env.compiling.compiler import KERNELS
from crib_env.evaluate.play.page import answers
from crib_env.evaluate.play.page.server import page_files
from crib_env.evaluate.play.page.warming import play_through, warmed_up
from crib_env.evaluate.play.web.dense import fill_dense
from crib_env.evaluate.play.web.kernel_library import described_kernels, entries_of, shared_library
from crib_env.evaluate.play.web.opponents import NAMED
from crib_env.evaluate.play.web.prepared import prepared_tables, prepared_weights
from crib_env.evaluate.skill.analysis.judges import play_judge
from crib_env.files.whole_file import whole_file

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""Files of the npm package ``pyodide`` that the page loads."""
_UNUSED = re.compile(
    r"(_pyrepl|multiprocessing|unittest|wsgiref|xml|xmlrpc)/|"
    r"(_pyio|doctest|imaplib|mailbox|optparse|pdb|pickletools|pydoc|smtplib)\.py$|"
    r"encodings/(?!__init__|aliases|ascii|cp437|idna|latin_1|utf_)"
)
"""Modules of Python that the page never imports."""
_LICENCES = """\
Pyodide {version}, in pyodide/: {license}, https://github.com/pyodide/pyodide
It has Python in it: PSF-2.0, https://docs.python.org/3/license.html
"""
_HERE = Path(__file__).parent
_ALONE = ("gymnasium", "pettingzoo", "table", "tables", "torch")  # modules beside the package in the browser
_REPLACED = {"crib_env.compiling.compiler": "compiler", "crib_env.agents.networks.weights_file": "weights_file"}
_NATIVE = (
    "crib_env.compiling.kernel_cache",
    "crib_env.evaluate.play.page.server",
    *(f"crib_env.evaluate.play.web.{name}" for name in ("__main__", "site", "kernel_library", "prepared")),
)
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)


def build_site(folder: Path, pyodide: Path, linker: Sequence[str], on_progress: Callable[[str], object]) -> None:
    """Makes the site.

    Args:
        folder: of the site; what is in it is deleted.
        pyodide: folder of the npm package ``pyodide``.
        linker: the command of ``wasm-ld``.
        on_progress: called with what is done next.

    Raises:
        ValueError, OSError: a file is missing or cannot be written.
    """
    if missing := [name for name in PYODIDE if not (pyodide / name).is_file()]:
        raise ValueError(f"{pyodide} is not the npm package pyodide: it has no {missing[0]}")
    archive = table_archive(linker, on_progress)
    on_progress("writing the site")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    page = {f"pyodide/{name}": content for name, content in _python(pyodide).items()}
    page |= {name or "index.html": content for name, content in page_files().items()}
    page["index.html"] = page["index.html"].replace(
        b"<title>", f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>'.encode()
    )
    page |= {path.name: path.read_bytes() for path in (_HERE / "browser").glob("*.js")}
    page["table.zip"] = archive
    page["licences.txt"] = _LICENCES.format(**json.loads((pyodide / "package.json").read_text())).encode()
    names = sorted(page)
    build = hashlib.sha256(b"".join(page[name] for name in names)).hexdigest()[:12]
    listed = json.dumps(["./", *(name for name in names if name not in ("index.html", "offline.js"))])[1:-1]
    offline = page["offline.js"].decode().replace("/* build */", f"cribbage-{build}").replace("/* files */", listed)
    for name, content in {**page, "offline.js": offline.encode()}.items():
        with whole_file(folder / name) as temporary, open(temporary, "wb") as file:
            file.write(content)


def _python(pyodide: Path) -> dict[str, bytes]:
    """Pyodide's files, without what the page does not need.

    The largest is compressed: not every file server does it. ``worker.js`` reads it, by a name that no server unpacks.
    """
    files = {name: (pyodide / name).read_bytes() for name in PYODIDE}
    files["python.bin"] = gzip.compress(files.pop("pyodide.asm.wasm"), mtime=0)
    files["pyodide-lock.json"] = json.dumps(json.loads(files["pyodide-lock.json"]) | {"packages": {}}).encode()
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(files["python_stdlib.zip"])) as whole,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as part,
    ):
        for one in whole.infolist():
            if not _UNUSED.match(one.filename):
                part.writestr(one, whole.read(one))
    return files | {"python_stdlib.zip": content.getvalue()}


def table_archive(linker: Sequence[str], on_progress: Callable[[str], object]) -> bytes:
    """What Python unpacks in the browser, as a ZIP file: the modules that the page has used here, and what they read.

    The kernels are those that whole games call here, against each opponent, with all that the coach can say.
    """
    on_progress("playing with all opponents and the coach: their kernels are compiled")
    for _ in warmed_up("best", play_judge()):
        pass
    for agent in NAMED:
        play_through(agent)
    one = np.zeros((1, 1), np.float32)
    fill_dense(one, one, one[0], one.copy())
    entries = entries_of(KERNELS)
    on_progress(f"compiling {len(entries)} kernels for WebAssembly")
    library = shared_library(entries, linker)
    on_progress("preparing tables")
    (tables, items), (weights, numbers) = prepared_tables(), prepared_weights()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("kernels/kernels.so", library)
        archive.writestr("kernels/kernels.json", json.dumps(described_kernels(entries)))
        for name, about, data in (("tables", tables, items), ("weights", weights, numbers)):
            archive.writestr(f"tables/{name}.json", json.dumps(about))
            archive.writestr(f"tables/{name}.bin", data)
        for place, path in _modules():
            archive.write(path, f"lib/{place}")
    return content.getvalue()


def _modules() -> Iterator[tuple[str, Path]]:
    """Where each module, and the file that one of them reads, lies in the browser, and its file here."""
    assert answers  # the page's door, which the table opens: it is among the modules
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "crib_env" and module.__file__ and name not in _NATIVE:
            file = Path(module.__file__)
            place = name.replace(".", "/") + ("/__init__.py" if file.name == "__init__.py" else ".py")
            yield place, _HERE / "browser" / f"{_REPLACED[name]}.py" if name in _REPLACED else file
    yield "crib_env/evaluate/play/data/casebook.json", _HERE.parent / "data" / "casebook.json"
    for alone in _ALONE:
        yield f"{alone}.py", _HERE / "browser" / f"{alone}.py"
    for path in sorted((_HERE / "arrays").glob("*.py")):
        yield f"numpy/{path.name}", path
