"""A person at the terminal as an agent: the table as text, and cards read from a line."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from crib_env import DealResult, GameResult, PlayerViews, describe_show, parse_card
from crib_env.cards import by_rank, format_card, format_cards
from crib_env.picture.seen import table_lines
from crib_env.players.agent import Powers
from crib_env.players.text import check_choice


class HumanAgent:
    """Asks at the terminal for every card, and prints the show and the result.

    A person plays single games. In the mirrored games of matches and leagues, the person would hold the cards that the
    opponent has just held.
    """

    name = "human"
    powers = Powers(copyable=False, plays_once=True, watches=True)

    def __init__(self) -> None:
        self._chosen: dict[int, int] = {}  # by game: the second card, where both discards were named at once

    def act(self, views: PlayerViews) -> np.ndarray:
        """One card for each decision, one after the other."""
        return np.array([self._ask(views[k : k + 1]) for k in range(len(views))], np.int64)

    def _ask(self, view: PlayerViews) -> int:
        game = int(view.game_ids[0])
        if game in self._chosen:
            return self._chosen.pop(game)
        print("\n".join(["", *table_lines(view)]))
        first, *second = ask(view)
        if second:
            self._chosen[game] = second[0]
        return first

    def observe_deal(self, deal: DealResult) -> None:
        """Prints the show of a finished deal."""
        print("\n".join(["", *show_lines(deal)]))

    def observe_end(self, game: GameResult) -> None:
        """Prints who has won."""
        own, other = game.scores
        print(f"\nyou {'win' if game.won else 'lose'} {own} to {other}")


def show_lines(deal: DealResult) -> list[str]:
    """The show of a deal, counted aloud, up to the end of the game."""
    own, other = ("you", deal.hand), ("opponent", deal.opponent_hand)
    dealer, pone = (own, other) if deal.is_dealer else (other, own)
    starter, (mine, yours) = deal.starter, deal.scores
    lines = []
    for name, hand, kind in ((*pone, "hand"), (*dealer, "hand"), (dealer[0], deal.crib, "crib")):
        if hand and starter is not None:
            said = describe_show(hand, starter, crib=kind == "crib")
            lines += wrap(f"{name}, {kind} {format_cards(by_rank(hand))} with {format_card(starter)}: {said}")
    return [*lines, f"you {mine}   opponent {yours}"]


def wrap(line: str) -> list[str]:
    """A line wrapped to 80 columns; the later lines are indented."""
    return textwrap.wrap(line, 80, subsequent_indent="    ", break_on_hyphens=False)


def ask(view: PlayerViews, commands: Mapping[str, Callable[[], None]] | None = None) -> tuple[int, ...]:
    """Asks for a legal card until one is named; for the discard, both may be named at once.

    Args:
        view: one decision.
        commands: words that are answered in another way, and how; then it asks again.

    Raises:
        KeyboardInterrupt: there is no more input, or nowhere to ask for it.
    """
    hand, legal = by_rank(view.hand[0]), np.flatnonzero(view.action_mask[0]).tolist()
    left = len(hand) - 4 if view.kept[0, 0] < 0 else 0  # cards still to be discarded
    prompt = f"discard {left}: " if left else "lay: "
    while True:
        try:
            said = input(prompt)
        except (EOFError, RuntimeError):  # RuntimeError where a shell has closed the input or the output
            raise KeyboardInterrupt from None
        if commands and (command := commands.get(said.strip().lower())):
            command()
            continue
        try:
            return read_choice(said, hand, legal, max(left, 1))
        except ValueError as error:
            print(error)


def read_choice(said: str, hand: Sequence[int], legal: Sequence[int], most: int) -> tuple[int, ...]:
    """The cards that a line names, by text such as ``5h`` or by their numbers in the hand, from 1.

    With one legal card an empty line names it.

    Args:
        hand: cards in the order of their numbers.
        legal: those that may be chosen.
        most: how many may be named.

    Raises:
        ValueError: it names no such cards; the message says what may be given.
    """
    named = said.replace(",", " ").split()
    if not named and len(legal) == 1:
        return (legal[0],)
    allowed = format_cards(card for card in hand if card in legal)
    if not 1 <= len(named) <= most:
        raise ValueError(f"name {'one card' if most == 1 else f'one or {most} cards'} of {allowed}, or their numbers")
    cards = []
    for word in named:
        if word.isdecimal() and not 1 <= int(word) <= len(hand):
            raise ValueError(f"there is no card {word}: name one of {allowed}, or a number from 1 to {len(hand)}")
        card = hand[int(word) - 1] if word.isdecimal() else parse_card(word)
        check_choice(card, hand, legal)
        if card in cards:
            raise ValueError(f"{format_card(card)} is named twice")
        cards.append(card)
    return tuple(cards)
