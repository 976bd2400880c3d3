"""The short way for what stations do all day: arrive, ask, tell and decide, when nothing is wrong with the request.

The way through the framework (matching, dependencies, validation) takes longer than the work itself. Here a request of
the four goes to the same function, with the same model and the same role, read off that function. Whatever is not plain
(a query, another content type, a body or a key that breaks a rule) goes the long way, which says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, NamedTuple, get_type_hints

from pydantic import BaseModel, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proband.errors import ProbandError
from proband.service.access.tokens import Role
from proband.service.gate import name_in, replay
from proband.service.problems import told_of
from proband.service.routes import subjects
from proband.service.routes.common import KEY_PATTERN, LONGEST_PART, May
from proband.service.state import State
from proband.studies.events.checks import LONGEST

JSON = b"application/json"
_KEY = re.compile(KEY_PATTERN)


class Way(NamedTuple):
    """A route that has a short way."""

    path: SimpleNamespace  # as metrics name it
    handler: Callable[..., Awaitable[Any]]
    role: Role
    model: type[BaseModel] | None


def _way(path: str, handler: Callable[..., Awaitable[Any]]) -> Way:
    hints = get_type_hints(handler, include_extras=True)
    [may] = [each.dependency for each in hints["caller"].__metadata__]
    assert isinstance(may, May)
    return Way(SimpleNamespace(path=f"/api{path}"), handler, may.role, hints.get("given"))


WAYS: dict[tuple[str, str, bool], Way] = {
    ("POST", "arrive", False): _way("/studies/{study}/arrive", subjects.arrive),
    ("GET", "ask", True): _way(f"{subjects.SUBJECT}/ask", subjects.ask),
    ("POST", "tell", True): _way(f"{subjects.SUBJECT}/tell", subjects.tell),
    ("POST", "decide", True): _way(f"{subjects.SUBJECT}/decide", subjects.decide),
}
"""By method, verb, and whether the path names a subject."""


class Shortcut:
    """A layer inside the gate, which has found out who asks and taken in the body."""

    def __init__(self, app: ASGIApp, *, state: State) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer here, or go the long way."""
        way, names = _found(scope) if scope["type"] == "http" and not scope["query_string"] else (None, [])
        if way is None:
            await self._app(scope, receive, send)
            return
        given, again = (), receive
        if way.model is not None:
            body, key = (await receive()).get("body", b""), _key(scope)
            again = replay(body, receive)
            given = _read(way.model, body, key)
            if not given:
                await self._app(scope, again, send)
                return
        scope["route"] = way.path
        await self._answer(way, names, given, scope, again, send)

    async def _answer(
        self, way: Way, names: list[str], given: tuple[Any, ...], scope: Scope, receive: Receive, send: Send
    ) -> None:
        caller = scope["state"]["caller"]
        try:
            caller.check(way.role, names[0])
            answer = await way.handler(self._state, caller, *names, *given)
        except ProbandError as error:
            answer = told_of(error, self._state.desk.places)
        start: Message = {"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers}
        await send(start)
        await send({"type": "http.response.body", "body": answer.body})


def _found(scope: Scope) -> tuple[Way | None, list[str]]:
    parts: list[str] = scope["path"].split("/")
    if len(parts) not in (5, 7) or parts[1:3] != ["api", "studies"] or (len(parts) == 7 and parts[4] != "subjects"):
        return None, []
    names = [parts[3]] if len(parts) == 5 else [parts[3], parts[5]]
    if not all(0 < len(name) <= LONGEST_PART for name in names):
        return None, []
    return WAYS.get((scope["method"], parts[-1], len(parts) == 7)), [name_in(name) for name in names]


def _key(scope: Scope) -> str | None:
    """Return the idempotency key of a request; the empty one stands for what the long way has to look at."""
    key, kind = None, b""
    for name, value in scope["headers"]:
        if name == b"idempotency-key":
            key = value.decode("latin-1") if key is None else ""
        elif name == b"content-type":
            kind = value
    plain = kind == JSON and (key is None or (len(key) <= LONGEST and _KEY.match(key)))
    return key if plain else ""


def _read(model: type[BaseModel], body: bytes, key: str | None) -> tuple[Any, ...]:
    """Return what a request gives, for the function of its route; nothing if the long way has to look at it."""
    if key == "":
        return ()
    try:
        return model.model_validate_json(body), key
    except ValidationError:
        return ()
