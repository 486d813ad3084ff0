"""Writes into pages what their sources say: `make pages`. Those of the environments show docstrings, others tables.

So the pages can be read as files too. Between such a line and the next `<!-- end -->` stands the docstring of a module.
After bars follows what stands below its title: a picture, and the id of a table of specification.

    <!-- docstring: crib_env.single_agent | ![a picture](table.svg) | crib_env/Cribbage-v0 -->

The pictures beside the pages are drawn too, each from the middle of an episode. A test finds what is out of date.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import gymnasium
from PIL.Image import Image, fromarray

import crib_env
from crib_env.files.whole_file import whole_file
from docs import tables

FOLDER = Path(__file__).parent / "environments"
# The pages that show the docstring of a module.
MODULES = {
    "crib_env.aec": "cribbage-aec.md",
    "crib_env.single_agent": "cribbage.md",
    "crib_env.discard_game": "cribbage-discard.md",
    "crib_env.observation": "observation.md",
    "crib_env.vector.environments": "vector.md",
    "crib_env.gpu.vector": "gpu.md",
}
_MARKED = re.compile(r"^(<!-- docstring: (\S+)(?: \| ([^\n]*))? -->)\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
_ROLE = re.compile(r":(?:mod|class|func|meth|data|attr):`~?([^`]+)`")


def written(page: str) -> str:
    """The text of a page with what its markers name between them and their ends."""

    def one(match: re.Match[str]) -> str:
        marker, module, more = match.groups()
        return f"{marker}\n{docstring(module, more)}\n<!-- end -->"

    return _MARKED.sub(one, page)


def docstring(module: str, below: str | None) -> str:
    """The docstring of a module as Markdown: its title, a picture and a specification if named, the rest."""
    text = inspect.getdoc(importlib.import_module(module)) or ""
    title, _, rest = text.partition("\n")
    picture, _, name = (below or "").partition(" | ")
    parts = [title, picture, specification(name) if name else "", rest.strip()]
    return _ROLE.sub(_linked, "\n\n".join(part for part in parts if part))


def _linked(role: re.Match[str]) -> str:
    """A name in a docstring, with a link to the page that describes it if there is one."""
    path = role[1]
    name = path.rpartition(".")[2]
    for module, page in MODULES.items():
        if path == module:
            return f"[`{path}`]({page})"
        if path.startswith(f"{module}."):
            return f"[`{name}`]({page})"
    return f"[`{path}`](../reference/api.md)" if name in crib_env.__all__ else f"`{path}`"


def specification(name: str) -> str:
    """The table of a Gymnasium id."""
    env, spec = gymnasium.make(name).unwrapped, gymnasium.spec(name)
    rows = {
        "Made by": f'`gymnasium.make("{name}")` after `import crib_env`',
        "Action space": f"`{env.action_space}`",
        "Observation space": f"`{env.observation_space}`",
        "Set by the id": ", ".join(f"`{key}={value!r}`" for key, value in spec.kwargs.items()) or "nothing",
        "Native vector environment": 'yes, by `gymnasium.make_vec(…, vectorization_mode="vector_entry_point")`'
        if spec.vector_entry_point
        else "no",
        "Render modes": ", ".join(f'`"{mode}"`' for mode in env.metadata["render_modes"]),
    }
    return "\n".join(["| specification | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())])


def pictures() -> dict[str, Image]:
    """A table of each environment, by the name of its file."""
    table = crib_env.env()
    table.reset(seed=7)
    for _ in range(8):
        table.step(int(table.observe(table.agent_selection)["action_mask"].argmax()))
    drawn = {"cribbage-aec.png": table.picture()}
    for file, name, n_steps in (
        ("cribbage.png", "Cribbage", 4),
        ("cribbage-discard.png", "CribbageDiscard", 1),
    ):
        env = gymnasium.make(f"crib_env/{name}-v0", render_mode="rgb_array")
        _, info = env.reset(seed=3)
        for _ in range(n_steps):
            _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
        drawn[file] = fromarray(env.render())
    return drawn


def current() -> dict[Path, str]:
    """What the pages with markers should hold."""
    pages = {page: page.read_text() for page in sorted(FOLDER.glob("*.md"))}
    return {page: written(text) for page, text in pages.items() if _MARKED.search(text)} | tables.pages()


def main() -> None:
    """Writes the pages that differ, and the pictures."""
    for path, text in current().items():
        if path.read_text() != text:
            with whole_file(path) as file:
                file.write_text(text, encoding="utf-8")
            print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    for name, picture in pictures().items():
        with whole_file(FOLDER / name) as file:
            picture.save(file, format="PNG", optimize=True)


if __name__ == "__main__":
    main()
