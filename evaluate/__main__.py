"""``python -m evaluate COMMAND``: matches between agents, and measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from evaluate.benchmark import SECTIONS, Section
from evaluate.console import reported_errors
from evaluate.files import check_folders, picture_paths
from evaluate.reproduce import NAMES, Name


def match(
    a: tyro.conf.Positional[str],
    b: tyro.conf.Positional[str],
    games: int | None = None,
    until: str | None = None,
    seed: int = 0,
    threads: int = 2,
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
    record: Path | None = None,
    ray: str | None = None,
) -> None:
    """Plays mirrored games: the same deals twice, with the seats swapped.

    Args:
        a: An agent: a name, a name with settings after a colon, or the folder of a run.
        b: Its opponent.
        games: How many games, an even number: 10,000, or with --until at most 1,000,000.
        until: Stop when the win rate is known so closely, in points of percent, as in ±0.5%.
        seed: Of the deals.
        threads: How many work side by side.
        json_file: Also write the result to this file.
        record: Also write every game to this file, card by card, for `replay`.
        ray: Play on the Ray cluster of this address, or with `local` on all cores, in place of threads.
    """
    from evaluate.reported_match import play_and_report

    check_folders(json_file, record)
    _check_threads(threads)
    play_and_report(a, b, games, until, seed, threads, json_file, record, ray)


def league(
    agents: tyro.conf.Positional[tuple[str, ...]] = (),
    games: int | None = None,
    seed: int | None = None,
    folder: Path | None = None,
    resume: Path | None = None,
    threads: int = 2,
    ray: str | None = None,
) -> None:
    """Plays a match between every two of several agents, and rates them.

    Args:
        agents: Names, names with settings after a colon, or folders of runs.
        games: How many games each two play, an even number, by default 2,000.
        seed: Of the deals, which all pairings share, by default 0.
        folder: A new folder for matches and reports, by default runs/league/<time>.
        resume: The folder of a league that was stopped, to go on with; give no other settings then.
        threads: How many work side by side.
        ray: Play on the Ray cluster of this address, or with `local` on all cores, in place of threads.
    """
    from evaluate.league import League  # choix and matplotlib take a second
    from evaluate.league_report import play_and_report
    from evaluate.on_ray import load_ray

    _check_threads(threads)
    if ray is not None:
        load_ray(ray)
    if resume is None:
        plan = League(agents, 2_000 if games is None else games, seed or 0)
        resume = plan.begin(folder)
    elif agents or (games, seed, folder) != (None, None, None):
        raise ValueError("--resume takes agents, games and seed from the folder: give none of them, and no --folder")
    else:
        plan = League.of_folder(resume)
    with reported_errors(f"stopped; go on with: python -m evaluate league --resume {resume}"):
        play_and_report(plan, resume, threads, ray)


def curves(
    runs: tyro.conf.Positional[tuple[Path, ...]],
    picture: Path,
    label: tuple[str, ...] = (),
    against: Literal["greedy", "random"] = "greedy",
    over: Literal["episodes", "seconds"] = "episodes",
) -> None:
    """Draws learning curves of several runs: the mean of each learner, and the range of its runs.

    Args:
        runs: Folders of runs.
        picture: The file to draw into, as PNG and as SVG.
        label: A label for each run, by default its learner; runs of one label are one curve.
        against: Whose games are won.
        over: Draw over episodes, or over seconds of training.
    """
    from evaluate.learning_curves import draw_and_report  # matplotlib and tensorboard take seconds

    check_folders(*picture_paths(picture))
    draw_and_report(runs, label, picture, against, over)


def runs(folders: tyro.conf.Positional[tuple[Path, ...]], markdown: Path | None = None) -> None:
    """Puts finished runs into one table: how long they took, how fast they were, how strong they have become.

    Args:
        folders: Folders of runs, or of runs of several seeds.
        markdown: Also write the table to this Markdown file.
    """
    from evaluate.runs_table import read_and_report

    check_folders(markdown)
    read_and_report(folders, markdown)


def endgames(
    a: tyro.conf.Positional[str],
    b: tyro.conf.Positional[str],
    games: int = 2_000,
    seed: int = 0,
    threads: int = 2,
) -> None:
    """Plays from twenty close positions near the end of a game, to see who plays to the score.

    Args:
        a: An agent: a name, a name with settings after a colon, or the folder of a run.
        b: Its opponent.
        games: How many games at each position, an even number; in half of them the first agent deals.
        seed: Of the deals.
        threads: How many work side by side.
    """
    from evaluate.endgames import play_and_report

    _check_threads(threads)
    play_and_report(a, b, games, seed, threads)


def budget_curve(
    agents: tyro.conf.Positional[tuple[str, ...]],
    budgets: tuple[int, ...],
    json_file: Annotated[Path, tyro.conf.arg(name="json")],
    against: str = "greedy",
    games: int = 2_000,
    seed: int = 0,
    picture: Path | None = None,
) -> None:
    """Plays one agent with growing budgets against an opponent: strength against budget.

    Args:
        agents: Agents with {} where the budget goes, such as "ismcts:iterations={}".
        budgets: What to put there.
        json_file: The file for the results; matches that it holds already are not played again.
        against: The opponent.
        games: How many games each, an even number.
        seed: Of the deals.
        picture: Also draw the curves into this file, as PNG and as SVG.
    """
    from evaluate.budget_curve import Plan, play_and_report  # matplotlib takes half a second

    check_folders(json_file, *picture_paths(picture))
    play_and_report(Plan(agents, budgets, against, games, seed), json_file, picture)


def replay(path: tyro.conf.Positional[Path], game: int = 0) -> None:
    """Tells a game that `match --record` has written.

    Args:
        path: The file.
        game: Which of its games, counted from 0.
    """
    from evaluate.replay import replay_and_print

    replay_and_print(path, game)


def _check_threads(threads: int) -> None:
    if threads < 1:
        raise ValueError(f"threads={threads} is not allowed: give at least 1")


def discard_table(path: tyro.conf.Positional[Path], threads: int = 2) -> None:
    """Computes the exact statistics of all 20,358,520 deals into one file, and what they say of the discard game.

    Args:
        path: The file to write, 173 MB; a file that is there is replaced.
        threads: How many work side by side.
    """
    from evaluate.discard_game import build_and_report  # tables that nothing else needs

    check_folders(path)
    _check_threads(threads)
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
    check_folders(path)
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
        picture: Also draw heat maps into this file, as PNG and as SVG.
    """
    from evaluate.board import solve_and_report  # matplotlib takes half a second

    check_folders(path, *picture_paths(picture))
    _check_threads(threads)
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

    check_folders(path)
    _check_threads(threads)
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


