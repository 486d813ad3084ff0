"""Makes what the suite's tasks know: the best discard of each hand, and what cards at the end of a game win."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from crib_env.agents.expert import ExpertAgent
from crib_env.batch import GameBatch
from crib_env.evaluate.command_line import File
from crib_env.evaluate.console import advancing, console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.rollout import Plan, rollout
from crib_env.evaluate.skill.positions import before_discards
from crib_env.evaluate.skill.suite import discards, endgames
from crib_env.evaluate.skill.suite.task import SEED, hash_of
from crib_env.kernels import streams
from crib_env.values import Threads
from crib_env.views import views_of

_SPREAD = 60  # of scores, as in Lang (2018)
_AT_ONCE = 1_000
_MOST = 100_000  # deals of a choice; a chance of a half is known to 0.16 % then


def hands(threads: int) -> discards.Discards:
    """The hands of ``discards``, with the best discard of each."""
    n = discards.N
    games = GameBatch(streams(SEED, n), start_spread=_SPREAD).games
    sixes, deals = np.sort(games["cards"][:, :6], axis=1), games["dealer"] == 0
    scores, best, analyst = games["scores"].copy(), np.empty(n, np.int8), ExpertAgent(threads=threads)
    with advancing("discards", n) as on_progress:
        for start in range(0, n, _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            part = before_discards(sixes[rows].astype(np.int64), deals[rows], scores[rows])
            views = views_of(part, np.arange(len(part)), np.zeros(len(part), np.int64), np.arange(len(part)))
            best[rows] = analyst.discard_values(views).argmax(axis=1)
            on_progress(len(part))
    sixes, deals, scores = (array.astype(np.int8) for array in (sixes, deals, scores))
    return discards.Discards(sixes, deals, scores, best, np.array(discards.hashes_of_tables()))


def rolled_out(threads: int, agent: str = "best", error: float = 0.002) -> endgames.Endgames:
    """The shipped positions of ``endgames``, with the chance to win after each rank that may be laid.

    Args:
        threads: how many; they do not change the result.
        agent: in both seats.
        error: the standard error of each chance at most.
    """
    shipped = endgames.Endgames.load(endgames.PATH)
    nothing = (np.full_like(shipped.chance, np.nan) for _ in range(2))
    made = replace(shipped, **dict(zip(("chance", "error"), nothing)), agent=agent)
    plan = Plan(until="game", deals=_MOST, confidence=1.0, error=error, threads=threads)
    with advancing("endgames", endgames.N) as on_progress:
        for k, game in enumerate(made.games()):
            for one in rollout(game, None, agent, **vars(replace(plan, seed=SEED + k))).choices:
                made.chance[k, one.cards[0] % 13], made.error[k, one.cards[0] % 13] = one.chance, one.chance_error
            on_progress(1)
    return made


def suite(path: File, task: Literal["discards", "endgames"] = "discards", threads: Threads = 2) -> None:
    """Makes the file of a task; takes some minutes, for endgames twenty minutes of a core.

    Args:
        path: The file to write; an existing file is replaced.
        task: The task.
        threads: Number of threads; they do not change the result.
    """
    check_outputs(path)
    made = hands(threads) if task == "discards" else rolled_out(threads)
    made.save(path)
    console.print(f"hash {hash_of(made)}: {path}", soft_wrap=True)


if __name__ == "__main__":
    run(suite)
