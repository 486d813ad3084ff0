"""The example serves episodes of OpenEnv on this machine."""

import socket
import subprocess
import sys
import time

import pytest

pytest.importorskip("openenv")

from openenv.core import GenericEnvClient

from crib_env.evaluate.language.episode import Episode
from tests.helpers.model_server import PlayerInWords
from tests.helpers.other_loops import PAGE, ROOT, blocks_of, run_block


def test_the_command_and_the_program_of_the_page():
    (command,) = [line for line in PAGE.splitlines() if line.startswith("uvicorn ")]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", *command.replace("8000", str(port)).split()], cwd=ROOT)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(3_000):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        (block,) = blocks_of("OpenEnv")
        run_block(block.replace("http://127.0.0.1:8000", address))
        own, player = Episode("deal", 3), PlayerInWords("greedy")
        with GenericEnvClient(base_url=address).sync() as env:
            seen = env.reset(task="deal", seed=3)
            while not own.is_over:
                assert seen.observation["words"] == own.asked(own.words())
                before, cards = own.reward(), player.cards(own.words())
                own.answer(cards)
                seen = env.step({"answer": cards})
                assert (seen.reward, seen.done) == (own.reward() - before, own.is_over)
            with pytest.raises(RuntimeError, match=r"opponent=.* is not allowed: choose of"):
                env.reset(seed=3, opponent="pipe:touch here")
    finally:
        server.terminate()
        server.wait()
