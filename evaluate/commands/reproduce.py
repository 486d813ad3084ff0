"""The command that recomputes the figures of papers, with :mod:`crib_env.evaluate.papers`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from crib_env.evaluate.commands.arguments import SomeFile, SomeFolder, SomeRay, SomeSeed
from crib_env.evaluate.ending import reported_errors
from crib_env.evaluate.files import check_outputs, picture_paths
from crib_env.evaluate.papers import NAMES, Name
from crib_env.evaluate.ranges import Threads


@dataclass(frozen=True)
class ReproduceArguments:
    """The reproduction to start or continue."""

    paper: Annotated[
        Name | Literal["all"] | None, tyro.conf.Positional, tyro.conf.arg(metavar="[PAPER]", help_behavior_hint="")
    ] = None
    """lang-2018, oconnor-2000, anderson-2022, sharan-pawar-2022, mueller-1987, or all."""
    quick: bool = False
    """Small samples, short trainings, no long computations: about two minutes a paper."""
    seed: SomeSeed = None
    """Random seed of deals and trainings, by default 0."""
    choices: SomeFile = None
    """A file of people's discards for Lang's Table 4, as evaluate/papers/lang_2018/choices_example.csv."""
    folder: SomeFolder = None
    """A new folder for trainings, results and the report, by default runs/reproduce/<time>."""
    resume: SomeFolder = None
    """Folder of a stopped reproduction to continue; give no paper, --quick, --seed or --choices then."""
    report: SomeFile = None
    """Also write the report to this Markdown file, and its picture beside it."""
    threads: Threads = 2
    """Number of threads."""
    ray: SomeRay = None
    """Train in parallel and play matches on the Ray cluster of this address, or with `local` on all cores; its
    machines share the folder."""


def reproduce(asked: Annotated[ReproduceArguments, tyro.conf.arg(name="")]) -> None:
    """Starts or continues a reproduction, and reports it.

    Raises:
        ValueError: an argument is not allowed.
    """
    paper, resume, report = asked.paper, asked.resume, asked.report
    if report is not None:
        if report.suffix != ".md":
            raise ValueError(f"{report} is not allowed: a report ends in .md")
        check_outputs(report, *picture_paths(report.with_suffix(".png")))
    if resume is None and paper is None:
        raise ValueError(f"there is no paper: give one of {', '.join(NAMES)}, or all")
    settings = (paper, asked.quick, asked.seed, asked.choices, asked.folder)
    if resume is not None and settings != (None, False, None, None, None):
        raise ValueError("--resume takes all settings from the folder: give only --report, --threads and --ray with it")
    from crib_env.evaluate.on_ray import load_ray
    from crib_env.evaluate.papers.report import (
        reproduce_and_report,  # imported here: all agents and torch take seconds
    )
    from crib_env.evaluate.papers.run import Reproduction

    if asked.ray is not None:
        load_ray(asked.ray)
    if resume is not None:
        plan = Reproduction.of_folder(resume)
    else:
        plan = Reproduction(NAMES if paper == "all" else (str(paper),), asked.quick, asked.seed or 0, asked.choices)
        resume = plan.begin(asked.folder)
    with reported_errors(f"stopped; continue with: python -m evaluate reproduce --resume {resume}"):
        reproduce_and_report(plan, resume, asked.threads, report, asked.ray)
