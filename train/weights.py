"""Lang's learner: weights for eight discard strategies at each pair of scores (Lang 2018, sections 3 and 4).

After a game every discard is answered for by its *advocates*, the strategies that most wanted it. Their weights at the
place where it was made (own score, opponent's score, pone or dealer) are multiplied by a factor that grows with the
margin of the game and fades with every deal before the last, and the eight weights are scaled back to a sum of 1::

    c_j = C (1 - d) ** (T - j),    C = s (own score - opponent's score),    w_i <- w_i exp(c_j / 100)

Where the thesis leaves a choice, or its rule cannot be followed to the letter:

* It multiplies by c_j itself. A lost game would then make weights negative, and a game won by little would shrink, at
  its early deals, the weights it means to reward. Here c_j is a percentage: the factor is exp(c_j / 100), which is
  1 + c_j / 100 where that is small, always above 0, and such that a loss undoes a win.
* No weight sinks below 0.000001 before the scaling: from 0 none could come back.
* How many advocates there are it does not settle: here three, and all that want the discard as much as the third does.
  Ties are common, as several strategies often want the same discard most; any order among them would favour one.
* Its cap reads max{K, c w}, which would be a floor. Here it is the minimum, as its text describes.
* Losers start over: an agent that loses a match of the winners' bracket gets new starting weights, and goes on learning
  among the losers, with no more matches.
* The margin of a game is mostly luck, and at a leading player's place nearly always positive, so that whatever is done
  there is rewarded: Lang's agents ended level with random weights, and so does the preset ``paper``. The default learns
  the margin to be expected at each place besides (``baseline``), and credits a deal with what it changed of it
  (``train.weights_games.credits``); without ``baseline`` that is c_j as above, to the letter.
* The pegging records are this library's (``standard_pegging``), exact enough that no class lacks data, and stay fixed.

A kernel plays and learns at once (:mod:`train.weights_games`), so all of the time counts as simulation. With
``opponent="other"`` there are ``2 ** rounds`` agents, each with weights of its own; neighbours of a bracket play
``episodes`` games, then the winners' bracket is halved by matches of ``match_games``. The episodes of a run are those
of all its pairs. ``snapshots/`` keeps how the weights of the winner came to be; ``strategies.png`` and ``history.png``
draw them, and ``python -m evaluate lang-tournament RUN`` plays the winner against them.

``--preset paper`` has the parameters that section 4.2 starts all its experiments from, on its pairs of agents. Those
experiments are settings: ``--forgiveness 0.25``, ``--scaling 0.4``, ``--decay 0.5``, ``--neighbours 0.5``, ``--cap
0.8``, ``--start hand_max_avg``; rounds 1 and 2 of section 4.1 are ``--exploration-rate variance --explore-by values
--scaling 10`` and ``--opponent static``.
"""

from __future__ import annotations

import math
import shutil
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents.weights import SHAPE, STARTS, WeightsAgent, starting_weights
from agents.weights_file import SUFFIX
from crib_env.engine import GAME
from crib_env.exact.lang_strategies import pegging_values
from crib_env.exact.standard import standard_pegging
from evaluate.series import play_series
from train.checkpoint import Position
from train.interrupt import put_off_interrupts
from train.run_folder import RunFolder
from train.strength import in_words, is_due, measure, scalars
from train.weights_games import COUNTED, Rule, blend_all, play_and_learn

NAME = "weights"
_CHUNK = 1_000  # games between two looks at the clock
_STARTS, _DEALS, _MATCHES = range(3)  # what random numbers are for


