"""A game at the terminal: what has happened in words, the table as text, cards typed in, and the coach."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path

from crib_env import decisions
from crib_env.agents.human import ask
from crib_env.cards import format_cards
from crib_env.engine import WIN
from crib_env.evaluate.console import console
from crib_env.evaluate.play.coach import HOW, Note, review_rows
from crib_env.evaluate.play.levels import level_of
from crib_env.evaluate.play.saved_game import SavedGame
from crib_env.evaluate.play.sitting import Sitting
from crib_env.evaluate.play.words import moments, tell_deal
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.picture.seen import table_lines

_RED = r"\b[A2-9TJQK][DH]\b"


def play_in_terminal(game: SavedGame, judge: PlayJudge, record: Path) -> None:
    """Plays a game to its end, and tells what the coach thinks of it.

    Args:
        game: the game.
        judge: of the play, for the coach.
        record: the file that the finished game is added to.

    Raises:
        KeyboardInterrupt: the person stopped, or there is no more input; the game is kept.
    """
    table = Sitting(game, judge, record)
    coach = table.coach

    def hint() -> None:
        found = coach.hint()
        say([f"coach: {format_cards(found.cards)}, {_percent(found.chance)} to win. {found.why}"])

    said, since, n_notes = [tell_deal(game.games, game.names)], len(game.played), len(coach.notes())
    try:
        while True:
            table.settle()
            news = moments(game, since) if since != len(game.played) else ()
            notes, since = coach.notes(), len(game.played)
            say(["", *said, *(line for moment in news for line in moment.said)])
            say(f"coach: {_told(note)}" for note in notes[n_notes:])
            said, n_notes = [], len(notes)
            if game.is_over:
                break
            if game.so_far.coach == "before":
                hint()
            view, line = game.view(), coach.line()
            say(["", *table_lines(view), *([f"{'chance':<10}{_percent(line[-1][1])} to win"] if line else [])])
            table.play(ask(next(decisions(view)), {"?": hint}))
    finally:
        game.close()  # another process may go on, and so may this one
    own, other = game.games["scores"][0].tolist()
    say(["", f"you {'win' if own == WIN else 'lose'} {own} to {other}"])
    rows = [("", *(name[:20] for name in game.names)), *review_rows(coach.analysis(), level_of(game.so_far.agent))]
    say(["", *(f"{title:<38}{own:>10}{other:>22}" for title, own, other in rows), HOW])
    if costliest := coach.costliest():
        say(["", "the costliest moments:", *(f"deal {note.deal}: {_told(note)}" for note in costliest)])


def _told(note: Note) -> str:
    return f"{note.text} {note.why or ''}".rstrip()


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f} %"


def say(lines: Iterable[str]) -> None:
    """Prints lines, wrapped to 80 columns, red cards in red where there are colours."""
    for line in lines:
        for part in textwrap.wrap(line, 80, subsequent_indent="    ", break_on_hyphens=False) or [""]:
            text = console.render_str(part, highlight=False)
            text.highlight_regex(_RED, "red")
            console.print(text, soft_wrap=True)
