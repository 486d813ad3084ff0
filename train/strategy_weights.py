"""Lang's learner: weights for eight discard strategies at each pair of scores (Lang 2018, sections 3 and 4).

After a game the *advocates* of each discard, the strategies that most wanted it, get credit for it. Their weights
where it was made (own score, opponent's score, pone or dealer) are multiplied by a factor that grows with the margin of
the game and decays with every deal before the last. The eight weights are then normalised::

    c_j = C (1 - d) ** (T - j),    C = s (own score - opponent's score),    w_i <- w_i exp(c_j / 100)

Differences from the thesis:

* It multiplies by c_j itself: a lost game would make weights negative, and a narrow win would shrink those of its early
  deals. Here the factor is exp(c_j / 100), always above 0, and a loss undoes a win.
* No weight sinks below 0.000001: from 0 none could recover.
* It does not fix the number of advocates: here three, and all that want the discard as much as the third does.
* Two agents with separate weights (``opponent="other"``) play one match at the end. It has no tournament of more.
* Its cap reads max{K, c w}, which would be a floor. Here it is the minimum, as its text describes.
* The margin of a game is mostly luck, and where a player leads it is nearly always positive: Lang's agents ended level
  with random weights, and so does the preset ``paper``. The default also learns the expected margin at each place
  (``baseline``), and credits a deal with its change of this margin (:func:`credits`).
* The pegging records are this library's (``standard_pegging``), and stay fixed.

``snapshots/`` keeps the weights after each tenth of the games. ``--preset paper`` has the parameters from which section
4.2 starts its experiments: ``--scaling 0.4``, ``--credit-decay 0.5``, ``--neighbours 0.5``, ``--cap 0.8``; rounds 1 and
2 of section 4.1 are ``--exploration-rate variance --explore-by values --scaling 10`` and ``--opponent static``.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
import tyro

import crib_env.agents.strategy_weights as player
from crib_env import engine
from crib_env.agents.networks.weights_file import SUFFIX
from crib_env.agents.strategy_weights import N_STRATEGIES, SHAPE, StrategyWeightsAgent
from crib_env.evaluate.matches.mirrored import play_series, wins_series
from crib_env.evaluate.runs.format import NET_POINTS_IN_TRAINING, snapshot
from crib_env.exact.discard_statistics import N_DISCARDS, PLACES
from crib_env.kernels import GOLDEN, below, kernel, mix
from crib_env.players.policies import greedy_play
from crib_env.tables.shipped import standard_pegging
from crib_env.train.loop.run import Round, Rounds
from crib_env.train.loop.settings import Count, RunSettings
from crib_env.train.loop.strength import is_due
from crib_env.values import Positive, Range, Share, WholeNumber

_STARTS, _DEALS, _MATCHES = range(3)  # uses of random numbers
_SNAPSHOTS = 10  # besides the initial one
_MATCH_GAMES = 100  # of the match of two agents
_MOST_DEALS = 2 * engine.WIN  # more than in any game: the last card of every deal scores at least one point
_ADVOCATES = 3  # how many strategies get credit for a discard; those tied with the last of them do too
_START_SPREAD = 60  # points: games start from random scores at most so far apart
_LEAST = 1e-6  # of a weight: one that sank to 0 could never rise again


class Rule(NamedTuple):
    """How a learner explores and learns: settings for the kernel."""

    exploration: float
    less_variance: bool
    by_values: bool
    neighbours: float
    scaling: float
    credit_decay: float
    cap: float
    baseline: float


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
    credit_decay: Share = 0.9
    """d: how much less each earlier deal counts than the one after it."""
    cap: Annotated[Positive | None, tyro.conf.arg(help_behavior_hint="")] = None
    """K: upper limit of a weight after an update; none, or 0.5 to 0.8 in the thesis."""
    neighbours: Share = 1.0
    """Y: share of the weights at neighbouring scores in a decision."""
    baseline: Share = 0.02
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
        ways = self.exploration_rate == "variance", self.explore_by == "values"
        cap = math.inf if self.cap is None else self.cap
        return Rule(self.exploration, *ways, self.neighbours, self.scaling, self.credit_decay, cap, self.baseline)


PRESETS = {
    "default": StrategyWeightsSettings(),
    "paper": StrategyWeightsSettings(preset="paper", opponent="other", baseline=0.0, credit_decay=0.1, neighbours=0.0),
}


@kernel
def weights_at(weights, own, other, role, neighbours, out):
    """Fills ``out`` (8,) with the weights used at a place: its own with the share 1 - Y, and with the share Y, which is
    ``neighbours``, the sum over the places at most one point away in either score, itself included; normalised."""
    out[:] = weights[own, other, role]
    if neighbours > 0:
        out *= 1 - neighbours
        for i in range(max(own - 1, 0), min(own + 2, engine.WIN)):
            for j in range(max(other - 1, 0), min(other + 2, engine.WIN)):
                for strategy in range(N_STRATEGIES):
                    out[strategy] += neighbours * weights[i, j, role, strategy]
        out /= out.sum()


@kernel
def blend_all(weights, neighbours, out):
    """:func:`weights_at` at every place: ``out`` (121, 121, 2, 8)."""
    row = np.empty(N_STRATEGIES)
    for own in range(engine.WIN):
        for other in range(engine.WIN):
            for role in range(2):
                weights_at(weights, own, other, role, neighbours, row)
                out[own, other, role] = row


@kernel
def variance_of(weights):
    """Var(w) with n - 1 in the denominator: 1/8 for one strategy alone, so that 0.3 falls to 0.18 as in Lang."""
    mean = weights.sum() / N_STRATEGIES
    return ((weights - mean) ** 2).sum() / (N_STRATEGIES - 1)


@kernel
def draw(values, word):
    """A random index into ``values``, with probabilities in proportion to them, by a random word."""
    left = np.float64(word >> np.uint64(11)) * 2.0**-53 * values.sum()
    for k in range(len(values) - 1):
        left -= values[k]
        if left < 0:
            return k
    return len(values) - 1


@kernel
def find_advocates(wanted, n, out):
    """Sets ``out`` (8,) bool for the ``n`` strategies that most want a discard, and for those tied with the last."""
    for i in range(N_STRATEGIES):
        more = 0
        for j in range(N_STRATEGIES):
            more += wanted[j] > wanted[i]
        out[i] = more < n


@kernel
def credits(expected, margin, credit_decay, out):
    """Fills ``out`` (T,) with the credit of each deal, in points: by how much it and, discounted, later ones changed
    the margin ``expected`` (T,) before. Where nothing is expected, that is Lang's margin · (1 - d) ** (T - j)."""
    credit, after = 0.0, margin
    for j in range(len(out) - 1, -1, -1):
        credit = after - expected[j] + (1 - credit_decay) * credit
        after = expected[j]
        out[j] = credit


