"""A reproduction: the claims of some papers, computed one after the other; a stopped one can be resumed.

Its folder holds ``config.json``, ``trainings/`` (:mod:`crib_env.evaluate.papers.trainings`), ``claims/<paper>/``, a
file for each computed claim, written whole, and at the end ``report.md``, ``report.json`` and a picture.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

from crib_env.evaluate.begun import Plan
from crib_env.evaluate.executors.cluster import Cluster
from crib_env.evaluate.files import write_json
from crib_env.evaluate.papers import NAMES, claims, measures
from crib_env.evaluate.papers.claims import Claim, Effort, Measured, Paper, Training, Verdict, verdict
from crib_env.evaluate.papers.trainings import find_run, is_finished, train, train_on
from crib_env.files.json_text import read_json, typed

_PUBLISHED = (
    *(claims.number, claims.share, claims.count, claims.mean, claims.spread),
    *(claims.between, claims.above, claims.below, claims.shown),
)
OutcomeVerdict = Verdict | Literal["no verdict", "left out"]
_START = 15.0  # seconds that a training takes to begin, and to be measured at its end


def read_paper(name: str) -> Paper:
    """The paper of this name, from the ``claims.json`` of its folder.

    The file holds ``name`` and ``title``, ``trainings`` (:class:`crib_env.evaluate.papers.claims.Training`),
    ``reasons``, which several claims may give by name as their ``why``, ``groups`` of claims, and what is ``left_out``.
    A group has the fields that its claims have in common; each of them may replace some. A claim's published figure is
    a function of :mod:`crib_env.evaluate.papers.claims` with its arguments, and its ``measure`` is one of the paper's
    ``measures.py`` or of :mod:`crib_env.evaluate.papers.measures`: alone, or with arguments that make it.
    """
    folder = name.replace("-", "_")
    own = import_module(f"crib_env.evaluate.papers.{folder}.measures")
    content = json.loads((Path(__file__).parent / folder / "claims.json").read_text(encoding="utf-8"))
    trainings = {
        one["name"]: Training(**one | {"flags": tuple(one["flags"].split()), "episodes": tuple(one["episodes"])})
        for one in content.get("trainings", ())
    }
    reasons, functions = content.get("reasons", {}), {**vars(measures), **vars(own)}

    def claim_of(fields: dict[str, Any]) -> Claim:
        (published,) = (function(*fields.pop(key)) for function in _PUBLISHED if (key := function.__name__) in fields)
        fields["why"] = reasons.get(fields.get("why"), fields.get("why", ""))
        fields["trainings"] = tuple(trainings[training] for training in fields.get("trainings", ()))
        fields["samples"] = tuple(fields.get("samples", (1, 1)))
        return Claim(**fields | {"published": published, "measure": _named(fields["measure"], functions)})

    found = [claim_of({**group, **one}) for group in content["groups"] for one in group.pop("claims")]
    return Paper(name, content["title"], tuple(found), tuple(map(tuple, content["left_out"])))


def _named(call: list[Any], functions: Mapping[str, Any]) -> Any:
    """A function by its name, or what it returns for arguments; a list that begins with a name is a call, too."""
    name, *given = call
    arguments = [_named(one, functions) if isinstance(one, list) and isinstance(one[0], str) else one for one in given]
    return functions[name](*arguments) if arguments else functions[name]


PAPERS: dict[str, Paper] = {name: read_paper(name) for name in NAMES}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a claim: its measured value and the seconds it took, or why it was left out.

    Attributes:
        claim: the claim.
        measured: its value, if it was computed.
        seconds: the time that it took.
        left_out: the reason why it was left out.
        is_cut_short: whether it was measured on a training shorter than that of the full version.
        day: the day on which it was measured, as in 2026-01-31, if known.
    """

    claim: Claim
    measured: Measured | None
    seconds: float = 0.0
    left_out: str = ""
    is_cut_short: bool = False
    day: str = ""

    @property
    def verdict(self) -> OutcomeVerdict:
        """The verdict on the claim; a training that was cut short decides nothing."""
        if self.measured is None:
            return "left out"
        found = verdict(self.claim.published, self.measured)
        if self.claim.is_check:
            return "holds" if found == "confirmed" else "fails"
        return "no verdict" if self.is_cut_short and found != "shown" else found


