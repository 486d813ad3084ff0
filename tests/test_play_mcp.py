"""The table over MCP: a player of known strength behind a client of the official SDK, over standard streams."""

import asyncio
import sys
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

from crib_env import parse_cards
from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.evaluate.matches.game_records import read_records
from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.saved_game import PERSON, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.judges import play_judge
from crib_env.evaluate.skill.suite import discards, text
from crib_env.evaluate.skill.suite.task import Work
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
        hints.append((await call("ask_coach")).content[0].text.splitlines()[0])
        done = await call("play", cards=player.cards(told[told.rindex("You are ") :]))
        assert not done.is_error
        told = done.content[0].text
    return told, hints


@pytest.mark.slow
def test_a_game_by_tools_is_the_game_of_the_two_agents(tmp_path):
    async def session():
        async with table(tmp_path, "careful", "--seed", "3") as call:
            return await play_out(call, PlayerInWords("greedy"))

    told, hints = asyncio.run(session())
    (record,) = read_records(tmp_path / "runs" / "mcp" / "games.jsonl")
    game = SavedGame.begin_in(GameSoFar("careful", 3, None, (0, 0), ()), tmp_path)
    coach, greedy, wanted = Coach(game, play_judge("expert")), make_agent("greedy"), []
    while not game.is_over:
        if game.turn != PERSON:
            game.play(game.agents_card())
            continue
        if not game.view().is_discard[0] or game.view().discards[0, 0] < 0:
            hint = coach.hint()
            wanted.append(f"{format_cards(hint.cards)}, {100 * hint.chance:.1f} % to win. {hint.why}")
        game.play(int(greedy.act(game.view())[0]))
    assert record.cards == game.record().cards
    assert hints == wanted
    own, other = game.games["scores"][0].tolist()
    costliest = [f"coach: deal {note.deal}: {note.text} {note.why or ''}".rstrip() for note in coach.costliest()]
    assert costliest
    assert told.splitlines()[-len(costliest) :] == costliest
    assert told.splitlines()[-1 - len(costliest)].endswith(f"{own} to {other}")


@pytest.mark.slow
def test_analysed_hands_lose_what_they_lose_in_the_suite(tmp_path):
    n, hands, player = 40, discards.standard(), make_agent("greedy")
    before, _ = text.positions(n)

    async def session():
        async with table(tmp_path) as call:
            return [
                (await call("analyse_hand", cards=format_cards(six), is_dealer=bool(dealer))).content[0].text
                for six, dealer in zip(hands.sixes[:n].tolist(), hands.deals[:n])
            ]

    analysed = asyncio.run(session())
    wanted = discards.measure(player, Work(n / discards.N, 1, lambda done: None))
    chosen = text.chosen_cards(player, before, 1, lambda done: None, 2)
    lost = []
    for said, pair in zip(analysed, chosen.tolist()):
        rows = [line.replace(":", "").split() for line in said.splitlines()]
        points = {tuple(sorted(parse_cards(row[:2]))): float(row[2]) for row in rows}
        assert len(points) == 15
        lost.append(max(points.values()) - points[tuple(sorted(pair))])
    assert sum(lost) / n == pytest.approx(wanted["points lost a discard at 0–0"].mean, abs=1e-4)


def test_what_cannot_be_done_is_told(tmp_path):
    async def session():
        async with table(tmp_path, "--seed", "3") as call:
            tools = (await call.client.list_tools()).tools
            assert [tool.name for tool in tools] == ["deal", "play", "analyse_hand", "ask_coach"]
            assert all(tool.description for tool in tools)
            said = [await call("play", cards="5D"), await call("ask_coach")]
            seen = (await call("deal")).content[0].text
            said += [await call("play", cards="5D 5D"), await call("play", cards="5D")]
            said.append(await call("analyse_hand", cards="5D 5D", is_dealer=True))
            assert "compiling" not in seen
            assert "deal 1" in (await call("deal")).content[0].text
        assert all(one.is_error for one in said)
        return [one.content[0].text for one in said]

    early, ask, *bad = asyncio.run(session())
    assert "there is no game: deal first" in early
    assert early.partition(": ")[2] == ask.partition(": ")[2]
    assert all("5D" in one for one in bad)
    assert len(list((tmp_path / "runs" / "mcp").glob("*.json"))) == 2  # both can be gone on with
