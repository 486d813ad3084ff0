"""The examples of CONTRIBUTING.md work in a copy of the source, and it names files that exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from crib_env import kernels
from tests.mutants.running import copy_tree, place_in_copy

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


class Addition(NamedTuple):
    """What a section of the page adds: files by path, and lines of others as (path, before, after)."""

    files: dict[str, str]
    changes: list[tuple[str, str, str]]

    def make(self, folder):
        """Makes it in a copy of the source: these files, and no others."""
        for path, text in self.files.items():
            assert not (ROOT / path).exists(), path
            place_in_copy(folder, path).write_text(text)
        for path, before, after in self.changes:
            place = place_in_copy(folder, path)
            source = place.read_text()
            assert source.count(before) == 1, before
            place.write_text(source.replace(before, after))


def addition(section):
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```(python|diff)\n(.*?)```", text, re.DOTALL)
    files = {re.match(r"# (\S+)\n", block)[1]: block for kind, block in blocks if kind == "python"}
    changes = []
    for hunk in "".join(block for kind, block in blocks if kind == "diff").split("--- ")[1:]:
        path, *lines = hunk.splitlines(keepends=True)
        before, after = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
        changes.append((path.strip(), before, after))
    return Addition(files, changes)


def run_in(folder, code, **variables):
    """What a program prints that imports the package from a copy."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "CRIB_ENV_QUIET": "1", "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1", **variables},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


RUN = """
import sys

def run(main, line):
    sys.argv = ["", *line.split()]
    main()

"""
AGENT = f"""{RUN}
from crib_env.agents import make_agent
from crib_env.evaluate.__main__ import main as evaluate

print([make_agent(name).name for name in ("high-card", "high-card:high=no")])
for k, agent in enumerate(("crib_env.agents.high_card:HighCardAgent", "high-card", "high-card:high=no")):
    run(evaluate, f"match {{agent}} high-card:high=no --games 40 --seed 3 --threads 1 --json match-{{k}}.json")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contributing")
    copy_tree(folder, beside=())
    return folder


def test_an_agent_is_added_by_the_files_that_the_page_names(copy):
    added = addition("A new agent")
    assert len(added.files) == len({path for path, *_ in added.changes}) == 1
    added.make(copy)
    assert run_in(copy, AGENT).startswith("['high-card', 'high-card:high=no']\n")
    outside, named, level = (json.loads((copy / f"match-{k}.json").read_text())["win_rate"] for k in range(3))
    assert outside == named != level == 0.5


def changed(path, changes):
    """A module of the source at a path after some lines are replaced, its kernels left as plain Python."""
    source = (ROOT / path).read_text()
    for before, after in changes:
        assert source.count(before) == 1, before
        source = source.replace(before, after)
    module = ModuleType("changed")
    sys.modules["changed"] = module  # a dataclass or NamedTuple looks its module up
    exec(compile(source, path, "exec"), vars(module))
    return module


def test_a_rule_is_changed_in_the_scoring_and_in_the_reference(monkeypatch):
    changes = {}
    for path, *lines in addition("A new rule").changes:
        changes.setdefault(path, []).append(lines)
    monkeypatch.setattr(kernels, "kernel", lambda function: function)
    monkeypatch.setitem(sys.modules, "changed", None)
    scoring, reference = (
        changed(path, changes.pop(path)) for path in ("crib_env/scoring.py", "tests/helpers/reference.py")
    )
    assert not changes
    flush, starter = [0, 2, 5, 8], 13 + 12  # ace, three, six and nine of clubs: 2 for 6 + 9, and now 4 for the flush
    for crib in (False, True):
        assert scoring.show_points(sum(1 << card for card in flush), starter, crib) == 6
        assert sum(item.points for item in scoring.explain_show(flush, starter, crib=crib)) == 6
        assert reference.score_show(flush, starter, crib) == 6
