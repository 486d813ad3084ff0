"""Recorded games compared with the analysis: what each decision lost, how lucky each player was."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from crib_env.cards import format_cards
from crib_env.evaluate.command_line import File, SomeJson
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.skill.analysis.decisions import LEAST, Decision, GameAnalysis, analyse
from crib_env.evaluate.skill.analysis.judges import JudgeName, play_judge
from crib_env.evaluate.skill.analysis.summary import ErrorRate, PlayerSummary, summarise_players
from crib_env.evaluate.skill.luck.table import NET_POINTS, RESULTS, WINS
from crib_env.evaluate.skill.luck.variates import CHANCES
from crib_env.evaluate.statistics import Measured
from crib_env.values import Threads

_LISTED = 10  # decisions, those that lost most


def analyse_games(
    path: File,
    judge: JudgeName = "solution",
    threads: Threads = 2,
    json_file: SomeJson = None,
) -> None:
    """Shows what each decision of recorded games lost, and how much was luck.

    `match --record` and `play` record games. Discards are valued by the exact analysis at the score, the play by the
    solution of what follows.

    Args:
        path: The file.
        judge: Of the play. The search of `expert` is twelve times faster than the solution.
        threads: Number of threads.
        json_file: Also write every decision and all luck to this file.
    """
    check_outputs(json_file)
    of_play = play_judge(judge, threads)
    records = read_records(path)
    with advancing("cards", sum(len(deal.split()) for record in records for deal in record.cards)) as on_progress:
        found = analyse(records, of_play, on_progress, threads)
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