@kernel
def update(weights, advocates, factor, cap):
    """Multiplies the advocates' weights, each up to at most ``cap``, and normalises all (8,) to a sum of 1."""
    total, row = 0.0, np.empty(N_STRATEGIES)
    for i in range(N_STRATEGIES):
        row[i] = weights[i]
        if advocates[i]:
            row[i] = min(factor * row[i], cap)
        row[i] = max(row[i], _LEAST)
        total += row[i]
    for i in range(N_STRATEGIES):
        weights[i] = row[i] / total


@kernel
def _word(g):
    """A random word from a stream that deals do not use."""
    g["policy_stream"] += GOLDEN
    return mix(g["policy_stream"])


@kernel
def _discard(g, weights, pegging, rule, place, advocates, tally):
    """Chooses the discard of the seat to act; records where it was made and who advocated it."""
    seat = np.int64(g["turn"])
    role = engine.DEALER if g["dealer"] == seat else engine.PONE
    place[0], place[1], place[2] = g["scores"][seat], g["scores"][1 - seat], role
    row = np.empty(N_STRATEGIES)
    weights_at(weights, place[0], place[1], role, rule.neighbours, row)
    cards, wanted, values = player.weigh_discards(g["hand"][seat], row, pegging[role])
    variance = variance_of(row)
    chance = rule.exploration - variance * rule.less_variance
    if np.float64(_word(g) >> np.uint64(11)) * 2.0**-53 < chance:
        k = draw(values, _word(g)) if rule.by_values else below(_word(g), N_DISCARDS)
        tally[2] += 1
    else:
        k = values.argmax()
    find_advocates(wanted[:, k], _ADVOCATES, advocates)
    tally[1] += 1
    tally[3] += variance
    engine.act(g, cards[0, PLACES[k, 0]])
    engine.act(g, cards[0, PLACES[k, 1]])


