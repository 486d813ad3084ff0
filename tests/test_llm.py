"""``llm``: players of known strength behind an endpoint, endpoints that fail, and what is kept."""

import gzip
import itertools
import json
import re
import time

import numpy as np
import pytest

from crib_env import GameBatch, decisions, parse_cards, streams
from crib_env.agents import llm as llm_agent
from crib_env.agents import make_agent
from crib_env.agents.llm import UnansweredError
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
    monkeypatch.setattr(llm_agent, "_FIRST_WAIT", 0.01)
    llm_agent.kept_in.cache_clear()


def llm(url, **settings):
    given = "".join(f",{name}={value}" for name, value in settings.items())
    return make_agent(f"llm:model=m,base_url={url}{given}")


def positions(n=10):
    """Games, each about to have a card discarded or laid by its player, who has a choice."""
    games = np.concatenate([batch.games[rows[:2]] for batch, rows in itertools.islice(batches(), 0, 60, 60 // n)])
    asked = {}
    for k in range(len(games)):
        if len(options(games[k])) > 1:
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
    assert all(line["answer"].startswith("I have") and line["tokens"] == 100 for line in lines())


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
        assert agent.first_answers == {"asked": n, "used": n}
        assert not agent.faults
        llm_agent.kept_in.cache_clear()  # as another process
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


def endless(status):
    return lambda text: (status, itertools.repeat(b" " * 65_536), {})


BOMB = gzip.compress(b" " * (1 << 28))

FAULTS = {
    "late": ("late", late),
    "429": ("busy", lambda text: (429, b'{"error": {"message": "slow down"}}', {"retry-after": "0"})),
    "500": ("failed", lambda text: (500, b"<html>oops", {"content-type": "text/html"})),
    "half a body": ("failed", half_an_answer),
    "half a JSON": ("failed", lambda text: (200, completion(text)[:-40], {})),
    "a page": ("failed", lambda text: (200, b"<html>welcome", {"content-type": "text/html"})),
    "no choices": ("failed", lambda text: (200, b'{"choices": []}', {})),
    "other types": ("failed", lambda text: (200, b'{"choices": [{"message": {"content": 5}}]}', {})),
    "null": ("failed", lambda text: (200, b"null", {})),
    "brackets": ("failed", lambda text: (200, b"[" * 200_000 + b"]" * 200_000, {})),
    "an end that is a number": ("failed", lambda text: (200, completion(text, end=7), {})),
    "an end that is a list": ("failed", lambda text: (200, completion(text, end=["stop"]), {})),
    "tokens that are true": ("failed", lambda text: (200, completion(text, tokens=True), {})),
    "too many tokens": ("failed", lambda text: (200, completion(text, tokens=10**60), {})),
    "tokens below 0": ("failed", lambda text: (200, completion(text, tokens=-1), {})),
    "endless": ("failed", endless(200)),
    "an endless error": ("failed", endless(500)),
    "packed": ("failed", lambda text: (200, BOMB, {"content-encoding": "gzip"})),
    "half a letter in an error": ("failed", lambda text: (500, b'"\\ud83d"', {})),
    "cut": ("cut", lambda text: (200, completion(text, end="length"), {})),
    "filtered": ("cut", lambda text: (200, completion(text, end="content_filter"), {})),
    "refusal": ("illegal", lambda text: (200, completion(None, refusal="I cannot help with gambling."), {})),
    "nonsense": ("illegal", lambda text: "Bananas! 9X, and thirty."),
    "nothing": ("illegal", lambda text: ""),
    "another's card": ("illegal", lambda text: "Answer: AC 2C 3C"),
    "10 MB": ("illegal", lambda text: "5H 5C " * 1_750_000),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_never_a_card_and_loses_no_answer(fault):
    kind, spoil = FAULTS[fault]
    games, model, seen = positions(4), PlayerInWords("careful"), []

    def answer(messages):
        text, question = model.answer(messages), messages[1]["content"]
        is_first = question not in seen
        seen.append(question)
        return spoil(text) if is_first and len(set(seen)) % 3 == 1 else text

    with model_server(answer) as (url, asked):
        agent = llm(url, seconds=0.4 if fault == "late" else 20, threads=1, retries=1, asks=2)
        assert cards_of(agent, games) == cards_of(make_agent("careful"), games)
    assert set(agent.faults) == {kind}
    unanswered = sum(line["answer"] is None for line in lines())
    assert unanswered == (agent.faults[kind] if kind in ("late", "busy", "failed") else 0)
    assert len(lines()) == len(asked) == len(games) + agent.faults[kind]
    assert max(len(json.dumps(line)) for line in lines()) < 200_000
    llm_agent.kept_in.cache_clear()
    llm("http://localhost/v1")  # reads the file


def test_a_dead_endpoint_stops_the_work_and_the_same_command_goes_on():
    games, model, left = positions(8), PlayerInWords("greedy"), [5]

    def answer(messages):
        left[0] -= 1
        return model.answer(messages) if left[0] >= 0 else (503, b"", {})

    with model_server(answer) as (url, asked):
        with pytest.raises(ValueError, match=r"gives no answer: HTTP 503.*kept in .*goes on from there"):
            cards_of(llm(url, threads=2, retries=1), games)
        n_finished = sum(line["answer"] is not None for line in lines())
        assert n_finished == 5
        assert len(asked) < len(games) + 4  # no further calls begin
        left[0], before = 1_000, len(asked)
        assert cards_of(llm(url), games) == cards_of(make_agent("greedy"), games)
        assert len(asked) - before == len(games) - n_finished


def test_a_model_that_names_no_legal_card_is_asked_again_and_told_why():
    games, model = positions(6), PlayerInWords("greedy")
    hopeless = games[3:4]["hand"][0]

    def answer(messages):
        text = model.answer(messages)
        hand = game_told(messages[1]["content"])["hand"][0, 0]
        return "I resign." if hand in hopeless else text

    with model_server(answer) as (url, asked):
        agent = llm(url, asks=3)
        with pytest.raises(
            UnansweredError, match=r"named no legal card in 3 answers in game 3.*you named no card"
        ) as fault:
            cards_of(agent, games)
        assert fault.value.game_ids == (3,)
        assert agent.faults == {"illegal": 3}
        assert agent.first_answers == {"asked": len(games), "used": len(games) - 1}
        last = max((body["messages"] for body, _ in asked), key=len)
        assert [one["role"] for one in last] == ["system", "user", *["assistant", "user"] * 2]
        assert last[-1]["content"].startswith("That cannot be played: you named no card: name exactly")
        others, n = np.delete(games, 3), len(asked)
        cards_of(agent, others)
        assert len(asked) == n


@pytest.mark.parametrize(("budget", "holds"), [("calls", 3), ("tokens", 300)])
def test_a_budget_is_that_of_the_file(budget, holds):
    games = positions(6)
    with model_server(PlayerInWords("greedy").answer) as (url, asked):
        with refused(f"{budget}={holds}"):
            cards_of(llm(url, threads=1, **{budget: holds}), games)
        assert len(asked) == len(lines()) == 3
        llm_agent.kept_in.cache_clear()
        with refused(f"{budget}={holds}"):
            cards_of(llm(url, **{budget: holds}), games)
        assert len(asked) == 3
        cards_of(llm(url, **{budget: 100_000}), games)
        assert len(asked) == len(lines()) == len(games)


KEY = "sk-proj-0123456789abcdef"


@pytest.mark.parametrize("said", [KEY, "sk-proj-****cdef", "'0123456789'", KEY[4:] + "\ud83d"])
def test_the_key_comes_from_the_environment_and_is_written_nowhere(said, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "x-mine: my-own-id")
    refused = (401, json.dumps({"error": {"message": f"bad key {said} given"}}).encode(), {})
    games, fault = positions(4), pytest.raises(ValueError, match=r"HTTP 401, .*bad key … given")
    with model_server(lambda messages: refused) as (url, asked), fault as raised:
        cards_of(llm(url, threads=1), games)
    assert [headers["authorization"] for _, headers in asked] == [f"Bearer {KEY}"]  # and not again
    assert "my-own-id" not in str(asked)
    told = f"{raised.value} {[line['fault'] for line in lines()]}"
    assert not [part for part in map("".join, zip(KEY, KEY[1:], KEY[2:], KEY[3:])) if part in told]


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
    with model_server(lambda messages: "\ud83d " + model.answer(messages)) as (url, asked):  # half a letter
        agent = llm(url)
        assert cards_of(agent, games) == cards_of(make_agent("greedy"), games)
        assert not agent.faults
        file = tmp_path / "runs/llm/m.jsonl"
        file.write_bytes(file.read_bytes()[:-30])
        llm_agent.kept_in.cache_clear()
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
        ("model=m,base_url=localhost", "base_url='localhost' is not allowed"),
        ("model=m,base_url=http://me:pw@x/v1", "base_url='http://…@x/v1' is not allowed"),
        ("model=m,api_key=sk", "has no setting 'api_key'"),
        ("model=m,threads=0", "threads=0 is not allowed, give at least 1"),
        ("model=m,asks=0", "asks=0 is not allowed"),
        ("model=m,seconds=0", "seconds=0.0 is not allowed"),
        ("model=m,retries=-1", "retries=-1 is not allowed"),
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
        agent = llm(url, schema=schema, example=example, answer_tokens=30)
        assert cards_of(agent, games) == cards_of(make_agent("greedy"), games)
    for body, _ in asked:
        form = body["response_format"]
        assert (form["type"], body["max_tokens"]) == (schema, 30)
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
