"""Without compilation (``NUMBA_DISABLE_JIT=1``, for a debugger or for coverage) the same code plays the same games."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crib_env import describe_show, score_play, score_show, score_show_many
from crib_env.agents import make_agent
from crib_env.batch import GameBatch
from crib_env.kernels import streams
from crib_env.players.policies import CAREFUL, GREEDY, RANDOM
from tests.test_golden_games import CASES, read, replay
from tests.test_strategy_weights import learned

ROOT = Path(__file__).parent.parent


def recorded_games():
    return {name: replay(read(name))[0] for name in CASES}


def native_games():
    """A few deals between native players, with all that they were shown."""
    batch = GameBatch(streams(2, 6), episode="deal")
    shown = []
    for decision in range(12):
        rows = batch.acting()
        views = batch.views(rows)
        shown.append([views.board.sum(axis=1).tolist(), views.action_mask.sum(axis=1).tolist()])
        batch.step(rows, batch.native_cards(rows, (GREEDY, RANDOM, CAREFUL)[decision % 3]))
    return shown, batch.tally.tolist(), batch.games["scores"].tolist()


def choices_of_searches():
    """The cards of one deal between two of each player that looks ahead or asks a network."""
    played = {}
    trees = "ismcts:iterations=12", "uct-determinized:iterations=12,determinizations=3"
    for name in ("best", "expert:hands=5", "halscrib", "minimax:depth=2", *trees):
        agent, batch, chosen = make_agent(name), GameBatch(streams(7, 1), episode="deal"), []
        while len(rows := batch.acting()):
            cards = agent.act(batch.views(rows))
            batch.step(rows, cards)
            chosen += cards.tolist()
        played[name] = chosen
    return played


def scores():
    cards = np.array([np.random.default_rng(k).permutation(52)[:5] for k in range(200)])
    return [
        score_show_many(cards[:, :4], cards[:, 4]).tolist(),
        int(score_show("5C 5H 5S JD", "5D")),
        describe_show("5C 5H 5S JD", "5D"),
        int(score_play("JC 4C 5C 4D 3D")),
    ]


def weights_learned():
    """A few games of ``strategy-weights``."""
    first, second, expected, tally = learned(2, neighbours=0.1, explore_by="values", exploration_rate="variance")
    sums = [float(np.round(array.astype(float) @ np.arange(array.shape[-1]), 4).sum()) for array in (first, second)]
    return [*sums, round(float(expected.sum()), 4), np.round(tally, 6).tolist()]


def of_rules():
    return [recorded_games(), scores(), native_games()]


@pytest.mark.parametrize(
    "name",
    ["of_rules", *(pytest.param(one, marks=pytest.mark.slow) for one in ("choices_of_searches", "weights_learned"))],
)
def test_the_same_without_jit(name):
    program = (
        "import json, numba, crib_env.engine, tests.test_no_jit as here\n"
        "assert type(crib_env.engine.act).__name__ == 'function'\n"
        f"print(json.dumps(here.{name}()))"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(globals()[name]()))
