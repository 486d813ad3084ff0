"""Folders of finished runs, written without training."""

from __future__ import annotations

import json

WON = {"random": (0.9, (0.88, 0.92)), "greedy": (0.5, (0.49, 0.51))}


def summary_of(won=WON, **changes):
    """A summary of a run of 1,000 episodes in 200 s."""
    strength = {name: {"win_rate": rate, "interval": ends, "games": 2_000} for name, (rate, ends) in won.items()}
    speed = {"episodes": 1_000, "seconds": 200.0, "episodes_per_second": 5.0, "simulation_share": 0.125}
    return {**speed, "updates": {"discard": 400, "play": 600}, "strength": strength, **changes}


def write_run(path, learner="ddqn", summary=None, **settings):
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"learner": learner, "settings": {"seed": 0, **settings}}))
    if summary is not None:
        (path / "summary.json").write_text(json.dumps(summary))
    return path
