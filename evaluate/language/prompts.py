"""Prompts with known answers: hands of the suite before the discard, with the value of every discard, as Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crib_env import decisions
from crib_env.agents.expert.agent import ExpertAgent
from crib_env.agents.llm.agent import question
from crib_env.cards import format_cards
from crib_env.evaluate.language.episode import Unit, hands_before_discard
from crib_env.evaluate.matches.dataset.rows import load_pyarrow
from crib_env.evaluate.skill.analysis.judges import discard_worth
from crib_env.evaluate.skill.positions import batch_of
from crib_env.evaluate.skill.suite import discards
from crib_env.exact.discard_statistics import PLACES
from crib_env.files.whole_file import whole_file


def write_prompts(file: Path, first: int, hands: int, unit: Unit) -> None:
    """Writes a row for each of some hands of the suite.

    The columns are ``prompt``, the messages that a model is asked in the suite's tier ``text``; ``task`` and
    ``number``, as :class:`crib_env.evaluate.language.episode.Episode` takes them; ``discards``, the fifteen pairs of
    cards; and ``values``, what they are worth.

    Args:
        first: number of the first hand.
        unit: at 0–0 expected net points of the deal, or at the hands' scores chances to win the game.

    Raises:
        ValueError: the suite has no such hands, or pyarrow is not installed.
    """
    if first + hands > discards.N:
        raise ValueError(f"hands={hands} from {first} on is not allowed: there are {discards.N:,}, numbered from 0")
    parquet = load_pyarrow()
    import pyarrow

    numbers = np.arange(first, first + hands)
    batch = batch_of(hands_before_discard(slice(first, first + hands), unit))
    views = batch.views(np.arange(hands))
    worth = discard_worth(ExpertAgent(), views)
    sixes = discards.standard().sixes[numbers].astype(np.int64)
    columns = {
        "prompt": [list(question(view)) for view in decisions(views)],
        "task": ["discards"] * hands,
        "number": numbers,
        "discards": [[format_cards(pair) for pair in pairs] for pairs in sixes[:, PLACES].tolist()],
        "values": (worth.points if unit == "points" else worth.chances).tolist(),
    }
    with whole_file(file) as temporary:
        parquet.write_table(pyarrow.table(columns), temporary, compression="zstd")
