"""How the papers' claims are measured: a claim names one of these functions, and its arguments after the first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents import Agent, make_agent
from crib_env.agents.choosing import by_phase
from crib_env.agents.strategy_weights import STRATEGIES, StrategyWeightsAgent
from crib_env.batch import SOURCES
from crib_env.cards import JACK
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.matches.match import play_match
from crib_env.evaluate.matches.mirrored import mean_of_pairs, play_deals
from crib_env.evaluate.runs.format import POINTS_A_HAND, band_of, read_config, read_summary, snapshots_of
from crib_env.evaluate.statistics import mean_interval
from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_sizes
from crib_env.exact.discard_means import STARTERS
from crib_env.kernels import bit, kernel, mask_of
from crib_env.players.agent import Powers
from crib_env.players.games import paired_rate_interval
from crib_env.scoring import SUIT, show_points
from crib_env.values import typed

RUN = "RUN"  # in the name of an agent: the folder of the claim's training


class Measured(NamedTuple):
    """A value measured here, with its 95 % interval (none if it is exact), and its sample."""

    value: float
    interval: tuple[float, float] | None
    sample: str


class Effort(NamedTuple):
    """The input of a measurement: the size of its sample, in the unit of the claim, and the folders of trainings."""

    n: int
    seed: int = 0
    threads: int = 1
    runs: tuple[Path, ...] = ()


def exact(value: float, sample: str = "exact") -> Measured:
    """A value without an interval."""
    return Measured(float(value), None, sample)


def mean_of(values: np.ndarray, sample: str) -> Measured:
    """The mean of independent values (N,)."""
    return Measured(float(np.mean(values)), mean_interval(values), sample)


Player = str | list[Any]
"""A name, in which ``RUN`` stands for the training; ``["discards_and_lays", NAME, NAME]``; or ``["snapshot", TENTHS]``,
the training's agent after so many tenths of it."""


def player(which: Player, effort: Effort) -> Agent:
    """Makes a player of a claim."""
    if isinstance(which, str):
        return make_agent(which.replace(RUN, str(effort.runs[0])) if RUN in which else which)
    kind, *rest = which
    return _snapshots(effort)[rest[0]] if kind == "snapshot" else DiscardsAndLays(*map(make_agent, rest))


class DiscardsAndLays:
    """Discards as one player does, and plays its cards as another does."""

    powers = Powers()

    def __init__(self, discards: Agent, lays: Agent) -> None:
        self.name = f"{discards.name}'s discards, {lays.name}'s play"
        self._discards, self._lays = discards, lays

    def act(self, views: PlayerViews) -> np.ndarray:
        """See :class:`crib_env.players.agent.Agent`."""
        return by_phase(views, self._discards.act, self._lays.act)


# Of several papers.


def _match(effort: Effort, a: Player, b: Player, what: str) -> Measured:
    """The ``win_rate`` or the ``margin``, net points a game, of ``effort.n`` mirrored games."""
    result = play_match(player(a, effort), player(b, effort), effort.n, effort.seed, threads=effort.threads)
    interval = result.interval if what == "win_rate" else result.margin_interval
    return Measured(getattr(result, what), interval, f"{result.games:,}")


def win_rate(effort: Effort, a: Player, b: Player) -> Measured:
    """The share of games that ``a`` wins."""
    return _match(effort, a, b, "win_rate")


def margin(effort: Effort, a: Player, b: Player) -> Measured:
    """Net points a game of ``a`` against ``b``."""
    return _match(effort, a, b, "margin")


def net_points_of_pairs(effort: Effort, a: Player, b: Player, episode: str = "deal", scale: float = 1.0) -> Measured:
    """Net points of ``a`` against ``b`` in two deals, one dealt by each, times ``scale``."""
    tally = play_deals(player(a, effort), player(b, effort), effort.n, effort.seed, episode=episode)
    points = tally.sum(axis=(2, 3))
    return mean_of(2 * scale * mean_of_pairs(points[:, 0] - points[:, 1]), f"{effort.n:,} pairs of deals")


