"""A league: every two of several agents play a match, all over the same deals; one that was stopped goes on.

The folder of a league holds ``config.json`` (agents, games, seed) and ``matches/``, a file for each finished match,
written whole. Players are made anew for every match, so that each is the match that ``match A B`` plays alone, and a
league that was stopped comes out as one that was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from agents import make_agent
from evaluate.files import write_json
from evaluate.match import MatchResult, play_games, summarise
from evaluate.mirrored import Games

LEAGUES = Path("runs") / "league"


@dataclass(frozen=True)
class LeagueMatch:
    """A finished match: its result, and how many of the two games over each deal ``a`` won, (N,) 0, 1 or 2."""

    result: MatchResult
    won: np.ndarray


@dataclass(frozen=True)
class League:
    """Who plays, how many games each two of them, over the deals of which seed.

    Raises:
        ValueError: there are not two different agents, one cannot be made, or ``games`` is not positive and even.
    """

    agents: tuple[str, ...]
    games: int
    seed: int

    def __post_init__(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents={' '.join(self.agents)!r} is not allowed: give two or more different agents")
        if self.games < 2 or self.games % 2:
            raise ValueError(f"games={self.games} is not allowed: give a positive even number")
        for agent in self.agents:
            make_agent(agent)

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Every two agents, by their places in ``agents``, in the order of play."""
        return list(combinations(range(len(self.agents)), 2))

    def begin(self, folder: Path | None) -> Path:
        """Makes the folder of this league, by default ``runs/league/<time>``.

        Raises:
            ValueError: it is there already.
        """
        if folder is None:
            folder = LEAGUES / time.strftime("%Y%m%d-%H%M%S")
        try:
            (folder / "matches").mkdir(parents=True)
        except FileExistsError:
            raise ValueError(f"{folder} is there already: go on with it by --resume, or give another") from None
        write_json(folder / "config.json", {"agents": self.agents, "games": self.games, "seed": self.seed})
        return folder

    @classmethod
    def of_folder(cls, folder: Path) -> League:
        """The league that a folder was begun for.

        Raises:
            ValueError: it is not the folder of a league; the message names it.
        """
        try:
            found = json.loads((folder / "config.json").read_text())
            agents, games, seed = tuple(map(str, found["agents"])), int(found["games"]), int(found["seed"])
        except (OSError, ValueError, KeyError, TypeError):
            raise ValueError(f"{folder} is not the folder of a league: it has no readable config.json") from None
        return cls(agents, games, seed)

    def play(
        self, folder: Path, threads: int = 1, on_progress: Callable[[int, str], None] = lambda done, what: None
    ) -> list[LeagueMatch]:
        """Plays the matches that are not in the folder yet.

        Args:
            folder: of this league.
            threads: how many work side by side, on games of one match.
            on_progress: is told how many more games are done, those of earlier too, and in which match.

        Returns:
            All matches, in the order of ``pairings``.

        Raises:
            ValueError: a file of a match is damaged; the message names it.
        """
        return [self._match(folder, i, j, threads, on_progress) for i, j in self.pairings]

    def _match(
        self, folder: Path, i: int, j: int, threads: int, on_progress: Callable[[int, str], None]
    ) -> LeagueMatch:
        a, b = self.agents[i], self.agents[j]
        what = f"{a} against {b}"
        path = folder / "matches" / f"{i + 1}-{j + 1}.json"
        if path.exists():
            on_progress(self.games, what)
            return _read(path)
        started = time.perf_counter()
        parts = play_games(
            make_agent(a),
            make_agent(b),
            self.games,
            self.seed,
            threads=threads,
            on_progress=lambda done: on_progress(done, what),
        )
        games = Games.merged(list(parts))
        result = summarise(a, b, self.seed, games, time.perf_counter() - started)
        won = games.won.reshape(-1, 2).sum(axis=1)
        write_json(path, {"result": result.to_json(), "won": "".join(map(str, won.tolist()))})
        return LeagueMatch(result, won)


def _read(path: Path) -> LeagueMatch:
    try:
        found = json.loads(path.read_text())
        return LeagueMatch(MatchResult.of_json(found["result"]), np.array([int(digit) for digit in found["won"]]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a whole match ({error}): take it away, and it is played again") from None
