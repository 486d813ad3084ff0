"""The distributions: the source distribution builds a wheel, and the wheel plays in any folder."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from crib_env.distribution import __version__

ROOT = Path(__file__).parents[1]
FOLDERS = ("crib_env", "agents", "evaluate", "train")  # the others are packages in the first


def python(code, folder, executable=sys.executable):
    """Runs a program; returns its output on both streams."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A source distribution of a copy of this checkout, and a wheel of the unpacked source distribution."""
    folder = tmp_path_factory.mktemp("built")
    copy = folder / "copy"
    shutil.copytree(
        ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "docs")
    )
    backend = "from setuptools.build_meta import build_{0}; build_{0}({1!r})"
    python(backend.format("sdist", str(folder)), copy)
    (sources,) = folder.glob("*.tar.gz")
    with tarfile.open(sources) as file:
        file.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    python(backend.format("wheel", str(folder)), unpacked)
    (wheel,) = folder.glob("*.whl")
    return unpacked, wheel


def modules(folder):
    """The modules and data that the wheel should contain."""
    kinds = (".py", ".typed", ".npz", ".safetensors", ".csv", ".json", ".html", ".js", ".mjs", ".css", ".svg")
    beside = [path for name in FOLDERS[1:] for path in (folder / name).rglob("*")]
    files = [Path("crib_env") / path.relative_to(folder) for path in beside]
    files += [path.relative_to(folder) for path in (folder / "crib_env").rglob("*")]
    return {str(path) for path in files if path.suffix in kinds and path.stem != "REPRODUCTION"}


def test_the_wheel_holds_the_four_folders_as_one_package_and_nothing_else(built):
    names = zipfile.ZipFile(built[1]).namelist()
    about = f"crib_env-{__version__}.dist-info/"
    assert {name for name in names if not name.startswith(about)} == modules(ROOT)
    assert f"{about}licenses/LICENSE" in names


def test_the_source_distribution_holds_the_sources_of_the_wheel(built):
    tops = {path.name for path in built[0].iterdir()} - {"build"}  # of the wheel
    documents = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "PKG-INFO"}
    assert tops == documents | {*FOLDERS, "crib_env.egg-info", "MANIFEST.in", "pyproject.toml", "setup.cfg"}


def test_one_version_everywhere():
    """The package, its citation and the newest dated entry of the changelog have the same version and date."""
    citation, changelog = ((ROOT / name).read_text() for name in ("CITATION.cff", "CHANGELOG.md"))
    version, day = re.search(r"^## (\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE).groups()
    assert version == __version__
    assert f"\nversion: {version}\ndate-released: {day}\n" in citation


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The Python of an environment that has the wheel, and sees the packages that it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    zipfile.ZipFile(built[1]).extractall(packages)
    (packages / "dependencies.pth").write_text(f"{Path(np.__file__).parents[1]}\n")
    return folder / "bin" / "python"


@pytest.mark.slow
def test_the_console_command_plays_a_player_of_this_folder(installed, tmp_path):
    for name in ("own_agent", "pipe_bot"):
        shutil.copy(ROOT / "examples" / f"{name}.py", tmp_path)
    for player in ("own_agent:Wary", f"pipe:{sys.executable} pipe_bot.py"):
        code = f"import sys; sys.argv[1:] = ['match', {player!r}, 'greedy', '--games', '2']"
        code += "; from crib_env.train.__main__ import crib_env as main; main()"
        assert "deals a game" in python(code, tmp_path, installed)
    assert {path.name for path in tmp_path.iterdir()} <= {"own_agent.py", "pipe_bot.py", "__pycache__"}


@pytest.mark.slow
def test_the_wheel_runs_without_what_windows_lacks_in_a_folder_that_cannot_be_written(installed, tmp_path):
    """No ``fork``, ``fcntl`` and links, cp1252 on the console, a read-only package: files come to where the user is."""
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    (package,) = installed.parents[1].glob("lib/python*/site-packages/crib_env")
    settings = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252", "PYTHONWARNDEFAULTENCODING": "1", "LC_ALL": "C"}
    paths = {"PYTHONPATH": str(ROOT / "tests" / "helpers" / "other_system"), "HOME": str(tmp_path / "home")}
    for arguments, says in (
        ("match greedy careful --games 2 --record games.jsonl --json match.json", "± "),
        ("play greedy --terminal --seed 1", "the game is kept"),
    ):
        done = subprocess.run(
            [installed, "-c", "from crib_env.train.__main__ import crib_env as main; main()", *arguments.split()],
            cwd=tmp_path / "here",
            env={**os.environ, **settings, **paths, "READ_ONLY": str(package)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        assert done.returncode in (0, 130), done.stderr.decode("cp1252")
        assert says in (done.stdout + done.stderr).decode("cp1252")
        assert b"Warning" not in done.stderr
    left = {path.name for path in (tmp_path / "here").iterdir()}
    assert {"runs", "games.jsonl", "match.json"} <= left <= {"runs", "games.jsonl", ".games.jsonl.lock", "match.json"}
