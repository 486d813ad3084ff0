"""Agents named in text: ``module:Class``, and settings after a second colon, as in ``my_file:MyAgent:depth=3``.

``module:Class.load`` names a class method that makes the agent. Settings are the parameters of the class or
method, converted by their type hints: whole numbers, numbers, text, paths, yes or no, and ``Literal``; a
:class:`crib_env.values.Range` of numbers is checked. A value without a name is the path.

Naming a module runs its code. So accept such a name only from the user or from a Python program,
never from a data file. A class with ``throw`` and ``lay`` instead of ``act`` plays through
:class:`crib_env.OneAtATime`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np

from crib_env.batch import checked_cards
from crib_env.distribution import missing
from crib_env.options import OptionError
from crib_env.players.agent import Agent, declared
from crib_env.players.one_at_a_time import OneAtATime
from crib_env.players.policies import NATIVE
from crib_env.values import Range
from crib_env.views import views_of

_NAME = r"[^\W\d]\w*"
_OUTSIDE = re.compile(rf"{_NAME}(\.{_NAME})*:{_NAME}(\.{_NAME})*(:.*)?", re.DOTALL)
_ALONE = "path"  # a value without a name is for this setting
_NOT_IN_NAMES = ("threads",)  # does not change an agent's choices
_CHOICES: dict[Any, dict[str, Any]] = {
    NoneType: {"none": None},
    bool: {"yes": True, "no": False, "true": True, "false": False},
}
_KINDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "text", Path: "a path", NoneType: "none"}


class Setting(NamedTuple):
    """A parameter that can be given as text."""

    kinds: list[Any]  # of ``_KINDS``, or a ``Literal``
    default: Any  # ``inspect.Parameter.empty`` if there is none
    range: Range | None  # of a number

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        said = {**_KINDS, **dict.fromkeys((int, float), str(self.range))} if self.range else _KINDS
        return ", or ".join(said.get(kind) or f"one of {', '.join(map(str, get_args(kind)))}" for kind in self.kinds)

    def read(self, text: str) -> Any:
        """The value of the setting that a text stands for, or ``ValueError``."""
        for kind in reversed(self.kinds):
            choices = _CHOICES.get(kind) or {str(choice): choice for choice in get_args(kind)}
            name = text.lower() if kind in _CHOICES else text
            if name in choices:
                return choices[name]
            if not choices:
                value = kind(text)
                if self.range and value not in self.range:
                    raise ValueError(text)
                return value
        raise ValueError(text)


def is_outside(text: str) -> bool:
    """Whether a text has the form ``module:Class`` or ``module:Class:settings``."""
    return _OUTSIDE.fullmatch(text) is not None


def make(target: str, settings: str, called: str) -> Agent:
    """Makes an agent, whose name shows the settings that differ from their defaults.

    Args:
        target: ``module:Class`` or ``module:Class.method``.
        settings: in the form that the module's docstring describes.
        called: the agent's name in error messages.

    Raises:
        ValueError: there is no such module, class or setting, or the class makes no agent; the message names it.
    """
    maker = find(target, called)
    if hasattr(maker, "play_and_learn"):
        from crib_env.agents.registry import loader_of  # as in as_agent

        maker = loader_of(maker, target)
    known = settings_of(maker)
    given = _read_all(settings, known, called)
    for name, parameter in inspect.signature(maker).parameters.items():
        is_single = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if is_single and parameter.default is parameter.empty and name not in given:
            how = f": write {called}:{'PATH' if name == _ALONE else f'{name}=…'}"
            raise ValueError(
                f"agent {called!r} needs its {name}{how if name in known else ', which cannot be given as text'}"
            )
    try:
        agent = maker(**given)
    except (ValueError, OverflowError, OSError) as error:
        named = str(error).startswith("agent ")
        raise ValueError(str(error) if named else f"agent {called!r}: {error}") from None
    if not _decides(agent):
        raise ValueError(f"{called!r} is not an agent: it has no method act(views), nor throw(view) and lay(view)")
    agent = as_agent(agent)
    _keep_in_name(agent, {name: value for name, value in given.items() if value != known[name].default})
    return agent


def settings_of(maker: Callable[..., Any]) -> dict[str, Setting]:
    """The parameters of a class or function that can be given as text, by name."""
    try:
        parameters = inspect.signature(maker, eval_str=True).parameters
    except Exception:  # a type hint that does not exist at run time, such as a name imported for type checkers only
        parameters = inspect.signature(maker).parameters
    settings = {}
    for name, parameter in parameters.items():
        kinds = _kinds(parameter.annotation, parameter.default)
        if {*kinds} - {NoneType} and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            settings[name] = Setting(kinds, parameter.default, _range(parameter.annotation))
    return settings


def _range(hint: Any) -> Range | None:
    """The :class:`crib_env.values.Range` in a type hint."""
    found = (part if isinstance(part, Range) else _range(part) for part in get_args(hint))
    return next((part for part in found if part), None)


def _kinds(hint: Any, default: Any) -> list[Any]:
    """The types of a parameter that can be given as text; ``None`` comes last."""
    if hint in (inspect.Parameter.empty, Any) or isinstance(hint, str):
        hint = type(default) if default not in (inspect.Parameter.empty, None) else str
        hint = str | None if default is None else hint
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = tuple(get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds)
    known = [kind for kind in kinds if get_origin(kind) is Literal or kind in _KINDS]
    return sorted(
        (float if kind is int and float in known else kind for kind in known), key=lambda kind: kind is NoneType
    )


def find(target: str, called: str, what: str = "agent") -> Callable[..., Any]:
    """Imports a module, also from the current folder, and looks up a class or its method.

    ``called`` is the name in error messages of what the text is to name (``what``).
    """
    module_name, _, path = target.partition(":")
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except (ImportError, SyntaxError) as error:
        absent = str(getattr(error, "name", None))
        if absent in ("torch", "safetensors") and module_name.startswith("crib_env.agents."):
            raise ValueError(missing(f"agent {called!r} is a network and", error)) from None
        why = f"{module_name} cannot be imported ({error})"
        if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{absent}."):
            hint = f"; write it without .py: {target.replace('.py:', ':')}" if module_name.endswith(".py") else ""
            why = f"no module {module_name!r} in this folder or on Python's path{hint}"
        raise ValueError(f"there is no {what} {target!r}: {why}") from None
    for name in path.split("."):
        if not hasattr(found, name):
            own = vars(found) if inspect.ismodule(found) else {}
            agents = [other for other, value in own.items() if inspect.isclass(value) and _decides(value)]
            instead = f", it has {', '.join(agents)}" if agents else ""
            owner = getattr(found, "__name__", type(found).__name__)
            raise ValueError(f"there is no {what} {target!r}: {owner} has no {name!r}{instead}")
        found = getattr(found, name)
    if not callable(found):
        raise ValueError(f"{target!r} is no {what}: give a class, or a method that makes one")
    return found


def as_agent(found: Any, called: str = "agent") -> Agent:
    """Anything that plays as an agent: one as it is, with powers; a player with ``throw`` and ``lay``; or a text.

    An agent without name or powers is given its class's name and the powers whose methods it has. Anything else, and
    one that lacks what a power needs, raises ``ValueError``, which calls it ``called``.
    """
    if isinstance(found, str):
        from crib_env.agents import make_agent  # imported on first use: the agents import this package

        return make_agent(found)
    if not _decides(found):
        raise ValueError(
            f"{called}={found!r} is not allowed: give the text of an agent such as 'random', 'greedy' or 'best', an "
            "object with act(views), or one with throw(view) and lay(view)"
        )
    if not callable(getattr(found, "act", None)):
        return OneAtATime(found)
    complete = {"name": getattr(found, "name", type(found).__name__), "powers": declared(found)}
    for name, value in complete.items():
        if not hasattr(found, name):
            try:
                setattr(found, name, value)
            except AttributeError:
                raise ValueError(f"{type(found).__name__} takes no attributes: give its class a {name}") from None
    agent: Agent = found
    return agent


def _decides(found: Any) -> bool:
    """Whether a class or object has the methods of an agent, or those of a player for :class:`OneAtATime`."""
    return any(all(callable(getattr(found, m, None)) for m in methods) for methods in (("act",), ("throw", "lay")))


def _read_all(text: str, known: dict[str, Setting], called: str) -> dict[str, Any]:
    """The settings of a text by name."""
    given: dict[str, Any] = {}
    for name, value in _split(text, known):
        if name not in known:
            allowed = f"its settings are {', '.join(known)}" if known else "it has none"
            raise ValueError(f"agent {called!r} has no setting {name!r}: {allowed}")
        if name in given:
            raise ValueError(f"agent {called!r}: {name} is given twice")
        try:
            given[name] = known[name].read(value)
        except (ValueError, OverflowError):
            raise ValueError(f"agent {called!r}: {name}={value!r} is not allowed, give {known[name].allowed}") from None
    return given


def _split(text: str, known: dict[str, Setting]) -> list[tuple[str, str]]:
    """Names and values of settings. A value without a name is the path if the agent takes one, else a name."""
    parts: list[tuple[str, str]] = []
    for part in text.split(",") if text else ():
        name, equals, value = part.partition("=")
        is_in_path = bool(parts) and parts[-1][0] == _ALONE
        if equals and (name in known or (name.isidentifier() and not is_in_path)):
            parts.append((name, value))
        elif is_in_path:
            parts[-1] = _ALONE, f"{parts[-1][1]},{part}"
        elif part:
            parts.append((_ALONE, part) if _ALONE in known else (part, ""))
    return parts


def _keep_in_name(agent: Any, changed: dict[str, Any]) -> None:
    """Adds the changed settings that a name does not show, so that agents who play differently have different names."""
    named = {}
    for name, value in changed.items():
        text = ("no", "yes")[value] if isinstance(value, bool) else str(value)
        named[text if name == _ALONE else f"{name}={text}"] = name
    unsaid = [said for said, name in named.items() if said not in agent.name and name not in _NOT_IN_NAMES]
    if unsaid:
        try:
            agent.name += (":" if ":" not in agent.name else ",") + ",".join(unsaid)
        except AttributeError:  # the name is read-only: the class has decided
            return


def read_opponent(opponent: Any) -> Agent | str:
    """Reads the option ``opponent``: the name of a native policy (:data:`crib_env.players.policies.NATIVE`), or else
    an agent (:func:`as_agent`); any other raises ``OptionError``."""
    if isinstance(opponent, str) and opponent in NATIVE:
        return opponent
    try:
        return as_agent(opponent, "opponent")
    except ValueError as error:
        named = "" if str(error).startswith("opponent=") else f"opponent={opponent!r} is not allowed: "
        raise OptionError(f"{named}{error}") from None


def ask_opponent(opponent: Agent, games: np.ndarray, rows: np.ndarray, game_ids: np.ndarray) -> np.ndarray:
    """Asks an opponent for its cards, (B,) int64, in ``games[rows]`` (GAME records; B int64 row numbers)."""
    views = views_of(games, rows, games["turn"][rows].astype(np.int64), game_ids)
    try:
        return checked_cards(games, rows, opponent.act(views))
    except ValueError as error:
        raise ValueError(f"opponent {opponent.name!r} in {error}") from None
