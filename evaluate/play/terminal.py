"""A game at the terminal: what has happened in words, the table as text, cards typed in, and the coach."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crib_env.agents.human import ask, wrap
from crib_env.cards import format_cards
from crib_env.engine import WIN
from crib_env.evaluate.console import console
from crib_env.evaluate.matches.muggins import HIGHEST
from crib_env.evaluate.play.coach import HOW, Coach, review_rows
from crib_env.evaluate.play.levels import level_of
from crib_env.evaluate.play.saved_game import AGENT, PERSON, SavedGame, Show
from crib_env.evaluate.play.sitting import Sitting
from crib_env.evaluate.play.words import tell_count, tell_deal, tell_hand
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.picture.seen import table_lines

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
    try:
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
                say(wrap(f"coach: {note.text} {note.why or ''}".rstrip()))
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
    finally:
        table.game.close()  # another process may go on, and so may this one
    own, other = table.game.games["scores"][0].tolist()
    say(["", f"you {'win' if own == WIN else 'lose'} {own} to {other}"])
    return table.game


def review_in_terminal(game: SavedGame, judge: PlayJudge) -> int | None:
    """Tells what the coach thinks of a finished game; the card from which the person wants to try again, if any."""
    coach = Coach(game, judge)
    rows = [("", *(name[:20] for name in game.names)), *review_rows(coach.analysis(), level_of(game.so_far.agent))]
    say(["", *(f"{title:<38}{own:>10}{other:>22}" for title, own, other in rows)])
    say(wrap(HOW))
    costliest = coach.costliest()
    if not costliest:
        return None
    say(["", "the costliest moments:"])
    for k, note in enumerate(costliest, start=1):
        say(wrap(f"{k}. deal {note.deal}: {note.text} {note.why or ''}".rstrip()))
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
        elif game.last_choice() is None:
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
