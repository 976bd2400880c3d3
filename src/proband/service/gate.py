"""The gate: what every request passes before anything looks at it, and every answer after.

In this order: the request is for this service; whoever asks is known, or the route is open to all; no other site asked
in his name; the request is not too large, and arrived in time. What comes out has headers that forbid a browser
everything that this service does not need, and is counted, and told in the log of the process without anything secret:
method, path, status, milliseconds and the user's name, never a query, a header or a body.
"""

from __future__ import annotations

import asyncio
import logging
import time
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proband.errors import (
    ProbandError,
    RequestError,
    SlowRequestError,
    TooLargeError,
    TooManyRequestsError,
    UnidentifiedError,
)
from proband.files import size
from proband.service.access.log import UNKNOWN
from proband.service.access.tokens import Caller, Role
from proband.service.guard import SAFE, Find
from proband.service.problems import problem_of
from proband.service.state import State
from proband.texts import escaped

LOGGER = logging.getLogger("proband.service")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page of this service may load: its own files, no inline scripts or styles, and nobody may frame it."""

HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)

PLAIN = {b"content-length", b"content-type"}
"""What most answers say by themselves."""

ENTRANCES = ("/login", "/logout", "/health", "/ready", "/openapi.json", "/", "/page/")
"""Paths for which nobody need be known; one that ends in / stands for what is below it, but for / itself."""


UPLOADS = ("/api/studies", "/api/check", "/api/draft")
"""Paths that take problems and past records."""


class Gate:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, *, state: State) -> None:
        self._app, self._state = app, state
        self._uploads = asyncio.Semaphore(state.limits.uploads)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, seen = time.perf_counter(), {"status": 0}
        answer = partial(_sent, send, seen)
        try:
            await self._admit(scope, receive, answer)
        except ProbandError as error:
            if seen["status"]:  # an answer has begun: all that is left is to cut it off
                raise
            self._state.metrics.refused[type(error).__name__] += 1
            await problem_of(error, _retry(error))(scope, receive, answer)
        except Exception as error:
            if seen["status"]:
                raise
            await unforeseen(scope, error)(scope, receive, answer)
        finally:
            self._tell(scope, seen["status"] or 500, time.perf_counter() - began)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        headers, guard = dict(reversed(pairs)), self._state.guard  # of several the first one, as elsewhere
        guard.check_host([value for name, value in pairs if name == "host"])
        scope["path"] = path_of(scope)
        session = guard.session(headers)
        caller = await self._caller(scope, headers, session)
        if caller is None and not _entrance(scope["path"]):
            raise UnidentifiedError(
                "nobody knows who asks; this needs a token, in the header Authorization: Bearer ..., or a log-in; an "
                "admin makes one (proband token create)"
            )
        guard.check_origin(scope["method"], headers, cookie=session is not None)
        scope.setdefault("state", {})["caller"] = caller
        if scope["method"] in SAFE:
            await self._app(scope, receive, send)
            return
        await self._with_body(scope, receive, send, headers)

    async def _caller(self, scope: Scope, headers: Mapping[str, str], session: str | None) -> Caller | None:
        """Return who asks; None if nothing was shown that could tell. What opens nothing is refused, and counted."""
        state, guard = self._state, self._state.guard
        bearer = guard.bearer(headers)
        if bearer is not None:
            caller = await self._found(bearer, partial(guard.holder, find=state.access.holder))
            if caller is None:
                raise refusal(state, scope, headers)
            return caller
        if session is not None:
            caller = await self._found(session, state.access.visitor)
            if caller is not None:
                return caller
            if guard.opened is None and not _entrance(scope["path"]):
                raise refusal(state, scope, headers)
        return guard.opened

    async def _found(self, secret: str, find: Find) -> Caller | None:
        found = find(secret)
        if found is None and len(secret) < 500:
            await self._state.desk.run(partial(self._state.access.refresh, UNKNOWN))
            found = find(secret)
        return found

    async def _with_body(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        """Take in the body, as much and for as long as its route allows, and hand it on."""
        limits, path = self._state.limits, scope["path"]
        caller: Caller | None = scope["state"]["caller"]
        large = caller is not None and caller.role >= Role.ENGINEER  # nobody else has a use for it
        if large and path == "/api/import":  # goes to a file as it comes in
            most, seconds = limits.log, limits.upload_seconds
        elif large and (path in UPLOADS or path.endswith("/records")):
            most, seconds = limits.upload, limits.upload_seconds
        else:
            most, seconds = limits.body, limits.body_seconds
        _check_length(headers.get("content-length"), most)
        incoming = Incoming(receive, most, seconds)
        if most == limits.log:
            await self._app(scope, incoming.receive, send)
        elif most == limits.upload:
            async with self._uploads:
                await self._app(scope, replay(await incoming.whole(), receive), send)
        else:
            await self._app(scope, replay(await incoming.whole(), receive), send)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get("route")
        named = getattr(route, "path", None) or "none"
        caller: Caller | None = scope.get("state", {}).get("caller")
        self._state.metrics.answered(scope["method"], named, status, seconds)
        if LOGGER.isEnabledFor(logging.INFO):
            LOGGER.info(
                "%s %s %d %.1f ms %s", scope["method"], escaped(scope["path"]), status, 1000 * seconds,
                "-" if caller is None else caller.user,
            )  # fmt: skip


class Incoming:
    """The body of a request, as it comes in."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive, self._most, self._taken = receive, most, 0
        self._seconds, self._end = seconds, time.monotonic() + seconds

    async def receive(self) -> Message:
        """Return the next part; raise if there is too much of it, or it comes too slowly."""
        receiving: Any = self._receive()
        try:
            waits = receiving.send(None)  # most often it is there: then nobody need watch the time
        except StopIteration as there:
            message: Message = there.value
        else:
            message = await self._in_time(_going_on(receiving, waits))
        self._taken += len(message.get("body", b""))
        if self._taken > self._most:
            raise _too_large(self._most)
        return message

    async def _in_time(self, receiving: Awaitable[Message]) -> Message:
        try:
            async with asyncio.timeout(max(0.0, self._end - time.monotonic())):
                return await receiving
        except TimeoutError:
            raise SlowRequestError(
                f"the request did not arrive within {self._seconds:g} seconds; send it quicker, or in parts"
            ) from None

    async def whole(self) -> bytes:
        """Return all of it."""
        parts, more = [], True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise SlowRequestError("the connection was closed before the request was complete; send it again")
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        return b"".join(parts)


