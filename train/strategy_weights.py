"""Lang's learner: weights for eight discard strategies at each pair of scores (Lang 2018, sections 3 and 4).

After a game the *advocates* of each discard, the strategies that most wanted it, get credit for it. Their weights
at the place where it was made (own score, opponent's score, pone or dealer) are multiplied by a factor that grows
with the margin of the game and decays with every deal before the last. The eight weights are then normalised to a
sum of 1::

    c_j = C (1 - d) ** (T - j),    C = s (own score - opponent's score),    w_i <- w_i exp(c_j / 100)

Where the thesis leaves a choice, or its rule cannot be followed to the letter:

* It multiplies by c_j itself. A lost game would then make weights negative, and a narrow win would shrink the weights
  of its early deals, which it means to reward. Here c_j is a percentage: the factor is exp(c_j / 100), which is
  about 1 + c_j / 100 for small c_j, always above 0, and such that a loss undoes a win.
* No weight sinks below 0.000001 before normalising: from 0 none could recover.
* It does not fix the number of advocates: here three, and all that want the discard as much as the third does.
  Ties are common, as several strategies often want the same discard most; any order among them would favour one.
* Two agents with separate weights (``opponent="other"``) play one match at the end. It has no tournament of more.
* Its cap reads max{K, c w}, which would be a floor. Here it is the minimum, as its text describes.
* The margin of a game is mostly luck, and where a player leads it is nearly always positive, so every discard
  made there is rewarded: Lang's agents ended level with random weights, and so does the preset ``paper``. The default
  also learns the expected margin at each place (``baseline``), and credits a deal with its change of this margin
  (``crib_env.train.strategy_weights_games.credits``); without ``baseline`` that is exactly c_j as above.
* The pegging records are this library's (``standard_pegging``), exact enough that no class lacks data, and stay fixed.

A kernel plays and learns at once (:mod:`crib_env.train.strategy_weights_games`), so all of the time counts as
simulation. ``snapshots/`` keeps the weights after each tenth of the games, of two agents those of the winner.

``--preset paper`` has the parameters from which section 4.2 starts all its experiments, on its two agents. Those
experiments are settings: ``--scaling 0.4``, ``--credit-decay 0.5``, ``--neighbours 0.5``, ``--cap 0.8``; rounds 1 and
2 of section 4.1 are ``--exploration-rate variance --explore-by values --scaling 10`` and ``--opponent static``.
"""

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
from crib_env.agents.strategy_weights import SHAPE, StrategyWeightsAgent, starting_weights
from crib_env.engine import GAME
from crib_env.evaluate.matches.mirrored import play_series, wins_series
from crib_env.evaluate.runs.format import NET_POINTS_IN_TRAINING, UPDATES, snapshot
from crib_env.tables.lang_strategies import pegging_values
from crib_env.tables.shipped import standard_pegging
from crib_env.train.loop.learning import Count, RunSettings
from crib_env.train.loop.run import Round, Rounds
from crib_env.train.loop.strength import is_due
from crib_env.train.strategy_weights_games import COUNTED, Rule, blend_all, play_and_learn
from crib_env.values import Positive, Range, Share, WholeNumber

_STARTS, _DEALS, _MATCHES = range(3)  # uses of random numbers
_SNAPSHOTS = 10  # besides the initial one
_MATCH_GAMES = 100  # of the match of two agents


@dataclass(frozen=True)
class StrategyWeightsSettings(RunSettings):
    """Settings of Lang's learner."""

    preset: Literal["default", "paper"] = "default"
    """Defaults of the other settings: the best found, or Lang's."""
    opponent: Literal["self", "other", "static"] = "self"
    """The opponent: itself, another learner with its own weights, or random weights that stay fixed."""
    episodes: Count = 1_000_000
    """Games to play."""
    episodes_at_once: Count = 1_000
    """Games between two looks at the clock."""
    scaling: Annotated[float, Range(0, 100, above=True)] = 2.0
    """s: change of a weight per point of margin, in percent."""
    credit_decay: Share = 0.1
    """d: how much less each earlier deal counts than the one after it."""
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
    evaluations: WholeNumber = 10
    """How often to measure strength during training."""

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
            cap=math.inf if self.cap is None else self.cap,
            baseline=self.baseline,
        )


PRESETS = {
    "default": StrategyWeightsSettings(baseline=0.02, credit_decay=0.9, neighbours=1.0),
    "paper": StrategyWeightsSettings(preset="paper", opponent="other"),
}


