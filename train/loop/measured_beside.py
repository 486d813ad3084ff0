"""Exact exploitability measured beside training, in another process, which reads the weights of players as they were.

A measurement takes seconds to minutes. Players wait for theirs as weights files in the run's folder, so that a stopped
run measures the rest when it goes on.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from crib_env.agents import make_agent
from crib_env.agents.asked.asking import layers_on_one_thread
from crib_env.agents.networks.weights_file import SUFFIX
from crib_env.evaluate.runs.format import EXPLOITABILITY, with_band
from crib_env.evaluate.skill.exploitability.pegging_game import exploitability
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train.loop.run_folder import RunFolder

_FOLDER = "to-measure"  # of weights, in a run's folder
_DRAWS = 2  # of suits: the fewest


class MeasuredBeside:
    """Players of a run whose exploitability is being measured, one after the other.

    Args:
        folder: of the run. What an earlier process has left there to measure is measured now, unless it came after the
            position from which the run goes on: the run will come there again.
        cards: of each player in the pegging game.
        episodes: how many the run has played.
    """

    def __init__(self, folder: RunFolder, cards: int, episodes: int) -> None:
        self._run, self._folder, self._cards = folder, folder.path / _FOLDER, cards
        self._process: Any = None
        self._waiting: list[int] = []
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            if 0 < episodes >= int(path.stem):
                self._ask(int(path.stem))
            else:
                path.unlink()

    def __len__(self) -> int:
        """How many are not logged yet."""
        return len(self._waiting)

    def begin(self, save: Callable[[Path], None], episodes: int) -> None:
        """Has ``save`` write the player after so many episodes, and has it measured."""
        self._folder.mkdir(exist_ok=True)
        save(self._path(episodes))
        self._ask(episodes)

    def log(self, tell: Callable[[str], object]) -> None:
        """Logs the measurements that are over; tells a line on each.

        Raises:
            ValueError: a player cannot be measured.
            OSError: the other process has ended by itself.
        """
        while self._waiting and self._answers.poll():
            episodes = self._waiting[0]
            try:
                found = self._answers.recv()
            except EOFError:
                what = f"exploitability of {self._path(episodes)}"
                raise OSError(f"{what} cannot be measured: the process that measures has ended") from None
            if isinstance(found, str):
                raise ValueError(found)
            self._run.log(with_band(EXPLOITABILITY, found.mean, found.least, found.mean), episodes)
            self._run.flush()
            self._path(episodes).unlink()
            self._waiting.remove(episodes)
            if not self._waiting:
                self._folder.rmdir()
            least = "" if found.least == found.mean else f", at least {found.least:.3f}"
            tell(f"{episodes:,} episodes: exploitability {found.mean:.3f}{least} points a deal")

    def close(self) -> None:
        """Ends the other process. What it has not finished stays in the folder."""
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def _path(self, episodes: int) -> Path:
        return self._folder / f"{episodes:010d}{SUFFIX}"

    def _ask(self, episodes: int) -> None:
        if self._process is None:
            processes = get_context("spawn")  # a fork would have this one's threads half
            self._answers, theirs = processes.Pipe()
            self._process = processes.Process(target=_answer, args=(theirs, self._cards), daemon=True)
            self._process.start()
            theirs.close()  # so that its end is seen here
        self._waiting.append(episodes)
        with suppress(BrokenPipeError):  # then it does not answer either
            self._answers.send(f"{self._run.learner}:path={self._path(episodes)}")


def _answer(questions: Connection, cards: int) -> None:
    """Answers each agent with its gain, or with what is wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches it, too
    game = PlayGame(start=start_of_play(cards), threads=1)
    while True:
        try:
            agent = make_agent(questions.recv())
            layers_on_one_thread()
            questions.send(exploitability(agent, game, _DRAWS))
        except ValueError as error:
            questions.send(str(error))
        except EOFError:
            return
