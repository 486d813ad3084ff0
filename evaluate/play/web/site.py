"""The site: the files of the page, Pyodide, the memory of Python after all imports, kernels and tables."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from crib_env.evaluate.play.page import games
from crib_env.evaluate.play.page.server import page_files
from crib_env.evaluate.play.page.warming import play_through, warmed_up
from crib_env.evaluate.play.web import NAMED, fill_dense
from crib_env.evaluate.play.web.kernel_library import called_in, described_kernels, shared_library
from crib_env.evaluate.play.web.prepared import IMPORTED, prepared_tables
from crib_env.files.whole_file import whole_file
from crib_env.kernels import KERNELS

PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""Files of the npm package ``pyodide`` that are needed."""
_NO_FILES = b"PK\x05\x06" + bytes(18)
"""An empty ZIP file in the place of Python's modules: all that are needed are in the memory."""
_LICENCES = """\
Pyodide {version}, in pyodide/: {license}, https://github.com/pyodide/pyodide
It has Python in it: PSF-2.0, https://docs.python.org/3/license.html
"""
_HERE = Path(__file__).parent
_NATIVE = (
    "crib_env.agents.networks.weights_file",
    "crib_env.evaluate.command_line",
    *(f"crib_env.evaluate.play.page.{name}" for name in ("server", "pictures")),
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
        subprocess.CalledProcessError: the kernels or the modules of the table are not as the browser needs them.
    """
    if missing := [name for name in PYODIDE if not (pyodide / name).is_file()]:
        raise ValueError(f"{pyodide} is not the npm package pyodide: it has no {missing[0]}")
    library, described = _kernels(linker, on_progress)
    on_progress("preparing tables")
    about, tables = prepared_tables()
    on_progress("importing all modules in Node")
    known = {"kernels.json": json.dumps(described).encode(), "tables.json": json.dumps(about).encode()}
    memory = _memory(pyodide, known | {IMPORTED: tables.pop(IMPORTED)})
    on_progress("writing the site")
    page = {name or "index.html": content for name, content in page_files().items()}
    page["index.html"] = page["index.html"].replace(
        b"<title>", f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>'.encode()
    )
    page |= {path.name: path.read_bytes() for path in (_HERE / "browser").glob("*.js")}
    page |= {f"pyodide/{name}": (pyodide / name).read_bytes() for name in ("pyodide.mjs", "pyodide.asm.mjs")}
    page["pyodide/pyodide-lock.json"] = _without_packages(pyodide / "pyodide-lock.json")
    page["pyodide/python_stdlib.zip"] = _NO_FILES
    page["python.js"] = page["python.js"].replace(b"/* tables */[]", json.dumps([*tables]).encode())
    python = {"python": (pyodide / "pyodide.asm.wasm").read_bytes(), "memory": memory, "kernels.so": library}
    page |= {f"files/{name}": content for name, content in _compressed(python | tables).items()}
    page["licences.txt"] = _LICENCES.format(**json.loads((pyodide / "package.json").read_text())).encode()
    names = sorted(page)
    build = hashlib.sha256(b"".join(page[name] for name in names)).hexdigest()[:12]
    listed = json.dumps(["./", *(name for name in names if name not in ("index.html", "offline.js"))])[1:-1]
    offline = page["offline.js"].decode().replace("/* build */", f"cribbage-{build}").replace("/* files */", listed)
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in {**page, "offline.js": offline.encode()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / name) as temporary, open(temporary, "wb") as file:
            file.write(content)


def _compressed(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """As ``files.js`` unpacks them: not every file server compresses what it sends. Servers leave such names alone."""
    return {
        name if name.endswith(".xz") else f"{name}.bin": content
        if name.endswith(".xz")
        else gzip.compress(content, mtime=0)
        for name, content in files.items()
    }


def _without_packages(file: Path) -> bytes:
    return json.dumps(json.loads(file.read_bytes()) | {"packages": {}}).encode()


def _kernels(linker: Sequence[str], on_progress: Callable[[str], object]) -> tuple[bytes, Mapping[str, object]]:
    """The library of kernels for WebAssembly, and how they are called.

    They are those that whole games call here, against each opponent, with all that the coach can say.
    """
    on_progress("playing twice with all opponents and the coach: their kernels are compiled, and their calls noted")

    def play() -> None:
        for _ in warmed_up("best"):
            pass
        for agent in NAMED:
            play_through(agent)
        one = np.zeros((1, 1), np.float32)
        fill_dense(one, one, one[0], one.copy())

    entries = called_in(play, KERNELS)
    on_progress(f"compiling {len(entries)} kernels for WebAssembly")
    return shared_library(entries, linker), described_kernels(entries)


def _memory(pyodide: Path, files: Mapping[str, bytes]) -> bytes:
    """The memory of Python in the browser, with the modules that the page has used here, as ``memory.mjs`` makes it.

    Args:
        pyodide: folder of the npm package.
        files: what the modules read when they are imported.
    """
    with tempfile.TemporaryDirectory() as place:
        modules, made = Path(place, "modules.zip"), Path(place, "memory.bin")
        with whole_file(modules) as temporary, zipfile.ZipFile(temporary, "w") as archive:
            for name, path in _modules():
                archive.write(path, f"lib/{name}")
            for name, content in files.items():
                archive.writestr(f"table/{name}", content)
        subprocess.run(["node", _HERE / "memory.mjs", pyodide, modules, made], check=True)
        return made.read_bytes()


def _modules() -> Iterator[tuple[str, Path]]:
    """Where each module, and the file that one of them reads, lies in the browser, and its file here."""
    assert games  # which the table opens: they are among the modules
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "crib_env" and module.__file__ and name not in _NATIVE:
            file = Path(module.__file__)
            place = name.replace(".", "/") + ("/__init__.py" if file.name == "__init__.py" else ".py")
            yield place, file
    yield "crib_env/evaluate/play/data/casebook.json", _HERE.parent / "data" / "casebook.json"
    for path in sorted((_HERE / "browser").glob("[!_]*.py")):
        yield path.name, path
    for path in sorted((_HERE / "arrays").glob("*.py")):
        yield f"numpy/{path.name}", path
