"""Asks an agent for its policy in the play, at every decision that its own choices lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from queue import SimpleQueue
from threading import Lock

import numpy as np

from crib_env import GameBatch, streams
from crib_env.agents.asked.asking import Suits, hands_to_ask, layers_by_onednn, suits_of
from crib_env.agents.asked.decisions import (
    NO_STARTER,
    add_to_policy,
    decisions_after,
    first_decisions,
    laid_by,
    views_at,
)
from crib_env.engine import ROLES
from crib_env.hands import N_RANKS
from crib_env.players.agent import Agent, copy_of, mixes
from crib_env.players.agent_from_text import as_agent
from crib_env.solver.play_game import PlayGame
from crib_env.views import PlayerViews

_ASKED = 3_000  # decisions that an agent is asked for at a time: what it computes of them fits into the cache
_DEALT = 100  # hands of ranks, and all that follows, that a thread asks for before it takes the next
_PROBED = 20_000  # decisions asked for twice, to tell whether an agent draws its cards by chance


class Questions:
    """Asks an agent for its choices.

    Args:
        agent: whose choices follow from what its player sees, or has seen before, or who has ``probabilities``.
        game: the pegging game.
        on_progress: called with the number of decisions just asked for, and the share of a policy that they finish.
        starter: its rank, to ask for the play of a whole deal from 0-0.
        threads: how many ask, each a copy of the agent if it may be copied; they do not change its answers.

    Attributes:
        asked: how many decisions it was asked for.

    Raises:
        ValueError: the agent cannot be copied.
    """

    def __init__(
        self,
        agent: Agent,
        game: PlayGame,
        on_progress: Callable[[int, float], None] = lambda decisions, share: None,
        starter: int = NO_STARTER,
        threads: int = 1,
    ) -> None:
        self.agent, self.game, self.asked, self._starter = as_agent(agent), game, 0, starter
        self._on_progress, self._ids, self._lock = on_progress, count(step=_ASKED), Lock()
        self._agents = [self.agent]
        if self.agent.powers.copyable:
            self._agents += [as_agent(copy_of(agent)) for _ in range(threads - 1)]

    def add_policy(self, role: int, suits: Suits, seed: int, weights: np.ndarray) -> None:
        """Adds the agent's policy in a role to weights (S,) float32, as
        :meth:`crib_env.solver.play_game.PlayGame.expected` takes them.

        Args:
            role: ``PONE`` or ``DEALER``.
            suits: what the agent's choices depend on; for ``ALL`` each hand of ranks gets suits at random, and so do
                the opponent's cards.
            seed: of these.
            weights: are changed.
        """
        cards, shares = hands_to_ask(suits, seed, self.game.cards)
        ranks = np.sort(cards % N_RANKS, axis=1)
        # Hands of equal ranks stay together: what follows from others has other slots, so that threads share none.
        starts = np.r_[0, 1 + (ranks[1:] != ranks[:-1]).any(axis=1).nonzero()[0]][::_DEALT]
        free = SimpleQueue[Agent]()
        for agent in self._agents:
            free.put(agent)

        def ask(start: int, end: int) -> None:
            agent = free.get()
            try:
                dealt = first_decisions(self.game, role, cards[start:end], shares[start:end], seed)
                self._ask(agent, dealt, role, suits, weights, (end - start) / len(cards))
            finally:
                free.put(agent)

        with ThreadPoolExecutor(len(self._agents)) as pool:
            list(pool.map(ask, starts, [*starts[1:], len(cards)]))

    def _ask(
        self, agent: Agent, decisions: np.ndarray, role: int, suits: Suits, weights: np.ndarray, share: float
    ) -> None:
        """Asks for these decisions and all that follow, which are this share of the policy's."""
        for part in _slices(len(decisions), _ASKED):
            some, of_these = decisions[part], share * len(decisions[part]) / len(decisions)
            chances = self.chances(some, role, agent)
            add_to_policy(self.game, some, chances, weights)
            after = decisions_after(self.game, role, some, chances, suits)
            with self._lock:
                self._on_progress(len(some), 0.0 if len(after) else of_these)
            self._ask(agent, after, role, suits, weights, of_these)

    def chances(self, decisions: np.ndarray, role: int, agent: Agent | None = None) -> np.ndarray:
        """(D, 52) how likely the agent, or a copy of it, lays each card at up to 3,000 decisions of a role.

        Raises:
            ValueError: the agent draws its cards by chance, and cannot say how likely each is.
        """
        agent = self.agent if agent is None else agent
        with self._lock:
            is_probed = self.asked <= _PROBED
            self.asked += len(decisions)
        with layers_by_onednn():
            if mixes(agent):
                return agent.probabilities(self._views(agent, decisions, role))
            cards = agent.act(self._views(agent, decisions, role))
            if is_probed and (agent.act(self._views(agent, decisions, role)) != cards).any():
                raise _draws(agent)
            return np.eye(52)[cards]

    def _views(self, agent: Agent, decisions: np.ndarray, role: int) -> PlayerViews:
        with self._lock:
            ids = next(self._ids) + np.arange(len(decisions))
        if agent.powers.remembers:  # its earlier decisions in these games
            before = laid_by(self.game, decisions, role)
            for n_laid in range(8):
                rows = before[:, n_laid].nonzero()[0]
                if len(rows):
                    agent.act(views_at(self.game, decisions[rows], role, ids[rows], n_laid, self._starter))
        return views_at(self.game, decisions, role, ids, starter=self._starter)


def policy_of(agent: Agent, game: PlayGame, threads: int = 1) -> np.ndarray:
    """An agent's policy in both roles, (S,) float32, of :meth:`Questions.add_policy`; suits are drawn once."""
    weights, questions = np.zeros(game.extent.slots, np.float32), Questions(agent, game, threads=threads)
    for role in range(len(ROLES)):
        questions.add_policy(role, suits_of(agent), 0, weights)
    return weights


def check_can_be_asked(agent: Agent) -> None:
    """Tries some first cards, before the tree is built; errors are those of :meth:`Questions.chances`."""
    if as_agent(agent).powers.mixes == "unknown":
        raise _draws(agent)
    if not mixes(agent):
        first, again = (GameBatch(streams(0, 200), episode="pegging", first_id=start) for start in (0, 200))
        first_cards, cards = (agent.act(batch.views(batch.acting())) for batch in (first, again))
        if (first_cards != cards).any():
            raise _draws(agent)


def _draws(agent: Agent) -> ValueError:
    return ValueError(
        f"{agent.name} draws its cards by chance, and has no `probabilities`: exact exploitability needs an agent "
        "whose choice follows from what it sees, or one that says how likely each card is"
    )


def _slices(n: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, n, size))
