"""What recorded games lost by choice and by luck; the discards of six cards, leads from four, and rollouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import numpy as np
import tyro
from rich.box import SIMPLE_HEAD
from rich.table import Table

from crib_env.agents import make_agent
from crib_env.cards import RANKS, format_cards, parse_cards
from crib_env.engine import WIN
from crib_env.evaluate.command_line import AgentOption, File, Score, SomeJson
from crib_env.evaluate.console import advancing, console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.play.reasons import why_discard
from crib_env.evaluate.rollout import Plan, Rollout, position, rollout
from crib_env.evaluate.skill.analysis.decisions import (
    LEAST,
    SAME,
    PlayerSummary,
    Rollouts,
    analyse,
    summarise_players,
)
from crib_env.evaluate.skill.analysis.judges import JudgeName, play_judge
from crib_env.evaluate.skill.luck.variates import NET_POINTS, RESULTS, WINS
from crib_env.evaluate.skill.positions import batch_of, before_discards
from crib_env.evaluate.statistics import Measured
from crib_env.hands import hand_number
from crib_env.players.games import Z
from crib_env.tables.analysis import analyse_discard
from crib_env.tables.shipped import standard_leads
from crib_env.values import Threads, WholeNumber

_LISTED = 10  # decisions, those that lost most
Cards = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="CARD ...")]
SomeCards = Annotated[tuple[str, ...], tyro.conf.arg(metavar="CARD ...", help_behavior_hint="")]


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
        by_name = {player.name: player for player in players}
        write_json(json_file, {"play": of_play.name, "players": by_name, "games": found})
    console.print(players_table(players, of_play.name))
    lost = [(one, decision) for one in found for decision in one.decisions if decision.chance_lost >= LEAST]
    lost.sort(key=lambda one: -one[1].chance_lost)
    if listed := lost[:_LISTED]:
        console.print(f"\nthe {len(listed)} decisions that lost most:")
    for one, decision in listed:
        who, verb = one.record.names[decision.seat], "discards" if decision.kind == "discard" else "lays"
        scores = "–".join(map(str, one.scores[decision.deal].tolist()))
        place = f"game {one.record.game}, deal {decision.deal + 1} ({scores})"
        line = f"  {place}: {who} {verb} {format_cards(decision.chosen)}, {decision.told()}"
        console.print(line, highlight=False, soft_wrap=True)


def players_table(players: list[PlayerSummary], judge: str) -> Table:
    """Errors, blunders, luck and results, a column for each player."""
    games = max(player.games for player in players)
    title = f"{games:,} game{'s' if games > 1 else ''}; the play by {judge}"
    table = table_of(title, ("", *(player.name for player in players)), title_justify="left")
    for kind, one in (("discard", "a discard"), ("play", "a card of the play")):
        rates = [player.errors.get(kind) for player in players]
        table.add_section()
        table.add_row(f"decisions: {kind}", *(f"{rate.decisions:,}" if rate else "0" for rate in rates))
        table.add_row(f"  {one} loses, % points to win", *(_number(rate and rate.chance_lost, 100) for rate in rates))
        table.add_row("  points", *(_number(rate and rate.points_lost, 1) for rate in rates))
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


def _number(value: Measured | None, unit: float) -> str:
    if value is None:
        return ""
    half = "" if value.half_width is None else f" ± {unit * value.half_width:.3f}"
    return f"{unit * value.mean:.3f}{half}"


def _in_order(cards: Iterable[int]) -> list[int]:
    return sorted(map(int, cards), key=lambda card: (card % 13, card))


def _by_rank(cards: Iterable[int]) -> str:
    return format_cards(_in_order(cards))


def discard(cards: Cards, dealer: bool = False, scores: tuple[Score, Score] = (0, 0)) -> None:
    """Ranks the fifteen discards of six cards by the probability of winning at a score.

    Args:
        cards: Six cards, such as 5H 5C JD QS 2H 3D, or without spaces, 5h5cjdqs2h3d.
        dealer: Whether this player deals.
        scores: Own score and the opponent's.
    """
    text = " ".join(cards)
    rows, held = analyse_discard(text, dealer=dealer, scores=scores), parse_cards(text)
    wins = rows["win_probability"]
    title = f"{_by_rank(held)} as {'dealer' if dealer else 'pone'} at {scores[0]}–{scores[1]}, to {WIN}"
    columns = ("discard", "keep", "hand", "from–to", "crib", "pegging", "total", "wins", "% points")
    table = table_of(title, columns, words=2, no_wrap=True, box=SIMPLE_HEAD, padding=0)
    for k, row in enumerate(rows):
        table.add_row(
            _by_rank(row["discard"]),
            _by_rank(set(held) - set(row["discard"].tolist())),
            f"{row['hand_mean']:.2f}",
            f"{row['hand_min']}–{row['hand_max']}",
            f"{row['crib_expected'] if dealer else -row['crib_expected']:+.2f}",
            f"{row['pegging']:+.2f}",
            f"{row['total']:.2f}",
            f"{row['win_probability']:.2%}",
            f"{100 * (row['win_probability'] - wins[0]):+.2f}" if k else "",
        )
    console.print(table)
    other = int(np.argmax(wins < wins[0] - SAME)) or 1  # not one that differs in its suits alone
    best, second = (rows["discard"][k].tolist() for k in (0, other))
    console.print(f"{_by_rank(best)} rather than {_by_rank(second)}:")
    game = batch_of(before_discards(np.array([held]), np.array([dealer]), np.array([scores])))
    reason = why_discard(game.views(np.zeros(1, np.int64)), best, second)
    console.print(f"{reason.said}\n{reason.figures}")
    console.print(
        f"hands are exact; crib and pegging are sampled: totals are known to ± {Z * rows['total_error'].max():.2f}"
    )


def leads(cards: Cards) -> None:
    """Shows what the equilibrium leads as pone, how often, and what each card costs.

    The pegging game: eight cards dealt at random, four each, no crib and no starter. A card costs what its player loses
    to the end of the play, in points, against an opponent who plays the equilibrium.

    Args:
        cards: Four cards, such as 4C 4D 5H 6S, or without spaces, 4c4d5h6s. Suits do not matter.
    """
    hand = _in_order(parse_cards(" ".join(cards)))
    if len(hand) != 4:
        raise ValueError(f"{' '.join(cards)} is not allowed: give four cards")
    found, ranks = standard_leads(), [card % 13 for card in hand]
    h, own = hand_number(ranks), [k for k in range(4) if ranks[k] not in ranks[:k]]
    value, chances, costs = (of[h].astype(float) for of in (found.lead_value, found.lead_chance, found.lead_cost))
    rows = [
        (
            RANKS[ranks[k]],
            f"{chances[k]:.0%}",
            f"{value - costs[k]:+.2f}",
            f"{costs[k]:.2f}" if costs[k] >= 0.005 else "0",
        )
        for k in sorted(own, key=lambda k: -chances[k])
    ]
    columns = "lead", "how often", "net points", "cost"
    title = f"leads from {format_cards(hand)}"
    console.print(table_of(title, columns, rows, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0)))
    console.print(
        f"points in equilibrium of the pegging game, known to ± {float(found.nash_conv):.3f} in the mean of all deals"
    )


def roll_out(
    cards: Cards,
    plan: Annotated[Plan, tyro.conf.arg(name="")],
    *,
    dealer: bool = False,
    scores: tuple[Score, Score] = (0, 0),
    discarded: SomeCards = (),
    starter: Annotated[str | None, tyro.conf.arg(metavar="CARD", help_behavior_hint="")] = None,
    laid: SomeCards = (),
    choices: Annotated[tuple[str, ...], tyro.conf.arg(metavar="CARDS ...", help_behavior_hint="")] = (),
    agent: AgentOption = "best",
    json_file: SomeJson = None,
) -> None:
    """Plays each choice of a decision on, in both seats, from the same hidden cards, and compares what comes of it.

    A discard, or with `--discarded` and `--starter` a card of the play. Ctrl-C prints what is known by then.

    Args:
        cards: The six cards dealt, such as 5H 5C JD QS 2H 3D.
        plan: How, and when to stop.
        dealer: Whether this player deals.
        scores: Own score and the opponent's, now.
        discarded: In the play, the two of the six that are discarded.
        starter: In the play, the starter.
        laid: In the play, the cards laid so far by both, oldest first; those not of the six are the opponent's.
        choices: The choices to compare, each in quotes, such as "2H 3D" "JD QS"; by default all.
        agent: The agent in both seats.
        json_file: Also write the result, with standard errors, to this file.
    """
    check_outputs(json_file)
    decision = position(
        " ".join(cards), dealer, scores, discarded=" ".join(discarded), starter=starter, laid=" ".join(laid)
    )
    player, known = make_agent(agent), list[Callable[[], Rollout]]()
    stopped: BaseException | None = None
    try:
        with advancing(f"{player.name} plays on", plan.deals) as on_progress:

            def tell(done: int, so_far: Callable[[], Rollout]) -> None:
                known[:] = [so_far]
                on_progress(done)

            found = rollout(decision, choices or None, player, tell, **vars(plan))
    except KeyboardInterrupt as interrupt:
        if not known:
            raise
        stopped, found = interrupt, known[0]()
    role = f"{'dealer' if dealer else 'pone'} at {scores[0]}–{scores[1]}"
    try:
        if json_file is not None:
            write_json(json_file, found)
    finally:
        console.print(
            _rollout_table(f"{' '.join(cards)} as {role}, {player.name} to the end of the {plan.until}", found)
        )
        console.print(_verdict(found, plan))
    if stopped is not None:
        raise stopped


def _rollout_table(title: str, found: Rollout) -> Table:
    columns = ("choice", "wins, %", "behind", "net points", "deals")
    table = table_of(title, columns, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for one in found.choices:
        behind = f"{100 * one.behind:.2f} ± {100 * Z * one.behind_error:.2f}" if one is not found.choices[0] else ""
        table.add_row(
            format_cards(one.cards),
            f"{100 * one.chance:.2f} ± {100 * Z * one.chance_error:.2f}",
            behind,
            f"{one.points:+.2f} ± {Z * one.points_error:.2f}",
            f"{one.deals:,}",
        )
    return table


def _verdict(found: Rollout, plan: Plan) -> str:
    best = format_cards(found.choices[0].cards)
    decided = f"{best} is best, with a confidence of {plan.confidence:.0%}" if found.is_decided else "not decided"
    return (
        f"{decided}; with their luck {found.variance_ratio:.1f} times as many deals would be needed; seed {plan.seed}"
    )
