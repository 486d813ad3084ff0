"""Dependencies point one way, train -> evaluate -> agents -> crib_env, and nothing loads code out of a user's file.

The folders ``agents/``, ``evaluate/`` and ``train/`` are packages in ``crib_env``.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("crib_env", "agents", "evaluate", "train")  # each may import the ones before it
# The library makes an agent for its user when one is asked for.
MAKERS_OF_AGENTS = ("crib_env/__init__.py", "crib_env/players/agent_from_text.py")
SOURCES = {
    str(path.relative_to(ROOT)): path.read_text() for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))
}
# What would run code out of a data file, or leave half of a file after an error.
FORBIDDEN = re.compile(
    r"\b(?:import|from) (?:pickle|cloudpickle|dill|shelve)\b|\bjoblib\.load\b|allow_pickle=(?!False)"
    r"|torch\.load\((?!.*weights_only=True)|\b(?:exec|eval)\(|run_path|_file_location"
    r"|\.(?:write_text|write_bytes|savetxt|tofile)\(|os\.(?:replace|rename)\("
)


@cache
def imported(path):
    """The dotted names that a module imports, anywhere in it, with those that it takes out of other modules."""
    names = set()
    for node in ast.walk(ast.parse(SOURCES[path])):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            names |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return frozenset(names)


def layer_of(name):
    """The layer of a dotted name, or another distribution's package."""
    parts = name.split(".")
    return parts[1] if parts[0] == "crib_env" and parts[1:2] and parts[1] in LAYERS else parts[0]


def test_no_module_imports_from_the_layers_above():
    for path in SOURCES:
        layer = path.partition("/")[0]
        above = {*LAYERS[LAYERS.index(layer) + 1 :], *(["torch"] if layer == "crib_env" else [])}
        above -= {"agents"} if path in MAKERS_OF_AGENTS else {"torch"} if path.startswith("crib_env/gpu/") else set()
        assert not {name for name in imported(path) if layer_of(name) in above}, path
        assert not {name.partition(".")[0] for name in imported(path)} & set(LAYERS[1:]), path  # a second copy


def test_the_library_makes_agents_only_when_asked():
    """It imports them within two functions, and without them it works in full."""
    code = "import sys, crib_env; crib_env.env(); sys.exit(any(m.startswith('crib_env.agents') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_no_module_unpickles_and_files_are_written_whole():
    found = {path: set(FORBIDDEN.findall(text)) for path, text in SOURCES.items()}
    assert {path: calls for path, calls in found.items() if calls} == {"crib_env/files/whole_file.py": {"os.replace("}}


def test_only_one_module_imports_what_a_user_names():
    """It gets these names from the user: names in files go through ``registry.check_names_of_file``."""
    named = re.compile(r"(?:import_module|__import__|run_module)\((?![f]?\"|f?'crib_env)")
    assert [path for path, text in SOURCES.items() if named.search(text)] == ["crib_env/players/agent_from_text.py"]
