"""Checks that the source stays easy to read: short lists of arguments, no import cycles, small files and folders."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = [
    path for folder in ("crib_env", "agents", "train", "evaluate", "tests") for path in (ROOT / folder).rglob("*.py")
]
SOURCES = [path for path in FILES if path.relative_to(ROOT).parts[0] != "tests"]

FOLDERS = {path.parent for path in SOURCES}


@cache
def tree(path):
    return ast.parse(path.read_text())


def module_name(path):
    """The dotted name that a file is imported by: the folders beside ``crib_env/`` are packages in it."""
    parts = [*path.relative_to(ROOT).with_suffix("").parts]
    if parts[0] not in ("crib_env", "tests"):
        parts.insert(0, "crib_env")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def long_signatures(module, most):
    """The functions of a module with more than ``most`` positional parameters."""
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node.name for node in functions if len(node.args.posonlyargs) + len(node.args.args) > most]


def imported_at_once(node):
    """The imports of a module that run as soon as it is imported: ``(module, name or "")``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, "") for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from ((child.module, alias.name) for alias in child.names)
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not is_for_types(child):
            yield from imported_at_once(child)


def is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def circle(imports):
    """A cycle among modules, given the imports of each; empty if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_function_takes_more_than_eight_positional_parameters():
    """In a longer list, two swapped arguments are easy to miss."""
    long = {str(path.relative_to(ROOT)): long_signatures(tree(path), 8) for path in SOURCES}
    assert not {file: names for file, names in long.items() if names}


def unannotated(module):
    """The functions of a module without types, except those that Numba compiles, which infers them."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [a for a in (*node.args.args, *node.args.kwonlyargs) if a.arg not in ("self", "cls")]
            is_typed = node.returns is not None and all(argument.annotation is not None for argument in arguments)
            made_by = {ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list}
            if not is_typed and not made_by & {"kernel", "overload", "register_jitable"}:
                yield node.name


def test_only_kernels_are_without_types():
    """Mypy does not look into functions without types, and does not say so."""
    found = {str(path.relative_to(ROOT)): [*unannotated(tree(path))] for path in SOURCES}
    assert not {file: names for file, names in found.items() if names}


def test_a_function_without_types_is_found():
    source = "@kernel\ndef one(a): pass\ndef two(a) -> int: pass\ndef three(a: int): pass\ndef four() -> int: pass"
    assert [*unannotated(ast.parse(source))] == ["two", "three"]


def test_every_folder_is_a_package_of_the_installation():
    """The build maps the four folders by hand, so a folder that it does not list would be missing from the wheel."""
    listed = re.search(r"^packages = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)[1]
    assert re.findall(r'"(.*)"', listed) == sorted({module_name(path / "__init__.py") for path in FOLDERS})


def test_a_long_signature_is_found():
    source = "def short(a, *, b, c): pass\nclass A:\n    def long(self, a, b=1): pass"
    assert long_signatures(ast.parse(source), 2) == ["long"]


def test_no_import_cycles():
    modules = {module_name(path): path for path in SOURCES}
    imports = {
        name: {
            f"{module}.{part}" if f"{module}.{part}" in modules else module
            for module, part in imported_at_once(tree(path))
        }
        - {name}
        for name, path in modules.items()
    }
    assert not circle(imports)


def test_the_modules_of_the_page_import_in_no_circle():
    imports = {
        path.name: re.findall(r'^import .* from "\./(.*)";$', path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in (ROOT / "evaluate" / "play" / "page" / "static").glob("*.js")
    }
    assert "game.js" in imports["main.js"]
    assert not circle(imports)


def test_an_import_cycle_is_found():
    """An import for types, or within a function, closes no cycle."""
    source = "import a\ntry:\n    from b import c\nexcept ImportError:\n    pass\nif TYPE_CHECKING:\n    import d\n"
    source += "def f():\n    import e"
    assert list(imported_at_once(ast.parse(source))) == [("a", ""), ("b", "c")]
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}


@pytest.mark.parametrize("path", sorted(FOLDERS), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_folder_has_few_and_short_files(path):
    files = list(path.glob("*.py"))
    assert len(files) <= 20
    assert not [file.name for file in files if len(file.read_text().splitlines()) >= 600]


def test_tests_import_helpers_and_not_each_other():
    for path in FILES:
        names = [f"{module}.{part}" for module, part in imported_at_once(tree(path))]
        assert not [name for name in names if name.startswith("tests.") and ".test_" in name], path
