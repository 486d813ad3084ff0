"""A league: every pair of agents plays a match over the same deals; a stopped league can be resumed.

The folder of a league holds ``config.json`` (agents, games, seed) and ``matches/``: a file for each finished match,
written whole, and the games of matches that are being played, card by card. Players are made anew for every match, so
each equals the match that ``match A B`` plays alone, and a resumed league gives the same results as an uninterrupted
one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env.agents import make_agent
from crib_env.evaluate.executors import Cluster
from crib_env.evaluate.files import write_json
from crib_env.evaluate.job import Job
from crib_env.evaluate.matches.blocks import cut, play_matches
from crib_env.evaluate.matches.game_records import add_records
from crib_env.evaluate.matches.match import MatchResult, pairs_less_luck, play_games, summarise
from crib_env.evaluate.matches.mirrored import Games, Shard
from crib_env.evaluate.matches.resuming import take_up
from crib_env.evaluate.skill.luck.table import WINS
from crib_env.files.json_text import read_json
from crib_env.files.whole_file import check_output
from crib_env.values import Games as GameAmount
from crib_env.values import typed

_ROUNDING = 1e-9  # of the ends of intervals


@dataclass(frozen=True)
class LeagueMatch:
    """A finished match: its result, and how many of the two games over each deal ``a`` won, (N,) 0, 1 or 2.

    ``less_luck`` (N,) float64 is the same minus luck, if luck was measured.
    """

    result: MatchResult
    won: np.ndarray
    less_luck: np.ndarray | None = None


@dataclass(frozen=True)
class League(Job):
    """The agents, the number of games per pair, the seed of the deals, and whether luck is subtracted from results.

    Raises:
        ValueError: there are not two different agents, one cannot be made, or ``games`` is not positive and even.
    """

    KIND = "league"
    FOLDERS = Path("runs") / "league"

    agents: tuple[str, ...]
    games: int
    seed: int
    luck_adjusted: bool = False

    def __post_init__(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents={' '.join(self.agents)!r} is not allowed: give two or more different agents")
        typed(self.games, GameAmount, "games")
        for agent in self.agents:
            make_agent(agent)

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Every pair of agents, by their places in ``agents``, in the order of play."""
        return list(combinations(range(len(self.agents)), 2))

    def play(
        self,
        folder: Path,
        threads: int = 1,
        on_progress: Callable[[int, str], None] = lambda done, what: None,
        cluster: Cluster | None = None,
    ) -> list[LeagueMatch]:
        """Plays the matches that are not in the folder yet; all matches, in the order of ``pairings``.

        The games of a match that is not finished are kept in the folder, block by block, and a later call goes on after
        them.

        Args:
            threads: the number of threads, which share the games of one match.
            on_progress: called with the number of further games done, those found in the folder too, and their match.
            cluster: a cluster to play all matches on side by side, in place of threads; the games are the same.

        Raises:
            ValueError: a file of a match is damaged, or holds another match than is asked for; the message names it.
        """
        (folder / "matches").mkdir(exist_ok=True)
        paths = {(i, j): folder / "matches" / f"{i + 1}-{j + 1}.json" for i, j in self.pairings}
        matches = {two: self._read(two, path) for two, path in paths.items() if path.exists()}
        for two in matches:
            on_progress(self.games, self._words(two))
            paths[two].with_suffix(".jsonl").unlink(missing_ok=True)
        files = {two: path.with_suffix(".jsonl") for two, path in paths.items() if two not in matches}
        parts: dict[tuple[int, int], list[Games]] = {two: [] for two in files}
        before = time.perf_counter()
        for two, part in self._play_left(files, threads, on_progress, cluster):
            if part.records:
                add_records(files[two], part.records)
            parts[two].append(replace(part, records=()))
            if sum(part.pairs for part in parts[two]) == self.games // 2:
                now = time.perf_counter()
                matches[two] = self._write(two, Games.merged(parts.pop(two)), now - before, paths[two])
                files[two].unlink(missing_ok=True)
                before = now
        return [matches[two] for two in self.pairings]

    def _read(self, two: tuple[int, int], path: Path) -> LeagueMatch:
        again = "delete it to play it again"

        def build(content: dict[str, Any]) -> LeagueMatch:
            found = typed(content, _Saved)
            won = np.array(["012".index(digit) for digit in found.won])
            less = None if found.less_luck is None else np.array(found.less_luck)
            result, games, wins = found.result, 2 * len(won), int(won.sum())
            if (games, wins, wins / games) != (result.games, result.wins, result.win_rate):
                raise ValueError("its games do not match its result")
            if less is not None and (len(less) != len(won) or not np.isfinite(less).all()):
                raise ValueError("its games and its results less luck do not match")
            for one in (result, result.luck_adjusted or result):
                means = one.win_rate, one.margin, one.net_match_points
                low, high = np.array([one.interval, one.margin_interval, one.net_match_points_interval]).T
                is_within = np.isfinite(means) & (low - _ROUNDING <= means) & (means <= high + _ROUNDING)
                if not (is_within.all() and 0 <= one.win_rate <= 1):
                    raise ValueError("its means do not match their intervals")
            return LeagueMatch(result, won, less)

        match = read_json(path, f"{path} is not a whole match: {again}", build)
        result = match.result
        held = (result.a, result.b, result.games, result.seed, match.less_luck is not None)
        asked = (*(self.agents[k] for k in two), self.games, self.seed, self.luck_adjusted)
        if held != asked:
            holds, is_asked = (
                "{} against {}, {} games, seed {}".format(*what) + (", less luck" if what[-1] else "")
                for what in (held, asked)
            )
            raise ValueError(f"{path} holds {holds}, and this league asks for {is_asked}: {again}")
        return match

    def _words(self, two: tuple[int, int]) -> str:
        return " against ".join(self.agents[k] for k in two)

    def _play_left(
        self,
        files: Mapping[tuple[int, int], Path],
        threads: int,
        on_progress: Callable[[int, str], None],
        cluster: Cluster | None,
    ) -> Iterator[tuple[tuple[int, int], Games]]:
        """The games of some matches, in parts: first those that its file of games holds, then others as they end."""
        whole = Shard.of(self.seed, 0, self.games // 2, keep_records=True, measure_luck=self.luck_adjusted)
        left = []
        for two, file in files.items():
            a, b = (make_agent(self.agents[k]) for k in two)
            check_output(file)  # reading a FIFO would wait forever
            kept = take_up(file, a, b, whole)
            if kept is not None:
                on_progress(len(kept.scores), self._words(two))
                yield two, kept
            if cluster is not None:
                left.append((two, (a, b, cut(whole.part(kept.pairs if kept else 0, len(whole.deals))))))
                continue
            for part in play_games(
                a,
                b,
                self.games,
                self.seed,
                threads=threads,
                keep_records=True,
                measure_luck=self.luck_adjusted,
                kept=kept,
                on_progress=partial(lambda what, done: on_progress(done, what), self._words(two)),
            ):
                yield two, part
        if cluster is not None:
            for place, part in play_matches(cluster, [match for _, match in left]):
                on_progress(len(part.scores), self._words(left[place][0]))
                yield left[place][0], part

    def _write(self, two: tuple[int, int], games: Games, seconds: float, path: Path) -> LeagueMatch:
        a, b = (self.agents[k] for k in two)
        match = LeagueMatch(
            summarise(a, b, self.seed, games, seconds),
            games.won.reshape(-1, 2).sum(axis=1),
            2 * pairs_less_luck(games)[:, WINS] if self.luck_adjusted else None,
        )
        less = None if match.less_luck is None else match.less_luck.tolist()
        write_json(path, _Saved(match.result, "".join(map(str, match.won.tolist())), less))
        return match


class _Saved(NamedTuple):
    """The content of the file of a match."""

    result: MatchResult
    won: str
    less_luck: tuple[float, ...] | None = None
