"""Recorded games compared with the analysis: what each decision lost, how lucky each player was."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from crib_env.cards import format_cards
from crib_env.evaluate.command_line import File, SomeJson, SomeNumber
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.matches.game_records import read_record, read_records
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import Threads
from crib_env.evaluate.skill.analysis.decisions import KINDS, LEAST, Decision, GameAnalysis, analyse
from crib_env.evaluate.skill.analysis.judges import JudgeName, play_judge
from crib_env.evaluate.skill.analysis.summary import ErrorRate, Mean, PlayerSummary, WithAverageLuck, summarise_players
from crib_env.evaluate.skill.luck.table import NET_POINTS, RESULTS, WINS
from crib_env.evaluate.skill.luck.variates import CHANCES

_SIDE_BY_SIDE = 3  # players whose columns fit a screen
_LISTED = 10  # decisions, those that lost most


def analyse_games(
    path: File,
    game: SomeNumber = None,
    judge: JudgeName = "solution",
    threads: Threads = 2,
    json_file: SomeJson = None,
) -> None:
    """Shows what each decision of recorded games lost, and how much was luck.

    `match --record` and `play` record games. Discards are valued by the exact analysis at the score, the play by the
    solution of what follows.

    Args:
        path: The file.
        game: Index of one game, from 0; by default all games.
        judge: Of the play. The search of `expert` is twelve times faster than the solution.
        threads: Number of threads.
        json_file: Also write every decision and all luck to this file.
    """
    check_outputs(json_file)
    of_play = play_judge(judge, threads)
    records = read_records(path) if game is None else [read_record(path, game)]
    with advancing("cards", sum(len(deal.split()) for record in records for deal in record.cards)) as on_progress:
        found = analyse(records, of_play, on_progress, threads)
    players = summarise_players(found)
    if json_file is not None:
        write_json(json_file, _as_json(found, players, of_play.name))
    console.print((players_table if len(players) <= _SIDE_BY_SIDE else ladder)(players, of_play.name))
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
        table.add_row(f"  {one} loses, % points to win", *(_lost(rate, 3) for rate in rates))
        points = (_number(rate.points_lost, 1, 3) if rate and not rate.is_own_judge else "" for rate in rates)
        table.add_row("  points", *points)
    if any(player.counting for player in players):
        counting = (_number(player.counting, 100, 3) if player.counting else "" for player in players)
        table.add_section()
        table.add_row("counting loses a game, % points to win", *counting)
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
        if any(player.with_average_luck for player in players):
            less = (player.with_average_luck.get(key) for player in players)
            table.add_row("  with average luck", *(_less_luck(value, unit) if value else "" for value in less))
    return table


def _less_luck(value: WithAverageLuck, unit: int) -> str:
    low, high = value.interval
    return f"{unit * value.mean:.1f} ({unit * low:.1f} to {unit * high:.1f})"


def ladder(players: list[PlayerSummary], judge: str) -> Table:
    """Errors of many players, a row for each, those who lose least first."""

    def lost(player: PlayerSummary) -> float:
        return sum(rate.decisions * rate.chance_lost.mean for rate in player.errors.values()) / player.games

    rows = []
    for player in sorted(players, key=lost):
        shown = (_lost(player.errors.get(kind), 2) for kind in KINDS)
        blunders = sum(player.blunders.values()) / player.games
        rows.append((player.name, f"{player.games:,}", *shown, f"{100 * lost(player):.1f}", f"{blunders:.1f}"))
    title = f"chances to win that are lost, in % points; the play by {judge}"
    columns = ("", "games", "a discard", "a card laid", "a game", "blunders a game")
    return table_of(title, columns, rows, title_justify="left")


def _lost(rate: ErrorRate | None, digits: int) -> str:
    if rate is None:
        return ""
    return "own judge" if rate.is_own_judge else _number(rate.chance_lost, 100, digits)


def _number(value: Mean, unit: float, digits: int) -> str:
    half = "" if value.half_width is None else f" ± {unit * value.half_width:.{digits}f}"
    return f"{unit * value.mean:.{digits}f}{half}"


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
                "counts": [count._asdict() for count in one.counts],
            }
            for one in analyses
        ],
    }
