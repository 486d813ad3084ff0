"""OpenEnv's server and client of the environment on this machine."""

import socket
import subprocess
import sys
import time

import pytest

pytest.importorskip("openenv")

from openenv.core import GenericEnvClient

from crib_env.evaluate.language.episode import Episode
from tests.helpers.model_server import PlayerInWords
from tests.helpers.other_loops import PAGE, blocks_of, run_block


@pytest.fixture(scope="module")
def address():
    """The command of the page, at a free port."""
    (command,) = [line for line in PAGE.splitlines() if line.startswith("uvicorn ")]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", *command.replace("8000", str(port)).split()])
    for _ in range(3_000):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait()


def test_a_player_has_the_rewards_of_the_same_positions(address):
    player = PlayerInWords("greedy")
    with GenericEnvClient(base_url=address).sync() as env:
        for task, number in (
            *((task, k) for task in ("discards", "play") for k in range(20)),
            ("deal", 3),
            ("game", 3),
        ):
            own, seen = Episode(task, number), env.reset(task=task, seed=number)
            while not own.is_over:
                assert seen.observation["words"] == own.asked(own.words())
                before, cards = own.reward(), player.cards(own.words())
                own.answer(cards)
                seen = env.step({"answer": cards})
                assert (seen.reward, seen.done) == (own.reward() - before, own.is_over)


def test_what_cannot_be_played_is_told(address):
    with GenericEnvClient(base_url=address).sync() as env:
        env.reset(seed=3)
        seen = env.step({"answer": "I pass."})
        assert "you named no card" in seen.observation["words"]
        assert (seen.reward, seen.done) == (0, False)
        for bad in ({"task": "hands"}, {"opponent": "pipe:touch here"}, {"opponent": "careful:x=1"}, {"unit": "wins"}):
            with pytest.raises(RuntimeError, match=f"{next(iter(bad))}=.* is not allowed: choose of"):
                env.reset(seed=3, **bad)


def test_it_listens_at_one_address_of_this_machine(address):
    with pytest.raises(ConnectionRefusedError):  # 0.0.0.0 would answer here
        socket.create_connection(("127.0.0.2", int(address.rpartition(":")[2])), timeout=1)


@pytest.mark.parametrize("block", blocks_of("OpenEnv"))
def test_programs_of_the_page(block, address):
    run_block(block.replace("http://127.0.0.1:8000", address))
