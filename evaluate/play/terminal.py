"""A game at the terminal: what has happened in words, the table as text, cards typed in, and the coach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.text import Text

from crib_env.agents.human import ask, table_lines, wrap
from crib_env.cards import format_cards
from crib_env.engine import WIN
from crib_env.evaluate.console import console
from crib_env.evaluate.ending import printable
from crib_env.evaluate.play.coach import HOW, Coach, review_rows
from crib_env.evaluate.play.saved_game import AGENT, PERSON, SavedGame
from crib_env.evaluate.play.words import shown_in, tell_card, tell_deal, tell_muggins
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_RED = r"\b[A2-9TJQK][DH]\b"


class _TakenBack(Exception):
    """The person wants to decide anew."""


def play_in_terminal(game: SavedGame, judge: PlayJudge) -> SavedGame:
    """Plays a game to its end, which is given back: another object than ``game`` if cards were taken back.

    Args:
        game: the game.
        judge: of the play, for the coach.

    Raises:
        KeyboardInterrupt: the person stopped, or there is no more input; the game is kept.
    """
    coach, said_deal = Coach(game, judge), 0
    n_notes = len(coach.notes())
    named: list[int] = []  # cards that the person has chosen already
    while not game.is_over:
        n_deals = int(game.games["n_deals"][0])
        if n_deals != said_deal:
            say(["", tell_deal(game.games, game.names)])
            said_deal = n_deals
        try:
            card = game.agents_card() if game.turn == AGENT else _next_card(game, coach, named)
        except _TakenBack:
            game = game.taken_back()
            coach, said_deal = Coach(game, judge), 0
            n_notes = len(coach.notes())
            continue
        first, *show = game.play(card)
        say(list(tell_card(game.played[-1], first, game.names)))
        for games in show:
            _count_aloud(games, game)
        for note in coach.notes()[n_notes:]:
            say(wrap(f"coach: {note.text} {note.why}".rstrip()))
        n_notes = len(coach.notes())
    own, other = game.games["scores"][0].tolist()
    say(["", f"you {'win' if own == WIN else 'lose'} {own} to {other}"])
    return game


def review_in_terminal(game: SavedGame, judge: PlayJudge) -> int | None:
    """Tells what the coach thinks of a finished game; the card from which the person wants to try again, if any."""
    coach = Coach(game, judge)
    rows = [("", *(name[:20] for name in game.names)), *review_rows(coach.analysis())]
    say(["", *(f"{title:<38}{own:>10}{other:>22}" for title, own, other in rows)])
    say(wrap(HOW))
    costliest = coach.costliest()
    if not costliest:
        return None
    say(["", "the costliest moments:"])
    for k, note in enumerate(costliest, start=1):
        say(wrap(f"{k}. deal {note.deal}: {note.text} {note.why}"))
    try:
        said = input("try one again, by its number; or Enter to leave: ").strip()
    except EOFError:
        return None
    return costliest[int(said) - 1].at if said in map(str, range(1, len(costliest) + 1)) else None


def _next_card(game: SavedGame, coach: Coach, named: list[int]) -> int:
    """A card that the person has named already, or is asked for."""
    if named:
        return named.pop(0)

    def hint() -> None:
        found = coach.hint()
        say(wrap(f"coach: {format_cards(found.cards)}, {_percent(found.chance)} to win. {found.why}"))

    def undo() -> None:
        if not game.so_far.practice:
            say(["cards can be taken back in a practice game only"])
        elif not game.decisions():
            say(["there is no card to take back"])
        else:
            raise _TakenBack

    if game.so_far.coach == "before":
        hint()
    view, line = game.view(), coach.line()
    say(["", *table_lines(view), *([f"{'chance':<10}{_percent(line[-1].chance)} to win"] if line else [])])
    first, *rest = ask(view, {"?": hint, "hint": hint, "undo": undo})
    named += rest
    return first


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f} %"


def _count_aloud(games: np.ndarray, game: SavedGame) -> None:
    """A hand of the show; if the person counts first, its own ones are asked for."""
    shown = shown_in(games, game.names)
    if shown is None:
        return
    if game.so_far.counts and shown.seat == PERSON:
        say([tell_muggins(_ask_count(f"{shown.whose}: how many points? "), shown.points)])
    say(wrap(f"{shown.whose}: {shown.counted}"))


def _ask_count(prompt: str) -> int:
    while True:
        try:
            said = input(prompt).strip()
        except EOFError:
            raise KeyboardInterrupt from None
        if said.isdecimal() and len(said) <= 2:
            return int(said)
        prompt = "a number of points, please: "


def say(lines: Sequence[str]) -> None:
    """Prints lines, red cards in red where there are colours."""
    for line in lines:
        text = Text(printable(line))
        text.highlight_regex(_RED, "red")
        console.print(text, soft_wrap=True)
