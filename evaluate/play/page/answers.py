"""A message of the page and its answer, as the server and the table in the browser exchange them."""

from __future__ import annotations

import json

from crib_env.evaluate.play.page.games import Games
from crib_env.evaluate.play.page.messages import MESSAGES, MovedOn
from crib_env.files.json_text import parse_json
from crib_env.values import typed


def answered(games: Games, name: str, content: str) -> tuple[int, str]:
    """The status of HTTP and the JSON of an answer.

    Args:
        games: they answer.
        name: of the message, one of ``MESSAGES``.
        content: JSON, the fields of the message.
    """
    try:
        message = typed(parse_json(content), MESSAGES[name], "the message")
        return 200, json.dumps(getattr(games, name)(message), separators=(",", ":"))
    except MovedOn as error:
        return 409, _fault(str(error))
    except ValueError as error:
        return 400, _fault(str(error))
    except OSError as error:
        return 507, _fault(f"the game cannot be kept: {error}")


def _fault(text: str) -> str:
    return json.dumps({"error": text})
