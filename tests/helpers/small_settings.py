"""Settings of runs that take a second or two."""

from __future__ import annotations

from dataclasses import replace

from crib_env.train import ddqn, drqn, nfsp
from crib_env.train.best import learner as best
from crib_env.train.discard_game import learner as discard_game
from crib_env.train.strategy_weights import learner as strategy_weights
from crib_env.train.td import learner as td

BEST = replace(
    best.PRESETS["default"],
    hidden=(16,),
    decisions=1_300,
    episodes=131_072,
    threads=1,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
    precision="float32",
)
DDQN = replace(
    ddqn.PRESETS["default"],
    hidden=(32,),
    episodes=1_024,
    episodes_at_once=128,
    warm_up=1,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
    precision="float32",
)
DISCARD_GAME = replace(
    discard_game.PRESETS["default"],
    hidden=(16,),
    episodes=512,
    episodes_at_once=128,
    evaluations=1,
    evaluation_games=100,
    final_games=100,
    checkpoint_seconds=0.0,
    precision="float32",
)
DISCARD_GAME_PAPER = replace(
    discard_game.PRESETS["paper"],
    hidden=(8,),
    episodes=2_048,
    episodes_at_once=512,
    evaluations=1,
    evaluation_games=100,
    final_games=100,
    checkpoint_seconds=0.0,
)
DRQN = replace(
    drqn.PRESETS["default"],
    memory=8,
    hidden=(16,),
    episodes=1_024,
    episodes_at_once=128,
    warm_up=1,
    replay=500,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
    precision="float32",
)
DRQN_GAMES = {"episode": "game", "rewards": "points", "length": 5, "burn_in": 3}
NFSP = replace(
    nfsp.PRESETS["default"],
    hidden=(16,),
    episodes=1_024,
    episodes_at_once=128,
    warm_up=1,
    replay=2_000,
    reservoir=300,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
    precision="float32",
)
STRATEGY_WEIGHTS = strategy_weights.StrategyWeightsSettings(
    episodes=2_500, snapshots=2, evaluations=1, evaluation_games=20, final_games=20, match_games=5, baseline=0.02
)
TD = replace(
    td.PRESETS["default"],
    hidden=(32,),
    episodes=1_024,
    episodes_at_once=128,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
    precision="float32",
)
TD_PAPER = replace(
    td.PRESETS["paper"],
    hidden=(8,),
    episodes=512,
    episodes_at_once=128,
    evaluations=1,
    evaluation_games=20,
    final_games=20,
    checkpoint_seconds=0.0,
)
