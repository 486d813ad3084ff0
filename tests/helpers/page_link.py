"""What a browser sends to the page."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit


class PageLink:
    """A connection that stays, as a browser's does."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.netloc, timeout=600)
        self._path, self._headers = parts.path, {"Origin": f"http://{parts.netloc}", "Host": parts.netloc}

    def get(self, name: str) -> bytes:
        """A file of the page."""
        return self._answer("GET", name, None, {})

    def ask(self, name: str, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a message.

        Raises:
            ValueError: the server has refused it.
        """
        found: dict[str, Any] = json.loads(self._answer("POST", f"do/{name}", json.dumps(message), self._headers))
        if "error" in found:
            raise ValueError(found["error"])
        return found

    def _answer(self, method: str, name: str, body: str | None, headers: dict[str, str]) -> bytes:
        try:
            self._connection.request(method, self._path + name, body, headers)
            return self._connection.getresponse().read()
        except ConnectionError:  # the server has closed it, because nothing was asked for some seconds
            self._connection.close()
            self._connection.request(method, self._path + name, body, headers)
            return self._connection.getresponse().read()
