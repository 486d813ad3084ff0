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
# Where the library makes an agent for its user, when one is asked for.
MAKERS_OF_AGENTS = {
    Path("crib_env/__init__.py"),
    Path("crib_env/players/agent_from_text.py"),
}
MODULES = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]


@cache
def nodes_of(source):
    """The imports and the calls of a module, anywhere in it; each module is looked at many times."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom, ast.Call))]


def calls_of(source):
    """The calls of a module, each with the last name of what is called."""
    for node in nodes_of(source):
        if isinstance(node, ast.Call):
            yield node, getattr(node.func, "attr", getattr(node.func, "id", ""))


@cache
def imported(source):
    """The dotted names that a module imports, anywhere in it, with those that it takes out of other modules."""
    names = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    for call, name in calls_of(source):
        if name in ("import_module", "__import__"):
            names |= {argument.value for argument in call.args if isinstance(argument, ast.Constant)}
    return frozenset(names)


def forbidden_imports(source, layer):
    """What a module of a layer imports from the layers above it; torch stands above the library."""
    above = set(LAYERS[LAYERS.index(layer) + 1 :]) | ({"torch"} if layer == "crib_env" else set())
    return {name for name in imported(source) if layer_of(name) in above}


def layer_of(name):
    """The layer of a dotted name, or another distribution's package."""
    parts = name.split(".")
    return parts[1] if parts[0] == "crib_env" and parts[1:2] and parts[1] in LAYERS else parts[0]


def unsafe_loading(source):
    """Ways to run code that is in a data file."""
    found = {name for name in imported(source) if name.split(".")[0] in ("pickle", "cloudpickle", "dill", "shelve")}
    found |= {"torch.load", "joblib.load"} & imported(source)
    for call, name in calls_of(source):
        settings = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg in _LOADING}
        function = ast.unparse(call.func) if settings or name == "load" else ""
        if function == "joblib.load":
            found.add(function)
        if function == "torch.load" and settings.get("weights_only") != "True":
            found.add("torch.load")
        if settings.get("allow_pickle", "False") != "False":
            found.add(f"{function}(allow_pickle)")
    return found


_LOADING = ("weights_only", "allow_pickle")  # arguments of functions that load


def careless_writing(source):
    """Ways to write a file that leave half of it after an error; ``crib_env/files/whole_file.py`` avoids this."""
    careless = {"write_text", "write_bytes", "rename", "replace", "savetxt", "tofile"}
    methods = [
        call.func for call, name in calls_of(source) if isinstance(call.func, ast.Attribute) and name in careless
    ]
    return {ast.unparse(call) for call in methods if call.attr != "replace" or ast.unparse(call.value) == "os"}


def test_no_module_imports_from_the_layers_above():
    for path in MODULES:
        file = path.relative_to(ROOT)
        allowed = (
            {"agents"} if file in MAKERS_OF_AGENTS else {"torch"} if file.parts[:2] == ("crib_env", "gpu") else set()
        )
        assert {layer_of(name) for name in forbidden_imports(path.read_text(), file.parts[0])} <= allowed, file


def test_the_library_makes_agents_only_when_asked():
    """It imports them within two functions, and without them it works in full."""
    code = "import sys, crib_env; crib_env.env(); sys.exit(any(m.startswith('crib_env.agents') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_packages_have_one_name():
    """``import agents`` would load a second copy of every agent beside ``crib_env.agents``."""
    files = [path for folder in (*LAYERS, "tests") for path in (ROOT / folder).rglob("*.py")]
    assert not [path for path in files if {name.split(".")[0] for name in imported(path.read_text())} & set(LAYERS[1:])]


def test_no_module_loads_pickles():
    assert not [path for path in MODULES if unsafe_loading(path.read_text())]


def is_ours(name):
    """Whether a name is put together within one of the project's packages, as f"crib_env.train.{learner}" is."""
    start = name.values[0] if isinstance(name, ast.JoinedStr) else None
    return isinstance(start, ast.Constant) and start.value.startswith("crib_env.")


def runs_code_by_name(source):
    """Whether a module runs code that is not written in it: imports by a name in a variable, exec, eval."""
    for call, name in calls_of(source):
        named = all(isinstance(argument, ast.Constant) or is_ours(argument) for argument in call.args)
        if name in ("exec", "eval", "spec_from_file_location", "SourceFileLoader", "run_path"):
            return True
        if name in ("import_module", "__import__", "run_module") and not named:
            return True
    return False


def test_only_one_module_imports_what_a_user_names():
    """It gets these names from the user: names in files go through ``registry.check_names_of_file``."""
    found = [str(path.relative_to(ROOT)) for path in MODULES if runs_code_by_name(path.read_text())]
    assert found == ["crib_env/players/agent_from_text.py"]


def test_only_the_table_without_a_server_and_the_gpu_look_into_numba():
    inside = re.compile(r"numba\.(?!extending\b|njit\b|config\b|errors\b|types\b)[a-z]")
    assert {path.name for path in MODULES if any(map(inside.match, imported(path.read_text())))} == {
        "kernel_library.py",
        "threads.py",
    }


def test_files_are_written_whole_everywhere():
    careless = {str(path.relative_to(ROOT)): careless_writing(path.read_text()) for path in MODULES}
    assert {path: calls for path, calls in careless.items() if calls} == {
        "crib_env/files/whole_file.py": {"os.replace"}
    }


MAKERS = "crib_env.evaluate.makers"


def test_only_makers_import_makers():
    """What plays, trains or measures needs no code that makes tables."""
    others = [path for path in MODULES if ROOT / "evaluate" / "makers" not in path.parents]
    assert not [path for path in others if any(name.startswith(MAKERS) for name in imported(path.read_text()))]
