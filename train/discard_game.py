"""O'Connor's discard game (2000, "Problem" and "Discussion"): a network learns what four cards are worth in the show.

Six cards are dealt, the two are thrown that leave the four which the network values most, and these score with the
starter. There is one move, and so nothing to bootstrap from.

``--preset paper`` is O'Connor's: 52 bits for the cards kept, one hidden layer of 20 sigmoids (``--hidden 40`` for his
other network), a linear output, and after every hand a step of rate 0.01 towards the points that it made with a random
starter. The paper does not say how many hands it took, here 1,000,000, nor how weights start; here they do as in his
full game, from a Gaussian of standard deviation 1.

The default learns from exact values: all fifteen ways to keep four, each towards its mean over the 46 starters, in
batches with Adam.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from rich.progress import Progress

from agents.discard_game import DiscardPlayer, kept_of, write_kept
from agents.td import gaussian_weights
from crib_env.engine import GAME, shuffle
from crib_env.exact.discard_means import STARTERS
from crib_env.kernels import kernel, mask_of
from crib_env.observation import N_ACTIONS
from crib_env.scoring import show_points
from train import discard_strength
from train.checkpoint import load_optimizer_tensors, named, optimizer_tensors, part, steps_taken
from train.discard_strength import hand_totals, random_hands
from train.gradient import descend
from train.precision import Precision, precision
from train.rounds import Round, train_in_rounds
from train.run_folder import RunFolder
from train.td_traces import learn_from_move, means_of, no_traces, value, weights_of

NAME = "discard-game"
STRENGTH = discard_strength


@dataclass(frozen=True)
class Settings:
    """Settings of the discard game."""

    preset: Literal["default", "paper"] = "default"
    """Where the other settings start from: what was found to learn best, or O'Connor's."""
    seed: int = 0
    """Of weights and deals."""
    values: Literal["exact", "sampled"] = "exact"
    """What is learned: exact means of all that could be kept, or what the four kept made with one starter."""
    activation: Literal["relu", "sigmoid"] = "relu"
    """Of the hidden layers; sigmoid alone for sampled values."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers; one alone for sampled values."""
    episodes: int = 300_000
    """Hands to be dealt."""
    episodes_at_once: int = 1_024
    """Hands of a round."""
    batch_size: int = 256
    """Sets of four cards of a gradient step; for exact values."""
    learning_rate: float = 2e-3
    """Of Adam, or of single hands, at the start."""
    final_learning_rate: float = 0.0
    """At the end; linear in between."""
    evaluations: int = 20
    """How often strength is measured on the way."""
    evaluation_games: int = 10_000
    """Hands every time."""
    final_games: int = 200_000
    """Hands at the end."""
    checkpoint_seconds: float = 30.0
    """Time between checkpoints."""
    precision: Precision = "auto"
    """What the network computes in while it learns exact values; "auto" is bfloat16 where the processor has
    instructions for it."""
    threads: int = 1
    """Of torch. One is enough for networks of this size, and repeats to the last bit."""
    epsilon: ClassVar[float] = 0.0  # nothing is thrown at random
    final_epsilon: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        for name in ("episodes", "episodes_at_once", "batch_size", "evaluation_games", "final_games", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} is not allowed: give at least 1")
        if self.values == "sampled":
            if len(self.hidden) != 1:
                raise ValueError(f"hidden={self.hidden} is not allowed with values='sampled': give one width")
            if self.activation != "sigmoid":
                raise ValueError(f"activation={self.activation!r} is not allowed with values='sampled': give 'sigmoid'")


PRESETS = {
    "default": Settings(),
    "paper": Settings(
        preset="paper",
        values="sampled",
        activation="sigmoid",
        hidden=(20,),
        episodes=1_000_000,
        learning_rate=0.01,
        final_learning_rate=0.01,
    ),
}


@kernel
def _play_and_learn(games, n, weights, trace, rate, tally):
    """Deals ``n`` hands, keeps the best four of each, and learns what they make; as ``td_traces.play_and_learn``."""
    g = games[0]
    states = np.empty((15, N_ACTIONS), np.int8)
    nodes = np.empty(len(weights.hidden_bias), np.float32)
    for _ in range(n):
        shuffle(g)
        write_kept(g["cards"][:6], states)
        best, best_value = 0, -np.inf
        for k in range(len(states)):
            worth = value(weights, states[k], nodes)
            if worth > best_value:
                best, best_value = k, worth
        points = show_points(mask_of(np.flatnonzero(states[best])), np.int64(g["cards"][12]), False)
        learn_from_move(weights, trace, states[best], np.float64(points), nodes, rate, 0.0, tally)


