"""`pipe:COMMAND`: programs that play, and whatever else a program may do."""

import gc
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crib_env import GameBatch, OneAtATime, streams
from crib_env.agents import make_agent, pipe
from crib_env.agents.pipe import LONGEST, Program
from crib_env.agents.registry import check_names_of_file, is_outside_agent
from crib_env.evaluate.matches.match import play_match
from crib_env.players.text import as_json
from tests.helpers.refusals import refused
from tests.helpers.vector_games import FirstCards

ROOT = Path(__file__).parents[1]
HAS_PERL = shutil.which("perl") and not subprocess.run(["perl", "-MJSON::PP", "-e1"], capture_output=True).returncode
# A program that names the first legal cards; before its fifth answer, and only then, it does what its argument says.
BOT = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    number, cards = asked["id"], asked["legal"][: 2 if asked["ask"] == "discard" else 1]
    if number == 5:
        exec(sys.argv[1])
    print(json.dumps({"id": number, "cards": cards}), flush=True)
"""
QUICK = [sys.executable, "-I", "-S", "-c"]


def bot(does="pass", before=""):
    return make_agent(f"pipe:{before}{shlex.join([*QUICK, BOT, does])}")


def pair(agent):
    """A pair of mirrored games, as what they do not share with another agent's."""
    result = play_match(agent, make_agent("greedy"), 2, seed=5)
    return result.skunks, result.margin


@pytest.fixture(scope="module")
def plain():
    return pair(OneAtATime(FirstCards()))


def test_a_program_plays_whole_games_twice_the_same(plain):
    assert pair(bot()) == pair(bot()) == plain


@pytest.mark.parametrize(
    ("does", "fault"),
    [
        ("cards = [c for c in ('AC', 'AD', 'AH', 'AS', 'KC') if c not in asked['legal']][:1]", "you (named|do not)"),
        ("cards = ['XX']", "you named no card"),
        ("cards = []", "you named no card"),
        ("number = 4", "its id is 4, not 5"),
        ("number = None", "its id is None"),
        ("cards = 5", "gave .*iterable"),
        ("print('{')", r"gave '\{'"),
        ("print('[' * 60_000)", "gave"),
        ("os.write(1, b'\\xff\\n')", "gave"),
        ("while True: os.write(1, b'x' * 1_000)", "a line of more than 65,536 bytes"),
        ("time.sleep(1_000)", "no answer within 2 s"),
        ("os.write(1, b'{'); time.sleep(4)", "no answer within 2 s"),
        ("sys.exit(3)", "ended"),
        ("os.close(1); time.sleep(1_000)", "ended"),
        ("os.kill(os.getpid(), 9)", "ended"),
    ],
)
def test_an_answer_that_cannot_be_used_ends_the_match(does, fault):
    with pytest.raises(ValueError, match=rf"(?s)^agent .pipe:.* in game \d, decision \d+: .*{fault}"):
        pair(bot(does, "seconds=2 "))


def test_a_discard_is_asked_for_once_and_with_all_six_cards(monkeypatch):
    told = []
    monkeypatch.setattr(pipe, "as_json", lambda view: told.append(as_json(view)) or told[-1])
    pair(bot())
    discards = [one for one in told if one["ask"] == "discard"]
    assert len({(one["game_id"], one["decision"]) for one in discards}) == len(discards) > 10
    assert all(len(one["hand"]) == 6 and one["legal"] == one["hand"] for one in discards)
    assert all(set(one["legal"]) <= set(one["hand"]) for one in told)


def test_the_pegging_episode_is_played_too():
    agent, batch = bot(), GameBatch(streams(2, 10), episode="pegging")
    while len(rows := batch.acting()):
        cards = batch.views(rows).action_mask.argmax(axis=1)
        assert agent.act(batch.views(rows)).tolist() == cards.tolist()
        batch.step(rows, cards)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "agent 'pipe' needs a command: write pipe:COMMAND, as in 'pipe:perl bot.pl'"),
        ("seconds=3", "agent 'pipe' needs a command"),
        ("seconds=0 cat", "agent 'pipe': seconds=0 is not allowed, give a number above 0, at most 3600"),
        ("seconds=nan cat", "seconds=nan is not allowed"),
        ("seconds=2: cat", "'seconds=2: cat' is not a command"),
        ("'cat", "agent 'pipe': \"'cat\" is not a command (No closing quotation)"),
        ("no-such-program -x", "agent 'pipe': there is no program 'no-such-program' that can be run"),
    ],
)
def test_errors_name_what_is_wrong(text, message):
    with refused(message):
        make_agent(f"pipe:{text}")


