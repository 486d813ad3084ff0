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
            dealer = game.names[int(game.games["dealer"][0])]
            say(["", f"deal {n_deals}: {dealer} deal{'s' * (dealer != 'you')}"])
            said_deal = n_deals
        seat = game.turn
        if seat == AGENT:
            card = game.agents_card()
        else:
            if not named:
                view = game.view()
                say(["", *table_lines(view)])
                named = list(ask(view))
            card = named.pop(0)
        before = game.view().said_go[0]
        say(list(_told(game.play(card), seat, card, game.names)))
        for who in np.flatnonzero(game.view().said_go[0] & ~before):
            say([f"{game.names[who]}: go"])
    own, other = game.games["scores"][0].tolist()
    say(["", f"you {'win' if own == WIN else 'lose'} {own} to {other}"])


def say(lines: Sequence[str]) -> None:
    """Prints lines, red cards in red where there are colours."""
    for line in lines:
        text = Text(printable(line))
        text.highlight_regex(_RED, "red")
        console.print(text, soft_wrap=True)


def _told(steps: Sequence[np.ndarray], seat: int, card: int, names: tuple[str, str]) -> Iterator[str]:
    """A card that was played, what it earned, and the show if it followed."""
    first, *show = [see(games, PERSON, names=names) for games in steps]
    if first.laid and first.laid[-1].card == card:
        yield f"{names[seat]}: {format_card(card)}, {first.laid[-1].count}{_earned(steps[0])}"
    elif seat == PERSON:
        yield f"you discard {format_card(card)}"
    if not first.laid and first.starter is not None and first.starter >= 0:
        yield f"the starter is {format_card(first.starter)}{_earned(steps[0])}"
    for table in show:
        counted = table.counted
        if counted is None or table.starter is None:
            continue
        hand = table.crib if counted.kind == EVENTS[CRIB] else table.sides[counted.seat].hand
        said = describe_show(hand, table.starter, crib=counted.kind == EVENTS[CRIB])
        kind = "crib" if counted.kind == EVENTS[CRIB] else "hand"
        yield from wrap(f"{names[counted.seat]}, {kind} {format_cards(hand)} with {format_card(table.starter)}: {said}")


def _earned(games: np.ndarray) -> str:
    n = int(games["n_events"][0])
    earned = zip(games["event_kind"][0, :n].tolist(), games["event_points"][0, :n].tolist())
    return "".join(f", {EVENTS[kind]} for {points}" for kind, points in earned)
