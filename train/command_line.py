"""The command line of a learner: its settings in groups, and how to start, resume or repeat a run."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import tyro

from crib_env.evaluate.command_line import MARKERS, read
from crib_env.evaluate.runs.format import SEEDS
from crib_env.train.loop.contracts import Learner, presets_of
from crib_env.train.loop.learning import RunSettings

# The groups that ``--help`` shows, in order. Settings that no group names are in "learning".
_GROUPS: dict[str, tuple[str, ...]] = {
    "run": ("resume", "folder", "seeds", "executor", "preset", "seed", "threads", "precision", "checkpoint_seconds"),
    "game": (
        "data",
        "opponent",
        "observation",
        "episode",
        "rewards",
        "values",
        "start_spread",
        "skip_forced",
    ),
    "network": (
        *("networks", "hidden", "hidden_discard", "value_hidden", "memory", "direct", "activation"),
        *("inputs", "dueling", "start"),
    ),
    "learning": (),
    "strength": ("evaluations", "evaluation_games", "final_games", "snapshots", "match_games"),
}
_GROUP_OF = {name: group for group, names in _GROUPS.items() for name in names}


@dataclass(frozen=True)
class Start:
    """How to start or resume."""

    resume: Path | None = None
    """Continue the run in this folder, or the runs of several seeds, with the same settings. The only other options
    allowed are --executor, and --opponent to name your own module's class again."""
    folder: Path | None = None
    """New folder of the run, by default runs/LEARNER/TIME-sSEED."""
    seeds: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Train N times, 2 to 10,000, with the given seed and the ones after it; report mean and spread."""
    executor: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """Train the seeds in parallel past this machine: ray:ADDRESS, dask:ADDRESS or submitit:slurm, whose machines share
    the folder. Without an address, on all cores."""

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds not in SEEDS:
            raise ValueError(f"seeds={self.seeds} is not allowed: give how many times to train, {SEEDS}")


@dataclass(frozen=True)
class _Preset:
    preset: str = "default"


@dataclass(frozen=True)
class _Resume:
    resume: Path
    executor: str | None = None
    opponent: str | None = None


class Command(NamedTuple):
    """A parsed command line.

    Attributes:
        start: how to start or resume.
        settings: of the run; ``None`` when resuming.
        opponent: the class named again when resuming; the file in a folder never decides whose code runs.
    """

    start: Start
    settings: RunSettings | None
    opponent: str | None = None


def read_command(name: str, learner: type[Learner], about: str, arguments: Sequence[str]) -> Command:
    """Reads the options of a learner of this name; prints help or an error and exits.

    Raises:
        ValueError: a setting has a value that is not allowed, or is given together with ``--resume``.
    """
    # A preset changes the defaults, so it is read first. An unknown one is left to the parser, which lists the allowed
    # ones.
    chosen, _ = tyro.cli(_Preset, args=arguments, add_help=False, return_unknown_args=True, console_outputs=False)
    presets = presets_of(learner)
    default = presets.get(chosen.preset, presets["default"])
    groups = read(_parser(Start(), default), f"crib-env train {name}", about, arguments)
    found = {key: value for group in vars(groups).values() for key, value in vars(group).items()}
    start = Start(**{one.name: found.pop(one.name) for one in fields(Start)})
    if start.resume is not None:
        asked, others = tyro.cli(_Resume, args=arguments, return_unknown_args=True, config=MARKERS)
        if others:
            raise ValueError(f"--resume keeps the settings of the run: {others[0]} cannot be combined with it")
        return Command(start, None, asked.opponent)
    return Command(start, type(default)(**found))


def _parser(*defaults: Any) -> type:
    """A dataclass of groups of options, from instances of dataclasses with the options and their defaults."""
    groups: dict[str, list[tuple[str, Any, Any]]] = {group: [] for group in _GROUPS}
    for default in defaults:
        kinds, texts = get_type_hints(type(default), include_extras=True), docstrings_of(type(default))
        for one in fields(default):
            value = getattr(default, one.name)
            hint = "" if value is None else None  # or it would say "(default: None)"
            metavar = "AGENT" if one.name == "opponent" and kinds[one.name] is str else None
            note = tyro.conf.arg(
                prefix_name=False, help=texts.get(one.name, ""), metavar=metavar, help_behavior_hint=hint
            )
            group = groups[_GROUP_OF.get(one.name, "learning")]
            group.append((one.name, Annotated[kinds[one.name], note], field(default=value)))
    parsers = [(name, make_dataclass(name, options)) for name, options in groups.items() if options]
    return make_dataclass("Options", parsers)


def docstrings_of(settings: type) -> dict[str, str]:
    """The docstring below each field of a dataclass, inherited ones included."""
    texts = {}
    for kind in reversed(settings.__mro__[:-1]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(definition, ast.ClassDef)
        for line, text in pairwise(definition.body):
            if isinstance(line, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                texts[ast.unparse(line.target)] = " ".join(str(text.value.value).split())
    return texts
