"""The command; its help is that of :func:`main`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.mutants.changes import CHANGES
from tests.mutants.running import run_all


def main() -> int:
    """Runs the changes, tells of each, and returns how many were not killed."""
    parser = argparse.ArgumentParser(
        "python -m tests.mutants", description="Do tests notice wrong changes of the source?"
    )
    parser.add_argument("files", nargs="*", help="changes of files with these words in their paths; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many run side by side")
    parser.add_argument("--verbose", action="store_true", help="what pytest says of changes that were not killed")
    asked = parser.parse_args()
    changes = [one for one in CHANGES if not asked.files or any(word in one.file for word in asked.files)]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for result in run_all(changes, Path(folder), asked.jobs):
            counts[result.verdict] += 1
            print(f"{result.verdict}: {result.change.file}: {result.change.what}", flush=True)
            if asked.verbose and result.verdict != "killed":
                print(result.output)
    print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    return len(changes) - counts["killed"]


if __name__ == "__main__":
    sys.exit(min(main(), 1))
