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
from crib_env.evaluate.play.page.pictures import board, card_faces
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
    return files | {"": page.encode()}


def make_app(games: Games, token: str, origin: str) -> ASGIApp:
    """The server's application.

    The token is the first part of every path. Requests by another name of the machine than in ``origin``, such as
    ``http://127.0.0.1:8000``, or from a page of another origin are refused.
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
            status, found = await asyncio.wrap_future(in_thread(partial(answered, games, name, content)))
        except ClientDisconnect:
            return Response()  # to nobody
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
    return _guarded(app, token, origin)


def _guarded(app: ASGIApp, token: str, origin: str) -> ASGIApp:
    """Refuses all requests that do not come from the page itself."""

    def fault(scope: Scope) -> str:
        headers = dict(scope["headers"])
        found = scope["path"].removeprefix("/").partition("/")[0]  # the path of OPTIONS * has no slash
        if not hmac.compare_digest(found.encode(), token.encode()):
            return "the token is wrong: take the address that the server has printed"
        if headers.get(b"host", b"").decode("latin-1") != origin.partition("://")[2]:
            return "the page is asked for by another name"
        asks = headers.get(b"origin", b"" if scope["method"] == "POST" else origin.encode())
        if asks != origin.encode() or headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return "another page is asking"
        return ""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        refused = fault(scope) if scope["type"] == "http" else ""
        await (PlainTextResponse(refused, 403) if refused else app)(scope, receive, send_with_headers)

    return answer


@contextmanager
def listening(games: Games) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """A server on a free port of 127.0.0.1, its socket, and the address of its page."""
    # asyncio sends small packets at once only if the protocol is named.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listens:
        listens.bind(("127.0.0.1", 0))
        listens.listen()
        origin, token = f"http://127.0.0.1:{listens.getsockname()[1]}", secrets.token_urlsafe(24)
        config = uvicorn.Config(
            make_app(games, token, origin),
            ws="none",
            lifespan="off",
            log_level="warning",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=2,
        )
        yield uvicorn.Server(config), listens, f"{origin}/{token}/"


def serve(games: Games, on_start: Callable[[str], object]) -> None:
    """Serves the page until Ctrl-C, and compiles kernels meanwhile; ``on_start`` is called with the address."""
    faults: list[Exception] = []

    def warm_up() -> None:
        try:
            for warm in warmed_up(games.offered.agent):
                games.warm = warm
        except Exception as error:
            faults.append(error)
            server.should_exit = True

    with listening(games) as (server, listens, address):
        threading.Thread(target=warm_up, daemon=True).start()
        on_start(address)
        server.run(sockets=[listens])
    if faults:
        raise faults[0]
