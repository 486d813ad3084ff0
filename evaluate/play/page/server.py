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

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from crib_env.evaluate.play.page.answers import answered
from crib_env.evaluate.play.page.games import Games
from crib_env.evaluate.play.page.messages import MESSAGES
from crib_env.evaluate.play.page.open_game import in_thread
from crib_env.evaluate.play.saved_game import PERSON
from crib_env.picture.board import HEIGHT, LEFT, TOP, WIDTH, draw_board
from crib_env.picture.cards import HIDDEN, card_face
from crib_env.picture.colours import DARK, LIGHT, STYLED, four_colours, style_variables

LARGEST = 4_096  # bytes of a message
PATIENCE = 10.0  # seconds in which a request has to arrive as a whole, and what was sent to be read
MOST_CONNECTIONS = 32  # a browser keeps six
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
    board = f'<svg id="board" viewBox="{LEFT} {TOP} {WIDTH} {HEIGHT}" role="img">{draw_board(PERSON, STYLED)}'
    pictures = {
        "<!-- cards -->": "".join(card_face(card, STYLED) for card in range(HIDDEN, 52)),
        "<!-- board -->": f'{board}<g id="pegs"></g></svg>',
    }
    page = files.pop("index.html").decode()
    for place, picture in pictures.items():
        page = page.replace(place, picture)
    two, four = LIGHT._asdict(), four_colours(LIGHT)._asdict()
    suits = "".join(f"--{name}:{colour};" for name, colour in four.items() if colour != two[name])
    colours = (
        f":root{{{style_variables(LIGHT)}color-scheme:light}}"
        f"@media(prefers-color-scheme:dark){{:root{{{style_variables(DARK)}color-scheme:dark}}}}"
        f":root.four{{{suits}}}"
    )
    return files | {"": page.encode(), "colours.css": colours.encode()}


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


class _Protocol(H11Protocol):
    """Closes connections that are too many, whose request does not arrive in time, or that do not read."""

    _deadline: asyncio.TimerHandle | None = None
    _to_be_read: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            transport.set_write_buffer_limits(0)  # whatever is not read at once pauses writing
            self._wait()

    def pause_writing(self) -> None:
        """See asyncio."""
        super().pause_writing()
        self._to_be_read = self.loop.call_later(PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """See asyncio."""
        super().resume_writing()
        if self._to_be_read is not None:
            self._to_be_read.cancel()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._wait()
        else:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(PATIENCE, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


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
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_level="warning",
            backlog=MOST_CONNECTIONS,  # asyncio accepts so many at once, before any is closed
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
            games.warm_up()
        except Exception as error:
            faults.append(error)
            server.should_exit = True

    with _listening(games) as (server, listening, address):
        threading.Thread(target=warm_up, daemon=True).start()
        on_start(address)
        server.run(sockets=[listening])
    if faults:
        raise faults[0]
