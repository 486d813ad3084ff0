"""Whole games, and what agents and the coach think in all their positions: the same code here and in the browser."""

from __future__ import annotations

import hashlib
import json
import time

import numpy as np

from crib_env import GameBatch, streams
from crib_env.agents import make_agent
from crib_env.agents.expert import ExpertAgent
from crib_env.evaluate.skill.analysis.judges import discard_worth, play_judge

AGENTS = ("greedy", "careful", "expert", "best")


def judged(games: int, seed: int) -> str:
    """In JSON the seconds that each agent and the coach took, and for each moment of the games all cards and values.

    The agents take turns to play for both players.
    """
    batch, players = GameBatch(streams(seed, games)), [make_agent(name) for name in AGENTS]
    judge, analyst, found = play_judge(), ExpertAgent(), []
    seconds = dict.fromkeys((*AGENTS, "discards", "play"), 0.0)

    def timed(name, function, *given):
        began = time.perf_counter()
        result = function(*given)
        seconds[name] += time.perf_counter() - began
        return result

    while len(rows := batch.acting()):
        views = batch.views(rows)
        cards = [timed(name, player.act, views) for name, player in zip(AGENTS, players)]
        worths = []
        for name, of, value in (
            ("discards", np.flatnonzero(views.is_discard), lambda some: discard_worth(analyst, some)),
            ("play", np.flatnonzero(~views.is_discard), judge.worth),
        ):
            if len(of):
                worth = timed(name, value, views[of])
                worths += [np.nan_to_num(np.maximum(part, -9.0)).tolist() for part in worth]
        found.append([[one.tolist() for one in cards], worths])
        batch.step(rows, cards[len(found) % len(cards)])
    return json.dumps([seconds, found])


def played(games: int, seed: int) -> str:
    """In JSON a hash of the records of all games after each card; two agents take turns to play for both players."""
    batch, players, found = GameBatch(streams(seed, games)), [make_agent(name) for name in ("careful", "greedy")], []
    while len(rows := batch.acting()):
        batch.step(rows, players[len(found) % 2].act(batch.views(rows)))
        found.append(hashlib.sha256(batch.games.tobytes()).hexdigest())
    return json.dumps([batch.games["scores"].tolist(), found])
