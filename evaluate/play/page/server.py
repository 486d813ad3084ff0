"""The local server of the page: this machine alone, one token, no other origin, small messages."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crib_env.evaluate.play.page.games import MESSAGES, Games, answered
from crib_env.evaluate.play.page.pictures import board, card_faces, colours
from crib_env.evaluate.play.page.warming import warmed_up
from crib_env.evaluate.play.saved_game import PERSON
from crib_env.evaluate.play.sitting import in_thread

LARGEST = 4_096  # bytes of a message
MOST_CONNECTIONS = 32  # a browser keeps six; others are refused
_STATIC = Path(__file__).parent / "static"
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".html": "text/html"}
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@cache
def page_files() -> dict[str, bytes]:
    """The files of the page, by name; the same for every game."""
    files = {path.name: path.read_bytes() for path in sorted(_STATIC.iterdir())}
    page = files.pop("index.html").decode()
    page = page.replace("<!-- cards -->", card_faces()).replace("<!-- board -->", board(PERSON))
    return files | {"": page.encode(), "colours.css": colours().encode()}


def make_app(games: Games, token: str, origin: str) -> ASGIApp:
    """The server's application.

    Args:
        games: the games that it serves.
        token: first part of every path.
        origin: as in ``http://127.0.0.1:8000``; requests by another name of the machine, or from a page of another
            origin, are refused.
    """

    async def send_file(request: Request) -> Response:
        name = request.path_params.get("name", "")
        if name not in page_files():
            return PlainTextResponse("there is no such file", 404)
        return Response(page_files()[name], media_type=_KINDS[Path(name).suffix or ".html"])

    async def answer(request: Request) -> Response:
        name, content = request.path_params["name"], b""
        if name not in MESSAGES:
            return JSONResponse({"error": f"there is no message {name!r}"}, 404)
        try:
            async for part in request.stream():
                content += part
                if len(content) > LARGEST:
                    return JSONResponse({"error": f"a message has at most {LARGEST} bytes"}, 413)
            text = content.decode()
        except ClientDisconnect:
            return Response()  # to nobody
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 400)
        try:
            status, found = await asyncio.wrap_future(in_thread(partial(answered, games, name, text)))
        except asyncio.CancelledError:  # the server ends, and an agent still thinks
            return Response(status_code=503)
        return Response(found, status, media_type="application/json")

    app = Starlette(
        routes=[
            Route(f"/{token}/do/{{name}}", answer, methods=["POST"]),
            Route(f"/{token}/{{name}}", send_file, methods=["GET"]),
            Route(f"/{token}/", send_file, methods=["GET"]),
        ]
    )
    return _Guard(app, token, origin)


class _Guard:
    """Refuses all requests that do not come from the page itself."""

    def __init__(self, app: ASGIApp, token: str, origin: str) -> None:
        self._app, self._token, self._origin = app, token.encode(), origin.encode()
        self._host = self._origin.partition(b"://")[2]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        if scope["type"] == "http" and (fault := self._fault(scope, headers)):
            await PlainTextResponse(fault, 403)(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    def _fault(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        token = scope["path"].removeprefix("/").partition("/")[0].encode()  # the path of OPTIONS * has no slash
        if not hmac.compare_digest(token, self._token):
            return "the token is wrong: take the address that the server has printed"
        if headers.get(b"host") != self._host:
            return "the page is asked for by another name"
        origin = headers.get(b"origin", b"" if scope["method"] == "POST" else self._origin)
        if origin != self._origin or headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return "another page is asking"
        return ""


@contextmanager
def _listening(games: Games) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """A server on a free port of 127.0.0.1, its socket, and the address of its page."""
    # asyncio sends small packets at once only if the protocol is named.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        origin, token = f"http://127.0.0.1:{listening.getsockname()[1]}", secrets.token_urlsafe(24)
        app = make_app(games, token, origin)
        config = uvicorn.Config(
            app,
            ws="none",
            lifespan="off",
            log_level="warning",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=2,
        )
        yield uvicorn.Server(config), listening, f"{origin}/{token}/"


@contextmanager
def served(games: Games) -> Iterator[str]:
    """Serves the page from a thread while the block runs; yields its address."""
    with _listening(games) as (server, listening, address):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()
            games.close()


def serve(games: Games, on_start: Callable[[str], object]) -> None:
    """Serves the page until Ctrl-C.

    Args:
        games: the games that it serves; their kernels are compiled meanwhile.
        on_start: called with the address.

    Raises:
        ValueError: the offered agent cannot be made.
    """
    faults: list[Exception] = []

    def warm_up() -> None:
        try:
            for warm in warmed_up(games.offered.agent):
                games.warm = warm
        except Exception as error:
            faults.append(error)
            server.should_exit = True

    with _listening(games) as (server, listening, address):
        threading.Thread(target=warm_up, daemon=True).start()
        on_start(address)
        server.run(sockets=[listening])
    if faults:
        raise faults[0]
