"""Why one choice is better than another, in one sentence, from what the player sees: hand, crib, play or score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crib_env import PlayerViews
from crib_env.agents.choosing import six_dealt
from crib_env.cards import N_CARDS, format_card
from crib_env.scoring import COUNT_LIMIT, card_value, score_play
from crib_env.tables.analysis import analyse_discard, win_shares

_NOTICED = 0.05  # points on average below which people see no difference


def why_discard(view: PlayerViews, better: Sequence[int], other: Sequence[int]) -> str:
    """Why to discard one pair rather than another.

    The part of the deal that brings most of the chance to win is named: hand, crib or play
    (:func:`crib_env.tables.analysis.win_shares`).

    Args:
        view: one decision, before the first or the second card of the discard.
        better, other: pairs of the six cards.
    """
    six, is_dealer = six_dealt(view)[0].tolist(), bool(view.is_dealer[0])
    own, opponents = view.scores[0].tolist()
    rows = {
        tuple(sorted(row["discard"].tolist())): row
        for row in analyse_discard(six, dealer=is_dealer, scores=(own, opponents))
    }
    first, second = rows[tuple(sorted(better))], rows[tuple(sorted(other))]
    shares = win_shares(six, first, second, dealer=is_dealer, scores=(own, opponents))
    part = max(shares._fields, key=lambda name: getattr(shares, name))
    hand, pegging, crib = (float(first[name] - second[name]) for name in ("hand_mean", "pegging", "crib_expected"))
    if part == "hand":
        gain, said = hand, f"the hand that you keep counts {first['hand_mean']:.1f} points on average, {hand:.1f} more"
    elif part == "pegging":
        gain, said = pegging, f"the cards that you keep win {pegging:.1f} points more in the play"
    elif is_dealer:
        gain, said = crib, f"your crib counts {first['crib_expected']:.1f} points on average, {crib:.1f} more"
    else:
        gain = -crib
        said = f"your opponent's crib counts {first['crib_expected']:.1f} points on average, {-crib:.1f} fewer"
    if gain < _NOTICED:
        words = {
            "hand": "your hand",
            "pegging": "the play",
            "crib": "your crib" if is_dealer else "your opponent's crib",
        }
        said = f"{words[part]} then brings what this score asks for more often"
    if first["total"] < second["total"]:  # fewer points, and more wins
        return f"At {own} to {opponents} points alone do not decide: {said}."
    return f"{said[0].upper()}{said[1:]}."


class _After(NamedTuple):
    """What follows from a card laid."""

    points: int
    """Scored at once."""
    scoring: int
    """How many unseen cards would score on it."""
    reply: float
    """The points that an unseen card would make on it, on average."""
    fitting: int
    """How many unseen cards fit the count."""


def why_card(view: PlayerViews, better: int, other: int, gives_points: bool) -> str:
    """Why to lay one card rather than another.

    Args:
        view: one decision in the play.
        better, other: the cards.
        gives_points: whether the better one brings fewer points in the deal, or no more, and wins more often.
    """
    first, second = _after(view, better), _after(view, other)
    named, unseen = format_card(other), len(_unseen(view))
    if first.points > second.points and first.points - second.points >= second.reply - first.reply:
        least = f"{named} {second.points or 'nothing'}"
        said = f"it makes {first.points} at once, and {least}"
    elif second.reply - first.reply >= _NOTICED:
        scores = f"{first.scoring} score{'s' * (first.scoring == 1)}"
        said = f"of the {unseen} cards you do not see, {scores} on it, and {second.scoring} on {named}"
    elif first.fitting < second.fitting:
        fit = f"{first.fitting} fit{'s' * (first.fitting == 1)}"
        said = f"of the {unseen} cards you do not see, {fit} after it, and {second.fitting} after {named}"
    else:
        said = f"the cards it leaves you do more in the rest of the deal than after {named}"
    if gives_points:
        own, opponents = view.scores[0].tolist()
        return f"At {own} to {opponents} it wins more often, though not by more points: {said}."
    return f"{said[0].upper()}{said[1:]}."


def _unseen(view: PlayerViews) -> list[int]:
    seen = {int(card) for cards in (view.hand, view.discards, view.laid, view.starter) for card in np.ravel(cards[0])}
    return [card for card in range(N_CARDS) if card not in seen]


def _after(view: PlayerViews, card: int) -> _After:
    pile = [laid for laid in view.laid[0, int(view.pile_start[0]) :].tolist() if laid >= 0]
    pile.append(card)
    count = sum(card_value(laid % 13) for laid in pile)
    unseen = _unseen(view)
    fitting = [reply for reply in unseen if count + card_value(reply % 13) <= COUNT_LIMIT]
    replies = [score_play([*pile, reply]) for reply in fitting]
    return _After(score_play(pile), sum(map(bool, replies)), sum(replies) / len(unseen), len(fitting))
