"""How careful and searching players value the play, as plain Python on the reference game.

Everything is lists of ranks (0 to 12), dictionaries and copies of a :class:`tests.helpers.reference.ReferenceGame`, in
which seat 0 is the player who thinks and seat 1 the opponent.
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from tests.helpers.reference import ReferenceGame, rank, score_play, value

OWN, OPPONENT = range(2)
CAREFUL_TYPE, GREEDY_TYPE = range(2)


def points_of(pile, card):
    """Points at once of a card laid on a pile, of ranks or of cards."""
    return sum(points for points, _ in score_play([*pile, card]))


@cache
def expected_reply(pile, cards):
    """The expected best points of the next card, out of some cards of any ranks, minus the probability of a go.

    For the points, holding one rank is independent of holding another; for the go, all cards are considered together.
    """
    if cards == 0:
        return 0.0
    count = sum(map(value, pile))
    fitting = [card for card in range(13) if count + value(card) <= 31 and pile[-4:] != (card,) * 4]
    worth = [points for points in (points_of(pile, card) for card in fitting) if points]
    is_there, expected = 1 - (12 / 13) ** cards, 0.0
    for there in product((False, True), repeat=len(worth)):
        chance = math.prod(is_there if held else 1 - is_there for held in there)
        expected += chance * max((points for points, held in zip(worth, there) if held), default=0)
    return expected - ((13 - len(fitting)) / 13) ** cards


def careful_value(pile, card, other_cards):
    """Points at once minus seven tenths of the expected reply."""
    return points_of(pile, card) - 0.7 * expected_reply((*pile, card), other_cards)


@cache
def chances_of_cards(kind, pile, ranks, other_cards, least, slip):
    """The probability that an opponent of a kind lays each of the ranks that it may lay, as a dictionary.

    Args:
        kind: ``CAREFUL_TYPE`` or ``GREEDY_TYPE``.
        pile: ranks since the count was last zero.
        ranks: different ones, all of which fit.
        other_cards: how many cards the other player holds.
        least: a careful opponent leaves out what is less likely than this.
        slip: the probability that a greedy one lays any card.
    """
    if kind == CAREFUL_TYPE:
        weights = {card: math.exp(careful_value(pile, card, other_cards) / 0.5) for card in ranks}
        total = sum(weights.values())
        weights = {card: weight for card, weight in weights.items() if weight / total >= least}
        return {card: weight / sum(weights.values()) for card, weight in weights.items()}
    merit = {card: (points_of(pile, card), value(card)) for card in ranks}
    best = [card for card in ranks if merit[card] == max(merit.values())]
    chances = {card: slip / len(ranks) + (1 - slip) * (card in best) / len(best) for card in ranks}
    return {card: chance for card, chance in chances.items() if chance > 0}


def playable_ranks(game):
    """The ranks that may be laid by the seat to act, lowest first."""
    return tuple(sorted({rank(card) for card in game.legal()}))


def chances_now(game, kind, *, least=0.0, slip=0.0):
    """:func:`chances_of_cards` of the opponent, who is to act in a game."""
    pile = tuple(map(rank, game.pile))
    return chances_of_cards(kind, pile, playable_ranks(game), len(game.hands[OWN]), least, slip)


def begin_play(own_four, other_four, own_deals):
    """The play alone, before its first card."""
    game = ReferenceGame(OWN if own_deals else OPPONENT, episode="play")
    game.deal([*own_four, None, None, *other_four, None, None, None])
    return game


def replay(own_four, other_four, own_deals, laid):
    """The game after ``laid``, pairs of seat and card; None if these hands cannot have been played so by the rules."""
    game = begin_play(own_four, other_four, own_deals)
    for seat, card in laid:
        if game.turn != seat or card not in game.legal():
            return None
        game.act(card)
    return game if game.phase == "play" and game.turn == OWN else None


def after(game, laid_rank):
    """The game after a card of this rank, whichever suit it has; the game itself stays as it is."""
    twin = copy.copy(game)
    for name in ("hands", "discards", "kept"):
        setattr(twin, name, [list(cards) for cards in getattr(game, name)])
    twin.laid, twin.pile, twin.scores, twin.said_go = game.laid[:], game.pile[:], game.scores[:], set(game.said_go)
    twin.history = game.history[:]
    twin.act(next(card for card in sorted(twin.legal()) if rank(card) == laid_rank))
    return twin


class World(NamedTuple):
    """A possible world: the game holds cards that the opponent may have."""

    weight: float
    kind: int
    show: int
    """What the opponent will show."""
    game: Any


def own_values(worlds, after_play):
    """The chance to win, times the weight of the worlds, for each rank that the player may lay."""
    (ranks,) = {playable_ranks(world.game) for world in worlds}
    return {
        card: chance_to_win([world._replace(game=after(world.game, card)) for world in worlds], after_play)
        for card in ranks
    }


def chance_to_win(worlds, after_play):
    """The same, if the player chooses the best card in every position that it can tell from others."""
    total, alike = 0.0, defaultdict(list)
    for world in worlds:
        game = world.game
        if game.phase == "over":
            own, other = game.scores
            utility = 1.0 if own == 121 else 0.0 if other == 121 else after_play[own, other + world.show]
            total += world.weight * utility
        else:
            # What both players see; the cards laid are the same in all these worlds but for the opponent's last.
            alike[(game.turn, tuple(map(rank, game.pile)), len(game.laid), *game.scores)].append(world)
    for (turn, *_), group in alike.items():
        if turn == OWN:
            total += max(own_values(group, after_play).values())
            continue
        by_card = defaultdict(list)
        for world in group:
            for card, chance in chances_now(world.game, world.kind, least=0.1).items():
                by_card[card].append(world._replace(weight=world.weight * chance, game=after(world.game, card)))
        total += sum(chance_to_win(laid, after_play) for laid in by_card.values())
    return total
