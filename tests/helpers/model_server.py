"""A server on this machine that speaks OpenAI's protocol, and a model in it: a player of known strength that reads
the words of a position, or one that fails."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from crib_env import parse_card, parse_cards
from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.evaluate.skill.positions import NO_CARD, after_cards, batch_of

_CARD = r"[A23456789TJQK][CDHS]"


def game_told(words):
    """A game (1,) in which the player to act sees what the words say."""
    is_dealer = "You are the dealer" in words
    scores = [int(n) for n in re.search(r"The score is (\d+) for you and (\d+) for", words).groups()]
    hand = told(rf"You hold ((?:{_CARD} ?)+)\.", words)
    thrown = told(rf"You (?:have )?discarded ((?:{_CARD} ?)+)\.", words)
    starter = told(rf"The starter is ({_CARD})\.", words)
    laid = [(by, parse_card(card)) for by, card in re.findall(rf"(you|opponent) ({_CARD}) \(\d", words)]
    own, other = (
        [card for by, card in laid if by == name] + cards for name, cards in (("you", hand), ("opponent", []))
    )
    # Whoever has said go may hold any of the highest cards, and these fit nowhere else.
    rest = [card for card in range(52) if card not in {*own, *other, *thrown, *starter}]
    rest.sort(key=lambda card: -(card % 13))
    is_pegging = "played without starter" in words
    own, other = own + thrown, other + rest[: (4 if is_pegging else 6) - len(other)]
    rest = [card for card in rest if card not in other]
    deal = own + other + ([] if is_pegging else (starter or rest[:1]))
    throws = [] if is_pegging else [*other[-2:], *thrown] if is_dealer else [*thrown, *other[-2:] * bool(starter)]
    played = [*throws, *(card for _, card in laid)]
    cards = np.array([played + [NO_CARD] * (12 - len(played))])
    games = after_cards(np.array([deal]), np.array([0 if is_dealer else 1]), np.zeros((1, 2), np.int64), cards)
    games["scores"][0] = scores
    return games


def told(pattern, words):
    found = re.search(pattern, words)
    return parse_cards(found[1]) if found else []


class PlayerInWords:
    """A model that answers as an agent would: ``answer(messages)``."""

    def __init__(self, name):
        self.agent = make_agent(name)

    def answer(self, messages):
        told = [message["content"] for message in messages if "You hold" in message["content"]]
        return f"I have thought about it.\nAnswer: {self.cards(told[-1])}"

    def cards(self, words):
        batch, chosen = batch_of(game_told(words)), []
        for _ in range(2 if "Discard two" in words else 1):
            rows = batch.acting()
            cards = self.agent.act(batch.views(rows))
            chosen.append(int(cards[0]))
            batch.step(rows, np.asarray(cards))
        return format_cards(chosen)


@contextmanager
def model_server(answer: Callable[[list[dict[str, str]]], object]):
    """Runs the server; yields its base_url and the list of all that was asked.

    ``answer(messages)`` gives a text, or (status, body, headers), the body as bytes or their parts, or raises what ends
    the connection.
    """
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append((body, dict(self.headers)))
            try:
                given = answer(body["messages"])
                status, content, headers = given if isinstance(given, tuple) else answered(given, body)
                ends = {"content-length": len(content)} if isinstance(content, bytes) else {"connection": "close"}
                self.send_response(status)
                for name, value in ({"content-type": "application/json"} | ends | headers).items():
                    self.send_header(name, str(value))
                self.end_headers()
                for part in [content] if isinstance(content, bytes) else content:
                    self.wfile.write(part)
            except OSError:
                self.close_connection = True

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answered(text, body):
    """An answer, whole or as a stream, as it was asked for."""
    if not body.get("stream"):
        return 200, completion(text), {}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    deltas = ({"role": "assistant", "content": text}, None), ({}, "stop")
    chunks = [chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in deltas]
    lines = [*map(json.dumps, chunks), "[DONE]"]
    return 200, "".join(f"data: {line}\n\n" for line in lines).encode(), {"content-type": "text/event-stream"}


def completion(text, end="stop", refusal=None):
    """The body of an answer."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": end}],
            "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100},
        }
    ).encode()
