"""Settings of runs that take a second or two."""

from __future__ import annotations

from dataclasses import replace

from crib_env.train import best, ddqn, discard_game, drqn, mmd, mmd_tables, nfsp, rnad, strategy_weights, td
from crib_env.train.registry import presets_of
from tests.helpers.learner_runs import class_of

_FEW = {"episodes": 1_024, "episodes_at_once": 128, "evaluations": 1, "evaluation_games": 20, "final_games": 20}
_HANDS = {"evaluation_games": 100, "final_games": 100}


def small(learner, preset="default", **changes):
    """A preset of a learner with few episodes and games, and a checkpoint after every round."""
    return replace(
        presets_of(class_of(learner))[preset], checkpoint_seconds=0.0, precision="float32", **{**_FEW, **changes}
    )


BEST = small(best, hidden=(16,), decisions=1_300, episodes=131_072, episodes_at_once=65_536, threads=1)
DDQN = small(ddqn, hidden=(32,), warm_up=1)
DISCARD_GAME = small(discard_game, hidden=(16,), episodes=512, **_HANDS)
DISCARD_GAME_PAPER = small(discard_game, "paper", hidden=(8,), episodes=2_048, episodes_at_once=512, **_HANDS)
DRQN = small(drqn, memory=8, hidden=(16,), warm_up=1, replay=500)
DRQN_GAMES = {"episode": "game", "rewards": "points", "length": 5, "burn_in": 3}
MMD = small(mmd, hidden=(16, 8), hidden_discard=(16, 8), batch_size=256)
MMD_TABLES = replace(mmd_tables.MMDTablesSettings(), bits=6, checkpoint_seconds=0.0, **_FEW)
NFSP = small(nfsp, hidden=(16,), warm_up=1, replay=2_000, reservoir=300)
RNAD = small(rnad, hidden=(16, 8), hidden_discard=(16, 8), batch_size=256)
STRATEGY_WEIGHTS = strategy_weights.StrategyWeightsSettings(
    episodes=2_500, evaluations=1, evaluation_games=20, final_games=20, baseline=0.02, credit_decay=0.1, neighbours=0.0
)
TD = small(td, hidden=(32,))
TD_PAPER = small(td, "paper", hidden=(8,), episodes=512)