@kernel
def play_and_learn(games, n, players, second_learns, expected, pegging, rule, tally):
    """Plays ``n`` games of the record's (1,) stream, and learns after each.

    Args:
        players: the weights of seats 0 and 1, perhaps the same array; ``second_learns``: whether those of 1 change too.
        expected: the expected margins; they are learned unless ``baseline`` is 0.
        tally: (4,) float64, to which are added: seat 0's margins, discards, random ones, variances of weights.
    """
    g = games[0]
    places = np.empty((2, _MOST_DEALS, 3), np.int64)
    advocates = np.empty((2, _MOST_DEALS, N_STRATEGIES), np.bool_)
    before, credit = np.empty(_MOST_DEALS), np.empty(_MOST_DEALS)
    for _ in range(n):
        engine.begin_game(g, engine.GAME_EPISODE, engine.TO_DRAW, engine.TO_DRAW, engine.TO_DRAW, _START_SPREAD)
        while g["phase"] != engine.OVER:
            if g["phase"] == engine.DEAL:
                engine.shuffle(g)
                engine.begin_deal(g)
            elif g["phase"] == engine.DISCARD:
                seat, deal = np.int64(g["turn"]), np.int64(g["n_deals"]) - 1
                _discard(g, players[seat], pegging, rule, places[seat, deal], advocates[seat, deal], tally)
            else:
                pile_start, n_laid, count = np.int64(g["pile_start"]), np.int64(g["n_laid"]), np.int64(g["count"])
                engine.act(g, greedy_play(engine.legal_cards(g), g["laid"], pile_start, n_laid, count))
        n_deals = np.int64(g["n_deals"])
        for seat in range(2):
            margin = np.float64(g["scores"][seat] - g["scores"][1 - seat])
            if seat == 0:
                tally[0] += margin
            elif not second_learns:
                break
            for deal in range(n_deals):
                own, other, role = places[seat, deal]
                before[deal] = expected[own, other, role]
            credits(before[:n_deals], margin, rule.credit_decay, credit[:n_deals])
            for deal in range(n_deals):
                own, other, role = places[seat, deal]
                expected[own, other, role] += rule.baseline * credit[deal]
                factor = np.exp(rule.scaling * credit[deal] / 100)
                update(players[seat][own, other, role], advocates[seat, deal], factor, rule.cap)


class StrategyWeights:
    """The agent in training, or two, with ``weights`` (n, 121, 121, 2, 8); their match decides whose strength is
    measured. ``expected`` (121, 121, 2) are the expected margins, see ``StrategyWeightsSettings.baseline``."""

    Settings, PRESETS = StrategyWeightsSettings, PRESETS

    def __init__(self, settings: StrategyWeightsSettings) -> None:
        self.settings, self.winner = settings, 0
        self.folder: Path | None = None  # of the run; without one there are no snapshots
        n = 1 if settings.opponent == "self" else 2
        starts = [player.starting_weights("random", seed_of(settings.seed, _STARTS, k)) for k in range(n)]
        self.weights = np.stack(starts)
        self.expected = np.zeros(SHAPE[:3], np.float32)
        if settings.baseline > 0:  # the lead so far is a good first guess
            self.expected += (np.arange(SHAPE[0])[:, None] - np.arange(SHAPE[1]))[..., None]
        self._pegging = player.pegging_values(standard_pegging())
        self.play_and_learn(Round.first(0))  # compiles before the clocks start

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Plays games, after which the weights of those who learn change; scalars for TensorBoard. Everything random
        follows from the seed and the number of games before. ``FloatingPointError`` if a weight is NaN."""
        settings, n, before = self.settings, now.episodes, now.episodes_before
        games, tally = np.zeros(1, engine.GAME), np.zeros(4)
        games["episode_stream"] = seed_of(settings.seed, _DEALS, before)
        players, second_learns = (self.weights[0], self.weights[-1]), settings.opponent != "static"
        play_and_learn(games, n, players, second_learns, self.expected, self._pegging, settings.rule, tally)
        if not np.isfinite(self.weights).all():
            raise FloatingPointError("weights are no longer numbers")
        if self.folder is not None and is_due(before, before + n, settings.episodes, _SNAPSHOTS):
            self._save_snapshots(self.folder, before + n)
        margin, discards, explored, variance = tally.tolist()
        sums = {"share of random discards": explored, "variance of weights": variance}
        values = {tag: total / max(discards, 1) for tag, total in sums.items()}
        if settings.opponent != "self":  # in self-play the difference is luck
            values[NET_POINTS_IN_TRAINING] = margin / max(n, 1)
        return values

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
            self._save_snapshots(self.folder, 0)
        rounds.run()
        if self.settings.opponent == "other":
            seed = seed_of(self.settings.seed, _MATCHES, 0, 0)
            self.winner = 0 if wins_series(play_series(self.player(0), self.player(1), _MATCH_GAMES, seed)) else 1
            shutil.rmtree(snapshot(self.folder, 1 - self.winner, 0).parent, ignore_errors=True)

    def _save_snapshots(self, folder: Path, games: int) -> None:
        for k in range(2 if self.settings.opponent == "other" else 1):
            path = snapshot(folder, k, games).with_suffix(SUFFIX)
            path.parent.mkdir(parents=True, exist_ok=True)
            self.player(k).save(path)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The tensors that a checkpoint saves."""
        return {"weights": torch.from_numpy(self.weights), "expected": torch.from_numpy(self.expected)}

    def load_state_dict(self, tensors: dict[str, torch.Tensor]) -> None:
        """Restores the tensors of :meth:`state_dict`."""
        for name, tensor in self.state_dict().items():
            tensor.copy_(tensors[name].view(tensor.shape))


def seed_of(*numbers: int) -> int:
    """A seed of 63 bits for these numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
