"""The look of progress: a bar of 80 columns that cuts no number, and lines where there is no terminal."""

import io
import re

import pytest
from rich.console import Console

from crib_env.evaluate import progress
from crib_env.evaluate.progress import ProgressLines, progress_bar


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def screen(monkeypatch):
    """A terminal of 80 columns, and what is written to it."""
    written = io.StringIO()
    console = Console(file=written, width=80, force_terminal=True, legacy_windows=False, _environ={"TERM": "xterm"})
    monkeypatch.setattr(progress, "console", console)
    return written


@pytest.mark.parametrize("what", ["nfsp", "ismcts:iterations=1000 against runs/ddqn/20261122-083900-s0/final"])
def test_the_bar_fits_80_columns_and_shortens_no_number(screen, what):
    bar = progress_bar()
    clock = bar.get_time = Clock()
    task = bar.add_task(what, total=1_500_000)
    for done in (500_000, 1_000_000):
        clock.now += 3_600.0
        bar.update(task, completed=done)
    with progress.console.capture() as shown:
        progress.console.print(bar.get_renderable())
    (line,) = re.sub(r"\x1b\[[0-9;]*m", "", shown.get()).splitlines()
    assert len(line) <= 80
    assert "1,000,000/1,500,000" in line
    assert "2:00:00 1:00:00 left" in line
    assert line.startswith(what[:10])


def test_a_line_for_each_tenth_where_there_is_no_terminal(capsys):
    with progress_bar() as lines:
        assert isinstance(lines, ProgressLines)
        clock = lines.get_time = Clock()
        task = lines.add_task("td", total=2_000)
        for done in range(0, 2_001, 20):
            lines.update(task, completed=done)
            clock.now += 1.0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in shown] == [f"td: {tenths} %" for tenths in range(10, 101, 10)]
    assert shown[4] == "td: 50 %, 1,000 of 2,000, 0:00:50 spent, 0:00:50 left"
    assert shown[-1] == "td: 100 %, 2,000 of 2,000, 0:01:40 spent"


def test_nested_tasks_print_no_tenths(capsys):
    with ProgressLines() as lines:
        whole, part = lines.add_task("claims", total=2), lines.add_task("one claim", total=10)
        for _ in range(2):
            for _ in range(10):
                lines.update(part, advance=1)
            lines.update(whole, advance=1)
            lines.reset(part)
        after = lines.add_task("the report", total=1)
        lines.update(after, advance=1)
    named = [line.split(",")[0] for line in capsys.readouterr().out.splitlines()]
    assert named == ["claims: 50 %", "claims: 100 %"]