def reproduce(
    paper: tyro.conf.Positional[Name | Literal["all"] | None] = None,
    quick: bool = False,
    seed: int | None = None,
    choices: Path | None = None,
    folder: Path | None = None,
    resume: Path | None = None,
    report: Path | None = None,
    threads: int = 2,
    ray: str | None = None,
) -> None:
    """Computes the figures of a paper anew, and says where they agree, where they differ, and why.

    Args:
        paper: Which paper, or all of them.
        quick: Small samples, short trainings, and nothing that takes long: about two minutes a paper.
        seed: Of deals and of trainings, by default 0.
        choices: A file of people's discards for Lang's Table 4, in the format of
            evaluate/reproduce/choices_example.csv.
        folder: A new folder for trainings, results and the report, by default runs/reproduce/<time>.
        resume: The folder of a reproduction that was stopped, to go on with; give no paper, --quick, --seed or
            --choices then.
        report: Also write the report to this Markdown file, and its picture beside it.
        threads: How many work side by side.
        ray: Train side by side and play matches on the Ray cluster of this address, or with `local` on all cores; its
            machines share the folder.
    """
    check_folders(report)
    _check_threads(threads)
    if report is not None and report.suffix != ".md":
        raise ValueError(f"{report} is not allowed: a report ends in .md")
    if resume is None and paper is None:
        raise ValueError(f"there is no paper: give one of {', '.join(NAMES)}, or all")
    if resume is not None and (paper, quick, seed, choices, folder) != (None, False, None, None, None):
        raise ValueError("--resume takes all settings from the folder: only --report, --threads and --ray go beside it")
    from evaluate.on_ray import load_ray
    from evaluate.reproduce.report import reproduce_and_report  # all agents, and matplotlib
    from evaluate.reproduce.run import Reproduction

    if ray is not None:
        load_ray(ray)
    if resume is not None:
        plan = Reproduction.of_folder(resume)
    else:
        plan = Reproduction(NAMES if paper == "all" else (str(paper),), quick, seed or 0, choices)
        resume = plan.begin(folder)
    with reported_errors(f"stopped; go on with: python -m evaluate reproduce --resume {resume}"):
        reproduce_and_report(plan, resume, threads, report, ray)


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
        picture: Also draw the speeds into this file, as PNG and as SVG.
    """
    from evaluate.benchmark.run import run_benchmark  # imports games that nothing else needs

    check_folders(json_file, *picture_paths(picture))
    run_benchmark(sections, seconds, json_file, picture)


def main() -> None:
    """Reads the command line."""
    with reported_errors():
        commands: dict[str, Any] = {
            "match": match,
            "league": league,
            "endgames": endgames,
            "budget-curve": budget_curve,
            "curves": curves,
            "runs": runs,
            "replay": replay,
            "discard-table": discard_table,
            "crib-tables": crib_tables,
            "board": board,
            "discard": discard,
            "pegging": pegging,
            "decision-times": decision_times,
            "lang-tournament": lang_tournament,
            "reproduce": reproduce,
            "benchmark": benchmark,
        }
        tyro.extras.subcommand_cli_from_dict(commands, prog="python -m evaluate", description=__doc__)


if __name__ == "__main__":
    main()
