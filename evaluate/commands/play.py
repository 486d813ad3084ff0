"""A person, or a language model, against an agent."""

from __future__ import annotations

import os
import secrets
import shlex
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Literal

import tyro

from crib_env.agents import make_agent
from crib_env.distribution import missing
from crib_env.evaluate.command_line import Score, SomeFile, SomeSeed
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.play.levels import FIRST, LEVELS, OFFERED
from crib_env.evaluate.play.saved_game import DEALERS, FINISHED, Coaching, GameSoFar, SavedGame, read_game_to_resume
from crib_env.evaluate.play.terminal import play_in_terminal, say
from crib_env.evaluate.skill.analysis.judges import play_judge
from crib_env.files.whole_file import clear_parts

FOLDER = Path("runs/play")


def play(
    agent: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[AGENT]", help_behavior_hint="")] = None,
    *,
    terminal: bool = False,
    dealer: Literal["cut", "me", "agent"] = "cut",
    scores: tuple[Score, Score] = (0, 0),
    seed: SomeSeed = None,
    practice: bool = False,
    coach: Coaching = "on",
    record: Annotated[Path, tyro.conf.arg(metavar="FILE")] = FOLDER / "games.jsonl",
    resume: SomeFile = None,
    browser: bool = True,
) -> None:
    """Plays a game between you and an agent, in the browser or in the terminal, with a coach.

    The page comes from a server on this machine alone, until Ctrl-C. In the terminal cards are typed as 5h, or by their
    numbers in your hand; ? asks the coach for a hint. The game is kept after every card. The coach values discards
    exactly at the score, and the play as `expert` does.

    Args:
        agent: Your opponent; by default best in the terminal, and the level that you choose on the page.
        terminal: Play in this terminal.
        dealer: Who deals first.
        scores: Your score and the agent's at the start.
        seed: Random seed of the deals; by default another for each game.
        practice: You may take cards back on the page; the game is not recorded.
        coach: When the coach speaks: not before the end of the game, after blunders, at the end of the deal, after each
            card, or before each card too.
        record: The file that the finished game is added to, for `analyse`.
        resume: Continue the game kept in this file.
        browser: Open the browser.
    """
    number = secrets.randbelow(2**32) if seed is None else seed
    opponent = agent if agent is not None else "best" if terminal else FIRST.agent
    offered = GameSoFar(opponent, number, DEALERS[dealer], scores, (), practice, coach)
    kept = offered if resume is None else read_game_to_resume(resume, agent)
    can_be_made = {*OFFERED, *(level.agent for level in LEVELS)}  # some of them in seconds
    for name in {offered.agent, kept.agent} - can_be_made:
        make_agent(name)
    FOLDER.mkdir(parents=True, exist_ok=True)
    clear_parts(FOLDER)
    check_outputs(record)
    if not terminal:
        _in_browser(offered, resume, record, browser, seed)
        return
    if kept.day or kept.people:
        raise ValueError("the deal of a day and games of two people are for the page: leave --terminal out")
    game = SavedGame.begin_in(offered, FOLDER) if resume is None else SavedGame.resume(resume, agent)
    if game.is_over:
        raise ValueError(f"the game of {resume} is over")
    try:
        play_in_terminal(game, play_judge(), record)
    except KeyboardInterrupt:
        file = shlex.quote(game.file.as_posix())
        say(["", "the game is kept; continue with", f"crib-env play --terminal --resume {file}"])
        raise
    if not game.so_far.practice:
        say([f"the game is added to {record}"])


def _in_browser(offered: GameSoFar, resumed: Path | None, record: Path, opens: bool, seed: int | None) -> None:
    try:
        from crib_env.evaluate.play.page.games import Games
        from crib_env.evaluate.play.page.server import serve
    except ModuleNotFoundError as error:
        raise ValueError(f"{missing('the page', error, 'play')}, or play with --terminal") from None

    def start(address: str) -> None:
        console.print(f"Play at {address}\nCtrl-C ends the server. Games are kept.", highlight=False, soft_wrap=True)
        screens = map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))
        has_screen = sys.platform in ("darwin", "win32") or any(screens)
        if opens and has_screen:  # else a browser would take over the terminal
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    folder = resumed.parent if resumed else FOLDER
    folder = folder.parent if folder.name == FINISHED else folder
    serve(Games(folder, record, offered, resumed=resumed.stem if resumed else None, seed=seed), start)


def mcp(
    agent: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[AGENT]")] = "careful", *, seed: SomeSeed = None
) -> None:
    """Serves a table to a language model: tools to play against an agent, and to ask the coach.

    A client of the Model Context Protocol starts this command, and speaks with it over standard input and output.
    Nothing listens on a port.

    Args:
        agent: The opponent.
        seed: Random seed of the first game; by default another each time.
    """
    try:
        from crib_env.evaluate.language.mcp_server import Table
    except ModuleNotFoundError as error:
        raise ValueError(missing("this", error, "mcp")) from None
    if make_agent(agent).powers.plays_once:
        raise ValueError(f"agent {agent!r} is not allowed: standard input and output are the model's")
    Table(agent, secrets.randbelow(2**32) if seed is None else seed).server().run()
