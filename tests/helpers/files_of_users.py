"""Files that users pass, or that lie in folders that they pass; each kind with what reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crib_env.evaluate.files import write_json
from crib_env.evaluate.makers import win_table
from crib_env.evaluate.makers.calibration import Calibration, read_calibration
from crib_env.evaluate.makers.calibration import Plan as AgreementPlan
from crib_env.evaluate.matches.dataset import Dataset
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.matches.league import League
from crib_env.evaluate.play.saved_game import GameSoFar, read_game
from crib_env.evaluate.runs.format import read_config
from crib_env.evaluate.skill.suite.suite import TASKS, Outcome, Suite
from crib_env.files.json_text import read_json
from crib_env.values import typed
from tests.helpers.written_runs import write_run

DOCS = Path(__file__).parents[2] / "docs"
HOSTILE = {
    "too large": b'{"games": 1e400, "learner": 1e400}',
    "a larger number": b'{"games": 1' + b"0" * 400 + b"}",
    "digits": b'{"games": ' + b"7" * 10_000 + b"}",
    "nested": b"[" * 100_000,
    "nested dictionaries": b'{"a":' * 100_000,
    "a list": b"[1, 2]",
    "text": b'"a"',
    "a number": b"17",
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "half": b'{"games": 2',
}


def one_of_each_kind(tmp_path: Path) -> dict[Path, Callable[[], Any]]:
    """A JSON file of each kind that a user passes, or that lies in a folder that a user passes; and what reads it."""
    league = League(("greedy", "random"), 2, 0)
    league.play(league.begin(tmp_path / "league"))
    suite = Suite(("random",), 0.01, skip=tuple(task.NAME for task in TASKS[1:]))
    suite.begin(tmp_path / "suite")
    dataset = Dataset(("greedy", "random"), 2)
    dataset.begin(tmp_path / "dataset")
    run = write_run(tmp_path / "run")
    table, calibration = (
        win_table.Plan("greedy", 1, 0),
        Calibration(AgreementPlan("best", 1, 2, 1, 2, 0), (), ()),
    )
    table.begin(tmp_path / "table")
    write_json(tmp_path / "calibration.json", calibration)
    game = GameSoFar("greedy", 0, None, (0, 0), ())
    saved = {
        "kept.json": asdict(game),
        "outcome.json": Outcome("greedy", "play", 1, 1.0, {})._asdict(),
    }
    for name, content in saved.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "games.jsonl").write_text((DOCS / "game.jsonl").read_text())
    return {
        tmp_path / "league" / "config.json": lambda: league.begin(tmp_path / "league"),
        tmp_path / "league" / "matches" / "1-2.json": lambda: league.play(tmp_path / "league"),
        tmp_path / "suite" / "config.json": lambda: suite.begin(tmp_path / "suite"),
        tmp_path / "outcome.json": lambda: read_json(
            tmp_path / "outcome.json", "outcome.json is damaged", lambda content: typed(content, Outcome)
        ),
        tmp_path / "dataset" / "config.json": lambda: dataset.begin(tmp_path / "dataset"),
        run / "config.json": lambda: read_config(run),
        tmp_path / "table" / "config.json": lambda: table.begin(tmp_path / "table"),
        tmp_path / "calibration.json": lambda: read_calibration(tmp_path / "calibration.json"),
        tmp_path / "kept.json": lambda: read_game(tmp_path / "kept.json"),
        tmp_path / "games.jsonl": lambda: read_records(tmp_path / "games.jsonl")[0],
    }
