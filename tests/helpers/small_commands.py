"""Long commands made small: a win table of few deals at few scores, and a luck table that takes its exact means from
the shipped one.

``python -m tests.helpers.small_commands win_table …`` is ``python -m crib_env.evaluate.makers.win_table …`` with these,
and likewise ``luck``; any other words are those of ``crib-env``. A play that ``solve play`` solves is saved each time
that it is measured.
"""

from __future__ import annotations

import sys

import pytest

from crib_env.evaluate.__main__ import main
from crib_env.evaluate.commands import solve
from crib_env.evaluate.makers import luck, run, win_table
from crib_env.evaluate.makers.win_table import PARTS
from crib_env.evaluate.skill.luck.variates import standard_luck_table


def make_win_table_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few deals at few scores."""
    kinds = {kind: (2 if kind == "plays" else 1, 15) for kind in win_table._KINDS}
    for name, value in (("NEAR", 118), ("LAST", 120), ("_KINDS", kinds), ("LEAST_DEALS", PARTS)):
        monkeypatch.setattr(win_table, name, value)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        make_win_table_small(patch)
        patch.setattr(solve, "_SAVE_PLAY", 0)
        patch.setattr(luck, "exact_means", lambda values: standard_luck_table().means)
        makers = {"luck": luck.luck, "win_table": win_table.win_table}
        if sys.argv[1] in makers:
            run(makers[sys.argv.pop(1)])
        else:
            main()
