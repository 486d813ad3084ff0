"""``llm``: players of known strength behind an endpoint, endpoints that fail, and what is kept."""

import itertools
import json
import re
import time

import numpy as np
import pytest

from crib_env import GameBatch, decisions, parse_cards, streams
from crib_env.agents import llm as llm_agent
from crib_env.agents import make_agent
from crib_env.evaluate.skill.positions import chosen_cards
from crib_env.players.games import play_out
from crib_env.players.text import in_words
from crib_env.testing import check_agent
from tests.helpers.hidden_cards import batches, views
from tests.helpers.model_server import PlayerInWords, completion, game_told, model_server
from tests.helpers.refusals import refused

pytest.importorskip("httpx")


@pytest.fixture(autouse=True)
def _in_a_folder_and_without_waiting(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(llm_agent, "_WAITS", (0.01,))


def llm(url, **settings):
    given = "".join(f",{name}={value}" for name, value in settings.items())
    return make_agent(f"llm:model=m,base_url={url}{given}")


def positions(n=10):
    """Games, each about to have a card discarded or laid by its player, who has a choice."""
    games = np.concatenate([batch.games[rows[:2]] for batch, rows in itertools.islice(batches(), 0, 60, 60 // n)])
    asked = {}
    for k in range(len(games)):
        begun = int(games[k]["discards"][games[k]["turn"]]).bit_count() == 1  # of a pair that another has chosen
        if len(options(games[k])) > 1 and not begun:
            (view,) = decisions(views(games, np.array([k]), games["turn"][k : k + 1]))
            asked.setdefault(in_words(view), k)
    return games[list(asked.values())]


def options(game):
    fits = 31 - int(game["count"])
    hand = int(game["hand"][game["turn"]])
    return [card for card in range(52) if hand >> card & 1 and min(card % 13 + 1, 10) <= fits]


def cards_of(agent, games):
    return chosen_cards(agent, games, 1, lambda done: None)[:, 0].tolist()


def lines(file="runs/llm/m.jsonl"):
    with open(file, encoding="utf-8") as text:
        return [json.loads(line) for line in text]


@pytest.mark.parametrize("name", ["greedy", "careful"])
def test_the_words_say_all_that_a_player_needs(name):
    games = positions(20)
    with model_server(PlayerInWords(name).answer) as (url, asked):
        assert cards_of(llm(url), games) == cards_of(make_agent(name), games)
    assert len(asked) == len(lines()) == len({line["question"] for line in lines()}) > 20
    assert all(line["text"].startswith("I have") for line in lines())


def test_games_are_those_of_the_player_behind_the_endpoint_and_are_asked_for_once():
    def games(agent):
        batch = GameBatch(streams(5, 4), scores=(105, 105))
        play_out(batch, [agent, make_agent("careful")])
        return batch.games.tobytes()

    plain = games(make_agent("greedy"))
    with model_server(PlayerInWords("greedy").answer) as (url, asked):
        agent = llm(url)
        assert games(agent) == plain
        n = len(asked)
        assert list(agent.first_answers.values()) == [True] * n
        assert games(llm(url)) == plain
    assert len(asked) == n > 10


def test_an_agent_of_words_passes_the_checks_of_agents():
    with model_server(PlayerInWords("greedy").answer) as (url, _):
        check_agent(llm(url), games=1, episodes=["pegging"])


def half_an_answer(text):
    whole = completion(text)
    return 200, whole[:-40], {"content-length": len(whole), "connection": "close"}


def late(text):
    time.sleep(0.6)
    return text


CALLS = {  # that bring no answer
    "late": late,
    "429": lambda text: (429, b'{"error": {"message": "slow down"}}', {}),
    "500": lambda text: (500, b"<html>oops", {"content-type": "text/html"}),
    "half a body": half_an_answer,
    "half a JSON": lambda text: (200, completion(text)[:-40], {}),
    "a page": lambda text: (200, b"<html>welcome", {"content-type": "text/html"}),
    "no choices": lambda text: (200, b'{"choices": []}', {}),
    "other types": lambda text: (200, b'{"choices": [{"message": {"content": 5}}]}', {}),
    "null": lambda text: (200, b"null", {}),
    "an end that is a number": lambda text: (200, completion(text, end=7), {}),
}
ANSWERS = {  # that cannot be used
    "cut": lambda text: (200, completion(text, end="length"), {}),
    "filtered": lambda text: (200, completion(text, end="content_filter"), {}),
    "refusal": lambda text: (200, completion(None, refusal="I cannot help with gambling."), {}),
    "nonsense": lambda text: "Bananas! 9X, and thirty.",
    "nothing": lambda text: "",
    "another's card": lambda text: "Answer: AC 2C 3C",
}


@pytest.mark.parametrize("fault", [*CALLS, *ANSWERS])
def test_a_fault_is_never_a_card_and_loses_no_answer(fault):
    spoil = (CALLS | ANSWERS)[fault]
    games, model, seen, spoilt = positions(4), PlayerInWords("careful"), [], []

    def answer(messages):
        text, question = model.answer(messages), messages[1]["content"]
        is_first = question not in seen
        seen.append(question)
        if is_first and len(set(seen)) % 3 == 1:
            spoilt.append(question)
            return spoil(text)
        return text

    with model_server(answer) as (url, asked):
        agent = llm(url, seconds=0.4 if fault == "late" else 20, threads=1)
        assert cards_of(agent, games) == cards_of(make_agent("careful"), games)
    assert list(agent.first_answers.values()).count(False) == (len(spoilt) if fault in ANSWERS else 0)
    assert len(lines()) == len(games) + (len(spoilt) if fault in ANSWERS else 0)
    assert len(asked) == len(games) + len(spoilt)
    llm("http://localhost/v1")  # reads the file


def test_a_dead_endpoint_stops_the_work_and_the_same_command_goes_on():
    games, model, left = positions(8), PlayerInWords("greedy"), [5]

    def answer(messages):
        left[0] -= 1
        return model.answer(messages) if left[0] >= 0 else (503, b"", {})

    with model_server(answer) as (url, asked):
        with pytest.raises(ValueError, match=r"gives no answer: HTTP 503.*kept in .*goes on from there"):
            cards_of(llm(url, threads=2), games)
        n_finished = len(lines())
        assert n_finished in (4, 5)  # one may have been under way
        assert len(asked) < len(games) + 4  # no further calls begin
        left[0], before = 1_000, len(asked)
        assert cards_of(llm(url), games) == cards_of(make_agent("greedy"), games)
        assert len(asked) - before == len(games) - n_finished


def test_an_endpoint_that_is_not_there_is_not_waited_for():
    with refused("http://127.0.0.1:9/v1 gives no answer: ConnectError"):
        cards_of(llm("http://127.0.0.1:9/v1"), positions(2))


def test_a_model_that_names_no_legal_card_is_asked_again_and_told_why():
    games, model = positions(6), PlayerInWords("greedy")
    hopeless = games[3:4]["hand"][0]

    def answer(messages):
        text = model.answer(messages)
        hand = game_told(messages[1]["content"])["hand"][0, 0]
        return "I resign." if hand in hopeless else text

    with model_server(answer) as (url, asked):
        agent = llm(url)
        with pytest.raises(ValueError, match=r"named no legal card in 3 answers in game 3.*you named no card"):
            cards_of(agent, games)
        assert list(agent.first_answers.values()).count(False) == 1
        last = max((body["messages"] for body, _ in asked), key=len)
        assert [one["role"] for one in last] == ["system", "user", *["assistant", "user"] * 2]
        assert last[-1]["content"].startswith("That cannot be played: you named no card: name exactly")
        others, n = np.delete(games, 3), len(asked)
        cards_of(agent, others)
        assert len(asked) == n


KEY = "sk-proj-0123456789abcdef"


def test_the_key_comes_from_the_environment_and_is_written_nowhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "my-own-id")
    refused = (401, json.dumps({"error": {"message": f"bad key {KEY[:10]} given"}}).encode(), {})
    games, fault = positions(4), pytest.raises(ValueError, match=r"HTTP 401: the environment variable OPENAI_API_KEY")
    with model_server(lambda messages: refused) as (url, asked), fault as raised:
        cards_of(llm(url, threads=1), games)
    assert [headers["authorization"] for _, headers in asked] == [f"Bearer {KEY}"]  # and not again
    assert "my-own-id" not in str(asked)
    assert KEY[:10] not in str(raised.value)
    assert not lines()


def test_calls_wait_side_by_side():
    waiting, most = [], []

    def answer(messages):
        waiting.append(1)
        most.append(len(waiting))
        time.sleep(0.05)
        waiting.pop()
        return model.answer(messages)

    model = PlayerInWords("greedy")
    with model_server(answer) as (url, asked):
        cards_of(llm(url, threads=3), positions(10))
    assert max(most) == 3 < len(asked)


def test_a_file_that_was_cut_off_or_is_another_one(tmp_path):
    games, model = positions(4), PlayerInWords("greedy")
    with model_server(model.answer) as (url, asked):
        agent = llm(url)
        assert cards_of(agent, games) == cards_of(make_agent("greedy"), games)
        file = tmp_path / "runs/llm/m.jsonl"
        file.write_bytes(file.read_bytes()[:-30])
        cards_of(llm(url), games)
        assert len(asked) == len(games) + 1
        assert len(lines()) == len(games)
    (tmp_path / "games.jsonl").write_text("{}\n")
    with refused("games.jsonl, line 1"):
        llm(url, file=tmp_path / "games.jsonl")


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ("", "agent 'llm' needs its model: write llm:model=…"),
        ("model=m,base_url=localhost", "this base_url is not allowed"),
        ("model=m,base_url=http://me:pw@x/v1", "this base_url is not allowed"),
        ("model=m,api_key=sk", "has no setting 'api_key'"),
        ("model=m,threads=0", "threads='0' is not allowed"),
        ("model=m,seconds=0", "seconds='0' is not allowed"),
    ],
)
def test_a_bad_setting_is_named(settings, fault):
    with refused(fault):
        make_agent(f"llm:{settings}")


@pytest.mark.parametrize("schema", ["json_schema", "json_object"])
@pytest.mark.parametrize("example", ["yes", "no"])
def test_a_schema_allows_the_legal_answers(schema, example):
    games, player, allowed = positions(8), PlayerInWords("greedy"), []

    def answer(messages):
        assert 'Answer in JSON, {"answer": "…"}, with the' in messages[-1]["content"]
        return json.dumps({"answer": player.cards(messages[-1]["content"])})

    with model_server(answer) as (url, asked):
        agent = llm(url, schema=schema, example=example)
        assert cards_of(agent, games) == cards_of(make_agent("greedy"), games)
    for body, _ in asked:
        form = body["response_format"]
        assert form["type"] == schema
        answers = form.get("json_schema", form)["schema"]["properties"]["answer"]["enum"]
        told = re.search(r"You hold (.*)\.", body["messages"][-1]["content"])[1]
        assert {card for text in answers for card in parse_cards(text)} <= set(parse_cards(told))
        allowed.append(len(answers))
        assert len(body["messages"]) == (4 if example == "yes" else 2)
    assert max(allowed) == 15
    assert min(allowed) > 1
    assert f"schema={schema}" in agent.name


def test_forced_cards_are_not_asked_for():
    batch = GameBatch(streams(1, 1), episode="pegging")
    with model_server(PlayerInWords("greedy").answer) as (url, asked):
        agent, n = llm(url), 0
        while len(rows := batch.acting()):
            n += len(options(batch.games[0])) > 1
            batch.step(rows, agent.act(batch.views(rows)))
        assert len(asked) == n < 8
