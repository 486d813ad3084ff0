"""Self-play by a policy that mixes, with what a critic may see in training: the cards of both players."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crib_env.agents.choosing import draw
from crib_env.agents.networks.policy import PolicyAgent
from crib_env.batch import GameBatch
from crib_env.observation import N_ACTIONS
from crib_env.train.experience import Columns


@dataclass(frozen=True)
class Played(Columns):
    """D decisions of both players, with what policy and critic saw of them."""

    turn: np.ndarray  # (D,) int64, grows from a decision of a game to the next, of either player
    inputs: np.ndarray  # (D, n) int8
    gains: np.ndarray  # (D, 52) float32, -inf for a card that is not legal
    chances: np.ndarray  # (D, 52) float32, π_t
    card: np.ndarray  # (D,) int64
    others: np.ndarray  # (D, 52) int8: 1 at 13 k + r if the opponent holds more than k cards of rank r
    is_discard: np.ndarray  # (D,) bool


def counted(hands: np.ndarray) -> np.ndarray:
    """Hands (B,), masks of cards, as ``Played.others``."""
    held = (hands[:, None] >> np.arange(N_ACTIONS) & 1).reshape(-1, 4, 13).sum(axis=1, keepdims=True)
    return (held > np.arange(4)[:, None]).reshape(-1, N_ACTIONS).astype(np.int8)


class SelfPlay:
    """The choices of π in both seats; a :data:`crib_env.train.experience.Policy` that remembers what it saw.

    Args:
        agent: has π.
        games: those that are played.
        rng: draws the cards.
    """

    def __init__(self, agent: PolicyAgent, games: GameBatch, rng: np.random.Generator) -> None:
        self._agent, self._games, self._rng = agent, games, rng
        self._seen: list[tuple[np.ndarray, ...]] = []

    def __call__(
        self, observation: np.ndarray, masks: np.ndarray, is_discard: np.ndarray, chain: np.ndarray
    ) -> np.ndarray:
        """The cards (B,)."""
        seen = self._agent.networks.inputs.see(observation, masks, is_discard)
        chances = self._agent.chances(seen, is_discard)
        cards = draw(self.drawn_from(chances, seen.gains, chain), self._rng.random(len(chain)))
        others = counted(self._games.games["hand"][chain // 2, 1 - chain % 2])
        turn = np.full(len(chain), len(self._seen))
        shares = chances.astype(np.float32)
        self._seen.append((chain, turn, seen.inputs, seen.gains, shares, cards, others, is_discard))
        return cards

    def drawn_from(self, chances: np.ndarray, gains: np.ndarray, chain: np.ndarray) -> np.ndarray:
        """The chances (B, 52) by which cards are drawn: π's, unless a subclass has others."""
        return chances

    def played(self) -> Played:
        """All decisions, in the order of :class:`crib_env.train.experience.Decisions`."""
        chain, *columns = (np.concatenate(column) for column in zip(*self._seen))
        return Played(*columns)[np.argsort(chain, kind="stable")]
