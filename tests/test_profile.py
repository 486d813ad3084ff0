"""The profile of a learner's rounds: its parts, its operations and its steps, and the command."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from crib_env.train import ddqn, profile
from crib_env.train.loop.precision import chosen, is_emulated

SMALL = replace(ddqn.PRESETS["default"], hidden=(32,), hidden_discard=(16,), episodes_at_once=1_024, warm_up=0)
LEARNER = SimpleNamespace(NAME="ddqn", PRESETS={"default": SMALL}, train=ddqn.train)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_profile_has_the_parts_of_a_round_the_operations_and_the_steps(precision):
    learner = SimpleNamespace(**vars(LEARNER) | {"PRESETS": {"default": replace(SMALL, precision=precision)}})
    found = profile.profile(learner, 2)
    assert found.precision == ("float32" if is_emulated(precision) else precision)
    names = [row.name for row in found.parts]
    assert names[0] == "ddqn.play_and_learn"
    assert found.parts[0].share == 1
    assert {"· ddqn.play", "· · episodes.play_episodes", "· ddqn.learn", "· ddqn.transitions_of"} <= set(names)
    below = [row.share for row in found.parts if re.match("· [^·]", row.name)]
    assert 0.8 < sum(below) <= 1
    assert below == sorted(below, reverse=True)
    assert "aten::addmm" in {row.name for row in found.operations}
    assert sum(row.share for row in found.operations) <= 1
    assert found.steps == pytest.approx(9, abs=1)  # a deal has four discards and about five choices in the play
    assert 0 < found.operations_a_second < found.limit


def test_the_command_writes_both_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(profile, "module_of", lambda name: LEARNER)
    profile.main("ddqn", rounds=1, markdown=tmp_path / "profile.md")
    written = (tmp_path / "profile.md").read_text()
    assert "| part | share |" in written
    assert "| operation | share |" in written
    assert re.search(r"ddqn, 1,000 episodes: [\d,]+ ms, [\d.]+ gradient steps\.", written)
    assert f"of the processor's limit in {chosen('auto')}." in written
    assert "aten::addmm" in capsys.readouterr().out
    with pytest.raises(ValueError, match="rounds=0 is not allowed: give 1 to"):
        profile.main("ddqn", rounds=0)
