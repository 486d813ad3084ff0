"""The documentation: its Python runs as pasted, commands and links exist, and pages hold what their sources say."""

import io
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest

from crib_env.evaluate.__main__ import COMMANDS
from crib_env.train.__main__ import crib_env as main
from crib_env.train.registry import LEARNERS
from docs.pages import current
from tests.helpers.other_loops import blocks_of, run_block

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *(path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts)]
ELSEWHERE = ("other-loops.md", "your-own-learner.md")  # tests of their own run their Python
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    if page.name not in ELSEWHERE
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    if 'device="cuda"' not in block  # needs a GPU
]
COMMAND = re.compile(r"^(?:PYTHONPATH=\S+ )?crib-env (.*?)(?:\s+#.*)?$")


@pytest.mark.parametrize("block", BLOCKS)
def test_python_runs_as_pasted(block):
    exec(compile(block, "page", "exec"), {})


def commands(page):
    """The commands of a page's shell blocks, each as words."""
    for block in re.findall(r"```bash\n(.*?)```", page.read_text(), re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if found := COMMAND.match(line):
                yield shlex.split(found[1])


@cache
def options_of(name):
    """The options that the help of a command lists."""
    shown = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(shown), redirect_stderr(shown):
        patch.setattr("sys.argv", ["crib-env", *name.split(), "--help"])
        patch.setenv("COLUMNS", "200")
        patch.syspath_prepend(ROOT / "examples")
        with pytest.raises(SystemExit):
            main()
    return set(re.findall(r"--[a-z][-a-z0-9]*", shown.getvalue()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_exist_and_have_these_options(page):
    known = {*COMMANDS, *(f"train {learner}" for learner in (*LEARNERS, "own_learner:MonteCarlo"))}
    for name, *words in commands(page):
        if words and (f"{name} {words[0]}" in known or name == "train"):
            name = f"{name} {words[0]}"
        if name.split()[-1].startswith("-"):  # help, or resuming a run
            continue
        assert name in known, name
        said = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert said <= options_of(name), name


def test_pages_hold_what_their_sources_say():
    stale = [path.name for path, text in current().items() if not path.is_file() or path.read_text() != text]
    assert not stale, f"{', '.join(stale)}: make pages (python -m docs.pages)"


def test_changes_of_the_source_fit_it():
    """The additions of CONTRIBUTING.md."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    hunks = "".join(re.findall(r"```diff\n(.*?)```", page, re.DOTALL)).split("--- ")[1:]
    assert len(hunks) > 3
    for hunk in hunks:
        path, *lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        assert (ROOT / path.strip()).read_text().count(before) == 1, hunk


FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@cache
def anchors(page):
    """The anchors of a page's headings as code hosts make them: words in small letters, joined by hyphens."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        repeated = sum(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other) is not None for other in found)
        found.append(f"{anchor}-{repeated}" if repeated else anchor)
    return found


def dead(page):
    """The relative links of a page that lead to no file, or to no heading in it."""
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text()))):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" in link or link.startswith("mailto:"):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def test_links_lead_somewhere():
    more = [*ROOT.glob("*.md"), ROOT / "evaluate" / "REPRODUCTION.md", ROOT / "runs" / "README.md"]
    assert not {page: links for page in {*PAGES, *more} if (links := list(dead(page)))}


OWN_AGENT = (DOCS / "agents" / "your-own-agent.md").read_text()
OWN_COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", OWN_AGENT, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("command", OWN_COMMANDS, ids=lambda command: command.split()[1])
def test_a_command_for_an_agent_of_ones_own(command, tmp_path, monkeypatch, capsys):
    my_file, *_ = re.findall(r"```python\n(.*?)```", OWN_AGENT, re.DOTALL)
    (tmp_path / "my_file.py").write_text(my_file)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    program, *arguments = shlex.split(command)
    assert program == "crib-env"
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    try:
        main()
    finally:
        sys.modules.pop("my_file", None)
    assert "simple" in capsys.readouterr().out.lower()


OF_THE_WORKBENCH = ("Stable-Baselines3",)  # `make loops` runs the programs of other libraries


@pytest.mark.parametrize("block", [block for library in OF_THE_WORKBENCH for block in blocks_of(library)])
def test_programs_of_other_loops(block):
    run_block(block)
