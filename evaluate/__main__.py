"""``python -m evaluate COMMAND``: matches between agents, and measurements."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import tyro

from agents import make_agent
from evaluate.benchmark import SECTIONS, Section
from evaluate.console import console, progress_bar, reported_errors
from evaluate.match import play_match
from evaluate.match_table import match_table


def match(
    a: tyro.conf.Positional[str],
    b: tyro.conf.Positional[str],
    games: int = 10_000,
    seed: int = 0,
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
) -> None:
    """Plays mirrored games: the same deals twice, with the seats swapped.

    Args:
        a: An agent: a name, a name with settings after a colon, or the folder of a run.
        b: Its opponent.
        games: How many games, an even number.
        seed: Of the deals.
        json_file: Also write the result to this file.
    """
    first, second = make_agent(a), make_agent(b)
    if json_file is not None and not json_file.parent.is_dir():
        raise ValueError(f"there is no folder {json_file.parent} to write {json_file.name} to")
    with progress_bar() as progress:
        task = progress.add_task("compiling, some seconds the first time", total=games)

        def on_progress(done: int) -> None:
            progress.update(task, advance=done, description=f"{first.name} against {second.name}")

        result = play_match(first, second, games, seed, on_progress=on_progress)
    console.print(match_table(result))
    if json_file is not None:
        temporary = json_file.with_name(json_file.name + ".part")
        temporary.write_text(json.dumps(result.to_json(), indent=2) + "\n")
        os.replace(temporary, json_file)


def discard_table(path: tyro.conf.Positional[Path], threads: int = 2) -> None:
    """Computes the exact statistics of all 20,358,520 deals into one file, and what they say of the discard game.

    Args:
        path: The file to write, 173 MB; a file that is there is replaced.
        threads: How many work side by side.
    """
    from evaluate.discard_game import build_and_report  # tables that nothing else needs

    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    if threads < 1:
        raise ValueError(f"threads={threads} is not allowed: give at least 1")
    build_and_report(path, threads)


def crib_tables(
    path: tyro.conf.Positional[Path | None] = None,
    draws: int = 40_000,
    rounds: int = 5,
    seed: int = 0,
    threads: int = 2,
) -> None:
    """Solves what a crib is worth by the ranks thrown, when both players discard by hand and crib.

    Args:
        path: The file to save the tables to, if wanted; a file that is there is replaced.
        draws: Opposing hands for each pair of ranks in the last round.
        rounds: How often both tables are renewed.
        seed: Of the draws.
        threads: How many work side by side.
    """
    from evaluate.crib_tables import solve_and_report  # tables that nothing else needs

    for name, value in (("draws", draws), ("rounds", rounds), ("threads", threads)):
        if value < 1:
            raise ValueError(f"{name}={value} is not allowed: give at least 1")
    if path is not None and not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    solve_and_report(draws, rounds, seed, threads, path)


def board(
    path: tyro.conf.Positional[Path],
    agent: str = "greedy",
    deals: int = 50_000,
    seed: int = 0,
    threads: int = 2,
    picture: Path | None = None,
) -> None:
    """Computes how a game ends from every pair of scores, between two of the same agent, and saves it.

    Args:
        path: The file to write; a file that is there is replaced.
        agent: Who plays both seats.
        deals: How many deals to sample.
        seed: Of the deals.
        threads: How many work side by side.
        picture: Also draw heat maps into this file, PNG or SVG.
    """
    from evaluate.board import solve_and_report  # matplotlib takes half a second

    for file in (path, picture):
        if file is not None and not file.parent.is_dir():
            raise ValueError(f"there is no folder {file.parent} to write {file.name} to")
    if threads < 1:
        raise ValueError(f"threads={threads} is not allowed: give at least 1")
    if deals < 10:
        raise ValueError(f"deals={deals} is not allowed: give at least 10")
    solve_and_report(agent, deals, seed, threads, path, picture)


def discard(
    cards: tyro.conf.Positional[str],
    dealer: bool = False,
    scores: tuple[int, int] = (0, 0),
) -> None:
    """Ranks the fifteen discards of six cards by what they are worth at a score.

    Args:
        cards: Six cards, such as "5H 5C JD QS 2H 3D".
        dealer: Whether this player deals.
        scores: Own score and the opponent's.
    """
    from evaluate.discard import show_discards  # tables that nothing else needs

    show_discards(cards, dealer, scores)


def pegging(
    path: tyro.conf.Positional[Path],
    policy: str = "greedy",
    against: str = "greedy",
    standard_error: float = 0.02,
    seed: int = 0,
    threads: int = 2,
) -> None:
    """Simulates what every four kept cards gain and give in the play, as pone and as dealer, and saves it.

    Args:
        path: The file to write; a file that is there is replaced.
        policy: Who plays the kept cards: random, greedy or another native policy.
        against: Who throws and plays the opponent's cards.
        standard_error: Of every mean, in points; half of it takes four times as long.
        seed: Of the deals.
        threads: How many work side by side.
    """
    from evaluate.pegging import simulate_and_report  # tables that nothing else needs

    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    if threads < 1:
        raise ValueError(f"threads={threads} is not allowed: give at least 1")
    simulate_and_report(policy, against, standard_error, seed, threads, path)


def decision_times(
    agents: tyro.conf.Positional[tuple[str, ...]] = ("random", "greedy", "heuristic", "minimax", "halscrib"),
    deals: int = 100,
    seed: int = 0,
) -> None:
    """Measures how long players take to discard and to play, beside the figures of Anderson et al. (2022).

    Args:
        agents: The players: names, names with settings after a colon, or folders of runs.
        deals: How many deals each plays against itself, one decision at a time.
        seed: Of the deals.
    """
    from evaluate.decision_times import measure_and_report  # what nothing else needs

    measure_and_report(list(agents), deals, seed)


def lang_tournament(run: tyro.conf.Positional[Path], seed: int = 0) -> None:
    """Plays a run of Lang's learner against its own snapshots: point spreads over 9, 100, 1,000 and 10,000 games.

    Args:
        run: The folder of a finished run of `python -m train weights`.
        seed: Of the deals.
    """
    from evaluate.lang_tournament import play_and_report  # what nothing else needs

    play_and_report(run, seed)


def benchmark(
    sections: tyro.conf.Positional[tuple[Section, ...]] = SECTIONS,
    seconds: float = 1.0,
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
    picture: Path | None = None,
) -> None:
    """Measures speed and memory in one run: engine, environments, and other people's environments beside them.

    Args:
        sections: What to measure.
        seconds: How long each speed is measured in each of five rounds.
        json_file: Also write the figures of every round to this file.
        picture: Also draw the speeds into this file, PNG or SVG.
    """
    from evaluate.benchmark.run import run_benchmark  # imports games that nothing else needs

    for file in (json_file, picture):
        if file is not None and not file.parent.is_dir():
            raise ValueError(f"there is no folder {file.parent} to write {file.name} to")
    run_benchmark(sections, seconds, json_file, picture)


def main() -> None:
    """Reads the command line."""
    with reported_errors():
        commands: dict[str, Any] = {
            "match": match,
            "discard-table": discard_table,
            "crib-tables": crib_tables,
            "board": board,
            "discard": discard,
            "pegging": pegging,
            "decision-times": decision_times,
            "lang-tournament": lang_tournament,
            "benchmark": benchmark,
        }
        tyro.extras.subcommand_cli_from_dict(commands, prog="python -m evaluate", description=__doc__)


if __name__ == "__main__":
    main()
