"""TensorBoard: the layout of its curves, and its tab HParams.

Curves come in the order strength, learning, speed: its first tab, "Time Series", is sorted alphabetically
(:mod:`crib_env.evaluate.runs.format`), its tab "Custom Scalars" follows :func:`layout_of`.

HParams shows the settings that people vary, and the final strength. TensorBoard takes the columns for all runs from one
of them, so every run, of any learner, declares the same columns. Strength is not copied: a column names the curve whose
last value it shows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import api_pb2, metadata
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo

from crib_env.evaluate.runs import format as form

# Titles and the prefixes of their tags; the last prefixes of learning and of speed are Stable-Baselines3's.
_GROUPS = {
    "evaluation (bands: 95 % intervals)": (*form.STRENGTH, form.BY_SECONDS),
    "learning": ("learning/", "networks/", "rollout/", "train/"),
    "speed": ("speed/", "time/"),
}


def layout_of(tags: Collection[str]) -> dict[str, dict[str, list[Any]]]:
    """A chart for each curve, with its band if it has one.

    TensorBoard merges the layouts of all runs that it shows: groups of one title, and charts that are equal. So every
    layout has every group, because TensorBoard would leave out those that the first run lacks. Charts depend on tags
    only.

    Args:
        tags: of the scalars that are written, in the order of the charts.

    Returns:
        The layout, in the form that ``SummaryWriter.add_custom_scalars`` takes.
    """
    layout: dict[str, dict[str, list[Any]]] = {}
    for group, beginnings in _GROUPS.items():
        curves = {tag: form.title_of(tag) for tag in tags if tag.startswith(beginnings)}
        banded = [tag for tag in curves if set(form.band_of(tag)) <= set(tags)]
        # TensorBoard 2.21 shows charts with bands in reverse order, and all others in the given order.
        layout[group] = {curves[tag]: ["Margin", [tag, *form.band_of(tag)]] for tag in reversed(banded)}
        layout[group] |= {curves[tag]: ["Multiline", [f"{re.escape(tag)}$"]] for tag in curves if tag not in banded}
    return layout


_TEXT, _NUMBER = api_pb2.DATA_TYPE_STRING, api_pb2.DATA_TYPE_FLOAT64
_COLUMNS = {
    "learner": _TEXT,
    "preset": _TEXT,
    "opponent": _TEXT,
    "observation": _TEXT,
    "episodes": _NUMBER,
    "hidden": _TEXT,
    "batch_size": _NUMBER,
    "learning_rate": _NUMBER,
    "seed": _NUMBER,
    "other settings": _TEXT,
}
_SHOWN = {"learner", "opponent", "hidden", "learning_rate", "other settings"}  # at first; TensorBoard shows only five
_METRICS = {
    form.final_tag(form.win_rate_tag("greedy")): "win rate against greedy",
    form.final_tag(form.POINTS_A_HAND): "points a hand (discard game)",
}
# Settings that change how a run is observed, not what it learns.
_ASIDE = {"evaluations", "evaluation_games", "final_games", "checkpoint_seconds", "threads"}


def hparams_of(learner: str, given: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, str | float]:
    """The columns of a run.

    Args:
        given: its settings.
        start: the settings of its preset; other settings that differ from them are in ``other settings``.
    """
    others = (name for name in given if name not in _COLUMNS and name not in _ASIDE and given[name] != start.get(name))
    columns = {"learner": learner, "other settings": ", ".join(f"{name} {_plain(given[name])}" for name in others)}
    return columns | {name: _plain(value) for name, value in given.items() if name in _COLUMNS}


def summaries(learner: str, given: Mapping[str, Any], start: Mapping[str, Any]) -> list[Summary]:
    """The columns as a finished run writes them into its event file; arguments as for :func:`hparams_of`."""
    experiment = api_pb2.Experiment(
        hparam_infos=[
            api_pb2.HParamInfo(name=name, type=kind, differs=name in _SHOWN) for name, kind in _COLUMNS.items()
        ],
        metric_infos=[
            api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag), display_name=title) for tag, title in _METRICS.items()
        ],
    )
    begun = SessionStartInfo()
    for name, value in hparams_of(learner, given, start).items():
        if isinstance(value, str):
            begun.hparams[name].string_value = value
        else:
            begun.hparams[name].number_value = value
    return [
        _summary(metadata.EXPERIMENT_TAG, HParamsPluginData(experiment=experiment)),
        _summary(metadata.SESSION_START_INFO_TAG, HParamsPluginData(session_start_info=begun)),
        _summary(
            metadata.SESSION_END_INFO_TAG,
            HParamsPluginData(session_end_info=SessionEndInfo(status=api_pb2.STATUS_SUCCESS)),
        ),
    ]


def _summary(tag: str, data: HParamsPluginData) -> Summary:
    # torch's own ``add_hparams`` would add a run with a curve of one point for each figure.
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata.create_summary_metadata(data))])


def _plain(value: object) -> str | float:
    """A number unchanged; any other value as text, in the form of the command line."""
    if isinstance(value, (tuple, list)):
        return " ".join(map(str, value))
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
