"""Labels the endgames of the suite by rollouts to the end of the game: the chance to win after each rank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.makers import run
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.rollout import Plan, rollout
from crib_env.evaluate.skill.suite.endgames import PATH, Endgames, N
from crib_env.evaluate.skill.suite.task import SEED, hash_of
from crib_env.values import Positive, Threads

_MOST = 100_000  # deals of a choice; a chance of a half is known to 0.16 % then


def endgame_rollouts(path: File, agent: AgentOption = "best", error: Positive = 0.002, threads: Threads = 2) -> None:
    """Rolls out the endgames of the suite to the end of the game, every rank with the same number of deals.

    Takes twenty minutes of a core. The file is written after each position; the same command goes on with it.

    Args:
        path: The file to write.
        agent: The agent in both seats.
        error: The standard error of each chance to win at most.
        threads: Number of threads; they do not change the result.
    """
    check_outputs(path)
    if path.exists():
        made = Endgames.load(path)
    else:
        shipped = Endgames.load(PATH)
        chance, error_of_chance = (np.full_like(shipped.chance, np.nan) for _ in range(2))
        made = replace(shipped, chance=chance, error=error_of_chance, agent=agent)
    if made.agent != agent:
        raise ValueError(f"agent={agent!r} is not allowed: {path} was begun with {made.agent!r}")
    plan = Plan(until="game", deals=_MOST, confidence=1.0, error=error, threads=threads)
    with advancing("endgames", N) as on_progress:
        for k, game in enumerate(made.games()):
            if np.isnan(made.chance[k]).all():
                for one in rollout(game, None, agent, **vars(replace(plan, seed=SEED + k))).choices:
                    made.chance[k, one.cards[0] % 13], made.error[k, one.cards[0] % 13] = one.chance, one.chance_error
                made.save(path)
            on_progress(1)
    console.print(f"hash {hash_of(made)}: {path}", soft_wrap=True)


if __name__ == "__main__":
    run(endgame_rollouts)