def ways(effort: Effort, n: int, k: int, times: int = 1) -> Measured:
    """How many sets of ``k`` cards ``n`` cards have, times a number."""
    return exact(times * math.comb(n, k))


# Lang (2018). Rounds 1 and 2 are trained with s = 10 and s = 2, about which the thesis says only that one is a fifth of
# the other, and that the experiments of section 4.2 begin with s = 2.

_TENTHS = 10  # snapshots of a run, besides the initial one


def _snapshots(effort: Effort) -> list[StrategyWeightsAgent]:
    """The run's winner at its start and after each tenth of its games."""
    (run,) = effort.runs
    return [StrategyWeightsAgent.load(path) for path in snapshots_of(run)]


def against_all_snapshots(effort: Effort, what: str) -> Measured:
    """The result of the final weights against all their snapshots but the last, which equals them."""
    each = effort._replace(n=effort.n // _TENTHS // 2 * 2)
    values = [_match(each, RUN, ["snapshot", tenths], what).value for tenths in range(_TENTHS)]
    # The spread between snapshots includes that of the games.
    return mean_of(np.array(values), f"{effort.n:,}, ten opponents")


def preferred(effort: Effort, strategy: str, least: int, most: int) -> Measured:
    """Among the dealer's places with leads from ``least`` to ``most`` where it has learned: the share at which this
    strategy has the highest weight, minus the largest such share of another strategy."""
    first, *_, last = (agent.weights[:, :, DEALER] for agent in _snapshots(effort))
    lead = np.arange(WIN)[:, None] - np.arange(WIN)
    tops = last[(first != last).any(axis=-1) & (lead >= least) & (lead <= most)].argmax(axis=-1)
    shares = np.bincount(tops, minlength=len(STRATEGIES)) / max(len(tops), 1)
    own = STRATEGIES.index(strategy)
    return exact(shares[own] - np.delete(shares, own).max(), f"{len(tops):,} places")


def table_4_misprints(effort: Effort, positions: int, rows: Mapping[str, Sequence[float]]) -> Measured:
    """Of rows with three numbers of positions, and the last in percent: those whose numbers or percent cannot be."""
    wrong = [percent for *_, third, percent in rows.values() if abs(100 * third / positions - percent) > 0.0051]
    falls = [name for name, (first, second, third, _) in rows.items() if not first <= second <= third]
    return exact(len(wrong) + len(falls), f"{len(rows)} rows")


def dealers_advantage(effort: Effort) -> Measured:
    """Points that the dealer's hand and crib score more than pone's hand, between two ``careful`` players."""
    careful = make_agent("careful")
    tally = play_deals(careful, careful, effort.n, effort.seed)
    by_role = tally[::2].sum(axis=1)  # both games of a pair are one
    net = by_role[:, DEALER] - by_role[:, PONE]
    return mean_of(net[:, SOURCES.index("hand")] + net[:, SOURCES.index("crib")], f"{effort.n:,} deals")


# O'Connor (2000). The three players of his discard game score less than by the rules, by 0.07, 0.19 and 0.19 points; if
# neither his nobs nor flushes are counted, all three score as printed. So his networks' 7.3 to 7.6 points are on a
# scale that ends at 8.07, where ours end at 8.29.

PLAYERS = ("random", "ideal", "cheating")
_CHUNK = 4_096  # hands


@kernel
def fill_totals(hands, nobs, flushes, out):
    """Fills ``out`` (N, 3), by ``PLAYERS``: points of six cards (N, 6) over 46 starters; for random, 15 times them.

    A show counts fifteens, pairs and runs, and ``nobs`` and ``flushes`` if they are true.
    """
    for n in range(len(hands)):
        six = mask_of(hands[n])
        best = np.zeros(52, np.int64)  # when the starter is known
        out[n] = 0
        for i in range(6):
            for j in range(i + 1, 6):
                kept = six ^ bit(hands[n, i]) ^ bit(hands[n, j])
                total = np.int64(0)
                for starter in range(52):
                    if (six >> starter) & 1:
                        continue
                    points = show_points(kept, starter, False)
                    if not nobs:
                        points -= (kept >> (13 * (starter // 13) + JACK)) & 1
                    for suit in range(4):
                        if not flushes and kept & (SUIT << (13 * suit)) == kept:
                            points -= 5 if starter // 13 == suit else 4
                    best[starter] = max(best[starter], points)
                    total += points
                out[n, 0] += total
                out[n, 1] = max(out[n, 1], total)
        out[n, 2] = best.sum()


def mean_points(effort: Effort, name: str, nobs: bool, flushes: bool) -> Measured:
    """Points a hand: exact over all deals when the sample is all classes of them, else over random deals."""
    sizes, rows = class_sizes(), np.arange(N_CLASSES)
    if effort.n != N_CLASSES:
        rows = np.random.default_rng(effort.seed).choice(N_CLASSES, effort.n, p=sizes / N_DEALS)
    totals = np.empty((len(rows), len(PLAYERS)), np.int64)
    for first in range(0, len(rows), _CHUNK):
        some = slice(first, first + _CHUNK)
        fill_totals(cards_of(rows[some]), nobs, flushes, totals[some])
    points, scale = totals[:, PLAYERS.index(name)], STARTERS * (15 if name == "random" else 1)
    if effort.n == N_CLASSES:
        return exact((points * sizes).sum() / N_DEALS / scale, "exact, all deals")
    return mean_of(points / scale, f"{effort.n:,} deals, every starter")


def discard_network(effort: Effort) -> Measured:
    """Points a hand of the trained network, as its training has measured them."""
    found = read_summary(effort.runs[0], lambda content: typed(content["scalars"], dict[str, float]))
    low, high = (found[end] for end in band_of(POINTS_A_HAND))
    return Measured(found[POINTS_A_HAND], (low, high), f"{read_config(effort.runs[0]).settings['final_games']:,} deals")


# Sharan and Pawar (2022) study the play alone, and do not define the games that their players win. Their greedy player
# discards well, plays at random (section "Greedy Agent") and wins 51 % against random, so these games seem to have no
# discards. Hence each match is played twice here: as whole games, and as games in which both discard at random.


def shares_of_400(effort: Effort) -> Measured:
    """The distance of 48.66 % and 45.33 % from the nearest whole number of 400 games, in games."""
    return exact(max(abs(400 * p - round(400 * p)) for p in (0.4866, 0.4533)))


# Mueller (1987). His results are games against people, which cannot be repeated here. What can be measured is his
# arithmetic, and its strength against the other players.


def gain_by_mixing(effort: Effort, before: Sequence[int], after: Sequence[int]) -> Measured:
    """The difference of the shares of games won, lost by the program, with Newcombe's interval (1998, method 10)."""

    def share(won: int, lost: int) -> tuple[float, float, float]:
        return won / (won + lost), *paired_rate_interval(np.repeat([1.0, 0.0], [won, lost]))

    (p, low_p, high_p), (q, low_q, high_q) = share(*after), share(*before)
    interval = p - q - math.hypot(p - low_p, high_q - q), p - q + math.hypot(high_p - p, q - low_q)
    return Measured(p - q, interval, f"the paper's {sum(before)} and {sum(after)} games")


def optimal_share(effort: Effort, payoffs: Sequence[float], column: int) -> Measured:
    """How often the first row, or column, is played in equilibrium of a zero-sum game with pay-offs (a, b), (c, d) to
    the rows: the program leads a pair or not, by rows, and the opponent pairs the lead or not."""
    a, b, c, d = payoffs
    if max(min(a, b), min(c, d)) >= min(max(a, c), max(b, d)):  # a saddle point: nobody mixes
        return exact(max(a, c) <= max(b, d) if column else min(a, b) >= min(c, d))
    return exact((d - b if column else d - c) / (a - b - c + d))
