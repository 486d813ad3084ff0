"""``python -m tests.differential``: the engine against plain rules over 10⁹ random cards laid, in chunks.

Each chunk has its own random numbers, so a resumed run has the same result as an uninterrupted one. It ends at the
first difference, with exit status 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import crib_env
from crib_env import format_card
from crib_env.engine import EPISODES, GAME
from crib_env.evaluate.files import write_json
from tests.differential.comparison import FIELDS, TOTALS, TRACE, Compared, compare, nothing_compared
from tests.differential.plain_rules import KINDS, TABLE

CHUNK = 5_000_000  # cards laid: some seconds


def sources() -> str:
    """A checksum of both statements of the rules: results of different rules are not added up."""
    package = Path(crib_env.__file__).parent
    files = [package / f"{name}.py" for name in ("cards", "kernels", "scoring", "engine")]
    files += [Path(__file__).parent / f"{name}.py" for name in ("plain_rules", "comparison")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def compare_chunk(seed: int, chunk: int, n_plays: int) -> tuple[Compared, str | None]:
    """Compares one chunk; returns the counts, and the difference at which it ended, in words."""
    random = np.random.default_rng((seed, chunk))
    games, tables, traces = np.zeros(1, GAME), np.zeros(1, TABLE), np.zeros(1, TRACE)
    games["episode_stream"] = random.integers(2**64, dtype=np.uint64)
    compared = nothing_compared()
    compare(random, n_plays, games, tables, compared, traces)
    return compared, describe(traces[0]) if traces["field"][0] else None


def describe(trace: Any) -> str:
    """A difference, with everything needed to reproduce it."""
    cards = " ".join(format_card(card) for card in trace["cards"])
    acted = " ".join(format_card(card) for card in trace["acted"][: trace["n_acted"]])
    return (
        f"{FIELDS[trace['field']]} differ: episode {EPISODES[trace['episode']]!r}, player_{trace['dealer']} deals at "
        f"{trace['scores'][0]}–{trace['scores'][1]}, cards {cards}; after {acted or 'the deal'}"
    )


def fresh(seed: int) -> dict[str, Any]:
    """A run that has not begun yet."""
    return {
        "seed": seed,
        "rules": sources(),
        "chunks": 0,
        **dict.fromkeys(TOTALS, 0),
        "events": dict.fromkeys(KINDS, 0),
        "ends": dict.fromkeys(KINDS, 0),
        "seconds": 0.0,
        "difference": None,
    }


def read(path: Path, seed: int) -> dict[str, Any]:
    """The run in a file, to be continued.

    Raises:
        ValueError: the file holds a run of another seed or of other rules.
    """
    if not path.exists():
        return fresh(seed)
    run = json.loads(path.read_text())
    for key, value in (("seed", seed), ("rules", sources())):
        if run[key] != value:
            raise ValueError(f"{path} holds a run of other {key}: delete it, or give another --state")
    return run


def go_on(run: dict[str, Any]) -> None:
    """Adds the next chunk to a run."""
    started = time.perf_counter()
    compared, difference = compare_chunk(run["seed"], run["chunks"], CHUNK)
    for name, number in zip(TOTALS, compared.totals.tolist()):
        run[name] += number
    for key, numbers in (("events", compared.events), ("ends", compared.ends)):
        for kind, number in zip(KINDS, numbers.tolist()):
            run[key][kind] += number
    run["difference"] = difference
    run["chunks"] += 1
    run["seconds"] += time.perf_counter() - started


def report(run: dict[str, Any]) -> str:
    """The counts so far, in words."""
    found = "no difference" if run["difference"] is None else "ONE DIFFERENCE"
    return ", ".join(f"{run[name]:,} {name}" for name in TOTALS) + f", {run['seconds']:,.0f} s: {found}"


def main() -> int:
    """Starts or continues a run; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--plays", type=int, default=1_000_000_000, help="how many cards to lay (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (%(default)s)")
    parser.add_argument(
        "--state", type=Path, default=Path("runs/differential.json"), help="what is done, to go on with (%(default)s)"
    )
    settings = parser.parse_args()
    try:
        run = read(settings.state, settings.seed)
    except ValueError as error:
        parser.error(str(error))
    try:
        shown = -60.0
        while run["plays"] < settings.plays and run["difference"] is None:
            go_on(run)
            write_json(settings.state, run)
            if time.monotonic() - shown >= 60:
                shown = time.monotonic()
                print(report(run), flush=True)
    except KeyboardInterrupt:
        print(f"stopped; the same command continues from {settings.state}")
        return 130
    print(report(run))
    print("events:", ", ".join(f"{kind} {number:,}" for kind, number in run["events"].items()))
    print("games won on:", ", ".join(f"{kind} {number:,}" for kind, number in run["ends"].items()))
    if run["difference"] is None:
        return 0
    print(run["difference"])
    return 1


if __name__ == "__main__":
    sys.exit(main())
