"""The site: the files of the page, Pyodide with NumPy, and one archive of modules, kernels and tables."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from crib_env.agents.best import BestAgent
from crib_env.agents.equilibrium import load_blueprint, rank_shows
from crib_env.evaluate.play.page.server import page_files
from crib_env.evaluate.play.page.warming import play_through, warmed_up
from crib_env.evaluate.play.web import NAMED
from crib_env.evaluate.play.web.kernel_library import called_in, described_kernels, shared_library
from crib_env.files.whole_file import whole_file
from crib_env.kernels import KERNELS
from crib_env.tables.outlook import outlook

PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
"""Files of the npm package ``pyodide`` that are needed."""
_LICENCES = """\
Pyodide {version}, in pyodide/: {license}, https://github.com/pyodide/pyodide
It has Python in it: PSF-2.0, https://docs.python.org/3/license.html
NumPy, in pyodide/: BSD-3-Clause, and others that its wheel names, https://numpy.org
"""
_HERE = Path(__file__).parent
_DATA = (
    *(f"crib_env/tables/data/{name}.npz" for name in ("cribs", "pegging", "win_table")),
    "crib_env/evaluate/skill/luck/data/luck.npz",
    "crib_env/evaluate/play/data/casebook.json",
)
_COMPUTED = (outlook, rank_shows)
"""Cached functions of tables that call kernels."""
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)


def build_site(folder: Path, pyodide: Path, linker: Sequence[str], on_progress: Callable[[str], object]) -> None:
    """Makes the site.

    Args:
        folder: of the site; what is in it is deleted.
        pyodide: folder of the npm package ``pyodide``, with the wheel of NumPy that its ``pyodide-lock.json`` names.
        linker: the command of ``wasm-ld``.
        on_progress: called with what is done next.

    Raises:
        ValueError, OSError: a file is missing, or another than the lock names, or cannot be written.
        subprocess.CalledProcessError: the kernels are not as the browser needs them.
    """
    if missing := [name for name in PYODIDE if not (pyodide / name).is_file()]:
        raise ValueError(f"{pyodide} is not the npm package pyodide: it has no {missing[0]}")
    lock = json.loads((pyodide / "pyodide-lock.json").read_bytes())["packages"]["numpy"]
    wheel = pyodide / lock["file_name"]
    if not wheel.is_file() or hashlib.sha256(wheel.read_bytes()).hexdigest() != lock["sha256"]:
        raise ValueError(f"{wheel} is not the NumPy of this Pyodide: delete it, and fetch it again")
    page = {name or "index.html": content for name, content in page_files().items()}
    page["index.html"] = page["index.html"].replace(
        b"<title>", f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>'.encode()
    )
    page |= {path.name: path.read_bytes() for path in (_HERE / "browser").glob("*.js")}
    page |= {f"pyodide/{name}": (pyodide / name).read_bytes() for name in (*PYODIDE, wheel.name)}
    page["licences.txt"] = _LICENCES.format(**json.loads((pyodide / "package.json").read_bytes())).encode()
    page["table.zip"] = _archive(linker, on_progress)
    loads = sum(len(page[name]) for name in ("table.zip", *(f"pyodide/{one}" for one in (*PYODIDE[2:], wheel.name))))
    page["server_link.js"] = page["server_link.js"].replace(b"/* bytes */1", str(loads).encode())
    on_progress("writing the site")
    names = sorted(page)
    build = hashlib.sha256(b"".join(page[name] for name in names)).hexdigest()[:12]
    listed = json.dumps(["./", *(name for name in names if name not in ("index.html", "offline.js"))])[1:-1]
    offline = page["offline.js"].decode().replace("/* build */", f"cribbage-{build}").replace("/* files */", listed)
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in {**page, "offline.js": offline.encode()}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / name) as temporary, open(temporary, "wb") as file:
            file.write(content)


def _archive(linker: Sequence[str], on_progress: Callable[[str], object]) -> bytes:
    """What Python in the browser has beside NumPy, as a ZIP file.

    Kernels are those that whole games call here, against each opponent, with all that the coach can say; modules are
    those that are imported then.
    """
    on_progress("playing twice with all opponents and the coach: their kernels are compiled, and their calls noted")

    def play() -> None:
        for table in _COMPUTED:
            table.__wrapped__()
        for _ in warmed_up("best"):
            pass
        for agent in NAMED:
            play_through(agent)

    entries = called_in(play, KERNELS)
    on_progress(f"compiling {len(entries)} kernels for WebAssembly")
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kernels.so", shared_library(entries, linker))
        archive.writestr("kernels.json", json.dumps(described_kernels(entries)))
        for name, path in _files():
            archive.write(path, name)
        with tempfile.TemporaryDirectory() as place:
            for name, path in _without_unused(Path(place)):
                archive.write(path, name)
    return made.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    """Where each module that is imported lies in the browser, and its file here; then tables."""
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "crib_env" and module.__file__:
            file = Path(module.__file__)
            yield name.replace(".", "/") + ("/__init__.py" if file.name == "__init__.py" else ".py"), file
    for name in _DATA:
        package, file_name = name.split("/data/")
        yield name, Path(sys.modules[package.replace("/", ".")].__path__[0], "data", file_name)
    for path in sorted((_HERE / "browser").glob("[!_]*.py")):
        yield path.name, path


def _without_unused(place: Path) -> Iterator[tuple[str, Path]]:
    """Files of tables without what nobody uses on the page: discards by the blueprint, and the pegging episode."""
    blueprint = load_blueprint()
    blueprint._replace(discards=np.zeros_like(blueprint.discards)).save(place / "blueprint.npz")
    best = BestAgent.load()
    for of_games in (best.policies, best.hidden):
        del of_games["pegging"]
    best.save(place / "best.safetensors")
    for path in sorted(place.iterdir()):
        yield f"crib_env/agents/data/{path.name}", path
