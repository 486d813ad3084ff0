"""Long commands made small: a play of three cards each, and a win table of few deals at few scores.

``python -m tests.helpers.small_commands solve-play …`` is ``crib-env solve-play …`` with both; a play is
saved each time that it is measured.
"""

from __future__ import annotations

from functools import partial

import pytest

from crib_env.evaluate.__main__ import main
from crib_env.evaluate.commands import solve_play
from crib_env.evaluate.commands.tables import win_table
from crib_env.evaluate.tables.win_table import making
from crib_env.evaluate.tables.win_table.solve import PARTS
from crib_env.solver.public_state import start_of_play


def make_win_table_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few deals at few scores."""
    kinds = {kind: making._Kind(2 if kind == "plays" else 1, 15) for kind in making._KINDS}
    for name, value in (("NEAR", 118), ("LAST", 120), ("_KINDS", kinds), ("LEAST_DEALS", PARTS)):
        monkeypatch.setattr(making, name, value)
    monkeypatch.setattr(win_table, "LEAST_DEALS", PARTS)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        make_win_table_small(patch)
        patch.setattr(solve_play, "start_of_play", partial(start_of_play, 3))
        patch.setattr(solve_play, "_SAVE_EVERY", 0)
        main()
