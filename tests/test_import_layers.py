"""Dependencies point one way, train -> evaluate -> agents -> crib_env, and nothing loads code out of a user's file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("crib_env", "agents", "evaluate", "train")  # each may import the ones before it
MODULES = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]


def imported(source):
    """The dotted names that a module imports, anywhere in it, with those that it takes out of other modules."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "import_module",
            "importlib.import_module",
            "__import__",
        ):
            names |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return names


def forbidden_imports(source, layer):
    """What a module of a layer imports from the layers above it; torch stands above the library."""
    above = set(LAYERS[LAYERS.index(layer) + 1 :]) | ({"torch"} if layer == "crib_env" else set())
    return {name for name in imported(source) if name.split(".")[0] in above}


def unsafe_loading(source):
    """Ways to run code that stands in a data file."""
    found = {
        name for name in imported(source) if name.split(".")[0] in ("pickle", "cloudpickle", "dill", "joblib", "shelve")
    }
    found |= {"torch.load"} & imported(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            settings = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if function == "torch.load" and settings.get("weights_only") != "True":
                found.add("torch.load")
            if settings.get("allow_pickle", "False") != "False":
                found.add(f"{function}(allow_pickle)")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_nothing_from_the_layers_above(path):
    assert not forbidden_imports(path.read_text(), path.relative_to(ROOT).parts[0])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_loads_no_pickles(path):
    assert not unsafe_loading(path.read_text())


def test_all_four_folders_are_looked_at():
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == set(LAYERS)
    assert ROOT / "crib_env" / "exact" / "discard_means.py" in MODULES


@pytest.mark.parametrize(
    ("source", "layer", "found"),
    [
        ("import torch", "crib_env", {"torch"}),
        ("def f():\n    from torch.nn import Linear", "crib_env", {"torch.nn", "torch.nn.Linear"}),
        ("import torch", "agents", set()),
        ("import numpy as np, train.ddqn", "agents", {"train.ddqn"}),
        ("from evaluate import match", "agents", {"evaluate", "evaluate.match"}),
        ("from train import ddqn", "evaluate", {"train", "train.ddqn"}),
        ("import importlib\nimportlib.import_module('train.ddqn')", "evaluate", {"train.ddqn"}),
        ("from agents import registry\nimport crib_env", "evaluate", set()),
        ("from crib_env import agents_of\nimport trainer", "crib_env", set()),
        ("import evaluate, agents, crib_env, torch", "train", set()),
    ],
)
def test_an_import_of_a_layer_above_is_found(source, layer, found):
    assert forbidden_imports(source, layer) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", {"pickle"}),
        ("from joblib import load", {"joblib", "joblib.load"}),
        ("from torch import load", {"torch.load"}),
        ("import torch\ntorch.load(path)", {"torch.load"}),
        ("import torch\ntorch.load(path, weights_only=False)", {"torch.load"}),
        ("import torch\ntorch.load(path, weights_only=True)", set()),
        ("import numpy as np\nnp.load(path, allow_pickle=True)", {"np.load(allow_pickle)"}),
        ("import numpy as np\nnp.load(path)\nnp.load(path, allow_pickle=False)", set()),
    ],
)
def test_loading_of_pickles_is_found(source, found):
    assert unsafe_loading(source) == found
