"""A language model against an agent, by tools."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import tyro

from crib_env.agents import make_agent
from crib_env.distribution import missing
from crib_env.evaluate.commands.arguments import SomeSeed
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.play.saved_game import GameSoFar
from crib_env.evaluate.skill.analysis.judges import play_judge

FOLDER = Path("runs/mcp")


def mcp(
    agent: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[AGENT]")] = "careful",
    *,
    seed: SomeSeed = None,
    record: Annotated[Path, tyro.conf.arg(metavar="FILE")] = FOLDER / "games.jsonl",
) -> None:
    """Serves a table to a language model: tools to play against an agent, and to ask the coach.

    A client of the Model Context Protocol starts this command, and speaks with it over standard input and output.
    Nothing listens on a port. Games are kept after every card.

    Args:
        agent: The opponent.
        seed: Random seed of the first game; by default another each time.
        record: The file that finished games are added to, for `analyse`.
    """
    try:
        from crib_env.evaluate.play.mcp_server import Table
    except ModuleNotFoundError as error:
        raise ValueError(missing("this", error, "mcp")) from None
    first = GameSoFar(agent, secrets.randbelow(2**32) if seed is None else seed, None, (0, 0), ())
    make_agent(agent)
    FOLDER.mkdir(parents=True, exist_ok=True)
    check_outputs(record)
    Table(first, FOLDER, record, play_judge("expert")).server().run()
