"""What an agent is, and the powers that it declares."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal, Protocol, TypeGuard, get_type_hints, runtime_checkable

import numpy as np

from crib_env.values import check_values
from crib_env.views import PlayerViews

Mixes = Literal["no", "known", "unknown"]
Suits = Literal["unseen", "ties", "all"]


@dataclass(frozen=True)
class Powers:
    """What an agent sees, remembers and can do beyond choosing cards. The defaults are those of most agents."""

    mixes: Mixes = "no"
    """Whether chance decides too. ``"no"``: the card follows from what the agent sees and remembers. ``"known"``: so
    does chance, and ``probabilities(views)`` say how likely each card is. ``"unknown"``: nothing says how likely."""
    remembers: bool = False
    """The choice depends on its earlier decisions in the same game."""
    remembers_discards: bool = True
    """The play depends on its own discards."""
    sees_starter: bool = True
    """The play depends on the starter."""
    suits: Suits = "all"
    """What the rank that it lays depends on. ``"unseen"``: on ranks alone. ``"ties"``: on ranks, and where these leave
    it open on which of the cards held has the lower id. ``"all"``: perhaps on every suit that it sees."""
    watches: bool = False
    """It is told the results of deals, by ``observe_deal(deal)``."""
    copyable: bool = True
    """Copies of it may play for it, one in each thread or process."""
    plays_once: bool = False
    """It plays single games and no mirrored ones, as a person does."""

    def __post_init__(self) -> None:
        check_values(vars(self), get_type_hints(Powers))


# The attribute that a power needs. An object that declares no powers has those whose attributes it has.
NEEDS = {"mixes": "probabilities", "watches": "observe_deal"}


@runtime_checkable
class Agent(Protocol):
    """A player that decides a batch of decisions at a time.

    An agent sees only what its player may know. It stores its memory of a game, and seeds its random numbers, by
    ``views.game_ids``, so a game is the same in every batch. :mod:`crib_env.testing` checks all this.

    An object without ``powers`` is given them by :func:`as_agent`, which every function that takes agents calls.
    Threads and processes play with deep copies of an agent, unless it declares ``copyable=False``. An agent that
    ``watches`` gets a :class:`crib_env.DealResult` by ``observe_deal(deal)`` after the last card of a deal and before
    the next discard.
    """

    name: str
    powers: Powers

    def act(self, views: PlayerViews) -> np.ndarray:
        """One legal card for each of B decisions: (B,) integer card ids."""
        ...


class MixedAgent(Agent, Protocol):
    """An agent that mixes by known chances, which exact exploitability needs."""

    def probabilities(self, views: PlayerViews) -> np.ndarray:
        """The probability that :meth:`act` chooses each card in B decisions, over all game ids and decision numbers.

        (B, 52) float64; each row adds up to 1, and is 0 for cards that are not legal.
        """
        ...


def mixes(agent: Agent) -> TypeGuard[MixedAgent]:
    """Whether an agent has ``probabilities``."""
    return agent.powers.mixes == "known"


def declared(player: object) -> Powers:
    """The powers that an agent, or a player for :class:`crib_env.OneAtATime`, declares in its attribute ``powers``, or
    else those whose methods it has. If both do not agree, ``ValueError`` names them."""
    name = getattr(player, "name", type(player).__name__)
    powers = getattr(player, "powers", None)
    if powers is None:
        has = {power: hasattr(player, need) for power, need in NEEDS.items()}
        powers = Powers(**(has | {"mixes": "known" if has["mixes"] else "no"}))  # type: ignore[arg-type]
    if not isinstance(powers, Powers):
        raise ValueError(f"agent {name!r} has powers={powers!r}: give crib_env.Powers(…)")
    for power, need in NEEDS.items():
        value, has_it = getattr(powers, power), hasattr(player, need)
        if (value in (True, "known")) != has_it:
            fault = f"{need}, but declares {power}={value!r}" if has_it else f"no {need}, which {power}={value!r} needs"
            raise ValueError(f"agent {name!r} has {fault}")
    return powers


def copy_of(agent: Agent) -> Agent:
    """A copy of an agent, for a second thread; ``ValueError`` if it cannot be copied."""
    try:
        return copy.deepcopy(agent)
    except Exception as error:
        raise ValueError(
            f"agent {agent.name!r} cannot be copied for a second thread ({error}): "
            "play with threads=1, or declare powers = Powers(copyable=False) in its class"
        ) from error
