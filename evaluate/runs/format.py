"""The format of a run folder, which ``train`` writes and ``evaluate`` reads: its files and its curves.

A curve is a TensorBoard scalar. Its tag is ``group/name``; the two ends of its band have tags of their own in the group
``uncertainty``. TensorBoard sorts tags by name, so ``evaluation/win rate against greedy`` comes first and bands last.
The interval of the finished player is in ``summary.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from crib_env.files.json_text import read_json
from crib_env.values import Range, typed

T = TypeVar("T")

# Files and folders of a run; weights have their own suffix.
CONFIG, SUMMARY = "config.json", "summary.json"
FINAL, CHECKPOINTS = "final", "checkpoints"
EVENTS = "events.out.tfevents.*"
SEEDS = Range(2, 10_000)  # of runs in one folder

BEST_RESPONSE = "best-response"  # the opponent of a curve of exploitability

# Tags.
POINTS_A_HAND = "evaluation/points a hand"
EPSILON, LEARNING_RATE = "learning/epsilon", "learning/learning rate"
EPISODE_RETURN = "learning/episode return"
NET_POINTS_IN_TRAINING = "learning/net points against the opponent"
EPISODES_PER_SECOND = "speed/episodes per second"
PROCESSOR_SECONDS = "speed/processor seconds"  # of training, from its start
EXPLOITABILITY = "strength/exploitability"
_BANDS = "uncertainty/"
_ENDS = (" low", " high")


class RunConfig(NamedTuple):
    """The learner of a run, its settings, and the processor that it began on, empty in folders of earlier versions."""

    learner: str
    settings: dict[str, Any]
    processor: str = ""


def read_config(folder: Path) -> RunConfig:
    """The learner of a run, its settings and its first processor; ``ValueError`` if the folder is none of a run."""

    def build(content: dict[str, Any]) -> RunConfig:
        config = typed(content, RunConfig)
        if "seeds" in config.settings:
            typed(config.settings["seed"], int, "seed")
            if typed(config.settings["seeds"], int, "seeds") not in SEEDS:
                raise ValueError(f"seeds must be {SEEDS}")
        return config

    return read_json(folder / CONFIG, f"{folder} is not the folder of a run: it has no readable {CONFIG}", build)


def is_begun(folder: Path) -> bool:
    """Whether a folder is that of a run."""
    return (folder / CONFIG).is_file()


def is_finished(folder: Path) -> bool:
    """Whether a run has finished."""
    return (folder / SUMMARY).is_file()


def read_summary(folder: Path, build: Callable[[Any], T]) -> T:
    """Returns ``build(summary)`` of a run; ``ValueError`` if it is not finished, or ``build`` fails."""
    if not is_finished(folder):
        raise ValueError(f"{folder} is a run that is not finished: it has no {SUMMARY}")
    return read_json(folder / SUMMARY, f"{folder / SUMMARY} is not the summary of a run", build)


def run_of_seed(folder: Path, seed: int) -> Path:
    """The run of one seed in the folder of several."""
    return folder / f"seed-{seed}"


def runs_in(folder: Path) -> list[Path]:
    """The folder of a run itself, or those of all its runs if it is one of several seeds."""
    settings = read_config(folder).settings
    if "seeds" not in settings:
        return [folder]
    return [run_of_seed(folder, seed) for seed in range(settings["seed"], settings["seed"] + settings["seeds"])]


def snapshot(run: Path, agent: int, games: int) -> Path:
    """The snapshot that a run of Lang's learner saves of an agent after a number of games, without suffix."""
    return run / "snapshots" / f"agent-{agent}" / f"games-{games:010d}"


def snapshots_of(run: Path) -> list[Path]:
    """The snapshots of a finished run in the order of the games."""
    return sorted(run.glob("snapshots/*/games-*.safetensors"))


def win_rate_tag(baseline: str) -> str:
    """The tag of win rates against a baseline."""
    return f"evaluation/win rate against {baseline}"


def margin_tag(baseline: str) -> str:
    """The tag of net points a game against a baseline."""
    return f"net points a game/against {baseline}"


def final_tags(values: dict[str, float]) -> dict[str, float]:
    """The values of the finished player by tags of their own, since it has other deals and more games than those of the
    learning curve."""
    return {f"final/{title_of(tag)}": value for tag, value in values.items() if not is_end(tag)}


def is_end(tag: str) -> bool:
    """Whether a tag is that of an end of a band."""
    return tag.startswith(_BANDS)


def title_of(tag: str) -> str:
    """A tag in words, without its group if the group adds nothing to the curve's name."""
    for group in ("evaluation/", "learning/", "speed/", "strength/"):
        tag = tag.removeprefix(group)
    return tag.replace("net points a game/", "net points a game ")


def band_of(tag: str) -> list[str]:
    """The tags of the ends of a curve's band."""
    return [f"{_BANDS}{title_of(tag)}{end}" for end in _ENDS]


def with_band(tag: str, value: float, low: float, high: float) -> dict[str, float]:
    """A value of a curve and of the two ends of its band, by their tags."""
    return dict(zip((tag, *band_of(tag)), (value, low, high)))