@types.coroutine
def _going_on(receiving: Coroutine[Any, Any, Message], waits: Any) -> Generator[Any, Any, Message]:
    """Go on with what was begun, and waits for something."""
    while True:
        try:
            given = yield waits
        except BaseException as error:
            step = partial(receiving.throw, error)
        else:
            step = partial(receiving.send, given)
        try:
            waits = step()
        except StopIteration as there:
            message: Message = there.value
            return message


def unforeseen(scope: Scope, error: Exception) -> Response:
    """Return the answer to a fault of the service's own; the log of the process tells of it."""
    LOGGER.error("%s failed", escaped(scope["path"]), exc_info=error if LOGGER.isEnabledFor(logging.DEBUG) else None)
    return problem_of(ProbandError("this was not foreseen; nothing more is known here; look into the service's log"))


def refusal(state: State, scope: Scope, headers: Mapping[str, str]) -> ProbandError:
    """Return the error about a token that opens nothing; too many of them from one address are another error."""
    wait = state.failures.wait(address_of(scope, headers, behind_proxy=state.behind_proxy))
    if wait:
        return TooManyRequestsError(
            f"too many wrong tokens came from this address; try again in {wait:.0f} seconds, with a right one"
        )
    return UnidentifiedError(
        "the token or log-in opens nothing: it is not known, has ended or was revoked; log in again, or ask an admin "
        "for another token"
    )


def replay(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """Return what hands a body on that was taken in, and then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def path_of(scope: Scope) -> str:
    """Return the path of a request, whose parts may hold any character: a slash or per cent in a name stays escaped.

    Examples
    --------
    >>> path_of({"raw_path": b"/api/studies/bolts%2F2026%20%C2%B5"})
    '/api/studies/bolts%2F2026 µ'
    """
    raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    if b"%" not in raw and raw.isascii():
        return raw.decode()
    try:
        parts = [(unquote_to_bytes(part) if b"%" in part else part).decode() for part in raw.split(b"/")]
    except UnicodeDecodeError as error:
        raise RequestError(f"the path is no UTF-8 ({error.reason}); write names in it in UTF-8, escaped by %") from None
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def name_in(part: str) -> str:
    """Return the name that a part of :func:`path_of` stands for."""
    return part.replace("%2F", "/").replace("%25", "%")


def address_of(scope: Scope, headers: Mapping[str, str], *, behind_proxy: bool) -> str:
    """Return where a request comes from; behind a proxy, what the nearest one says: others can be made up."""
    forwarded = headers.get("x-forwarded-for", "") if behind_proxy else ""
    client: Any = scope.get("client") or ("unknown",)
    return forwarded.rpartition(",")[2].strip() or str(client[0])


def _entrance(path: str) -> bool:
    return path in ENTRANCES or any(
        path.startswith(place) for place in ENTRANCES if len(place) > 1 and place[-1] == "/"
    )


def _check_length(given: str | None, most: int) -> None:
    if given is not None and given.isascii() and given.isdigit() and int(given[:20]) > most:
        raise _too_large(most)


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(f"the request has more than {size(most)}, which is the most for this route; send less at once")


def _retry(error: ProbandError) -> dict[str, str]:
    return {"Connection": "close"} if isinstance(error, TooLargeError | SlowRequestError) else {}


async def _sent(send: Send, seen: dict[str, int], message: Message) -> None:
    """Send a message; the answer's own headers go before those of every answer."""
    if message["type"] == "http.response.start":
        seen["status"] = message["status"]
        own = list(message.get("headers", []))
        if {name for name, _ in own} <= PLAIN:
            own += HEADERS
        else:
            names = {name for name, _ in own}
            own += [(name, value) for name, value in HEADERS if name not in names]
        message = {**message, "headers": own}
    await send(message)
