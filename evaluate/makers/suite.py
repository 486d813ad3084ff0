"""Makes the hands of the suite's task ``discards``, with the best discard of each."""

from __future__ import annotations

import numpy as np

from crib_env.agents.expert import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.evaluate.command_line import File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.skill.positions import before_discards
from crib_env.evaluate.skill.suite.discards import Discards, N, hashes_of_tables
from crib_env.evaluate.skill.suite.task import SEED, hash_of
from crib_env.kernels import streams
from crib_env.values import Threads
from crib_env.views import views_of

_SPREAD = 60  # of scores, as in Lang (2018)
_AT_ONCE = 1_000


def suite(path: File, threads: Threads = 2) -> None:
    """Makes the hands of the task ``discards``, with the best discard of each; takes some minutes.

    Args:
        path: The file to write; an existing file is replaced.
        threads: Number of threads; they do not change the result.
    """
    check_outputs(path)
    games = GameBatch(streams(SEED, N), start_spread=_SPREAD).games
    sixes, deals = np.sort(games["cards"][:, :6], axis=1), games["dealer"] == 0
    scores, best, analyst = games["scores"].copy(), np.empty(N, np.int8), ExpertAgent(threads=threads)
    with advancing("discards", N) as on_progress:
        for start in range(0, N, _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            part = before_discards(sixes[rows].astype(np.int64), deals[rows], scores[rows])
            views = views_of(part, np.arange(len(part)), np.zeros(len(part), np.int64), np.arange(len(part)))
            best[rows] = analyst.discard_values(views).argmax(axis=1)
            on_progress(len(part))
    sixes, deals, scores = (array.astype(np.int8) for array in (sixes, deals, scores))
    made = Discards(sixes, deals, scores, best, np.array(hashes_of_tables()))
    made.save(path)
    console.print(f"hash {hash_of(made)}: {path}", soft_wrap=True)


if __name__ == "__main__":
    run(suite)
