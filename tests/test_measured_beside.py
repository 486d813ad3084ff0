"""Exploitability is measured beside training, by another process."""

from __future__ import annotations

import pytest

from crib_env.agents import make_agent
from crib_env.evaluate.runs.learning_curves import read_scalars
from crib_env.evaluate.skill.exploitability.pegging_game import exploitability
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from crib_env.train import mmd, td
from crib_env.train.loop.measured_beside import MeasuredBeside
from crib_env.train.loop.run_folder import RunFolder
from tests.helpers.learner_runs import finished_run, run, stopped_run
from tests.helpers.refusals import refused

TWO_CARDS = {"episode": "pegging", "cards": 2, "hidden": (16,), "batch_size": 32, "evaluations": 0}
TD = td.TDSettings(episodes=1_024, episodes_at_once=256, exploitability=2, **TWO_CARDS)


def waiting(folder):
    return sorted(path.stem for path in folder.path.glob("to-measure/*"))


def measured(folder):
    """Exploitability by the number of episodes."""
    return dict(zip(*read_scalars(folder.path, "strength/exploitability")))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_run(td, TD, tmp_path_factory.mktemp("runs, with two cards"))[0]


def test_a_curve_has_the_exploitability_of_the_player_as_it_was(finished):
    found = measured(finished)
    assert list(found) == [0, 512, 1_024]
    agent, game = make_agent(f"td:path={finished.final}"), PlayGame(start=start_of_play(2), threads=1)
    assert found[1_024] == pytest.approx(exploitability(agent, game).mean, abs=1e-7)
    assert found[0] != found[512] != found[1_024]
    for end in ("low", "high"):  # td sees no suits
        assert dict(zip(*read_scalars(finished.path, f"uncertainty/exploitability {end}"))) == found
    assert waiting(finished) == []


def test_a_stopped_run_measures_the_rest_when_it_goes_on(finished, tmp_path, monkeypatch):
    monkeypatch.setattr(MeasuredBeside, "log", lambda self, tell: None)  # nothing is over yet
    folder = stopped_run(td, TD, tmp_path, 768)
    assert waiting(folder) == ["0000000000", "0000000512"]
    monkeypatch.undo()
    run(td, TD, RunFolder(folder.path))
    assert measured(folder) == measured(finished)
    assert waiting(folder) == []


def test_what_came_after_the_last_checkpoint_is_not_measured_twice(tmp_path, monkeypatch):
    """A killed run comes there again."""
    folder = RunFolder.create("td", TD, tmp_path)
    agent, _ = run(td, td.TDSettings(**{**vars(TD), "exploitability": 0, "episodes": 256}), folder)
    monkeypatch.setattr(MeasuredBeside, "_ask", lambda self, episodes: self._waiting.append(episodes))
    for episodes, left in ((0, []), (300, [0, 256])):
        before = MeasuredBeside(folder, 2, 0)
        for n in (0, 256, 512):
            before.begin(agent.save, n)
        before.close()
        after = MeasuredBeside(folder, 2, episodes)
        assert len(after) == len(left)
        assert waiting(folder) == [f"{n:010d}" for n in left]
        after.close()


def logged(beside):
    """Waits for all measurements, and returns what is said of them."""
    lines = []
    while len(beside):
        beside.log(lines.append)
    return lines


def test_a_player_that_cannot_be_measured_is_an_error(finished, tmp_path):
    folder = RunFolder.create("mmd", mmd.MMDSettings(**TWO_CARDS), tmp_path)
    beside = MeasuredBeside(folder, 2, 0)
    beside.begin(make_agent(f"td:path={finished.final}").save, 64)
    with refused("does not hold the weights of a mmd agent"):
        logged(beside)
    beside.close()
    assert waiting(folder) == ["0000000064"]


def test_the_end_of_the_other_process_is_an_error(finished, tmp_path):
    folder = RunFolder.create("td", TD, tmp_path)
    beside = MeasuredBeside(folder, 2, 0)
    agent = make_agent(f"td:path={finished.final}")
    beside.begin(agent.save, 64)
    (line,) = logged(beside)
    assert line.startswith("64 episodes: exploitability 0.")
    beside._process.kill()
    beside._process.join()
    beside.begin(agent.save, 128)
    with pytest.raises(OSError, match="the process that measures has ended"):
        logged(beside)
    beside.close()


def test_it_is_measured_in_pegging_alone():
    with refused("exploitability=1"):
        td.TDSettings(exploitability=1, episode="deal")
