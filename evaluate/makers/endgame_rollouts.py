"""Labels the endgames of the suite by rollouts to the end of the game: the chance to win after each rank."""

from __future__ import annotations

from typing import Annotated, Any

from crib_env.cards import format_cards
from crib_env.evaluate.command_line import AgentOption, File
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.makers import run
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.rollout import rollout
from crib_env.evaluate.skill.suite import endgames
from crib_env.evaluate.skill.suite.task import SEED
from crib_env.values import Positive, Range, Threads

_MOST = 100_000  # deals of a choice; a chance of a half is known to 0.16 % then


def endgame_rollouts(
    path: File,
    agent: AgentOption = "best",
    positions: Annotated[int, Range(1, endgames.N)] = endgames.N,
    error: Positive = 0.002,
    threads: Threads = 2,
) -> None:
    """Rolls out the endgames of the suite to the end of the game, every rank with the same number of deals.

    The file is written after each position.

    Args:
        path: The JSON file to write.
        agent: The agent in both seats.
        positions: How many of the twenty, from the first on.
        error: The standard error of each chance to win at most.
        threads: Number of threads; they do not change the result.
    """
    check_outputs(path)
    labelled: list[dict[str, Any]] = []
    with advancing("endgames", positions) as on_progress:
        for k, game in enumerate(endgames.standard().games()[:positions]):
            found = rollout(
                game,
                None,
                agent,
                until="game",
                deals=_MOST,
                confidence=1.0,
                error=error,
                seed=SEED + k,
                threads=threads,
            )
            choices = [one._asdict() | {"cards": format_cards(one.cards)} for one in found.choices]
            labelled.append({"deals": found.deals, "choices": choices})
            write_json(path, {"agent": agent, "endgames": endgames.VERSION, "error": error, "positions": labelled})
            on_progress(1)


if __name__ == "__main__":
    run(endgame_rollouts)
