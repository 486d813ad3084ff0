"""The interface of an agent."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from crib_env import PlayerViews


@runtime_checkable
class Agent(Protocol):
    """A player that decides a batch of decisions at a time.

    An agent sees only what its player may know. It stores its memory of a game, and seeds its random numbers, by
    ``views.game_ids``, so a game is the same in every batch.

    **Copies.** A match on one thread uses the object itself, batch after batch. With ``threads=n`` every thread
    has its own ``copy.deepcopy`` of both agents, made before the first game. On a Ray cluster agents are pickled,
    and a fresh copy plays each worker's part. A league makes its agents anew for each match. What a copy
    remembers or learns is lost with it. If an agent must not be copied, because it holds a process or a
    connection or learns from one game to the next, give it the attribute ``copyable = False``. Then one thread
    uses it, whatever ``threads`` says, and ``--ray`` is refused. An agent with ``plays_once = True``, such as a person,
    plays single games, and no mirrored ones.

    **Results.** If an agent has a method ``observe_deal(deals: crib_env.DealResults)``, matches and leagues call
    it after deals, with the cards shown by then. They call ``observe_end(games: crib_env.GameResults)`` after
    games. Both calls come after the last card of the deal and before the next discard, and cover all deals or
    games that ended in the same batch.

    **Faults.** An agent that takes decisions for a program that fails counts them in a ``collections.Counter`` named
    ``faults``, by the kind of fault. Matches and leagues report what it has counted in them.

    **Exact exploitability** asks an agent for all that its own choices lead to in the play. It takes these attributes
    into account. ``suits`` says what the rank that the agent lays depends on: ``"unseen"``, on ranks alone;
    ``"ties"``, on ranks, and where these leave it open on which of the cards held has the lower id; ``"all"``, the
    default, perhaps on every suit that the player sees. An agent with ``remembers = True`` is asked for its earlier
    decisions in the same deal first. ``remembers_discards = False`` says that the play does not depend on own discards.
    """

    name: str

    def act(self, views: PlayerViews) -> np.ndarray:
        """One legal card for each of B decisions: (B,) integer card ids."""
        ...


@runtime_checkable
class MixedAgent(Agent, Protocol):
    """An agent that draws its cards by chance and gives the probability of each, which exact exploitability needs.

    Agents that choose deterministically, from the views and from their memory, do not need it.
    """

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """The probability that :meth:`act` chooses each card in B decisions, over all game ids and decision numbers.

        (B, 52) float64; each row adds up to 1, and is 0 for cards that are not legal.
        """
        ...
