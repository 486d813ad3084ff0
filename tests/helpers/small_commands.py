"""Long commands made small: a win table of few deals at few scores, and a luck table that takes its exact means from
the shipped one.

``python -m tests.helpers.small_commands make-table …`` is ``crib-env make-table …`` with these. A play that
``solve play`` solves is saved each time that it is measured.
"""

from __future__ import annotations

import pytest

from crib_env.evaluate.__main__ import main
from crib_env.evaluate.commands.solve import play as solve_play
from crib_env.evaluate.commands.tables import deals, win_table
from crib_env.evaluate.skill.luck.table import standard_luck_table
from crib_env.evaluate.tables.win_table import making
from crib_env.evaluate.tables.win_table.solve import PARTS


def make_win_table_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few deals at few scores."""
    kinds = {kind: making._Kind(2 if kind == "plays" else 1, 15) for kind in making._KINDS}
    for name, value in (("NEAR", 118), ("LAST", 120), ("_KINDS", kinds), ("LEAST_DEALS", PARTS)):
        monkeypatch.setattr(making, name, value)
    monkeypatch.setattr(win_table, "LEAST_DEALS", PARTS)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        make_win_table_small(patch)
        patch.setattr(solve_play, "_SAVE_EVERY", 0)
        patch.setattr(deals, "exact_means", lambda values, on_progress: standard_luck_table().means)
        main()
