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
import time
from collections import Counter
from pathlib import Path

import pytest

from crib_env import GameBatch, OneAtATime, streams
from crib_env.agents import make_agent, pipe
from crib_env.agents.pipe import LONGEST, RESTARTS, FaultError, Program
from crib_env.agents.registry import check_names_of_file, is_outside_agent
from crib_env.evaluate.commands.league import league
from crib_env.evaluate.commands.match import MatchArguments, match
from crib_env.evaluate.matches import mirrored
from crib_env.evaluate.matches.match import play_games, play_match
from crib_env.evaluate.matches.mirrored import Games
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
    return result.points_per_deal, result.margin, result.faults["a"]


@pytest.fixture(scope="module")
def plain():
    points, margin, _ = pair(OneAtATime(FirstCards()))
    return points, margin


def test_a_program_plays_whole_games_twice_the_same(plain):
    assert pair(bot()) == pair(bot()) == (*plain, {})


@pytest.mark.filterwarnings("ignore:agent .pipe")
@pytest.mark.parametrize(
    ("does", "kind"),
    [
        ("cards = [c for c in ('AC', 'AD', 'AH', 'AS', 'KC') if c not in asked['legal']][:1]", "illegal"),
        ("cards = ['XX']", "illegal"),
        ("cards = []", "illegal"),
        ("cards = cards * 3", "illegal"),
        ("number = 4", "unreadable"),
        ("number = None", "unreadable"),
        ("cards = 5", "unreadable"),
        ("print('{')", "unreadable"),
        ("print()", "unreadable"),
        ("print('[' * 60_000)", "unreadable"),
        ("os.write(1, b'\\xff\\n')", "unreadable"),
        ("os.write(1, b'x' * 100_000)", "unreadable"),
        ("while True: os.write(1, b'x' * 1_000)", "unreadable"),
        ("print(' ' * 70_000, end='')", "unreadable"),  # the answer follows on the same line
        ("while True: print('{}')", "unreadable"),
        ("time.sleep(1_000)", "late"),
        ("os.write(1, b'{'); time.sleep(4)", "late"),
        ("while True: os.write(2, b'x' * 1_000)", "late"),
        ("sys.exit(3)", "ended"),
        ("os.close(1); time.sleep(1_000)", "ended"),
        ("os.kill(os.getpid(), 9)", "ended"),
    ],
)
def test_a_fault_is_counted_and_the_first_cards_are_taken(does, kind, plain):
    """So the games stay those of the first cards, also when the program has been started again."""
    assert pair(bot(does, "seconds=2 " if kind == "late" else "")) == (*plain, {kind: 1})


def test_the_first_fault_of_a_kind_is_a_warning_that_names_the_answer():
    with pytest.warns(UserWarning, match=r"gave 'none of these'.* in game 0, decision \d+: .. in its place") as warned:
        play_match(bot("print('none of these')"), make_agent("greedy"), 2, seed=5)
    assert len(warned) == 1
    agent = make_agent("pipe:" + shlex.join([*QUICK, BOT.replace("== 5", "> 0"), "cards = ['5H', '5S']"]))
    with pytest.warns(UserWarning, match="gave 5H 5S, allowed: (one|two) of ") as warned:
        result = play_match(agent, make_agent("greedy"), 2, seed=5)
    assert len(warned) == 1
    assert result.faults["a"]["illegal"] > 20


@pytest.mark.filterwarnings("ignore:agent .pipe")
def test_a_program_that_ends_again_and_again_forfeits(tmp_path):
    agent = make_agent(f"pipe:sh -c 'echo . >> {tmp_path}/starts; read line; echo no memory >&2; exit 3'")
    message = rf"(?s)^agent .pipe:sh.* ended in game .*forfeits: .*again {RESTARTS} times.*ends with:\nno memory$"
    with pytest.raises(ValueError, match=message):
        play_match(agent, make_agent("greedy"), 2)
    assert len((tmp_path / "starts").read_text().split()) == RESTARTS + 1


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
    assert not agent.faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "agent 'pipe' needs a command: write pipe:COMMAND, as in 'pipe:perl bot.pl'"),
        ("seconds=3", "agent 'pipe' needs a command"),
        ("seconds=0 cat", "agent 'pipe': seconds='0' is not allowed, give a number above 0, at most 3600"),
        ("seconds=nan cat", "seconds='nan' is not allowed"),
        ("seconds=2: cat", "seconds='2:' is not allowed"),
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
    with pytest.warns(UserWarning, match="ended"), pytest.raises(ValueError, match="forfeits"):
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


