"""A person at the terminal as an agent: the position in words, and cards read from a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crib_env import DealResult, describe_show
from crib_env.cards import by_rank, format_card, format_cards
from crib_env.engine import WIN
from crib_env.players.agent import Powers
from crib_env.players.one_at_a_time import Decision, OneAtATime
from crib_env.players.text import in_words, read_answer, to_discard


class Person:
    """A player for :class:`crib_env.OneAtATime` that asks at the terminal, and prints the show and the result.

    A person plays single games. In the mirrored games of matches and leagues, the person would hold the cards that the
    opponent has just held.
    """

    name = "human"
    powers = Powers(copyable=False, plays_once=True, watches=True)

    def throw(self, view: Decision) -> tuple[int, ...]:
        """See :class:`crib_env.players.one_at_a_time.OneDecisionPlayer`."""
        print(f"\n{in_words(view)}")
        return ask(view)

    def lay(self, view: Decision) -> int:
        """See :class:`crib_env.players.one_at_a_time.OneDecisionPlayer`."""
        return self.throw(view)[0]

    def observe_deal(self, deal: DealResult) -> None:
        """Prints the show of a finished deal, counted aloud, up to the end of the game, and who has won."""
        own, other = ("you", deal.hand), ("opponent", deal.opponent_hand)
        dealer, pone = (own, other) if deal.is_dealer else (other, own)
        print()
        for name, hand, kind in ((*pone, "hand"), (*dealer, "hand"), (dealer[0], deal.crib, "crib")):
            if hand and deal.starter is not None:
                said = describe_show(hand, deal.starter, crib=kind == "crib")
                print(f"{name}, {kind} {format_cards(by_rank(hand))} with {format_card(deal.starter)}: {said}")
        print("you {}   opponent {}".format(*deal.scores))
        if WIN in deal.scores:
            print("\nyou {} {} to {}".format("win" if deal.scores[0] == WIN else "lose", *deal.scores))


def human_agent() -> OneAtATime:
    """The agent ``human``."""
    return OneAtATime(Person())


def ask(view: Decision, commands: Mapping[str, Callable[[], None]] | None = None) -> tuple[int, ...]:
    """Asks until legal cards are named, by text such as ``5h`` or by their numbers in the hand sorted by rank, from 1.

    With one legal card an empty line names it.

    Args:
        commands: words that are answered in another way, and how; then it asks again.

    Raises:
        KeyboardInterrupt: there is no more input, or nowhere to ask for it.
    """
    names = {str(k): format_card(card) for k, card in enumerate(by_rank(view.hand), start=1)}
    n = to_discard(view)
    while True:
        try:
            said = input(f"discard {n}: " if n else "lay: ").strip().lower()
        except (EOFError, RuntimeError):  # RuntimeError where a shell has closed the input or the output
            raise KeyboardInterrupt from None
        if commands and said in commands:
            commands[said]()
            continue
        if not said and not n and len(view.legal) == 1:
            return view.legal
        try:
            return read_answer(" ".join(names.get(word, word) for word in said.replace(",", " ").split()), view)
        except ValueError as error:
            print(error)
