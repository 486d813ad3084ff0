"""A game at the terminal: what has happened in words, the table as text, cards typed in, and the coach."""

from __future__ import annotations

from collections.abc import Sequence

from crib_env.agents.human import ask, table_lines, wrap
from crib_env.cards import format_cards
from crib_env.engine import WIN
from crib_env.evaluate.console import console
from crib_env.evaluate.matches.muggins import HIGHEST
from crib_env.evaluate.play.coach import HOW, Coach, review_rows
from crib_env.evaluate.play.saved_game import AGENT, PERSON, SavedGame
from crib_env.evaluate.play.show import Show
from crib_env.evaluate.play.words import tell_card, tell_count, tell_deal, tell_hand, tell_show
from crib_env.evaluate.skill.analysis.judges import PlayJudge

_RED = r"\b[A2-9TJQK][DH]\b"


class _TakenBack(Exception):
    """The person wants to decide anew."""


def play_in_terminal(game: SavedGame, judge: PlayJudge) -> SavedGame:
    """Plays a game to its end, which is given back: another object than ``game`` if cards were taken back.

    Raises:
        KeyboardInterrupt: the person stopped, or there is no more input; the game is kept.
    """
    coach, said_deal = Coach(game, judge), 0
    n_notes = len(coach.notes())
    named: list[int] = []  # cards that the person has chosen already
    while True:
        for note in coach.notes()[n_notes:]:
            say(wrap(f"coach: {note.text} {note.why}".rstrip()))
        n_notes = len(coach.notes())
        if game.is_over:
            break
        n_deals = int(game.games["n_deals"][0])
        if n_deals != said_deal:
            say(["", tell_deal(game.games, game.names)])
            said_deal = n_deals
        if game.show:
            _count(game, game.show)
            continue
        try:
            card = game.agents_card() if game.turn == AGENT else _next_card(game, coach, named)
        except _TakenBack:
            game = game.taken_back()
            coach, said_deal = Coach(game, judge), 0
            n_notes = len(coach.notes())
            continue
        first, *show = game.play(card)
        say(list(tell_card(game.played[-1], first, game.names)))
        for line in tell_show(show, game.names):
            say(wrap(line))
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


def _count(game: SavedGame, show: Show) -> None:
    """Asks about the hand that is due, and tells what comes of it."""
    last, n, told = len(game.played) - 1, len(show.stages), tell_hand(show.hand, game.names)
    if show.hand.owner == PERSON:
        points = _ask_points(f"{told}: how many points? ")
    else:
        say(wrap(f"{told}: {game.names[AGENT]} counts {game.agents_count()}"))
        points = _ask_points("how many points are missed? a number, or Enter for none: ", "0")
    say([tell_count(game.count(points), game.names)])
    for line in tell_show(game.stages(last)[n:], game.names):
        say(wrap(line))


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
