"""What ``mypy --strict`` says of a user's file: names and results have types."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """\
import crib_env
from crib_env.discard_game import DiscardGame
from crib_env.single_agent import SingleAgentCribbage

reveal_type(crib_env.make_agent)  # note: (spec: str) -> crib_env.players.agent.Agent
reveal_type(crib_env.discard_statistics("5H 5C 5S JD 2C 3C"))  # note: ndarray
reveal_type(crib_env.hand_distribution)  # note: -> numpy.ndarray
reveal_type(crib_env.crib_distribution)  # note: -> numpy.ndarray
reveal_type(crib_env.analyse_discard)  # note: dealer: bool
reveal_type(crib_env.env(episode="deal", render_mode=None))  # note: crib_env.aec.raw_env
crib_env.nonsense  # error: Module has no attribute "nonsense"
SingleAgentCribbage(opponent="greedy", seat=1, mask="info", reward="win")
SingleAgentCribbage(opponent=7)  # error: Argument "opponent"
DiscardGame(mask="info")
"""


@pytest.mark.slow  # mypy reads the whole package
def test_a_users_file(tmp_path, request):
    package = tmp_path / "crib_env"
    package.mkdir()
    for path in (*(ROOT / "crib_env").iterdir(), ROOT / "agents", ROOT / "evaluate", ROOT / "train"):
        (package / path.name).symlink_to(path)  # as an installation lies
    (tmp_path / "program.py").write_text(PROGRAM)
    cache = request.config.cache.mkdir("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", cache, "program.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout.splitlines()
    expected = [line.partition("  # ")[2] for line in PROGRAM.splitlines()]
    for number, expects in enumerate(expected, 1):
        kind, _, text = expects.partition(": ")
        here = [line for line in said if line.startswith(f"program.py:{number}: ") and " defined " not in line]
        assert len(here) == bool(expects), here
        assert all(f": {kind}: " in line and text in line for line in here), (expects, here)
