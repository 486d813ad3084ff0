"""Why one discard is better than another, in one sentence, from what the player sees: hand, crib, play or score."""

from __future__ import annotations

from collections.abc import Sequence

from crib_env import PlayerViews
from crib_env.agents.choosing import six_dealt
from crib_env.cards import N_CARDS
from crib_env.scoring import score_show
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
        said = f"{words[part]} then brings {100 * getattr(shares, part):.1f} % points more to win"
        if part == "hand":
            said = _more_often(six, better, other) or said
    if first["total"] < second["total"]:  # fewer points, and more wins
        return f"At {own} to {opponents} points alone do not decide: {said}."
    return f"{said[0].upper()}{said[1:]}."


def _more_often(six: Sequence[int], better: Sequence[int], other: Sequence[int]) -> str:
    """The number of points that the better hand reaches with most more starters; empty if it reaches none with more."""
    starters = [card for card in range(N_CARDS) if card not in six]
    first, second = (
        [score_show([card for card in six if card not in pair], starter) for starter in starters]
        for pair in (better, other)
    )
    points = max(range(1, 30), key=lambda points: _reaching(first, points) - _reaching(second, points))
    many, fewer = _reaching(first, points), _reaching(second, points)
    if many <= fewer:
        return ""
    return f"your hand then counts {points} or more with {many} of {len(starters)} starters, and otherwise with {fewer}"


def _reaching(counts: Sequence[int], points: int) -> int:
    return sum(count >= points for count in counts)
