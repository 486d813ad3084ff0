"""Labels of runs: which runs were started alike, and how the others differ, in words."""

from __future__ import annotations

import json
from collections.abc import Sequence

from crib_env.evaluate.runs.format import RunConfig


def but_for_the_seed(config: RunConfig) -> str:
    """A text that is equal for runs that differ only in their seeds."""
    return json.dumps([config.learner, {**config.settings, "seed": None}], sort_keys=True)


def labels_of(configs: Sequence[RunConfig]) -> list[str]:
    """A label for each run: its learner, and how it differs from other runs of that learner, except for the seed.

    Runs that differ only in their seeds have the same label.
    """
    return [_label(config, [other for other in configs if other.learner == config.learner]) for config in configs]


def _label(config: RunConfig, alike: Sequence[RunConfig]) -> str:
    # A preset sets many things at once. If presets differ, the label adds only settings that vary within one preset.
    parts = []
    for name in _varying(alike, ["preset"]):
        parts.append(_words(config, name))
        alike = [other for other in alike if other.settings.get(name) == config.settings.get(name)]
    names = [name for name in dict.fromkeys(name for other in alike for name in other.settings) if name != "seed"]
    parts += [_words(config, name) for name in _varying(alike, names)]
    return ", ".join([config.learner, *parts])


def _varying(configs: Sequence[RunConfig], names: Sequence[str]) -> list[str]:
    return [name for name in names if len({json.dumps(config.settings.get(name)) for config in configs}) > 1]


def _words(config: RunConfig, name: str) -> str:
    """A setting in the form of the command line."""
    value = config.settings.get(name)
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{name.replace('_', '-')} {text}"