class StrategyWeights:
    """The agent in training, or two.

    Attributes:
        weights: (n, 121, 121, 2, 8) float32, of each agent.
        expected: (121, 121, 2) float32, the expected margins, see ``StrategyWeightsSettings.baseline``.
        winner: the number of the agent whose strength is measured.
    """

    Settings, PRESETS = StrategyWeightsSettings, PRESETS

    def __init__(self, settings: StrategyWeightsSettings) -> None:
        self.settings, self.folder, self.winner = settings, Path(), 0
        n = 1 if settings.opponent == "self" else 2
        self.learns = range(1 if settings.opponent == "static" else n)
        self.weights = np.stack([starting_weights("random", seed_of(settings.seed, _STARTS, k)) for k in range(n)])
        self.expected = np.zeros(SHAPE[:3], np.float32)
        if settings.baseline > 0:  # the lead so far is a good first guess
            self.expected += (np.arange(SHAPE[0])[:, None] - np.arange(SHAPE[1]))[..., None]
        self._pegging = pegging_values(standard_pegging())
        play_and_learn(  # compiles before the clocks start
            np.zeros(1, GAME),
            1,
            (self.weights[0].copy(), self.weights[-1].copy()),
            True,
            self.expected.copy(),
            self._pegging,
            settings.rule,
            np.zeros(len(COUNTED)),
        )

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Plays games, after which the weights of those who learn change; scalars for TensorBoard.

        Everything random follows from the seed and the number of games before.

        Raises:
            FloatingPointError: a weight is NaN.
        """
        settings, n, before = self.settings, now.episodes, now.episodes_before
        games, tally = np.zeros(1, GAME), np.zeros(len(COUNTED))
        games["episode_stream"] = seed_of(settings.seed, _DEALS, before)
        players, second_learns = (self.weights[0], self.weights[-1]), settings.opponent != "static"
        play_and_learn(games, n, players, second_learns, self.expected, self._pegging, settings.rule, tally)
        if not np.isfinite(self.weights).all():
            raise FloatingPointError("weights are no longer numbers")
        if is_due(before, before + n, settings.episodes, _SNAPSHOTS):
            self._save_snapshots(before + n)
        sums = dict(zip(COUNTED, tally.tolist()))
        tags = {"explored": "share of random discards", "exploration": "exploration", "variance": "variance of weights"}
        values: dict[str, float] = {f"learning/{tag}": sums[name] / sums["discards"] for name, tag in tags.items()}
        if settings.opponent != "self":  # in self-play both sides are the same player, and the difference is luck
            values[NET_POINTS_IN_TRAINING] = sums["margin"] / n
        return values | {UPDATES: n}  # each changes the weights of one place for each of its deals

    @property
    def agent(self) -> StrategyWeightsAgent:
        """The winner, or the first of two before their match."""
        return self.player(self.winner)

    def player(self, k: int) -> StrategyWeightsAgent:
        """An agent that decides as the k-th does now, without exploration."""
        decisive = self.weights[k].copy()
        if self.settings.neighbours > 0:
            blend_all(self.weights[k], self.settings.neighbours, decisive)
        return StrategyWeightsAgent(decisive)

    def own_loop(self, rounds: Rounds) -> None:
        """The rounds, with snapshots in the folder, and at the end the match of two learners."""
        self.folder = rounds.folder.path
        if rounds.position.episodes == 0:
            self._save_snapshots(0)
        rounds.run()
        if self.settings.opponent == "other":
            seed = seed_of(self.settings.seed, _MATCHES, 0, 0)
            scores = play_series(self.player(0), self.player(1), _MATCH_GAMES, seed)
            self.winner = 0 if wins_series(scores) else 1
            shutil.rmtree(snapshot(self.folder, 1 - self.winner, 0).parent, ignore_errors=True)

    def _save_snapshots(self, games: int) -> None:
        for k in self.learns:
            path = snapshot(self.folder, k, games).with_suffix(SUFFIX)
            path.parent.mkdir(parents=True, exist_ok=True)
            self.player(k).save(path)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        return {"weights": torch.from_numpy(self.weights), "expected": torch.from_numpy(self.expected)}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`.

        Raises:
            ValueError: they do not fit these agents; kernels would write past the end of smaller arrays.
        """
        own = self.state_dict()
        for name, tensor in own.items():
            if tensors[name].shape != tensor.shape or tensors[name].dtype != tensor.dtype:
                wanted, found = (f"{one.dtype} of shape {list(one.shape)}" for one in (tensor, tensors[name]))
                raise ValueError(f"{name} must be {wanted}, not {found}")
        weights, expected = (tensors[name].numpy() for name in own)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and np.isfinite(expected).all()):
            raise ValueError("a weight is below 0 or no number")
        self.weights, self.expected = weights, expected


def seed_of(*numbers: int) -> int:
    """A seed of 63 bits for these numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
