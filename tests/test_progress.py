"""Progress where there is no terminal: a line for each tenth."""

from crib_env.evaluate.console import ProgressLines, progress_bar


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


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