def test_a_program_that_cannot_be_started_is_an_error(tmp_path):
    (tmp_path / "bot").write_bytes(b"\x7fELF")
    (tmp_path / "bot").chmod(0o755)
    with refused("bot"):
        pair(make_agent(f"pipe:{tmp_path}/bot"))


def test_a_command_may_hold_anything(tmp_path):
    words = ["a,b=c:d", "seconds=1", "e f", "'", "$HOME", "*"]
    code = f"import json, sys; open({str(tmp_path / 'words')!r}, 'w').write(json.dumps(sys.argv[1:])); input()"
    with refused("ended"):
        pair(make_agent("pipe:" + shlex.join([*QUICK, code, *words])))
    assert json.loads((tmp_path / "words").read_text()) == words


def test_a_file_cannot_choose_which_program_runs_nor_where_the_key_of_a_model_is_sent(tmp_path):
    for name in ("pipe:touch here", "llm:model=m,base_url=http://elsewhere/v1"):
        assert is_outside_agent(name)
        with refused(name):
            check_names_of_file(["greedy", name], (), tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"learner": "pipe"}))
    with refused(tmp_path):
        make_agent(str(tmp_path))


@pytest.fixture
def held_open(tmp_path):
    """A pipe's path for programs to hold open, and a function that says whether all have let go of it."""
    os.mkfifo(tmp_path / "held")
    reader = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)

    def are_gone():
        return bool(select.select([reader], [], [], 5)[0]) and os.read(reader, 1) == b""

    yield tmp_path / "held", are_gone
    os.close(reader)


def stays(path):
    """A program that repeats what it reads, with a child, and goes on after the end of its input."""
    return ["sh", "-c", f"exec 9>{path}; sleep 1000 & while read line; do echo $line; done; sleep 1000"]


def test_it_ends_with_its_object_and_its_children_with_it(held_open):
    path, are_gone = held_open
    program = Program(stays(path))
    assert program.ask(b"hello\n", 30) == b"hello"
    del program
    gc.collect()
    assert are_gone()


def test_a_killed_program_leaves_nothing_behind(held_open):
    path, are_gone = held_open
    before = os.listdir("/dev/fd")
    program = Program(stays(path))
    process = program.end.peek()[2][0]
    program.ask(b"hello\n", 30)
    program.end()
    assert are_gone()
    program.end()
    assert len(os.listdir("/dev/fd")) == len(before)
    assert process.returncode is not None  # no zombie


def test_it_ends_with_python(held_open):
    path, are_gone = held_open
    code = f"from crib_env.agents.pipe import Program; p = Program({stays(path)!r}); p.ask(b'x\\n', 30)"
    subprocess.run([sys.executable, "-c", f"{code}; raise KeyboardInterrupt"], cwd=ROOT, stderr=subprocess.DEVNULL)
    assert are_gone()


def test_ctrl_c_ends_it_and_the_next_decision_starts_it_again(plain):
    agent = bot("os.kill(os.getppid(), 2); time.sleep(1_000)")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            pair(agent)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pair(OneAtATime(agent.player)) == plain


def test_its_input_ends_before_it_is_killed(tmp_path):
    program = Program(["sh", "-c", f"read line; echo $line; read line; echo end > {tmp_path}/last"])
    program.ask(b"hello\n", 30)
    program.end()
    assert (tmp_path / "last").read_text() == "end\n"


def test_lines_may_be_long_and_come_in_pieces():
    code = f"import os\nfor piece in (b'x' * {LONGEST // 2}, b'y' * 9, b'\\n'): input(); os.write(1, piece)"
    answer = Program([*QUICK, code]).ask(b"\n\n\n", 30)
    assert answer == b"x" * (LONGEST // 2) + b"y" * 9


def of_command(command):
    result = play_match(make_agent(f"pipe:{command}"), make_agent("greedy"), 10, seed=3)
    return result.skunks, result.margin


@pytest.mark.skipif(not HAS_PERL, reason="there is no perl with JSON::PP")
def test_the_examples_play_the_same_games():
    perl = of_command(f"perl {ROOT}/examples/pipe_bot.pl")
    assert perl == of_command(f"{sys.executable} {ROOT}/examples/pipe_bot.py")