@dataclass(frozen=True)
class Settings:
    """Settings of Lang's learner."""

    preset: Literal["default", "paper"] = "default"
    """Where the other settings start from: what was found to learn best, or Lang's."""
    seed: int = 0
    """Of starting weights, deals and exploration."""
    opponent: Literal["self", "other", "static"] = "self"
    """Who is played: itself, another learner with its own weights, or random weights that never change."""
    rounds: int = 1
    """Rounds of the tournament among 2 ** rounds agents; more than 1 only with opponent "other"."""
    match_games: int = 100
    """Games of the match that a pair of the winners' bracket ends a round with."""
    start: str = "random"
    """Weights to start from: "random", or nearly one strategy alone, for example "hand_max_avg"."""
    start_spread: int = 60
    """Games start from random scores at most this far apart."""
    episodes: int = 1_000_000
    """Games that a pair plays in a round."""
    scaling: float = 2.0
    """s, what a point of margin changes, in percent."""
    decay: float = 0.1
    """d, how much less each earlier deal counts than the one after it."""
    advocates: int = 3
    """How many strategies answer for a discard; those that want it as much as the last of them do too."""
    forgiveness: float = 1.0
    """What a loss counts against a win; 0.25 in the thesis's forgiving punishments."""
    cap: float | None = None
    """K, which an update raises no weight above; none, or 0.5 to 0.8 in the thesis."""
    neighbours: float = 0.0
    """Y, the share of the neighbouring weights in a decision."""
    baseline: float = 0.0
    """How fast the margin to be expected at each place is learned; at 0 none is expected, and c_j is Lang's."""
    exploration: float = 0.3
    """Chance of a random discard, in training alone."""
    exploration_rate: Literal["constant", "variance"] = "constant"
    """Whether the variance of the weights is taken off that chance."""
    explore_by: Literal["uniform", "values"] = "uniform"
    """Random discards all with equal chances, or in proportion to their weighted desirability."""
    snapshots: int = 10
    """How many of its weights a pair keeps in a round, evenly spread, beside those it starts with."""
    evaluations: int = 10
    """How often strength is measured on the way."""
    evaluation_games: int = 1_000
    """Mirrored games against each baseline every time."""
    final_games: int = 10_000
    """Mirrored games against each baseline at the end."""
    checkpoint_seconds: float = 30.0
    """Time between checkpoints."""

    def __post_init__(self) -> None:
        for name in ("rounds", "match_games", "episodes", "advocates"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        for name in ("decay", "forgiveness", "neighbours", "baseline", "exploration"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give 0 to 1")
        if not 0 < self.scaling <= 100:
            raise ValueError(f"scaling={self.scaling} is not allowed: give more than 0, at most 100")
        if self.cap is not None and not self.cap > 0:
            raise ValueError(f"cap={self.cap} is not allowed: give more than 0")
        if not 0 <= self.start_spread <= 120:
            raise ValueError(f"start_spread={self.start_spread} is not allowed: give 0 to 120")
        if self.start not in STARTS:
            raise ValueError(f"start={self.start!r} is not allowed: choose of {', '.join(STARTS)}")
        if self.rounds > 1 and self.opponent != "other":
            raise ValueError(f"rounds={self.rounds} is not allowed with opponent={self.opponent!r}: choose 'other'")

    @property
    def n_agents(self) -> int:
        """How many weights there are, those that never change included."""
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
            decay=self.decay,
            advocates=self.advocates,
            forgiveness=self.forgiveness,
            cap=math.inf if self.cap is None else self.cap,
            baseline=self.baseline,
            start_spread=self.start_spread,
        )


PRESETS = {
    "default": Settings(baseline=0.02, decay=0.9, neighbours=1.0),
    "paper": Settings(preset="paper", opponent="other"),
}


class Tournament:
    """The agents of a run and how they pair off.

    Attributes:
        weights: (n, 121, 121, 2, 8) float32.
        expected: (pairs, 121, 121, 2) float32, margins to be expected, see ``Settings.baseline``.
        order: (n,) agents, neighbours play each other; the winners' bracket comes first.
    """

    def __init__(self, settings: Settings, folder: RunFolder) -> None:
        self.settings, self._folder = settings, folder
        n = settings.n_agents
        starts = [settings.start] * n if settings.opponent != "static" else [settings.start, "random"]
        self.weights = np.stack(
            [starting_weights(start, seed_of(settings.seed, _STARTS, k)) for k, start in enumerate(starts)]
        )
        self.expected = np.zeros((settings.pairs, *SHAPE[:3]), np.float32)
        if settings.baseline > 0:  # the lead so far is a good first guess
            self.expected += (np.arange(SHAPE[0])[:, None] - np.arange(SHAPE[1]))[..., None]
        self.order = np.arange(n)
        self._pegging = pegging_values(standard_pegging())

    def pair(self, pair: int) -> tuple[int, int]:
        """The agents that play each other as the ``pair``-th of a round; one alone plays itself."""
        return int(self.order[2 * pair % len(self.order)]), int(self.order[(2 * pair + 1) % len(self.order)])

    def play(self, pair: int, episodes_before: int, n: int) -> dict[str, float]:
        """Plays ``n`` games of a pair; all that is random follows from the seed and the games before.

        Raises:
            FloatingPointError: a weight of theirs is no longer a number.
        """
        first, second = self.pair(pair)
        games, tally = np.zeros(1, GAME), np.zeros(len(COUNTED))
        games["episodes"] = seed_of(self.settings.seed, _DEALS, episodes_before)
        learns = self.settings.opponent != "static"
        arrays = self.weights[first], self.weights[second], learns, self.expected[pair]
        play_and_learn(games, n, *arrays, self._pegging, self.settings.rule, tally)
        if not (np.isfinite(self.weights[first]).all() and np.isfinite(self.weights[second]).all()):
            raise FloatingPointError(f"weights of the agents {first} and {second} are no numbers any more")
        sums = dict(zip(COUNTED, tally))
        return {
            "learning/net points a game": sums["margin"] / n,
            "learning/share of random discards": sums["explored"] / sums["discards"],
            "learning/exploration": sums["exploration"] / sums["discards"],
            "learning/variance of weights": sums["variance"] / sums["discards"],
        }

    def agent(self, k: int) -> WeightsAgent:
        """An agent that decides as the k-th does now, without exploration."""
        decisive = self.weights[k].copy()
        if self.settings.neighbours > 0:
            blend_all(self.weights[k], self.settings.neighbours, decisive)
        return WeightsAgent(decisive)

    def end_round(self, number: int) -> None:
        """Plays the matches of the winners' bracket. Winners go ahead; losers start over, behind them."""
        settings, size = self.settings, len(self.order) >> number
        winners, losers = [], []
        for pair in range(size // 2):
            first, second = self.pair(pair)
            seed = seed_of(settings.seed, _MATCHES, number, pair)
            match = play_series(self.agent(first), self.agent(second), settings.match_games, seed)
            winner, loser = (first, second) if match.is_won(settings.match_games) else (second, first)
            winners.append(winner)
            losers.append(loser)
            self.weights[loser] = starting_weights(settings.start, seed + 1)
            shutil.rmtree(self.snapshots_of(loser), ignore_errors=True)
        self.order[:size] = winners + losers

    def snapshots_of(self, k: int) -> Path:
        """The folder of an agent's snapshots."""
        return self._folder.path / "snapshots" / f"agent-{k}"

    def save_snapshots(self, agents: list[int], games: int) -> None:
        """Keeps the weights of agents as they are after so many games."""
        for k in agents:
            self.snapshots_of(k).mkdir(parents=True, exist_ok=True)
            self.agent(k).save(self.snapshots_of(k) / f"games-{games:010d}{SUFFIX}")

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        kept = {"weights": self.weights, "expected": self.expected, "order": self.order}
        return {name: torch.from_numpy(array) for name, array in kept.items()}

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.weights, self.expected, self.order = (tensors[name].numpy() for name in ("weights", "expected", "order"))


def seed_of(*what: int) -> int:
    """A seed of 63 bits for these numbers."""
    return int(np.random.SeedSequence(what).generate_state(1, np.uint64)[0] >> np.uint64(1))


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[WeightsAgent, dict[str, Any]]:
    """Trains an agent, from the last checkpoint in the folder if there is one; the agent and a summary.

    A run that was stopped goes on exactly where its last checkpoint stands. An update of the summary is a game, after
    which the weights of one place for each of its deals are changed.
    """
    tournament, position = Tournament(settings, folder), Position()
    if (checkpoint := folder.load_checkpoint()) is not None:
        tournament.load_tensors(checkpoint[0])
        position = Position(**checkpoint[1])
    total = settings.all_episodes
    task = progress.add_task("weights", total=total, completed=position.episodes)

    def save() -> None:
        folder.save_checkpoint(position.episodes, tournament.tensors(), asdict(position))

    Tournament(replace(settings, opponent="self", rounds=1), folder).play(0, 0, 1)  # compiles outside the clocks
    saved_at = time.perf_counter()
    with put_off_interrupts() as interrupt:
        while position.episodes < total and not interrupt.asked:
            pairing, played = divmod(position.episodes, settings.episodes)
            number, pair = divmod(pairing, settings.pairs)
            learners = sorted(set(tournament.pair(pair)))[: 1 if settings.opponent == "static" else 2]
            n = min(_CHUNK, settings.episodes - played)
            if played == 0:
                tournament.save_snapshots(learners, number * settings.episodes)

            started = time.perf_counter()
            values = tournament.play(pair, position.episodes, n)
            seconds = time.perf_counter() - started
            values["speed/episodes per second"] = n / seconds
            position.rounds += 1
            position.episodes += n
            position.seconds += seconds
            position.simulation_seconds += seconds

            if is_due(played, played + n, settings.episodes, settings.snapshots):
                tournament.save_snapshots(learners, number * settings.episodes + played + n)
            if is_due(position.episodes - n, position.episodes, total, settings.evaluations):
                strength = measure(tournament.agent(learners[0]), settings.evaluation_games, settings.seed)
                values |= scalars(strength)
                progress.update(task, description=f"weights: {in_words(strength)}")
            if position.episodes % (settings.pairs * settings.episodes) == 0 and settings.opponent == "other":
                tournament.end_round(number)
            folder.log(values, position.episodes)
            progress.update(task, completed=position.episodes)
            if time.perf_counter() - saved_at > settings.checkpoint_seconds:
                save()
                saved_at = time.perf_counter()
        save()
    winner = int(tournament.order[0])
    agent = tournament.agent(winner)
    from evaluate.figures import save_figure  # matplotlib takes half a second
    from train.strategy_graphs import draw_history, draw_strategies

    pictures = {
        "strategies": draw_strategies(agent.weights),
        "history": draw_history(sorted(tournament.snapshots_of(winner).glob(f"*{SUFFIX}"))),
    }
    for name, picture in pictures.items():
        save_figure(picture, folder.path / name)
        folder.log_picture(f"strategies/{name}", picture, position.episodes)
    return agent, position.summary() | {"updates": position.episodes, "agent": winner}
