"""A person against an agent."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Annotated, Literal

import tyro

from evaluate.commands.arguments import SomeFile, SomeInt
from evaluate.files import check_outputs
from evaluate.matches.game_records import add_record
from evaluate.play.kept_game import AGENT, PERSON, GameSoFar, KeptGame
from evaluate.play.terminal import play_in_terminal, say

FOLDER = Path("runs/play")
_DEALERS = {"cut": None, "me": PERSON, "agent": AGENT}


def play(
    agent: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="AGENT", help_behavior_hint="")] = None,
    terminal: bool = False,
    dealer: Literal["cut", "me", "agent"] = "cut",
    scores: tuple[int, int] = (0, 0),
    seed: SomeInt = None,
    record: Annotated[Path, tyro.conf.arg(metavar="FILE")] = FOLDER / "games.jsonl",
    resume: SomeFile = None,
) -> None:
    """Plays a game between you and an agent.

    Cards are typed as 5h, or by their numbers in your hand. Ctrl-C keeps the game.

    Args:
        agent: Your opponent; by default best.
        terminal: Play in this terminal.
        dealer: Who deals first.
        scores: Yours and the agent's at the start.
        seed: Random seed of the deals; by default another for each game.
        record: The file that the finished game is added to, for `replay`.
        resume: Go on with the game kept in this file.
    """
    if not terminal:
        raise ValueError("play needs --terminal: there is no other table to play at yet")
    if resume is not None:
        check_outputs(record)
        game = KeptGame.resume(resume, agent)
    else:
        number = secrets.randbelow(2**32) if seed is None else seed
        so_far = GameSoFar(agent or "best", number, _DEALERS[dealer], scores, ())
        FOLDER.mkdir(parents=True, exist_ok=True)
        check_outputs(record)
        game = KeptGame.begin(so_far, FOLDER / f"{time.strftime('%Y%m%d-%H%M%S')}.json")
    try:
        play_in_terminal(game)
    except KeyboardInterrupt:
        say(["", "the game is kept; go on with", f"python -m evaluate play --terminal --resume {game.file}"])
        raise
    add_record(record, game.record())
    game.file.unlink()
    say([f"the game is added to {record}"])
