"""A game at the terminal: what has happened in words, the table as text, cards typed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.text import Text

from crib_env import describe_show, format_card
from crib_env.agents.human import ask, table_lines, wrap
from crib_env.cards import format_cards
from crib_env.engine import CRIB, EVENTS, WIN
from crib_env.picture.seen import see
from evaluate.console import console
from evaluate.ending import printable
from evaluate.play.kept_game import AGENT, PERSON, KeptGame
from evaluate.play.words import tell_card, tell_deal

_RED = r"\b[A2-9TJQK][DH]\b"


def play_in_terminal(game: KeptGame) -> None:
    """Plays a game to its end.

    Raises:
        KeyboardInterrupt: the person stopped, or there is no more input; the game is kept.
    """
    said_deal = 0
    named: list[int] = []  # cards that the person has chosen already
    while not game.is_over:
        n_deals = int(game.games["n_deals"][0])
        if n_deals != said_deal:
            say(["", tell_deal(game.games, game.names)])
            said_deal = n_deals
        if game.turn == AGENT:
            card = game.agents_card()
        else:
            if not named:
                view = game.view()
                say(["", *table_lines(view)])
                named = list(ask(view))
            card = named.pop(0)
        first, *show = game.play(card)
        say(list(tell_card(game.played[-1], first, game.names)))
        say(list(_counted_aloud(show, game.names)))
    own, other = game.games["scores"][0].tolist()
    say(["", f"you {'win' if own == WIN else 'lose'} {own} to {other}"])


def say(lines: Sequence[str]) -> None:
    """Prints lines, red cards in red where there are colours."""
    for line in lines:
        text = Text(printable(line))
        text.highlight_regex(_RED, "red")
        console.print(text, soft_wrap=True)


def _counted_aloud(steps: Sequence[np.ndarray], names: tuple[str, str]) -> Iterator[str]:
    """The hands of the show."""
    for games in steps:
        table = see(games, PERSON, names=names)
        counted = table.counted
        if counted is None or table.starter is None:
            continue
        is_crib = counted.kind == EVENTS[CRIB]
        hand = table.crib if is_crib else table.sides[counted.seat].hand
        said = describe_show(hand, table.starter, crib=is_crib)
        kind = "crib" if is_crib else "hand"
        yield from wrap(f"{names[counted.seat]}, {kind} {format_cards(hand)} with {format_card(table.starter)}: {said}")
