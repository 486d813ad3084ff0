"""The table over MCP: a player of known strength behind a client of the official SDK, over standard streams."""

import asyncio
import sys
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

from crib_env.cards import format_cards
from crib_env.evaluate.language.episode import Episode
from tests.helpers.model_server import PlayerInWords

CODE = "from crib_env.train.__main__ import crib_env as main; main()"


@asynccontextmanager
async def table(folder, *arguments):
    """A client of ``crib-env play mcp``, as a function that calls a tool."""
    command = ["-c", CODE, "play", "mcp", *arguments]
    async with Client(StdioServerParameters(command=sys.executable, args=command, cwd=folder)) as client:

        async def call(tool, **given):
            return await client.call_tool(tool, given)

        call.client = client
        yield call


async def play_out(call, player):
    """A whole game; what was told last, and the coach's words before each choice."""
    told, hints = (await call("deal")).content[0].text, []
    while "You hold" in told:
        hints.append((await call("ask_coach")).content[0].text)
        done = await call("play", cards=player.cards(told[told.rindex("You are ") :]))
        assert not done.is_error
        told = done.content[0].text
    return told, hints


@pytest.mark.slow
def test_a_game_by_tools_is_the_episode_in_words(tmp_path):
    async def session():
        async with table(tmp_path, "careful", "--seed", "3") as call:
            return await play_out(call, PlayerInWords("greedy"))

    told, hints = asyncio.run(session())
    episode, player = Episode("game", 3), PlayerInWords("greedy")
    for hint in hints:
        best = min(episode.losses(), key=lambda choice: choice.loss)
        assert hint.splitlines()[0] == f"{format_cards(best.cards)} loses 0.00 %"
        episode.answer(player.cards(episode.words()))
    assert told == episode.words()
    assert told.startswith("It is over.")
    assert hints[-1].partition("So far:")[2].count("loses") > 5


def test_what_cannot_be_done_is_told(tmp_path):
    async def session():
        async with table(tmp_path, "--seed", "3") as call:
            tools = (await call.client.list_tools()).tools
            assert [tool.name for tool in tools] == ["deal", "play", "ask_coach"]
            assert all(tool.description for tool in tools)
            said = [await call("play", cards="5D"), await call("ask_coach")]
            seen = (await call("deal")).content[0].text
            said += [await call("play", cards="5D 5D"), await call("play", cards="5D")]
            assert "compiling" not in seen
            assert "The score is 0 for you" in (await call("deal")).content[0].text
        assert all(one.is_error for one in said)
        return [one.content[0].text for one in said]

    early, ask, *bad = asyncio.run(session())
    assert "there is no game: deal first" in early
    assert early.partition(": ")[2] == ask.partition(": ")[2]
    assert all("5D" in one for one in bad)
