"""What counting by hand has cost: points overlooked in own hands, and those of the opponent that were not claimed.

The loss is the chance to win after the show if this had not happened, less the chance as it was. What was counted
before stays as it was, what is counted after it is counted in full. It is no luck: luck follows from the cards alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crib_env import parse_cards
from crib_env.engine import PONES_HAND, WIN
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.matches.muggins import HANDS, hands_shown, write_missed
from crib_env.tables.shipped import standard_win_table


class CountLoss(NamedTuple):
    """An error in counting."""

    deal: int
    """From 0."""
    hand: str
    """One of :data:`crib_env.evaluate.matches.muggins.HANDS`."""
    seat: int
    """Who erred."""
    is_own: bool
    """Whether points of its own were overlooked; otherwise those that the opponent overlooked were not claimed."""
    points: int
    chance_lost: float


class _Hand(NamedTuple):
    """A hand of the show, as it was counted."""

    owner: int
    points: int
    missed: int
    claimed: int


def count_losses(record: GameRecord) -> Iterator[CountLoss]:
    """The errors in counting of a valid game, in their order."""
    if not record.missed:
        return
    env = record.begin()
    of_deals = {one.deal - 1 for one in record.missed}
    for deal, cards in enumerate(map(parse_cards, record.cards)):
        for card in cards[:-1]:
            env.step(card)
        write_missed(env.games, record.missed)
        before = env.games.copy()
        env.step(cards[-1])
        if deal not in of_deals:
            continue
        scores, after = before["scores"][0].tolist(), env.games[0]
        for k in range(after["n_events"]):
            if after["event_kind"][k] < PONES_HAND:  # of the last card
                scores[after["event_player"][k]] += int(after["event_points"][k])
        counts = zip(hands_shown(before), before["missed"][0].tolist(), before["claimed"][0].tolist())
        hands = [_Hand(shown.owner, shown.points, missed, claimed) for shown, missed, claimed in counts]
        yield from _losses_of_deal(deal, hands, scores, int(before["dealer"][0]))


def _losses_of_deal(deal: int, hands: list[_Hand], scores: list[int], dealer: int) -> Iterator[CountLoss]:
    for k, hand in enumerate(hands):
        later = [one._replace(missed=0, claimed=0) for one in hands[k + 1 :]]
        full, claimed = hand._replace(missed=0, claimed=0), hand._replace(claimed=hand.missed)
        shows = ([*hands[:k], counted, *later] for counted in (full, hand, claimed))
        of_owner = [_chance_after(show, scores, dealer, hand.owner) for show in shows]
        if hand.missed:
            yield CountLoss(deal, HANDS[k], hand.owner, True, hand.missed, of_owner[0] - of_owner[1])
        if hand.claimed < hand.missed:
            unclaimed = hand.missed - hand.claimed
            yield CountLoss(deal, HANDS[k], 1 - hand.owner, False, unclaimed, of_owner[1] - of_owner[2])


def _chance_after(hands: Sequence[_Hand], scores: Sequence[int], dealer: int, seat: int) -> float:
    """The chance of a seat to win after a show that is counted like this."""
    reached = list(scores)
    for hand in hands:
        for owner, points in ((hand.owner, hand.points - hand.missed), (1 - hand.owner, hand.claimed)):
            reached[owner] += points
            if reached[owner] >= WIN:
                return float(owner == seat)
    dealers = float(standard_win_table().win_probability[reached[1 - dealer], reached[dealer]])  # pone deals next
    return dealers if seat == 1 - dealer else 1 - dealers
