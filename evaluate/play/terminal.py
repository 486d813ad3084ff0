"""A game at the terminal: what has happened in words, the table as text, cards typed in, and the coach."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from crib_env import PlayerViews, parse_card
from crib_env.cards import format_card, format_cards
from crib_env.engine import WIN
from crib_env.evaluate.console import console
from crib_env.evaluate.matches.muggins import HIGHEST
from crib_env.evaluate.play.coach import HOW, Coach, review_rows
from crib_env.evaluate.play.saved_game import AGENT, PERSON, SavedGame, Show
from crib_env.evaluate.play.sitting import Sitting
from crib_env.evaluate.play.words import tell_count, tell_deal, tell_hand
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.picture.seen import by_rank, table_lines
from crib_env.text import check_choice

_RED = r"\b[A2-9TJQK][DH]\b"


class _TakenBack(Exception):
    """The person wants to decide anew."""


def play_in_terminal(game: SavedGame, judge: PlayJudge, record: Path) -> SavedGame:
    """Plays a game to its end, which is given back: another object than ``game`` if cards were taken back.

    Args:
        game: the game.
        judge: of the play, for the coach.
        record: the file that the finished game is added to.

    Raises:
        KeyboardInterrupt: the person stopped, or there is no more input; the game is kept.
    """
    table, n_notes = Sitting(game, judge, record), None
    while True:
        if n_notes is None:
            n_notes = len(table.coach.notes())
            say(["", tell_deal(table.game.games, table.game.names)])
        table.settle()
        for moment in table.news():
            say([""] * (moment.kind == "deal"))
            for line in moment.said:
                say(wrap(line))
        for note in table.coach.notes()[n_notes:]:
            say(wrap(f"coach: {note.text} {note.why}".rstrip()))
        n_notes = len(table.coach.notes())
        if table.game.is_over:
            break
        if table.game.show:
            _count(table.game, table.game.show)
            continue
        try:
            table.play(_cards(table.game, table.coach))
        except _TakenBack:
            table.back()
            n_notes = None
    own, other = table.game.games["scores"][0].tolist()
    say(["", f"you {'win' if own == WIN else 'lose'} {own} to {other}"])
    return table.game


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


def _cards(game: SavedGame, coach: Coach) -> tuple[int, ...]:
    """The cards that the person names; of a discard, one or both."""

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
    return ask(view, {"?": hint, "hint": hint, "undo": undo})


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f} %"


def _count(game: SavedGame, show: Show) -> None:
    """Asks about the hand that is due, and tells what comes of it."""
    told = tell_hand(show.hand, game.names)
    if show.hand.owner == PERSON:
        points = _ask_points(f"{told}: how many points? ")
    else:
        say(wrap(f"{told}: {game.names[AGENT]} counts {game.agents_count()}"))
        points = _ask_points("how many points are missed? a number, or Enter for none: ", "0")
    say([tell_count(game.count(points), game.names)])


def _ask_points(prompt: str, by_default: str = "") -> int:
    while True:
        try:
            said = input(prompt).strip() or by_default
        except EOFError:
            raise KeyboardInterrupt from None
        if said.isdecimal() and int(said) <= HIGHEST:
            return int(said)
        prompt = f"a number of points up to {HIGHEST}, please: "


def say(lines: Sequence[str]) -> None:
    """Prints lines, red cards in red where there are colours."""
    for line in lines:
        text = console.render_str(line, highlight=False)
        text.highlight_regex(_RED, "red")
        console.print(text, soft_wrap=True)


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
