"""A league: every two of several agents play a match, all over the same deals; one that was stopped goes on.

The folder of a league holds ``config.json`` (agents, games, seed) and ``matches/``, a file for each finished match,
written whole. Players are made anew for every match, so that each is the match that ``match A B`` plays alone, and a
league that was stopped comes out as one that was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from agents import make_agent
from crib_env.kernels import streams
from evaluate.files import new_folder, write_json
from evaluate.match import MatchResult, play_games, summarise
from evaluate.mirrored import Games, shards
from evaluate.on_ray import Cluster

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
        folder = new_folder(folder, LEAGUES)
        (folder / "matches").mkdir()
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
        self,
        folder: Path,
        threads: int = 1,
        on_progress: Callable[[int, str], None] = lambda done, what: None,
        cluster: Cluster | None = None,
    ) -> list[LeagueMatch]:
        """Plays the matches that are not in the folder yet.

        Args:
            folder: of this league.
            threads: how many work side by side, on games of one match.
            on_progress: is told how many more games are done, those of earlier too, and in which match.
            cluster: to play all matches on side by side, in place of threads; the games are the same.

        Returns:
            All matches, in the order of ``pairings``.

        Raises:
            ValueError: a file of a match is damaged; the message names it.
        """
        paths = {(i, j): folder / "matches" / f"{i + 1}-{j + 1}.json" for i, j in self.pairings}
        matches = {two: _read(path) for two, path in paths.items() if path.exists()}
        for two in matches:
            on_progress(self.games, self._words(two))
        left = [two for two in self.pairings if two not in matches]
        played = (
            self._played_on(cluster, left, on_progress)
            if cluster is not None
            else ((two, self._play_match(two, threads, on_progress)) for two in left)
        )
        before = time.perf_counter()
        for two, games in played:
            now = time.perf_counter()
            a, b = (self.agents[k] for k in two)
            match = LeagueMatch(summarise(a, b, self.seed, games, now - before), games.won.reshape(-1, 2).sum(axis=1))
            won = "".join(map(str, match.won.tolist()))
            write_json(paths[two], {"result": match.result.to_json(), "won": won})
            matches[two], before = match, now
        return [matches[two] for two in self.pairings]

    def _words(self, two: tuple[int, int]) -> str:
        return " against ".join(self.agents[k] for k in two)

    def _play_match(self, two: tuple[int, int], threads: int, on_progress: Callable[[int, str], None]) -> Games:
        a, b = (make_agent(self.agents[k]) for k in two)
        what = self._words(two)
        parts = play_games(
            a, b, self.games, self.seed, threads=threads, on_progress=lambda done: on_progress(done, what)
        )
        return Games.merged(list(parts))

    def _played_on(
        self, cluster: Cluster, pairings: Sequence[tuple[int, int]], on_progress: Callable[[int, str], None]
    ) -> Iterator[tuple[tuple[int, int], Games]]:
        players = [make_agent(name) for name in self.agents]
        parts = shards(self.seed, streams(self.seed, self.games // 2), 0, self.games // 2)
        for place, games in cluster.play_matches(
            [(players[i], players[j]) for i, j in pairings],
            parts,
            lambda place, done: on_progress(done, self._words(pairings[place])),
        ):
            yield pairings[place], games


def _read(path: Path) -> LeagueMatch:
    try:
        found = json.loads(path.read_text())
        return LeagueMatch(MatchResult.of_json(found["result"]), np.array([int(digit) for digit in found["won"]]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a whole match ({error}): take it away, and it is played again") from None
