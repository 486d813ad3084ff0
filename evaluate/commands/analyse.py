"""What recorded games lost by choice and by luck; the discards of six cards, and the leads from four, for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.table import Table

from crib_env.agents.equilibrium import load_blueprint, pair_chances
from crib_env.cards import RANKS, format_cards, parse_cards
from crib_env.engine import DEALER, PONE, WIN
from crib_env.evaluate.command_line import File, Score, SomeJson
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.play.reasons import why_discard
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.skill.analysis.decisions import (
    LEAST,
    Decision,
    ErrorRate,
    GameAnalysis,
    PlayerSummary,
    analyse,
    summarise_players,
)
from crib_env.evaluate.skill.analysis.judges import JudgeName, play_judge
from crib_env.evaluate.skill.analysis.played_out import Rollouts
from crib_env.evaluate.skill.luck.variates import CHANCES, NET_POINTS, RESULTS, WINS
from crib_env.evaluate.skill.positions import batch_of, before_discards
from crib_env.evaluate.statistics import Measured
from crib_env.exact.deal_classes import class_of, representatives
from crib_env.hands import hand_number
from crib_env.solver.deal.kinds import choices_of as choices_of_deals
from crib_env.tables.analysis import analyse_discard
from crib_env.tables.shipped import standard_deals, standard_leads
from crib_env.values import Threads, WholeNumber

_LISTED = 10  # decisions, those that lost most
_NEVER = 0.0005  # a lead so rare is none in equilibrium, which leaves open how it is answered
Cards = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="CARD ...")]


def analyse_games(
    path: File,
    judge: JudgeName = "solution",
    threads: Threads = 2,
    rollouts: WholeNumber = 0,
    json_file: SomeJson = None,
) -> None:
    """Shows what each decision of recorded games lost, and how much was luck.

    `match --record` and `play` record games. Discards are valued by the exact analysis at the score, the play by the
    solution of what follows. With `--rollouts 2000`, decisions at late scores are judged by that many deals of each
    choice, which `best` plays on; they are kept in a file beside the record, FILE.rollouts.json.

    Args:
        path: The file.
        judge: Of the play. The search of `expert` is twelve times faster than the solution.
        threads: Number of threads.
        rollouts: Deals of each choice where both need at most 26 points; with 0 none are played.
        json_file: Also write every decision and all luck to this file.
    """
    kept = path.with_name(f"{path.name}.rollouts.json") if rollouts else None
    check_outputs(json_file, kept)
    played_out = Rollouts(kept, rollouts, threads=threads) if kept else None
    of_play = play_judge(judge, threads)
    records = read_records(path)
    with advancing("cards", sum(len(deal.split()) for record in records for deal in record.cards)) as on_progress:
        found = analyse(records, of_play, on_progress, threads, played_out)
    players = summarise_players(found)
    if json_file is not None:
        write_json(json_file, _as_json(found, players, of_play.name))
    console.print(players_table(players, of_play.name))
    if any(rate.is_own_judge for player in players for rate in player.errors.values()):
        console.print("own judge: chooses by the values that judge it, so its losses there say nothing")
    listed = _worst(found)
    if listed:
        console.print(f"\nthe {len(listed)} decisions that lost most:")
    for analysis, decision in listed:
        console.print(_line(analysis, decision), highlight=False, soft_wrap=True)


def players_table(players: list[PlayerSummary], judge: str) -> Table:
    """Errors, blunders, luck and results, a column for each player."""
    games = max(player.games for player in players)
    title = f"{games:,} game{'s' if games > 1 else ''}; the play by {judge}"
    table = table_of(title, ("", *(player.name for player in players)), title_justify="left")
    for kind, one in (("discard", "a discard"), ("play", "a card of the play")):
        rates = [player.errors.get(kind) for player in players]
        table.add_section()
        table.add_row(f"decisions: {kind}", *(f"{rate.decisions:,}" if rate else "0" for rate in rates))
        table.add_row(f"  {one} loses, % points to win", *(_lost(rate) for rate in rates))
        points = (_number(rate.points_lost, 1) if rate and not rate.is_own_judge else "" for rate in rates)
        table.add_row("  points", *points)
    table.add_section()
    for size in players[0].blunders:
        table.add_row(
            f"blunders of {size.replace('%', '% points')}", *(f"{player.blunders[size]:,}" for player in players)
        )
    for name, result, unit, of in (
        ("games won, %", WINS, 100, "% points"),
        ("net points a game", NET_POINTS, 1, "points"),
    ):
        key = RESULTS[result]
        table.add_section()
        table.add_row(name, *(f"{unit * player.result[key]:.1f}" for player in players))
        table.add_row(f"  luck, {of}", *(f"{unit * player.luck[key]:+.1f}" for player in players))
    return table


def _lost(rate: ErrorRate | None) -> str:
    if rate is None:
        return ""
    return "own judge" if rate.is_own_judge else _number(rate.chance_lost, 100)


def _number(value: Measured, unit: float) -> str:
    half = "" if value.half_width is None else f" ± {unit * value.half_width:.3f}"
    return f"{unit * value.mean:.3f}{half}"


def _worst(analyses: list[GameAnalysis]) -> list[tuple[GameAnalysis, Decision]]:
    every = [(analysis, decision) for analysis in analyses for decision in analysis.decisions]
    lost = [one for one in every if one[1].chance_lost >= LEAST]
    return sorted(lost, key=lambda one: -one[1].chance_lost)[:_LISTED]


def _line(analysis: GameAnalysis, decision: Decision) -> str:
    who, verb = analysis.record.names[decision.seat], "discards" if decision.kind == "discard" else "lays"
    scores = "–".join(map(str, analysis.scores[decision.deal].tolist()))
    place = f"game {analysis.record.game}, deal {decision.deal + 1} ({scores})"
    return f"  {place}: {who} {verb} {format_cards(decision.chosen)}, {decision.told()}"


def _as_json(analyses: list[GameAnalysis], players: list[PlayerSummary], judge: str) -> dict[str, Any]:
    def luck(one: GameAnalysis, deal: int) -> dict[str, dict[str, float]]:
        return {chance: dict(zip(RESULTS, values.tolist())) for chance, values in zip(CHANCES, one.luck[deal])}

    return {
        "play": judge,
        "players": {player.name: player for player in players},
        "games": [
            {
                "game": one.record.game,
                "players": one.record.names,
                "scores": one.record.scores,
                "deals": [
                    {"scores": scores.tolist(), "dealer": dealer, "luck_of_seat_0": luck(one, deal)}
                    for deal, (scores, dealer) in enumerate(zip(one.scores, one.dealers))
                ],
                "decisions": [
                    decision._asdict() | {"chosen": format_cards(decision.chosen), "best": format_cards(decision.best)}
                    for decision in one.decisions
                ],
            }
            for one in analyses
        ],
    }


class Choice(NamedTuple):
    """Discards that differ only in suits and have the same value."""

    row: np.void
    """The row of dtype ``ANALYSIS`` of the first of them."""
    pairs: list[list[int]]


def _in_order(cards: Iterable[int]) -> list[int]:
    return sorted(map(int, cards), key=lambda card: (card % 13, card))


def _by_rank(cards: Iterable[int]) -> str:
    return format_cards(_in_order(cards))


def choices_of(rows: np.ndarray) -> list[Choice]:
    """The rows of an analysis, in their order; pairs of the same ranks and the same values are one choice."""
    choices: dict[tuple[object, ...], Choice] = {}
    for row in rows:
        pair = row["discard"].tolist()
        shown = (row[name].round(6) for name in ("hand_mean", "hand_std", "crib_expected", "win_probability"))
        key = (*sorted(card % 13 for card in pair), *shown)
        choices.setdefault(key, Choice(row, [])).pairs.append(pair)
    return list(choices.values())


def discard(cards: Cards, dealer: bool = False, scores: tuple[Score, Score] = (0, 0)) -> None:
    """Ranks the fifteen discards of six cards by the probability of winning at a score.

    Args:
        cards: Six cards, such as 5H 5C JD QS 2H 3D, or without spaces, 5h5cjdqs2h3d.
        dealer: Whether this player deals.
        scores: Own score and the opponent's.
    """
    text = " ".join(cards)
    rows = analyse_discard(text, dealer=dealer, scores=scores)
    held, choices = parse_cards(text), choices_of(rows)
    role = "dealer" if dealer else "pone"
    title = f"{_by_rank(held)} as {role} at {scores[0]}–{scores[1]}, to {WIN}"
    columns = ("discard", "keep", "hand", "from–to", "crib", "pegging", "total", "wins", "% points")
    table = table_of(title, columns, words=2, no_wrap=True, box=SIMPLE_HEAD, padding=0)
    for choice in choices:
        row = choice.row
        table.add_row(
            "\n".join(map(_by_rank, choice.pairs)),
            "\n".join(_by_rank(set(held) - set(pair)) for pair in choice.pairs),
            f"{row['hand_mean']:.2f}",
            f"{row['hand_min']}–{row['hand_max']}",
            f"{row['crib_expected'] if dealer else -row['crib_expected']:+.2f}",
            f"{row['pegging']:+.2f}",
            f"{row['total']:.2f}",
            f"{row['win_probability']:.2%}",
            f"{100 * (row['win_probability'] - rows['win_probability'][0]):+.2f}" if choice is not choices[0] else "",
        )
    console.print(table)
    best, second = choices[0].pairs[0], choices[1].pairs[0]
    game = batch_of(before_discards(np.array([held]), np.array([dealer]), np.array([scores])))
    console.print(f"{_by_rank(best)} rather than {_by_rank(second)}:")
    reason = why_discard(game.views(np.zeros(1, np.int64)), best, second)
    console.print(f"{reason.said}\n{reason.figures}")
    console.print(in_equilibrium(held, dealer))
    console.print(
        f"hands are exact; crib and pegging are sampled: totals are known to ± {1.96 * rows['total_error'].max():.2f}"
    )


def in_equilibrium(held: Sequence[int], dealer: bool) -> str:
    """A line saying how often an equilibrium of whole deals discards each pair, and what the next best one loses."""
    six = np.sort(held)[None]
    pairs, chances = pair_chances(load_blueprint(), six, np.array([dealer]))
    totals = standard_deals().totals(DEALER if dealer else PONE, choices_of_deals(representatives()[class_of(six)[0]]))[
        0
    ]
    shares = chances[0] / chances[0].sum()
    order = np.lexsort((-totals, -shares)).tolist()
    names = [_by_rank(pair) for pair in pairs[0].tolist()]
    said = ", ".join(f"{names[k]} {shares[k]:.0%}" for k in order if shares[k] > 0)
    left = next(k for k in order if shares[k] == 0)
    return f"in equilibrium, for points: {said}; then {names[left]}, which loses {totals.max() - totals[left]:.2f}"


def leads(cards: Cards, dealer: bool = False) -> None:
    """Shows what the equilibrium leads as pone, or answers as dealer, how often, and what each card costs.

    The pegging game: eight cards dealt at random, four each, no crib and no starter. A card costs what its player loses
    to the end of the play, in points, against an opponent who plays the equilibrium.

    Args:
        cards: Four cards, such as 4C 4D 5H 6S, or without spaces, 4c4d5h6s. Suits do not matter.
        dealer: Answers to each lead, in place of leads.
    """
    hand = _in_order(parse_cards(" ".join(cards)))
    if len(hand) != 4:
        raise ValueError(f"{' '.join(cards)} is not allowed: give four cards")
    found, name, ranks = standard_leads(), format_cards(hand), [card % 13 for card in hand]
    h, own = hand_number(ranks), [k for k in range(4) if ranks[k] not in ranks[:k]]
    rows: list[tuple[str, ...]] = []
    if dealer:
        title = f"answers from {name}: how often, and what each card costs"
        columns: tuple[str, ...] = ("lead", "led", "net points", *(RANKS[ranks[k]] for k in own))
        for led in (led for led in range(13) if ranks.count(led) < 4):
            if found.led[led, h] < _NEVER:
                rows.append((RANKS[led], "never"))
                continue
            chances, costs = found.answer_chance[led, h].astype(float), found.answer_cost[led, h].astype(float)
            cells = (f"{chances[k]:.0%} {_cost(costs[k]):>4}" for k in own)
            rows.append((RANKS[led], f"{found.led[led, h]:.1%}", f"{found.answer_value[led, h]:+.2f}", *cells))
    else:
        title, columns = f"leads from {name}", ("lead", "how often", "net points", "cost")
        chances, costs = found.lead_chance[h].astype(float), found.lead_cost[h].astype(float)
        for k in sorted(own, key=lambda k: -chances[k]):
            value = f"{found.lead_value[h] - costs[k]:+.2f}"
            rows.append((RANKS[ranks[k]], f"{chances[k]:.0%}", value, _cost(costs[k])))
    console.print(table_of(title, columns, rows, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0)))
    console.print(
        f"points in equilibrium of the pegging game, known to ± {float(found.nash_conv):.3f} in the mean of all deals"
    )


def _cost(points: float) -> str:
    return f"{points:.2f}" if points >= 0.005 else "0"
