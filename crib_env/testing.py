"""A check for your own agents: ``check_agent(agent)``.

It plays some games and asks copies of the agent for the same decisions again: in another batch, with other
hidden cards, with other suits. What the agent declares (:class:`crib_env.Powers`) says which answers must be the same.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from crib_env.batch import GameBatch
from crib_env.cards import by_rank, format_card, format_cards
from crib_env.engine import PLAY
from crib_env.kernels import lowest, streams
from crib_env.players.agent import Agent, mixes
from crib_env.players.agent_from_text import as_agent
from crib_env.players.hidden import deal_hidden
from crib_env.players.policies import RANDOM
from crib_env.views import PlayerViews, views_of

_OTHER_IDS = 1_000_000
_DRAWS = 200  # games in which a decision is asked for, to compare frequencies with probabilities
_SIGMAS = 5.5


class _Asked(NamedTuple):
    """B decisions that an agent was asked for at once, and its answers."""

    games: np.ndarray  # (B,) copies of the games
    ids: np.ndarray  # (B,) game ids
    cards: np.ndarray  # (B,) chosen

    def decision(self, k: int) -> str:
        """A decision, for an error."""
        hand = format_cards(by_rank(self.views().hand[k].tolist()))
        return f"of {hand} (game {self.ids[k]}, decision {self.games['decisions'][k]})"

    @property
    def seats(self) -> np.ndarray:
        """(B,) to act."""
        return self.games["turn"].astype(np.int64)

    def views(self, games: np.ndarray | None = None) -> PlayerViews:
        """What the player sees, or would see in other games."""
        return views_of(self.games if games is None else games, np.arange(len(self.ids)), self.seats, self.ids)


def check_agent(agent: Any, games: int = 20, seed: int = 0, episodes: Iterable[str] = ("deal", "pegging")) -> None:
    """Checks an agent in games against random play.

    * Every card is legal.
    * Copies of the agent choose the same cards, asked for one decision at a time or for many at once.
    * Hidden cards change nothing.
    * What it declares is true: ``mixes``, ``remembers``, ``remembers_discards``, ``sees_starter`` and ``suits``. Its
      ``probabilities`` add up to 1, and ``act`` chooses as often as they say.

    Args:
        agent: as :func:`crib_env.win_rate` takes it; not a person, who plays once. Of an agent that must not be copied
            only cards are checked, and that hidden cards change nothing.
        games: games of each episode, side by side.
        seed: of the deals.
        episodes: of :func:`crib_env.env`.

    Raises:
        AssertionError: a check has failed; the message says which, for which agent, and at which decision.
        ValueError: the agent plays once, or its powers and methods do not agree.
    """
    agent = as_agent(agent)
    if agent.powers.plays_once:
        raise ValueError(f"agent {agent.name!r} plays once: it cannot be asked the same again")
    for episode in episodes:
        course = _play(_copy(agent), GameBatch(streams(seed, games), episode=episode))
        _check(agent, course, "uses hidden cards", _with_hidden_dealt_again)
        if agent.powers.copyable:
            _check_copies(agent, course)


def _copy(agent: Agent) -> Agent:
    return copy.deepcopy(agent) if agent.powers.copyable else agent


def _play(agent: Agent, batch: GameBatch) -> list[_Asked]:
    """Plays the games, in every other one from the second seat, and checks that the agent's cards are legal."""
    course = []
    while len(rows := batch.acting()):
        is_mine = batch.games["turn"][rows] == rows % 2
        mine = rows[is_mine]
        if len(mine):
            asked = _Asked(batch.games[mine].copy(), batch.game_ids[mine], np.empty(0))
            cards = np.asarray(agent.act(asked.views()))
            try:
                batch.step(mine, cards)
            except ValueError as error:
                raise AssertionError(f"agent {agent.name!r} in {error}") from None
            course.append(asked._replace(cards=cards.astype(np.int64)))
        if not is_mine.all():
            batch.step(rows[~is_mine], batch.native_cards(rows[~is_mine], RANDOM))
    return course


def _check_copies(agent: Agent, course: list[_Asked]) -> None:
    powers = agent.powers
    _check(agent, course, "chooses other cards when asked the same again", _Asked.views)
    one_by_one = [
        _Asked(*(column[k : k + 1] for column in asked)) for asked in course for k in reversed(range(len(asked.ids)))
    ]
    _check(agent, one_by_one, "chooses by what else is in the batch", _Asked.views)
    if powers.mixes == "no":
        _check(
            agent, course, "declares mixes='no', but draws its cards by game id",
            lambda asked: replace(asked.views(), game_ids=asked.ids + _OTHER_IDS),
        )  # fmt: skip
    if not powers.remembers:
        _check(agent, course[::-1], "declares remembers=False, but chooses by what it saw before", _Asked.views)
    play = [asked for asked in course if (asked.games["phase"] == PLAY).all()]
    if not powers.remembers_discards:
        said = "declares remembers_discards=False, but its play depends on them"
        _check(agent, play, said, _with_discards_exchanged)
    if not powers.sees_starter:
        _check(agent, play, "declares sees_starter=False, but its play depends on it", _with_another_starter)
    if powers.suits != "all":
        _check_suits(agent, play)
    if mixes(agent):
        _check_probabilities(agent, course)


