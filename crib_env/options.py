"""The options of every environment, and their allowed values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import numpy as np

from crib_env.cards import parse_cards
from crib_env.engine import EPISODES, PEGGING_EPISODE, WIN
from crib_env.observation import DTYPES, OBSERVATIONS
from crib_env.values import Range, check_values, is_integer, typed

REWARDS = ("points", "win", "match")
RENDER_MODES = ("human", "ansi", "rgb_array")
RESET_OPTIONS = ("first_dealer", "scores", "deals")
# The largest possible loss in an episode, by reward: a game lost 0 to 121, a loss, a skunk.
_WORST_LOSS = {"points": -float(WIN), "win": -1.0, "match": -3.0}


class OptionError(TypeError, ValueError):
    """A constructor was given an option that does not exist, or a value that is not allowed.

    It is a ``ValueError`` because a value is wrong. It is also a ``TypeError`` because Stable-Baselines3 and
    TorchRL try options of their own (``frameskip``, in a class without pictures ``render_mode``) and retry without
    them only after a ``TypeError``.
    """


@dataclass(frozen=True)
class Options:
    """Checked options of an environment; see :mod:`crib_env.aec` for their meaning. Others raise ``OptionError``."""

    episode: str = "game"
    cards: int = 4
    reward: str = "points"
    observation: str = "209"
    dtype: str = "int8"
    mask: str = "observation"
    events: bool = False
    illegal: str = "raise"
    start_spread: int | None = None
    render_mode: str | None = None

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Options:
        """Options by name; ``OptionError`` if there is no option of this name, or its value is not allowed."""
        check_names(options, OPTIONS)
        return cls(**options)

    def __post_init__(self) -> None:
        check_options(vars(self))
        if self.cards != 4 and self.episode != EPISODES[PEGGING_EPISODE]:
            raise OptionError(f"cards={self.cards} is only for episode='pegging', not {self.episode!r}: give 4")

    @property
    def penalty(self) -> float:
        """Reward of an illegal card with ``illegal="end"``: the worst possible loss.

        With a smaller penalty, a learner without a mask would learn to end each game at once with an illegal card.
        """
        return _WORST_LOSS[self.reward]


OPTIONS = tuple(field.name for field in fields(Options))
_one_of: Any = Literal
_SCORE = Annotated[int, Range(0, WIN - 1)]
_KINDS: dict[str, Any] = {
    "episode": _one_of[EPISODES],
    "cards": Literal[2, 3, 4],
    "reward": _one_of[REWARDS],
    "dtype": _one_of[tuple(DTYPES)],
    "mask": Literal["observation", "info"],
    "events": bool,
    "illegal": Literal["raise", "end"],
    "start_spread": _SCORE | None,
    "render_mode": _one_of[(None, *RENDER_MODES)],
    "num_envs": Annotated[int, Range(1)],
    "threads": Annotated[int, Range(1)],
    "copy": bool,
    "skip_forced": bool,
    "first_id": int,
}
_START: dict[str, Any] = {"first_dealer": Literal[0, 1] | None, "scores": tuple[_SCORE, _SCORE] | None}


def check_names(options: Iterable[str], allowed: Iterable[str]) -> None:
    """Raises ``OptionError``, which names it and all that there are, if one of these options does not exist."""
    for name in options:
        if name not in allowed:
            raise OptionError(f"got an unexpected keyword argument {name!r}: the options are {', '.join(allowed)}")


def check_options(values: Mapping[str, Any]) -> None:
    """Raises ``OptionError``, which names it and says what is allowed, if a value of these options is not allowed."""
    observation = {"observation": _one_of[tuple(OBSERVATIONS)]}  # there may be new ones
    try:
        check_values(values, _KINDS | observation)
    except ValueError as error:
        raise OptionError(str(error)) from None


@dataclass(frozen=True)
class Start:
    """The checked ``options`` of one ``reset``.

    A ``first_dealer`` of -1 means a fair coin; ``scores`` of (-1, -1) mean the environment's own starting scores. Each
    of ``deals`` has thirteen cards, -1 for the cards that the episode does not use.
    """

    first_dealer: int = -1
    scores: tuple[int, int] = (-1, -1)
    deals: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def read(
        cls,
        options: dict[str, Any] | None,
        episode: str = "game",
        cards: int = 4,
        allowed: Sequence[str] = RESET_OPTIONS,
    ) -> Start:
        """Checks the options of a reset for this kind of episode, and for so many cards each if it is pegging;
        ``allowed`` are those that the environment has. Others raise ``ValueError``, which names them.
        """
        if options is None:
            return cls()
        if not isinstance(options, Mapping):
            raise ValueError(f"options={options!r} is not allowed: give None or a dict")
        for name in options:
            if name not in allowed and name != "options":  # PettingZoo's api_test gives this to see if it may
                alike = difflib.get_close_matches(str(name), allowed, n=1)
                meant = f"did you mean {alike[0]!r}? " if alike else ""
                known = ", ".join(map(repr, allowed)) or "none"
                raise ValueError(f"options has no {name!r}: {meant}the options of reset are {known}")
        first_dealer, scores = (typed(_as_list(options.get(k)), kind, f"options[{k!r}]") for k, kind in _START.items())
        deals = () if options.get("deals") is None else _as_list(options["deals"])
        if isinstance(deals, str) or not hasattr(deals, "__iter__"):
            raise ValueError(f"options['deals']={deals!r} is not allowed: give a sequence of deals")
        each = cards if episode == EPISODES[PEGGING_EPISODE] else 6
        return cls(
            first_dealer=-1 if first_dealer is None else int(first_dealer),
            scores=(-1, -1) if scores is None else (int(scores[0]), int(scores[1])),
            deals=tuple(_read_deal(f"options['deals'][{i}]", _as_list(deal), each) for i, deal in enumerate(deals)),
        )


def check_seed(seed: Any) -> None:
    """Raises ``ValueError`` if the seed of a reset is neither ``None`` nor a whole number from 0."""
    if seed is not None and (not is_integer(seed) or seed < 0):
        raise ValueError(f"seed={seed!r} is not allowed: give None or a whole number from 0")


def _as_list(value: Any) -> Any:
    """A NumPy array as lists, anything else unchanged."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def _read_deal(where: str, deal: Any, each: int) -> tuple[int, ...]:
    """Thirteen cards, of which each player has so many; with six there is a starter too."""
    n = 2 * each + (each == 6)
    if not isinstance(deal, str) and not hasattr(deal, "__iter__"):
        raise ValueError(f"{where}={deal!r} is not allowed: a deal is a sequence of {n} cards")
    try:
        cards = parse_cards(deal)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if len(cards) != n:
        starter = ", the starter" if each == 6 else ""
        raise ValueError(f"{where} has {len(cards)} cards: a deal is {each} for player_0, {each} for player_1{starter}")
    none = [-1] * (6 - each)
    return (*cards[:each], *none, *cards[each : 2 * each], *none, cards[12] if each == 6 else -1)


class SetByReset:
    """An attribute that exists after the first ``reset``; reading it earlier is an error that says so.

    This is the only check of the order of calls. A ``__getattr__`` could do it too, but makes a turn a fifth slower.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.lstrip("_")

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise AttributeError(f"{self._name} does not exist before reset(): call it first, and after close() again")
