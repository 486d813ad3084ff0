"""``python -m tests.attack``: whether the project withstands those who mean it harm, and accidents.

Every player, searches too, with other hidden cards; hostile command lines and messages to the page; damaged files;
files and names of strangers; kernels compiled by processes that are killed, and on full disks; learners and long
commands that are killed. It prints a table of what was tried and what came through, and ends with status 1 if anything
did.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.attack import QUICK, Attempts, Sizes, damage, kernels, kills, leaks, lines, strangers, table

PARTS = {
    "leaks": leaks,
    "lines": lines,
    "table": table,
    "damage": damage,
    "strangers": strangers,
    "kernels": kernels,
    "kills": kills,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes the attacks; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small samples, to try the attack itself")
    for name, number in Sizes()._asdict().items():
        parser.add_argument(f"--{name}", type=int, help=f"how many (by default {number:,})")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="some parts alone")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (%(default)s)")
    asked = parser.parse_args(arguments)
    given = {name: getattr(asked, name) for name in Sizes._fields if getattr(asked, name) is not None}
    sizes = (QUICK if asked.quick else Sizes())._replace(**given)
    done, started = [], time.process_time()
    for part in asked.only:
        for found in PARTS[part].attack(sizes, asked.seed):
            print(f"{part}: {row(found)}", flush=True)
            for fault in found.faults[:20]:
                print(f"    {fault}", flush=True)
            done.append(found)
    print("\n| | tried | came through |\n|---|---|---|", *map(row, done), sep="\n")
    print(f"seed {asked.seed}, {time.process_time() - started:,.0f} processor seconds of this process")
    return 1 if any(found.faults for found in done) else 0


def row(found: Attempts) -> str:
    """A line of the table."""
    return f"| {found.what} | {found.tried:,} | {len(found.faults):,} |"


if __name__ == "__main__":
    sys.exit(main())
