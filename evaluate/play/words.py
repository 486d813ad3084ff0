"""What happens at the table, moment by moment and in words: for the page and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from crib_env import describe_show
from crib_env.cards import by_rank, format_card, format_cards
from crib_env.engine import EVENTS
from crib_env.evaluate.matches.muggins import Hand, hands_counted, hands_shown
from crib_env.evaluate.play.saved_game import AGENT, PERSON, Count, Played, SavedGame
from crib_env.evaluate.skill.analysis.decisions import GameAnalysis
from crib_env.picture.seen import Counted, see
from crib_env.scoring import ShowItem
from crib_env.views import views_of

_ONE = np.zeros(1, np.int64)


class Moment(NamedTuple):
    """A step of a game."""

    kind: Literal["deal", "card", "hand"]
    """A new deal, cards that were discarded or laid, or a hand that is counted."""
    at: int
    """How many cards have been played."""
    games: np.ndarray
    """(1,) the record of the game."""
    seat: int | None
    """Who has played the card; None in a new deal."""
    said: tuple[str, ...]
    """What has happened."""


def moments(
    game: SavedGame,
    place: tuple[int, int],
    viewer: int | None = PERSON,
    named: Callable[[int], str] = format_card,
    names: tuple[str, str] | None = None,
) -> Iterator[Moment]:
    """What has happened in a game since a place (:attr:`SavedGame.place`); where it is the present one, the deal alone.

    Args:
        game: the game.
        place: cards that had been played, and stages of the next one that had been seen.
        viewer: the seat of the reader, who is not told of cards that the other has discarded; None for all cards.
        named: the name of a card.
        names: of the players by seat; by default those of the game.
    """
    (since, seen), names = place, names or game.names
    if since == len(game.played) and not game.show:
        yield Moment("deal", since, game.games, None, (tell_deal(game.games, names),))
    after, said = [*(played.before for played in game.played[since + 1 :]), game.games], list[str]()
    for at, (played, following) in enumerate(zip(game.played[since:], after), start=since + 1):
        first, *_ = steps = game.stages(at - 1)
        is_secret = viewer is not None and bool(game.so_far.people) and not game.is_over
        said += _tell_card(played, first, names, named, viewer, is_secret)
        goes_on = following["turn"][0] == played.seat and following is not game.games
        if goes_on and played.is_discard and not played.is_second:
            continue  # both cards go to the crib together
        for k, step in enumerate(steps):
            if k >= seen:
                told = _tell_show(step, names) if k else said
                yield Moment("hand" if k else "card", at, step, played.seat, tuple(told))
        said, seen = [], 0
        if following["n_deals"][0] != played.before["n_deals"][0]:
            yield Moment("deal", at, following, None, (tell_deal(following, names),))


def tell_game(game: SavedGame, analysis: GameAnalysis) -> str:
    """A finished game as text, deal by deal, with the cards of both, errors and luck."""
    names, first = analysis.record.names, game.played[0].before
    lines, began, told, number = [f"{names[0]} against {names[1]}, seed {game.so_far.seed}"], 0, 0, 0
    start = Moment("deal", 0, first, None, (tell_deal(first, names),))
    for moment in (start, *moments(game, (0, 0), None, names=names)):
        if moment.kind == "deal":
            luck, (own, other) = analysis.told_luck(number - 1) if number else [], moment.games["scores"][0].tolist()
            lines += [*(f"  {line}" for line in luck), "", f"{moment.said[0]}; {names[0]} {own}, {names[1]} {other}"]
            began, number = moment.at, number + 1
        else:
            losses, places = analysis.told_losses(number - 1), range(told - began, moment.at - began)
            lines += [f"  {line}" for line in moment.said]
            lines += [f"    {names[moment.seat or 0]}: {losses[place]}" for place in places if place in losses]
        if missed := tell_missed(see(moment.games, PERSON, names=names).counted, names):
            lines.append(f"    {missed}")
        told = moment.at
    luck, end = analysis.told_luck(number - 1), see(game.games, PERSON, names=names).caption.rpartition(". ")[2]
    return "\n".join([*lines, *(f"  {line}" for line in luck), "", end])


def tell_deal(games: np.ndarray, names: tuple[str, str]) -> str:
    """Who deals."""
    dealer = names[int(games["dealer"][0])]
    return f"deal {int(games['n_deals'][0])}: {dealer} deal{'s' * (dealer != 'you')}"


def _tell_card(
    played: Played,
    step: np.ndarray,
    names: tuple[str, str],
    named: Callable[[int], str],
    viewer: int | None,
    is_secret: bool,
) -> Iterator[str]:
    """A card that was discarded or laid, the points it scored, and who then says go; ``step``: the game after it, and
    ``is_secret``: discards are not named to their player either, as another person reads the same screen."""
    table, earned = see(step, viewer, names=names), _earned(step)
    if table.laid and table.laid[-1].card == played.card:
        yield f"{names[played.seat]}: {named(played.card)}, {table.laid[-1].count}{earned}"
    elif is_secret:
        if played.is_second:
            yield f"{names[played.seat]} has discarded"
    elif viewer in (None, played.seat):
        who = "you" if viewer == played.seat else names[played.seat]
        yield f"{who} discard{'s' * (who != 'you')} {named(played.card)}"
    if not table.laid and table.starter is not None and table.starter >= 0:
        yield f"the starter is {named(table.starter)}{earned}"
    own = viewer or 0
    before, after = (views_of(games, _ONE, _ONE + own, _ONE).said_go[0] for games in (played.before, step))
    for k, seat in enumerate((own, 1 - own)):
        if after[k] and not before[k]:
            yield f"{names[seat]}: go"


def _earned(games: np.ndarray) -> str:
    n = int(games["n_events"][0])
    earned = zip(games["event_kind"][0, :n].tolist(), games["event_points"][0, :n].tolist())
    return "".join(f", {EVENTS[kind]} for {points}" for kind, points in earned)


def tell_hand(hand: Hand, names: tuple[str, str]) -> str:
    """Whose hand or crib it is, and its cards."""
    kind = "crib" if hand.is_crib else "hand"
    return f"{names[hand.owner]}, {kind} {format_cards(hand.cards)} with {format_card(hand.starter)}"


def _tell_show(games: np.ndarray, names: tuple[str, str]) -> Iterator[str]:
    """The hand that was counted by the last step of a game (1,), and how it is counted."""
    counted = hands_counted(games)
    for hand in hands_shown(games):
        if hand.name in counted:
            yield f"{tell_hand(hand, names)}: {describe_show(hand.cards, hand.starter, crib=hand.is_crib)}"


def with_runs_together(items: Sequence[ShowItem]) -> list[ShowItem]:
    """A breakdown as players name it: several runs and the pairs within them are one double or triple run."""
    runs = [item for item in items if item.kind.startswith("run")]
    if len(runs) < 2:
        return [*items]
    own = [item for item in items if item in runs or item.kind in ("pair", "three of a kind")]
    times = {2: "double", 3: "triple", 4: "double double"}[len(runs)]
    cards = by_rank({card for item in own for card in item.cards})
    whole = ShowItem(f"{times} {runs[0].kind}", sum(item.points for item in own), cards)
    first = items.index(own[0])
    return [*items[:first], whole, *(item for item in items[first:] if item not in own)]


def tell_count(count: Count, names: tuple[str, str]) -> str:
    """What to say to a person who has counted a hand, or has heard the agent count its own."""
    own, points, agent = count.hand.owner == PERSON, count.hand.points, names[AGENT]
    if own and count.said > points:
        return f"{count.said} is too many: it is {points}"
    if own and count.said < points:
        pegs = f"{agent} pegs {count.claimed}" if count.claimed else f"you missed {count.missed}"
        return f"{'muggins! Y' if count.claimed else 'y'}ou counted {count.said} of {points}: {pegs}"
    if count.claimed:
        return f"muggins! {agent} counted {count.said} of {points}: you peg {count.claimed}"
    if count.missed:
        pegs = f"you asked for {count.asked} and peg nothing" if count.asked else "nobody pegs the rest"
        return f"{agent} counted {count.said} of {points}: {pegs}"
    return f"{count.said} is right" + ", so there is nothing to peg" * (count.asked > 0)


def tell_missed(counted: Counted | None, names: tuple[str, str]) -> str:
    """What was missed of a hand of the show; empty if it was nothing."""
    if not counted or not counted.missed:
        return ""
    who, other = names[counted.seat], names[1 - counted.seat]
    pegs = f"{other} peg{'s' * (other != 'you')} {counted.claimed}" if counted.claimed else "nobody pegs them"
    return f"{who} missed {counted.missed} of {counted.points}: {pegs}"