class Sampled:
    """O'Connor's network in training.

    Args:
        agent: of one hidden layer of sigmoids; is trained in place.
    """

    def __init__(self, agent: DiscardPlayer) -> None:
        self.agent = agent
        self._weights = weights_of(agent.network)
        self._trace = no_traces(self._weights)

    def play_and_learn(self, now: Round) -> tuple[dict[str, float], float]:
        """Deals the hands of a round, and learns from each; what TensorBoard shows, and the seconds it took.

        Raises:
            FloatingPointError: the errors are no longer finite.
        """
        started = time.perf_counter()
        games, tally = np.zeros(1, GAME), np.zeros(4)
        games["deck"] = now.rng.integers(2**64, dtype=np.uint64)
        _play_and_learn(games, now.episodes, self._weights, self._trace, now.learning_rate, tally)
        return means_of(tally), time.perf_counter() - started

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        return self.agent.network.state_dict()

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.network.load_state_dict(tensors)


class Exact:
    """A network in training, with its optimizer.

    Args:
        agent: is trained in place.
        batch_size: of a gradient step.
        compute: what the network computes in.
    """

    def __init__(self, agent: DiscardPlayer, batch_size: int, compute: Precision) -> None:
        self.agent, self._batch_size, self._compute = agent, batch_size, compute
        self._optimizer = torch.optim.Adam(agent.network.parameters(), fused=True)

    @property
    def updates(self) -> int:
        """Gradient steps so far."""
        return steps_taken(self._optimizer)

    def update(self, states: np.ndarray, means: np.ndarray, rate: float) -> float:
        """One gradient step towards the means (B,) float32 of four cards each, (B, 52); its loss.

        Raises:
            FloatingPointError: the loss is no longer finite.
        """
        with precision(self._compute):
            errors = self.agent.network(torch.from_numpy(states).float()) - torch.from_numpy(means)
            loss = errors.square().mean()
        descend(loss, self.agent.network, self._optimizer, rate, "the network")
        return loss.item()

    def play_and_learn(self, now: Round) -> tuple[dict[str, float], float]:
        """Deals the hands of a round, and learns all fifteen ways to keep four of each; as :class:`Sampled`."""
        started = time.perf_counter()
        hands = random_hands(now.rng, now.episodes)
        states, means = kept_of(hands), (hand_totals(hands).ravel() / STARTERS).astype(np.float32)
        seconds = time.perf_counter() - started
        rows = now.rng.permutation(len(states))
        batches = np.array_split(rows, max(1, round(len(rows) / self._batch_size)))
        losses = [self.update(states[batch], means[batch], now.learning_rate) for batch in batches]
        return {"learning/loss": float(np.mean(losses))}, seconds

    def tensors(self) -> dict[str, torch.Tensor]:
        """All that a checkpoint keeps."""
        return named("network", self.agent.network.state_dict()) | named("adam", optimizer_tensors(self._optimizer))

    def load_tensors(self, tensors: dict[str, torch.Tensor]) -> None:
        """Takes over what :meth:`tensors` gave."""
        self.agent.network.load_state_dict(part("network", tensors))
        load_optimizer_tensors(self._optimizer, part("adam", tensors))


def train(settings: Settings, folder: RunFolder, progress: Progress) -> tuple[DiscardPlayer, dict[str, Any]]:
    """Trains a player, from the last checkpoint in the folder if there is one; the player and a summary.

    Its updates are gradient steps; for sampled values every hand is one.
    """
    torch.set_num_threads(settings.threads)
    torch.manual_seed(settings.seed)
    agent = DiscardPlayer(settings.activation, settings.hidden)
    learner: Sampled | Exact
    if settings.values == "sampled":
        gaussian_weights(agent.network)
        learner = Sampled(agent)
        learner.play_and_learn(Round(0, 0, 0.0, 0.0, np.random.default_rng(0)))  # compiles outside the clocks
    else:
        learner = Exact(agent, settings.batch_size, settings.precision)
        hands = random_hands(np.random.default_rng(0), 1)
        kept_of(hands), hand_totals(hands)  # as above
    summary = train_in_rounds(
        NAME, settings, folder, progress, learner, learner.play_and_learn, strength=discard_strength
    )
    updates = learner.updates if isinstance(learner, Exact) else summary["episodes"]
    return agent, {**summary, "updates": updates}
