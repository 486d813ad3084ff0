"""A recorded game deal by deal as text, with its counts as players call them, errors and luck."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crib_env import describe_show, parse_cards
from crib_env.aec import PLAYERS, Event, raw_env
from crib_env.cards import format_card, format_cards
from crib_env.engine import DOUBLE_SKUNK, EVENTS, MUGGINS, SKUNK, WIN
from crib_env.evaluate.matches.game_records import GameRecord
from crib_env.evaluate.matches.muggins import HANDS, Missed, write_missed
from crib_env.evaluate.skill.analysis.decisions import GameAnalysis
from crib_env.scoring import card_value

_DISCARDS = 4  # the first cards of a deal


def tell_game(record: GameRecord, only: int | None = None, analysis: GameAnalysis | None = None) -> str:
    """A recorded game as text, or one of its deals, from 1; with an analysis also luck and errors.

    Raises:
        ValueError: it cannot be replayed.
    """
    first, second = record.players
    names, env = record.names, record.begin()
    lines = [f"game {record.game} of {first} against {second}, seed {record.seed}"]
    for number, (deal, cards) in enumerate(zip(record.deals, record.cards), start=1):
        notes = {} if analysis is None else analysis.told_losses(number - 1)
        write_missed(env.games, record.missed)
        missed = {one.hand: one for one in record.missed if one.deal == number}
        told = list(_tell_deal(env, number, parse_cards(deal), parse_cards(cards), names, notes, missed))  # it plays
        if analysis is not None:
            told += (f"  {line}" for line in analysis.told_luck(number - 1))
        if only in (None, number):
            lines += ["", *told]
    if only not in (None, len(record.deals)):
        return "\n".join(lines)
    winner = record.scores.index(WIN)
    loser_score = record.scores[1 - winner]
    skunk = ", a double skunk" if loser_score <= DOUBLE_SKUNK else ", a skunk" if loser_score <= SKUNK else ""
    return "\n".join([*lines, "", f"{names[winner]} wins {WIN} to {loser_score}{skunk}"])


def _tell_deal(
    env: raw_env,
    number: int,
    deal: list[int],
    cards: list[int],
    names: tuple[str, str],
    notes: Mapping[int, str],
    missed: Mapping[str, Missed],
) -> Iterator[str]:
    """One deal, line by line; ``notes`` are comments on cards, by their number in the deal, ``missed`` is by hand."""
    width = max(map(len, (*names, "starter")))
    dealer, starter = env.dealer, format_card(deal[12])
    yield f"deal {number}: {names[0]} {env.scores[0]}, {names[1]} {env.scores[1]}, {names[dealer]} deals"
    discarded: list[list[int]] = [[], []]
    fallen: tuple[Event, ...] = ()
    for card in cards[:_DISCARDS]:
        seat, fallen = _step(env, card)
        discarded[seat].append(card)
    for place, seat in ((0, 1 - dealer), (2, dealer)):
        dealt = _in_order(deal[6 * seat : 6 * seat + 6])
        yield f"  {names[seat]:<{width}}  {dealt}  discards {_in_order(discarded[seat])}"
        if place in notes:
            yield f"  {'':<{width}}    {notes[place]}"
    yield f"  {'starter':<{width}}  {starter}{_points(fallen)}"

    count = 0
    for place, card in enumerate(cards[_DISCARDS:], start=_DISCARDS):
        seat, fallen = _step(env, card)
        count += card_value(card % 13)
        pegged = tuple(event for event in fallen if event.kind not in (*HANDS, EVENTS[MUGGINS]))
        yield f"  {names[seat]:<{width}}  {format_card(card)} {count:>2}{_points(pegged)}"
        if place in notes:
            yield f"  {'':<{width}}    {notes[place]}"
        if any(event.kind in ("go", "thirty-one") for event in pegged):
            count = 0
    for event in fallen:
        if event.kind in HANDS:
            shown = _cards_of(event, deal, discarded)
            said = describe_show(shown, starter, crib=event.kind == "crib")
            yield f"  {names[event.player]:<{width}}  {event.kind} {_in_order(shown)} with {starter}: {said}"
            if miss := missed.get(event.kind):
                claimer = f"{names[1 - event.player]} claims {miss.claimed}" if miss.claimed else "nobody claims them"
                yield f"  {'':<{width}}    {miss.points} of these are missed: {claimer}"


def _step(env: raw_env, card: int) -> tuple[int, tuple[Event, ...]]:
    """One card discarded or laid: who acted, and the points scored."""
    player = env.agent_selection
    env.step(card)
    return PLAYERS.index(player), env.infos[player]["events"]


def _in_order(cards: list[int]) -> str:
    """Cards by rank."""
    by_rank: list[int] = sorted(cards, key=lambda card: card % 13)
    return format_cards(by_rank)


def _points(events: tuple[Event, ...]) -> str:
    return "".join(f", {event.kind} for {event.points}" for event in events)


def _cards_of(event: Event, deal: list[int], discarded: list[list[int]]) -> list[int]:
    """The four cards that are shown."""
    if event.kind == "crib":
        return discarded[0] + discarded[1]
    return [card for card in deal[6 * event.player : 6 * event.player + 6] if card not in discarded[event.player]]
