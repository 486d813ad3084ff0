"""Measures agents on the suite: one table, one JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from crib_env.distribution import __version__
from crib_env.evaluate.command_line import AgentNames, SomeExecutor, SomeFolder, SomeJson
from crib_env.evaluate.console import console, progress_bar, reported_errors, say
from crib_env.evaluate.executors import check_executor, connected
from crib_env.evaluate.files import again, check_outputs, held, write_json
from crib_env.evaluate.skill.suite.suite import NAMES, Outcome, Part, Suite, figures_table
from crib_env.values import Threads

Tasks = Annotated[tuple[str, ...], tyro.conf.arg(metavar="TASK ...", help_behavior_hint="")]


def suite(
    agents: AgentNames,
    share: Part = 1.0,
    skip: Tasks = (),
    only: Tasks = (),
    folder: SomeFolder = None,
    threads: Threads = 2,
    json_file: SomeJson = None,
    executor: SomeExecutor = None,
) -> None:
    """Measures agents on fixed tasks with known answers: discards, the play, endgames, matches, time.

    A fast agent takes some minutes. docs/evaluate/suite.md says what the tasks are, and has the figures of all agents.

    Args:
        agents: Names, names with settings after a colon, folders of runs, module:Class, or pipe:COMMAND.
        share: Share of the positions and games to take, for slow agents.
        skip: Tasks to leave out, by their names in docs/evaluate/suite.md.
        only: Tasks to do, all others are left out; `text` is for language models.
        folder: Folder for finished tasks, by default runs/suite/<time>; that of a stopped suite goes on.
        threads: Number of threads; they do not change the figures.
        json_file: Also write all figures to this file, as JSON.
        executor: Do all tasks side by side on workers: processes, ray or dask, on the cores of this machine;
            ray:ADDRESS or dask:ADDRESS on a cluster.
    """
    check_outputs(json_file)
    if executor is not None:
        check_executor(executor)
    if only and skip:
        raise ValueError("--only leaves out all other tasks: give it, or --skip")
    if unknown := set(only) - set(NAMES):
        raise ValueError(f"only={' '.join(sorted(unknown))} is not allowed: choose of {', '.join(NAMES)}")
    plan = Suite(agents, share, tuple(name for name in NAMES if name not in only) if only else skip)
    folder = plan.begin(folder)
    with reported_errors(f"stopped; continue with: {again(folder)}"):
        _measure_and_report(plan, folder, threads, executor, json_file)


def _measure_and_report(plan: Suite, folder: Path, threads: int, executor: str | None, json_file: Path | None) -> None:
    outcomes: list[Outcome] = []
    with held(folder), progress_bar() as progress, connected(executor) as cluster:
        bar = progress.add_task("suite", total=100)

        def on_task(agent: str, task: str) -> None:
            progress.reset(bar, description=f"{agent}: {task}")

        def on_progress(done: float) -> None:
            progress.update(bar, advance=done)

        for outcome in plan.run(folder, threads, on_task, on_progress, cluster=cluster):
            outcomes.append(outcome)
            if outcome.failed is not None:
                say(progress, f"{outcome.agent}: {outcome.task} failed ({outcome.failed})")
    if json_file is not None:
        write_json(json_file, {"release": __version__, "share": plan.share, "outcomes": outcomes})
    console.print(figures_table(outcomes))
    console.print(f"files: {folder}", soft_wrap=True)
    failed = [f"{outcome.task} of {outcome.agent}" for outcome in outcomes if outcome.failed is not None]
    if failed:
        raise ValueError(f"failed: {', '.join(failed)}; this does it again, and keeps the rest: {again(folder)}")
