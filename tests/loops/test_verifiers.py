"""verifiers' own command runs the example, with a player of known strength behind a server on this machine."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info < (3, 11):
    pytest.skip("needs Python 3.11", allow_module_level=True)
pytest.importorskip("verifiers")

from tests.helpers.model_server import PlayerInWords, model_server
from tests.helpers.other_loops import PAGE, ROOT


def test_the_command_of_the_page():
    (command,) = [line for line in PAGE.replace("\\\n", " ").splitlines() if "vf-eval" in line]
    variables, *arguments = shlex.split(command.replace("-n 10", "-n 2").replace("deal", "play"))
    name, _, value = variables.partition("=")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # uv runs the conversations
    with model_server(PlayerInWords("greedy").answer) as (url, asked):
        arguments[arguments.index("--client.base-url") + 1] = url
        environment = {**os.environ, name: value, "PATH": path}
        done = subprocess.run([*arguments, "--no-rich"], cwd=ROOT, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert len(asked) == 2
