"""What Sphinx needs to make pages of what lies elsewhere: docstrings, files of the checkout, pictures, formulas.

A page takes them by one of these lines, each by itself:

    <!-- docstring: crib_env.aec -->               the docstring of a module; what stands below its title may follow
                                                   after bars: a picture, and the id of a table of specification
    <!-- file: BENCHMARKS.md -->                   a file of the checkout
    <!-- specification: crib_env/Cribbage-v0 -->   a table of a Gymnasium id, from the environment itself
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
from pathlib import Path

import gymnasium
from docutils import nodes
from latex2mathml.converter import convert

import crib_env

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURES = DOCS / "_build" / "pictures"
# The pages that show a file of the checkout.
PAGES = {
    "BENCHMARKS.md": "reference/results.md",
    "CHANGELOG.md": "about/changelog.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "README.md": "index.md",
    "evaluate/REPRODUCTION.md": "reference/reproduction.md",
}
# The pages that show the docstring of a module.
MODULES = {
    "crib_env.aec": "cribbage-aec.md",
    "crib_env.single_agent": "cribbage.md",
    "crib_env.discard_game": "cribbage-discard.md",
    "crib_env.observation": "observation.md",
    "crib_env.vector.environments": "vector.md",
}
_MARKER = re.compile(r"^<!-- (docstring|file|specification): (\S+)(?: \| (.*))? -->$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)|(!\[[^\]]*\])\(([^)\s]+)\)")
_ROLE = re.compile(r":(mod|class|func|meth|data|attr):`([^`]+)`")


def docstring(module: str, below: str | None) -> str:
    """The docstring of a module as Markdown: its title, a picture and a specification if named, the rest."""
    text = inspect.getdoc(importlib.import_module(module)) or ""
    title, _, rest = text.partition("\n")
    picture, _, name = (below or "").partition(" | ")
    return "\n".join([title, "", picture, "", specification(name) if name else "", rest])


def specification(name: str) -> str:
    """The table of a Gymnasium id."""
    env, spec = gymnasium.make(name).unwrapped, gymnasium.spec(name)
    rows = {
        "Made by": f'`gymnasium.make("{name}")` after `import crib_env`',
        "Action space": f"`{env.action_space}`",
        "Observation space": f"`{env.observation_space}`",
        "Set by the id": ", ".join(f"`{key}={value!r}`" for key, value in spec.kwargs.items()) or "nothing",
        "Native vector environment": 'yes, by `gymnasium.make_vec(…, vectorization_mode="vector_entry_point")`',
        "Render modes": ", ".join(f'`"{mode}"`' for mode in env.metadata["render_modes"]),
    }
    return "\n".join(["| specification | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())])


def relative_link(target: str, origin: Path, page: Path) -> str | None:
    """A link as seen from the page, to what it led to from its origin; ``None`` if no page shows that file."""
    path, _, anchor = target.partition("#")
    if "://" in target or not path:
        return target
    file = (origin.parent / path).resolve()
    if file.is_relative_to(ROOT) and str(file.relative_to(ROOT)) in PAGES:
        file = DOCS / PAGES[str(file.relative_to(ROOT))]
    elif not file.exists():
        return target  # Sphinx says that it is missing
    elif file.suffix not in (".md", ".png", ".svg", ".gif") or not file.is_relative_to(ROOT):
        return None
    return os.path.relpath(file, page.parent) + (f"#{anchor}" if anchor else "")


def relink(text: str, origin: Path, page: Path) -> str:
    """Markdown of a file for a page in another place; links to sources of the checkout become their text."""

    def one(match: re.Match[str]) -> str:
        if match[3]:
            return f"{match[3]}({relative_link(match[4], origin, page)})"
        link = relative_link(match[2], origin, page)
        return match[1] if link is None else f"[{match[1]}]({link})"

    return _LINK.sub(one, text)


def expand(text: str, page: Path) -> str:
    """A page with what its markers name in their places."""

    def one(match: re.Match[str]) -> str:
        kind, name, more = match.groups()
        if kind == "file":
            return relink((ROOT / name).read_text(), ROOT / name, page)
        return docstring(name, more) if kind == "docstring" else specification(name)

    def role(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if name not in MODULES:
            return f"{{py:{kind}}}`{name}`"
        return f"[`{name}`]({os.path.relpath(DOCS / 'environments' / MODULES[name], page.parent)})"

    return _ROLE.sub(role, _MARKER.sub(one, relink(text, page, page)))


def draw_tables() -> None:
    """The environments' pictures, each from the middle of an episode."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    table = crib_env.env()
    table.reset(seed=7)
    for _ in range(8):
        table.step(int(table.observe(table.agent_selection)["action_mask"].argmax()))
    drawn = {"table": table.picture()}
    for name, n_steps in (("Cribbage", 4), ("CribbagePlay", 1), ("CribbagePegging", 1), ("CribbageDiscard", 1)):
        env = gymnasium.make(f"crib_env/{name}-v0")
        _, info = env.reset(seed=3)
        for _ in range(n_steps):
            _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
        drawn[name] = env.unwrapped._repr_html_()
    for name, svg in drawn.items():
        (PICTURES / f"{name}.svg").write_text(svg)


def setup(app) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda app: draw_tables())
    app.connect(
        "source-read",
        lambda app, name, source: source.__setitem__(0, expand(source[0], DOCS / f"{name}.md")),
    )

    def formula(self, node) -> None:
        self.body.append(convert(node.astext(), display="block" if node.tagname == "math_block" else "inline"))
        raise nodes.SkipNode

    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