@pytest.mark.filterwarnings("ignore:agent .pipe")
def test_matches_and_leagues_report_the_faults_also_resumed_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("bot").write_text(f"#!{sys.executable} -IS\n{BOT.replace('exec(sys.argv[1])', 'cards = []')}")
    Path("bot").chmod(0o755)
    illegal, line = "pipe:./bot", "pipe:./bot: 1 answer could not be used (illegal 1)"
    match(MatchArguments("greedy", illegal, 2, json_file=Path("match.json")))
    assert line in capsys.readouterr().out
    assert json.loads(Path("match.json").read_text())["faults"] == {"a": {}, "b": {"illegal": 1}}
    for _ in range(2):
        league(("random", illegal), 2, folder=Path("league"), threads=1)
        assert line in capsys.readouterr().out
    assert line in Path("league/league.md").read_text()


@pytest.mark.filterwarnings("ignore:agent .pipe")
def test_faults_add_up_over_the_parts_of_a_match(monkeypatch):
    monkeypatch.setattr(mirrored, "_MOST", 1)
    agent = make_agent("pipe:" + shlex.join([*QUICK, BOT.replace("== 5", "in (5, 6, 120)"), "cards = []"]))
    parts = list(play_games(agent, make_agent("greedy"), 6, threads=2))
    assert Games.merged(parts).faults == (Counter(illegal=3), Counter())
    assert parts[0].faults[0]["illegal"] == 2


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
    program.ask(b"hello\n", 30)
    program.kill()
    assert are_gone()
    program.kill()
    assert len(os.listdir("/dev/fd")) == len(before)
    with pytest.raises(ChildProcessError):
        os.waitpid(program._group, os.WNOHANG)  # no zombie


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
    assert pair(OneAtATime(agent.player)) == (*plain, {})


def test_its_input_ends_before_it_is_killed(tmp_path):
    program = Program(["sh", "-c", f"read line; echo $line; read line; echo end > {tmp_path}/last"])
    program.ask(b"hello\n", 30)
    program.end()
    assert (tmp_path / "last").read_text() == "end\n"


def test_a_program_that_does_not_read_is_not_waited_for():
    started = time.monotonic()
    with pytest.raises(FaultError, match="does not read its input"):
        Program(["sleep", "1000"]).ask(b"x" * (1 << 21) + b"\n", 30)
    assert time.monotonic() - started < 10


def test_much_on_standard_error_blocks_nothing_and_its_end_is_kept():
    program = Program([*QUICK, "import os; input(); os.write(2, b'x' * 500_000 + b' the end'); os.write(1, b'yes\\n')"])
    assert program.ask(b"\n", 30) == b"yes"
    program.kill()
    assert program.last_words.endswith(" the end")
    assert len(program.last_words) <= 2_000


def test_lines_may_be_long_and_come_in_pieces():
    code = f"import os\nfor piece in (b'x' * {LONGEST // 2}, b'y' * 9, b'\\n'): input(); os.write(1, piece)"
    answer = Program([*QUICK, code]).ask(b"\n\n\n", 30)
    assert answer == b"x" * (LONGEST // 2) + b"y" * 9


def of_command(command):
    result = play_match(make_agent(f"pipe:{command}"), make_agent("greedy"), 10, seed=3)
    return result.points_per_deal, result.margin, result.faults


@pytest.mark.skipif(not HAS_PERL, reason="there is no perl with JSON::PP")
def test_the_examples_play_the_same_games_without_a_fault():
    perl = of_command(f"perl {ROOT}/examples/pipe_bot.pl")
    assert perl == of_command(f"{sys.executable} {ROOT}/examples/pipe_bot.py")
    assert perl[-1] == {"a": {}, "b": {}}
