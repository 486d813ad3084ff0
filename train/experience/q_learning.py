"""What the learners of Q values share: settings, ε-greedy exploration, rewards, and the curves of a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from crib_env.agents import make_agent
from crib_env.evaluate.ranges import Positive, Share, WholeNumber
from crib_env.evaluate.runs.format import EPISODE_RETURN, NET_POINTS_IN_TRAINING
from crib_env.train.experience.episodes import Decisions, Episodes
from crib_env.train.loop.settings import Count, ExploringSettings


@dataclass(frozen=True)
class QSettings(ExploringSettings):
    """Settings of a learner of Q values, which trains from replay in self-play or against an agent."""

    opponent: str = "self"
    """The opponent: "self", or the name of any agent, for example "random" or "greedy"."""
    observation: Literal["209", "board"] = "209"
    """Observation of the networks."""
    episode: Literal["play", "pegging", "deal", "game"] = "deal"
    """What an episode is: the play of a deal, the play of eight cards and nothing else, a deal, or a game."""
    rewards: Literal["settled", "points"] = "settled"
    """"points" as they are scored, or "settled": without the luck that no decision controls (deals and pegging)."""
    skip_forced: bool = True
    """Leave out decisions in which all legal cards have the same rank."""
    warm_up: WholeNumber = 1_024
    """Episodes before the first gradient step."""
    reuse: Positive = 2.0
    """How often a sample is used on average."""
    gamma: Share = 1.0
    """Discount for each of the player's own decisions."""
    target_sync: Count = 500
    """Gradient steps between updates of the target network."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rewards == "settled" and self.episode not in ("deal", "pegging"):
            raise ValueError(f"rewards='settled' is not allowed with episode={self.episode!r}: choose rewards='points'")
        if self.opponent != "self":
            make_agent(self.opponent)


def rewards_of(decisions: Decisions, settled: bool) -> tuple[np.ndarray, np.ndarray]:
    """The reward of each decision up to the same player's next, (D,), and whether there is no next one, (D,) bool."""
    now = decisions.settled if settled else decisions.points
    final = decisions.final_settled if settled else decisions.final_points
    ends = np.append(decisions.chain[1:] != decisions.chain[:-1], True)
    return np.where(ends, final, np.roll(now, -1)) - now, ends


def epsilon_greedy(cards: np.ndarray, masks: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """The given cards (B,), each replaced by a random legal one with probability ``epsilon``."""
    out = cards.copy()
    random_rows = np.flatnonzero(rng.random(len(cards)) < epsilon)
    noise = rng.random((len(random_rows), masks.shape[1]))
    out[random_rows] = np.where(masks[random_rows] != 0, noise, -1.0).argmax(axis=1)
    return out


def values_of(played: Episodes, rewards: np.ndarray, ends: np.ndarray) -> dict[str, float]:
    """Scalars for TensorBoard of a round, with the rewards and ends of :func:`rewards_of`."""
    values = {EPISODE_RETURN: float(rewards.sum() / ends.sum())}
    if played.net_points is not None:
        values[NET_POINTS_IN_TRAINING] = float(played.net_points.mean())
    return values
