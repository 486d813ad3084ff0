"""``python -m crib_env.evaluate.play.web FOLDER PYODIDE``: makes the site of the table (``make web``)."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from crib_env.evaluate.play.web.site import build_site


def main(folder: Path, pyodide: Path) -> None:
    """Makes the site in a folder, from the folder of the npm package ``pyodide`` with NumPy's wheel in it."""
    if (linker := shutil.which("wasm-ld") or shutil.which("wasm-ld-14")) is None:
        sys.exit("there is no wasm-ld: apt-get install lld")
    try:
        build_site(folder, pyodide, [linker], lambda told: print(told, flush=True))
    except ValueError as error:
        sys.exit(str(error))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder / 'index.html'}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