def _check(agent: Agent, course: list[_Asked], fault: str, seen: Callable[[_Asked], PlayerViews]) -> None:
    """Asks a copy for the decisions of a course, as they would be seen; its cards must be those of the course."""
    twin = _copy(agent)
    for asked in course:
        found = np.asarray(twin.act(seen(asked)))
        for k in np.flatnonzero(found != asked.cards)[:1]:
            raise AssertionError(
                f"agent {agent.name!r} {fault}: {asked.decision(k)} it chose {format_card(asked.cards[k])}, and then "
                f"{format_card(found[k])}"
            )


def _check_suits(agent: Agent, play: list[_Asked]) -> None:
    """Gives the suits other names; the agent must lay cards of the same ranks, or as often if it mixes.

    With ``"ties"`` only those decisions count in which the cards held keep their order.
    """
    twin, other, rng = _copy(agent), _copy(agent), np.random.default_rng(0)
    for asked in play:
        hand, to = asked.views().hand, (13 * rng.permutation(4)[:, None] + np.arange(13)).ravel()
        renamed = np.where(hand >= 0, to[hand], 52)
        counts = (np.diff(renamed, axis=1) >= 0).all(axis=1) | (agent.powers.suits == "unseen")
        before = _rank_chances(twin, asked.views())
        after = _rank_chances(other, asked.views(_renamed(asked.games, to)))
        for k in np.flatnonzero(counts & (abs(before - after).max(axis=1) > 1e-6))[:1]:
            raise AssertionError(
                f"agent {agent.name!r} declares suits={agent.powers.suits!r}, but suits change the rank "
                f"{asked.decision(k)}"
            )


def _rank_chances(agent: Agent, views: PlayerViews) -> np.ndarray:
    """(B, 13) how likely it lays each rank."""
    chances = agent.probabilities(views) if mixes(agent) else np.eye(52)[agent.act(views)]
    of_ranks: np.ndarray = chances.reshape(-1, 4, 13).sum(axis=1)
    return of_ranks


def _check_probabilities(agent: Agent, course: list[_Asked]) -> None:
    for asked in course[:: max(1, len(course) // 6)]:
        some = _Asked(*(column[:4] for column in asked))
        views, twin = some.views(), _copy(agent)
        assert mixes(twin)
        said, named = twin.probabilities(views), f"agent {agent.name!r}: its probabilities"
        if said.shape != (len(views), 52) or said.dtype != np.float64:
            raise AssertionError(f"{named} are {said.dtype} of shape {said.shape}, not float64 of ({len(views)}, 52)")
        if not np.allclose(said.sum(axis=1), 1.0) or (said < 0).any():
            raise AssertionError(f"{named} do not add up to 1, or are negative")
        if said[views.action_mask == 0].any():
            raise AssertionError(f"{named} are not 0 for cards that are not legal")
        many = views[np.repeat(np.arange(len(views)), _DRAWS)]
        cards = _copy(agent).act(replace(many, game_ids=np.arange(len(many)) + _OTHER_IDS))
        often = (cards.reshape(len(views), _DRAWS)[:, :, None] == np.arange(52)).mean(axis=1)
        is_open = (said > 0) & (said < 1)
        allowed = np.where(is_open, _SIGMAS * np.sqrt(said * (1 - said) / _DRAWS) + 2 / _DRAWS, 1e-9)
        for b, card in np.argwhere(abs(often - said) > allowed)[:1]:
            share, times = said[b, card], round(_DRAWS * often[b, card])
            raise AssertionError(
                f"{named} say {share:.3f} for {format_card(int(card))}, which act chose {times} of {_DRAWS} times"
            )


def _with_hidden_dealt_again(asked: _Asked) -> PlayerViews:
    games = asked.games.copy()
    for k, seat in enumerate(asked.seats.tolist()):
        deal_hidden(games[k], seat, False, k)
    return asked.views(games)


def _with_discards_exchanged(asked: _Asked) -> PlayerViews:
    games = asked.games.copy()
    games["discards"] = games["discards"][:, ::-1]
    return asked.views(games)


def _with_another_starter(asked: _Asked) -> PlayerViews:
    """The same games where the starter and a card that the opponent discarded have changed places."""
    games = asked.games.copy()
    for k, seat in enumerate(asked.seats.tolist()):
        starter, discards = int(games[k]["cards"][12]), int(games[k]["discards"][1 - seat])
        if starter >= 0 and discards:
            to, other = np.arange(52), lowest(discards)
            to[[starter, other]] = other, starter
            games[k : k + 1] = _renamed(games[k : k + 1], to)
    return asked.views(games)


def _renamed(games: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The same games where each card has another name ``to`` (52,)."""
    games = games.copy()
    for field in ("cards", "laid"):
        games[field] = np.where(games[field] >= 0, to[games[field]], -1)
    for field in ("hand", "discards", "kept"):
        games[field] = ((games[field][..., None] >> np.arange(52) & 1) << to).sum(axis=-1)
    return games
