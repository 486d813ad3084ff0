"""The figures of papers, recomputed, and Lang's tournament of a run against its own snapshots."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import tyro

from crib_env.agents import make_agent
from crib_env.evaluate.command_line import SomeExecutor, SomeFolder, SomeSeed
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.ending import reported_errors
from crib_env.evaluate.papers import NAMES, Name
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.ranges import Seed, Threads

LENGTHS = (9, 100, 1_000, 10_000)  # of Lang's series of games


def reproduce(
    paper: Annotated[
        Name | Literal["all"] | None, tyro.conf.Positional, tyro.conf.arg(metavar="[PAPER]", help_behavior_hint="")
    ] = None,
    quick: bool = False,
    seed: SomeSeed = None,
    folder: SomeFolder = None,
    resume: SomeFolder = None,
    threads: Threads = 2,
    executor: SomeExecutor = None,
) -> None:
    """Recomputes the figures of a paper, and reports which are confirmed, which differ, and why.

    Args:
        paper: lang-2018, oconnor-2000, anderson-2022, sharan-pawar-2022, mueller-1987, or all.
        quick: Small samples, short trainings, no long computations: about two minutes a paper.
        seed: Random seed of deals and trainings, by default 0.
        folder: A new folder for trainings, results and the report, by default runs/reproduce/<time>.
        resume: Folder of a stopped reproduction to continue; give no paper, --quick, --seed or --folder then.
        threads: Number of threads.
        executor: Train in parallel and play matches past this machine: ray:ADDRESS, dask:ADDRESS or submitit:slurm,
            whose machines share the folder. Without an address, on all cores.
    """
    if resume is None and paper is None:
        raise ValueError(f"there is no paper: give one of {', '.join(NAMES)}, or all")
    if resume is not None and (paper, quick, seed, folder) != (None, False, None, None):
        raise ValueError("--resume takes all settings from the folder: give only --threads and --executor with it")
    # Imported here: all agents and torch take seconds.
    from crib_env.evaluate.executors.named import check_executor
    from crib_env.evaluate.papers.report import reproduce_and_report
    from crib_env.evaluate.papers.run import Reproduction

    if executor is not None:
        check_executor(executor)
    if resume is not None:
        plan = Reproduction.of_folder(resume)
    else:
        plan = Reproduction(NAMES if paper == "all" else (str(paper),), quick, seed or 0)
        resume = plan.begin(folder)
    with reported_errors(f"stopped; continue with: crib-env reproduce --resume {shlex.quote(resume.as_posix())}"):
        reproduce_and_report(plan, resume, threads, executor)


def lang_tournament(run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")], seed: Seed = 0) -> None:
    """Plays a run of Lang's learner against its own snapshots: point spreads over 9, 100, 1,000 and 10,000 games.

    Args:
        run: The folder of a finished run of `crib-env train strategy-weights`.
        seed: Random seed of the deals.
    """
    from crib_env.agents.strategy_weights import StrategyWeightsAgent
    from crib_env.evaluate.matches.series import play_series
    from crib_env.evaluate.runs.format import SUMMARY, snapshots_of
    from crib_env.files.json_text import read_json, typed

    agent = read_json(
        run / SUMMARY,
        f"{run} is not the folder of a finished run of strategy-weights",
        lambda content: typed(content["agent"], int),
    )
    snapshots = snapshots_of(run, agent)
    final = make_agent(str(run))
    columns = ("games learned", *(f"{n:,} games" for n in LENGTHS), "won of 10,000", "match points of 100")
    table = table_of(f"{run} against its snapshots, from 0–0, seed {seed}: net points", columns, words=0)
    with advancing("series", len(snapshots) * LENGTHS[-1]) as on_progress:
        for k, path in enumerate(snapshots):
            series = play_series(final, StrategyWeightsAgent.load(path), LENGTHS[-1], seed + k)
            own, other = series.match_points(100)
            table.add_row(
                f"{int(path.stem.rpartition('-')[2]):,}",
                *(f"{series.spread(n):+,}" for n in LENGTHS),
                f"{series.wins(LENGTHS[-1]):,}",
                f"{own}:{other}",
            )
            on_progress(LENGTHS[-1])
    console.print(table)
