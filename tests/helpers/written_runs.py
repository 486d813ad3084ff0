"""Folders of finished runs, written without training."""

from __future__ import annotations

import json

from crib_env.evaluate.runs.format import win_rate_tag, with_band

WON = {"random": (0.9, (0.88, 0.92)), "greedy": (0.5, (0.49, 0.51))}


def summary_of(won=WON, **changes):
    """A summary of a run of 1,000 episodes in 200 s."""
    scalars = {}
    for name, (rate, ends) in won.items():
        scalars |= with_band(win_rate_tag(name), rate, *ends)
    return {"episodes": 1_000, "seconds": 200.0, "episodes_per_second": 5.0, "scalars": scalars, **changes}


def write_run(path, learner="ddqn", summary=None, **settings):
    path.mkdir(parents=True)
    (path / "config.json").write_text(
        json.dumps({"learner": learner, "settings": {"seed": 0, "final_games": 2_000, **settings}})
    )
    if summary is not None:
        (path / "summary.json").write_text(json.dumps(summary))
    return path
