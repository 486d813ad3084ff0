"""Lang's learner (:mod:`crib_env.train.strategy_weights.learner`): its settings, and the agents of a run in pairs."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
import tyro

from crib_env.agents.networks.weights_file import SUFFIX
from crib_env.agents.strategy_weights import SHAPE, STARTS, StrategyWeightsAgent, starting_weights
from crib_env.engine import GAME
from crib_env.evaluate.matches.single_deals import play_series, wins_series
from crib_env.evaluate.runs.format import NET_POINTS_IN_TRAINING, snapshot, snapshot_folder
from crib_env.tables.lang_strategies import pegging_values
from crib_env.tables.shipped import standard_pegging
from crib_env.train.loop.learning import Count, RunSettings, StartSpread
from crib_env.train.loop.strength import is_due
from crib_env.train.strategy_weights.games import COUNTED, Rule, blend_all, play_and_learn
from crib_env.values import Positive, Range, Share, WholeNumber

_STARTS, _DEALS, _MATCHES = range(3)  # uses of random numbers


@dataclass(frozen=True)
class StrategyWeightsSettings(RunSettings):
    """Settings of Lang's learner."""

    preset: Literal["default", "paper"] = "default"
    """Defaults of the other settings: the best found, or Lang's."""
    opponent: Literal["self", "other", "static"] = "self"
    """The opponent: itself, another learner with its own weights, or random weights that stay fixed."""
    rounds: Annotated[int, Range(1, 10)] = 1
    """Rounds of the tournament among 2 ** rounds agents; more than 1 needs opponent "other"."""
    match_games: Count = 100
    """Games of the match that ends a round for each pair in the winners' bracket."""
    start: str = "random"
    """Initial weights: "random", or almost all on one strategy, for example "hand_max_avg"."""
    start_spread: StartSpread = 60
    """Games start from random scores at most this many points apart."""
    episodes: Count = 1_000_000
    """Games that each pair plays in a round."""
    episodes_at_once: Count = 1_000
    """Games between two looks at the clock."""
    scaling: Annotated[float, Range(0, 100, above=True)] = 2.0
    """s: change of a weight per point of margin, in percent."""
    credit_decay: Share = 0.1
    """d: how much less each earlier deal counts than the one after it."""
    advocates: Annotated[int, Range(1, 8)] = 3
    """How many strategies get credit for a discard; those tied with the last of them do too."""
    forgiveness: Share = 1.0
    """Weight of a loss relative to a win; 0.25 in the thesis's forgiving punishments."""
    cap: Annotated[Positive | None, tyro.conf.arg(help_behavior_hint="")] = None
    """K: upper limit of a weight after an update; none, or 0.5 to 0.8 in the thesis."""
    neighbours: Share = 0.0
    """Y: share of the weights at neighbouring scores in a decision."""
    baseline: Share = 0.0
    """Learning rate of the expected margin at each pair of scores, which is then subtracted; 0, as in Lang: nothing."""
    exploration: Share = 0.3
    """Probability of a random discard in training."""
    exploration_rate: Literal["constant", "variance"] = "constant"
    """"variance" subtracts the variance of the weights from that probability; "constant" leaves it."""
    explore_by: Literal["uniform", "values"] = "uniform"
    """Random discards are equally likely, or likely in proportion to their weighted desirability."""
    snapshots: WholeNumber = 10
    """Snapshots of its weights that a pair keeps in a round, evenly spaced, besides the initial ones."""
    evaluations: WholeNumber = 10
    """How often to measure strength during training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start not in STARTS:
            raise ValueError(f"start={self.start!r} is not allowed: choose one of {', '.join(STARTS)}")
        if self.rounds > 1 and self.opponent != "other":
            raise ValueError(f"rounds={self.rounds} is not allowed with opponent={self.opponent!r}: choose 'other'")

    @property
    def n_agents(self) -> int:
        """Number of agents, including those whose weights never change."""
        return 1 if self.opponent == "self" else 2**self.rounds

    @property
    def pairs(self) -> int:
        """How many pairs play in a round."""
        return max(self.n_agents // 2, 1)

    @property
    def all_episodes(self) -> int:
        """Games of all pairs in all rounds."""
        return self.rounds * self.pairs * self.episodes

    @property
    def rule(self) -> Rule:
        """The settings that the kernel takes."""
        return Rule(
            exploration=self.exploration,
            less_variance=self.exploration_rate == "variance",
            by_values=self.explore_by == "values",
            neighbours=self.neighbours,
            scaling=self.scaling,
            credit_decay=self.credit_decay,
            advocates=self.advocates,
            forgiveness=self.forgiveness,
            cap=math.inf if self.cap is None else self.cap,
            baseline=self.baseline,
            start_spread=self.start_spread,
        )


class Tournament:
    """The agents of a run and their pairing.

    Attributes:
        weights: (n, 121, 121, 2, 8) float32.
        expected: (pairs, 121, 121, 2) float32, the expected margins, see ``StrategyWeightsSettings.baseline``.
        order: (n,) agents, neighbours play each other; the winners' bracket comes first.
    """

    def __init__(self, settings: StrategyWeightsSettings, folder: Path = Path()) -> None:
        self.settings, self.folder = settings, folder
        n = settings.n_agents
        starts = [settings.start] * n if settings.opponent != "static" else [settings.start, "random"]
        self.weights = np.stack(
            [starting_weights(start, seed_of(settings.seed, _STARTS, k)) for k, start in enumerate(starts)]
        )
        self.expected = np.zeros((settings.pairs, *SHAPE[:3]), np.float32)
        if settings.baseline > 0:  # the lead so far is a good first guess
            self.expected += (np.arange(SHAPE[0])[:, None] - np.arange(SHAPE[1]))[..., None]
        self.order = np.arange(n)
        self.learner = 0
        self._pegging = pegging_values(standard_pegging())

    def pair(self, pair: int) -> tuple[int, int]:
        """The agents that play each other as the ``pair``-th of a round; one alone plays itself."""
        return int(self.order[2 * pair % len(self.order)]), int(self.order[(2 * pair + 1) % len(self.order)])

    @property
    def agent(self) -> StrategyWeightsAgent:
        """The player of the pair that played last; of two learners, the first."""
        return self.player(self.learner)

    def learners(self, pair: int) -> list[int]:
        """Those of a pair that learn."""
        return sorted(set(self.pair(pair)))[: 1 if self.settings.opponent == "static" else 2]

    def turn(self, episodes: int) -> tuple[int, int, int]:
        """The round, the pair that plays next, and the number of its games so far, after a number of games of all."""
        pairing, played = divmod(episodes, self.settings.episodes)
        return *divmod(pairing, self.settings.pairs), played

    def play(self, pair: int, episodes_before: int, n: int) -> dict[str, float]:
        """Plays ``n`` games of a pair; everything random follows from the seed and the number of games before.

        Raises:
            FloatingPointError: a weight is NaN.
        """
        first, second = self.pair(pair)
        self.learner = self.learners(pair)[0]
        games, tally = np.zeros(1, GAME), np.zeros(len(COUNTED))
        games["episode_stream"] = seed_of(self.settings.seed, _DEALS, episodes_before)
        learns = self.settings.opponent != "static"
        players, expected = (self.weights[first], self.weights[second]), self.expected[pair]
        play_and_learn(games, n, players, learns, expected, self._pegging, self.settings.rule, tally)
        if not (np.isfinite(self.weights[first]).all() and np.isfinite(self.weights[second]).all()):
            raise FloatingPointError(f"weights of the agents {first} and {second} are no longer numbers")
        sums = dict(zip(COUNTED, tally.tolist()))
        tags = {"explored": "share of random discards", "exploration": "exploration", "variance": "variance of weights"}
        values: dict[str, float] = {f"learning/{tag}": sums[name] / sums["discards"] for name, tag in tags.items()}
        if self.settings.opponent != "self":  # in self-play both sides are the same player, and the difference is luck
            values[NET_POINTS_IN_TRAINING] = sums["margin"] / n
        return values

    def player(self, k: int) -> StrategyWeightsAgent:
        """An agent that decides as the k-th does now, without exploration."""
        decisive = self.weights[k].copy()
        if self.settings.neighbours > 0:
            blend_all(self.weights[k], self.settings.neighbours, decisive)
        return StrategyWeightsAgent(decisive)

    def end_round(self, number: int) -> None:
        """Plays the matches of the winners' bracket. Winners advance; losers start over, behind them."""
        settings, size = self.settings, len(self.order) >> number
        winners, losers = [], []
        for pair in range(size // 2):
            first, second = self.pair(pair)
            seed = seed_of(settings.seed, _MATCHES, number, pair)
            scores = play_series(self.player(first), self.player(second), settings.match_games, seed)
            winner, loser = (first, second) if wins_series(scores) else (second, first)
            winners.append(winner)
            losers.append(loser)
            self.weights[loser] = starting_weights(settings.start, seed + 1)
            shutil.rmtree(snapshot_folder(self.folder, loser), ignore_errors=True)
        self.order[:size] = winners + losers

    def save_snapshots(self, pair: int, games: int) -> None:
        """Saves the weights of a pair's learners after a number of games."""
        for k in self.learners(pair):
            path = snapshot(self.folder, k, games).with_suffix(SUFFIX)
            path.parent.mkdir(parents=True, exist_ok=True)
            self.player(k).save(path)

    def keep_and_pair_off(self, before: int, now: int) -> None:
        """Saves the snapshots that are due, and ends a round of the tournament; called between rounds of games.

        Args:
            before: games of all pairs before the last round of games; equal to ``now`` before the first.
            now: games of all pairs so far.
        """
        settings = self.settings
        if now > before:
            number, pair, played = self.turn(before)
            done = played + now - before
            if is_due(played, done, settings.episodes, settings.snapshots):
                self.save_snapshots(pair, number * settings.episodes + done)
            if now % (settings.pairs * settings.episodes) == 0 and settings.opponent == "other":
                self.end_round(number)
        number, pair, played = self.turn(now)
        if played == 0 and now < settings.all_episodes:
            self.save_snapshots(pair, number * settings.episodes)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        return {name: torch.from_numpy(getattr(self, name)) for name in ("weights", "expected", "order")}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`.

        Raises:
            ValueError: they do not fit this tournament; kernels would write past the end of smaller arrays.
        """
        own = self.state_dict()
        for name, tensor in own.items():
            if tensors[name].shape != tensor.shape or tensors[name].dtype != tensor.dtype:
                wanted, found = (f"{one.dtype} of shape {list(one.shape)}" for one in (tensor, tensors[name]))
                raise ValueError(f"{name} must be {wanted}, not {found}")
        weights, expected, order = (tensors[name].numpy() for name in own)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and np.isfinite(expected).all()):
            raise ValueError("a weight is below 0 or no number")
        if sorted(order) != list(range(len(order))):
            raise ValueError(f"{order.tolist()} is not an order of the agents")
        self.weights, self.expected, self.order = weights, expected, order


def seed_of(*numbers: int) -> int:
    """A seed of 63 bits for these numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
