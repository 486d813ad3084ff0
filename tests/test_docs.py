"""The documentation: its Python runs as pasted, its commands exist, and its pages hold what their sources say."""

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import fields
from functools import cache, cached_property
from pathlib import Path

import pytest
from gymnasium import registry

import crib_env
from crib_env.agents.registry import NAMES
from crib_env.evaluate.commands.registry import COMMANDS
from crib_env.train.registry import LEARNERS
from docs.pages import current

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *(path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts)]
ELSEWHERE = (
    "README.md",
    "other-loops.md",
    "your-own-agent.md",
    "your-own-learner.md",
)  # tests of their own run their Python
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    if page.name not in ELSEWHERE
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
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
    from crib_env.train.console_command import main

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


def test_no_page_holds_a_docstrings_roles():
    assert not [page.name for page in PAGES if re.search(r":(mod|class|func|meth|data|attr):`", page.read_text())]


def test_pages_that_stand_for_files_link_to_them():
    for name, file in pytest.importorskip("docs.site_pages").FILES.items():
        assert re.findall(r"\]\((.*?)\)", (DOCS / name).read_text()) == [f"../../{file}"]


def test_every_id_is_on_the_page_of_its_environment():
    pages = "".join(page.read_text() for page in (DOCS / "environments").glob("*.md"))
    assert not [name for name in registry if name.startswith("crib_env/") and f"`{name}`" not in pages]


def test_every_page_is_in_the_table_of_contents():
    listed = {
        line.strip()
        for tree in re.findall(r"```\{toctree\}(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
        for line in tree.splitlines()
        if line.strip() and not line.startswith(":")
    }
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES[1:]} - {"index"}
    assert listed == pages


def test_every_agent_is_in_the_table_of_players():
    page = (DOCS / "agents" / "players.md").read_text()
    assert not [name for name in NAMES if f"`{name}`" not in page and f"`{name}:" not in page]


def test_every_field_of_the_views_is_listed():
    page = (DOCS / "agents" / "your-own-agent.md").read_text().partition("## In batches")[2].partition("\n## ")[0]
    listed = {name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`(\w+)`", row)}
    views = crib_env.PlayerViews
    derived = {name for name, value in vars(views).items() if isinstance(value, cached_property)}
    assert listed == {field.name for field in fields(views)} | derived


def test_every_public_name_is_described():
    described = set(
        re.findall(r"auto(?:function|class):: (?:crib_env\.)?(\w+)$", (DOCS / "reference" / "api.md").read_text(), re.M)
    )
    assert set(crib_env.__all__) - {"__version__"} <= described


def test_figures_show_the_data_beside_them():
    """`make figures` draws those that do not."""
    image = pytest.importorskip("PIL.Image")
    figures = pytest.importorskip("docs.figures")
    for name, (data, _) in figures.DRAWN.items():
        with image.open(DOCS / name) as picture:
            assert picture.text[figures.CHECKSUM] == figures.checksum(ROOT / data), f"{name}: make figures"
    pictures = {path.name for path in DOCS.iterdir() if path.suffix in (".png", ".gif")}
    played = {name for name in pictures if name.startswith("play")}  # screenshots of the page
    assert pictures - played == {*figures.DRAWN, figures.MOVING}
