"""The blocks of docs/agents/your-own-agent.md work as pasted, its commands in a folder that holds its file."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from crib_env.train.__main__ import crib_env as main

PAGE = (Path(__file__).parents[1] / "docs" / "agents" / "your-own-agent.md").read_text()
MY_FILE, *BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("block", BLOCKS)
def test_block(block):
    exec(compile(block, "your-own-agent.md", "exec"), {})


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[1])
def test_command(command, tmp_path, monkeypatch, capsys):
    (tmp_path / "my_file.py").write_text(MY_FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    program, *arguments = shlex.split(command)
    assert program == "crib-env"
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    try:
        main()
    finally:
        sys.modules.pop("my_file", None)
    assert "simple" in capsys.readouterr().out.lower()
