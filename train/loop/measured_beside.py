"""Exact exploitability measured beside training, in another process, which reads the weights of players as they were.

A measurement takes seconds to minutes. Players wait for theirs as weights files in the run's folder, so that a stopped
run measures the rest when it goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import IO

from crib_env.agents import make_agent
from crib_env.agents.networks.weights_file import SUFFIX
from crib_env.evaluate.runs.format import EXPLOITABILITY, with_band
from crib_env.evaluate.skill.exploitability.asking import use_threads
from crib_env.evaluate.skill.exploitability.pegging_game import Gain, exploitability
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
        self._process: subprocess.Popen[str] | None = None
        self._asking = ThreadPoolExecutor(1)
        self._waiting: dict[int, Future[Gain]] = {}
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            if 0 < episodes >= int(path.stem):
                self._waiting[int(path.stem)] = self._asking.submit(self._ask, path)
            else:
                path.unlink()

    def __len__(self) -> int:
        """How many are not logged yet."""
        return len(self._waiting)

    def begin(self, save: Callable[[Path], None], episodes: int) -> None:
        """Has ``save`` write the player after so many episodes, and has it measured."""
        self._folder.mkdir(exist_ok=True)
        path = self._path(episodes)
        save(path)
        self._waiting[episodes] = self._asking.submit(self._ask, path)

    def log(self) -> Iterator[str]:
        """Logs the measurements that are over; yields a line on each.

        Raises:
            ValueError: a player cannot be measured.
            OSError: the other process has ended by itself.
        """
        while self._waiting:
            episodes, found = next(iter(self._waiting.items()))
            if not found.done():
                return
            gain = found.result()
            self._run.log(with_band(EXPLOITABILITY, gain.most, gain.least, gain.most), episodes)
            self._run.flush()
            self._path(episodes).unlink()
            del self._waiting[episodes]
            if not self._waiting:
                self._folder.rmdir()
            least = "" if gain.least == gain.most else f", at least {gain.least:.3f}"
            yield f"{episodes:,} episodes: exploitability {gain.most:.3f}{least} points a deal"

    def close(self) -> None:
        """Ends the other process. What it has not finished stays in the folder."""
        for found in self._waiting.values():
            found.cancel()
        if self._process is not None:
            self._process.kill()
        self._asking.shutdown()
        if self._process is not None:
            self._process.communicate()

    def _path(self, episodes: int) -> Path:
        return self._folder / f"{episodes:010d}{SUFFIX}"

    def _ask(self, path: Path) -> Gain:
        if self._process is None:
            command = (sys.executable, "-m", __name__)
            # In a session of its own Ctrl-C does not reach it.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):  # then it does not answer either
            print(json.dumps([self._run.learner, str(path), self._cards]), file=self._process.stdin, flush=True)
        if not (answer := self._process.stdout.readline()):
            raise OSError(f"exploitability of {path} cannot be measured: the process that measures has ended")
        found = json.loads(answer)
        if isinstance(found, str):
            raise ValueError(found)
        return Gain(*found)


@cache
def _pegging_game(cards: int) -> PlayGame:
    return PlayGame(start=start_of_play(cards), threads=1)


def _answer(questions: IO[str], answers: IO[str]) -> None:
    """Answers each line, a learner, a file of its weights and a number of cards, with a gain or with what is wrong."""
    for question in questions:
        learner, path, cards = json.loads(question)
        try:
            agent = make_agent(f"{learner}:path={path}")
            use_threads(1)
            answer: object = exploitability(agent, _pegging_game(cards), _DRAWS).mean
        except ValueError as error:
            answer = str(error)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # what anything else prints is no answer
        _answer(sys.stdin, sys.__stdout__ or sys.stdout)