@dataclass(frozen=True)
class Reproduction(Plan):
    """The papers, the version (quick or full) and the seed of a reproduction.

    Attributes:
        papers: their names.
        quick: smaller samples, shorter trainings, and nothing that takes long.
        seed: of deals and of trainings.

    Raises:
        ValueError: there is no such paper.
    """

    KIND = "reproduction"
    FOLDERS = Path("runs") / "reproduce"
    PARTS = "claims"

    papers: tuple[str, ...]
    quick: bool
    seed: int

    def __post_init__(self) -> None:
        for name in self.papers:
            if name not in PAPERS:
                raise ValueError(f"there is no paper {name!r}: choose one of {', '.join(PAPERS)}")

    @property
    def claims(self) -> list[tuple[Paper, Claim]]:
        """All claims with their papers, in order."""
        return [(PAPERS[name], claim) for name in self.papers for claim in PAPERS[name].claims]

    @property
    def trainings(self) -> list[Training]:
        """The trainings that the claims need in this version."""
        wanted = (t for name in self.papers for t in PAPERS[name].trainings)
        return [t for t in dict.fromkeys(wanted) if t.episodes[not self.quick]]

    def left_out(self, claim: Claim) -> str:
        """The reason why a claim is not computed, or an empty text."""
        return "" if claim.size(self.quick) else "only in the full version"

    def seconds(self, folder: Path) -> float:
        """About how many seconds the rest will take on one core."""
        total = 0.0
        for training in self.trainings:
            if not is_finished(find_run(folder, training)):
                total += _START + training.episodes[not self.quick] * training.each
        for paper, claim in self.claims:
            if not self.left_out(claim) and not claim_file(folder, paper, claim).exists():
                total += claim.size(self.quick) * claim.each
        return total

    def train(self, folder: Path, cluster: Cluster | None = None) -> None:
        """Trains what is not trained yet, one after another, or side by side on a cluster that shares the folder."""
        if cluster is not None:
            train_on(cluster, folder, self.trainings, self.quick, self.seed)
            return
        for training in self.trainings:
            train(folder, training, self.quick, self.seed)

    def compute(
        self,
        folder: Path,
        threads: int = 1,
        on_claim: Callable[[Paper, Claim], None] = lambda paper, claim: None,
        on_progress: Callable[[int], None] = lambda done: None,
        cluster: Cluster | None = None,
    ) -> dict[str, list[Outcome]]:
        """Computes the claims that are not in the folder yet, on what :meth:`train` has trained; all outcomes by paper.

        Args:
            on_claim: called with the next claim.
            on_progress: called with the number of further units of its sample that are done.
            cluster: a cluster to play matches on, in place of threads; everything else is computed here.

        Raises:
            ValueError: a file of a claim is damaged; the message names it.
        """
        outcomes: dict[str, list[Outcome]] = {name: [] for name in self.papers}
        for paper, claim in self.claims:
            on_claim(paper, claim)
            runs = tuple(run for training in claim.trainings if (run := find_run(folder, training)) is not None)
            effort = Effort(claim.size(self.quick), self.seed, threads, runs, on_progress, cluster)
            outcomes[paper.name].append(self._outcome(claim_file(folder, paper, claim), claim, effort))
        return outcomes

    def _outcome(self, path: Path, claim: Claim, effort: Effort) -> Outcome:
        if reason := self.left_out(claim):
            return Outcome(claim, None, left_out=reason)
        if path.exists():
            seconds, day, measured = _read(path)
        else:
            started = time.perf_counter()
            measured, seconds = claim.measure(effort), time.perf_counter() - started
            day = date.today().isoformat()
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, {"seconds": seconds, "day": day, "measured": measured})
        return Outcome(claim, measured, seconds, is_cut_short=claim.is_cut_short(self.quick), day=day)


def claim_file(folder: Path, paper: Paper, claim: Claim) -> Path:
    """The file with the result of a claim."""
    return folder / "claims" / paper.name / f"{claim.key}.json"


class _Saved(NamedTuple):
    """The content of the file of a claim."""

    seconds: float
    day: str
    measured: Measured


def _read(path: Path) -> _Saved:
    return read_json(
        path, f"{path} is not a whole result: delete it to compute it again", lambda content: typed(content, _Saved)
    )
