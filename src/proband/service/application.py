"""The application: its routes, its gate, its errors, and what OpenAPI says of it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

import proband
from proband.errors import CODES, ProbandError, RequestError
from proband.service import pages, replies, requests
from proband.service.access.log import FRESH, AccessLog
from proband.service.access.rates import Rate
from proband.service.desk import Desk
from proband.service.feeds import Feeds
from proband.service.gate import ENTRANCES, Gate, unforeseen
from proband.service.guard import Guard
from proband.service.limits import Limits
from proband.service.metrics import Metrics
from proband.service.planning import Planning
from proband.service.problems import MEDIA_TYPE, mistakes_in, problem_of, told_of
from proband.service.routes import access, drafts, knowledge, logs, running, studies, subjects
from proband.service.shortcut import Shortcut
from proband.service.state import State
from proband.studies.stores import Store

ABOUT = """Which test to run next, when to stop, and what to decide: studies of sequential testing.

Errors are `application/problem+json`; their `detail` says what is wrong, which rule it breaks, and what to do. Writes
take an `Idempotency-Key`. Numbers that are not finite are `null`."""

ERRORS = tuple(sorted({codes.http for codes in CODES.values()} | {400, 405}))


def create_app(
    store: Store,
    *,
    guard: Guard | None = None,
    limits: Limits | None = None,
    behind_proxy: bool = False,
    planning: Planning | None = None,
) -> FastAPI:
    """Return the application on a store, which it closes in the end.

    Parameters
    ----------
    store : Store
    guard : Guard, optional
        Who is let in; by default whoever has a token of the store, under any host name.
    limits : Limits, optional
    behind_proxy : bool
        Whether a proxy says where requests come from.
    planning : Planning, optional
        Who makes the plans; by default threads of this process.

    Examples
    --------
    >>> from proband.studies import open_store
    >>> app = create_app(open_store("memory:"))
    >>> "/api/studies/{study}/subjects/{subject}/tell" in app.openapi()["paths"]
    True
    """
    state = _state(Desk(store, limits or Limits(), planning), guard or Guard(), behind_proxy)
    app = _Application(
        title="proband", version=proband.__version__, description=ABOUT, lifespan=partial(_lifespan, state),
        docs_url=None, redoc_url=None, redirect_slashes=False,
    )  # fmt: skip
    app.state.service = state
    for group in (studies, drafts, subjects, knowledge, logs, access, running):
        app.include_router(group.routes)
    app.include_router(access.entrance)
    app.include_router(pages.routes)
    app.add_exception_handler(ProbandError, _told)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)
    app.front = Gate(Shortcut(app.behind, state=state), state=state)
    return app


class _Application(FastAPI):
    """The framework, behind the gate: what is refused or takes the short way never gets there."""

    front: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["app"] = self
            await self.front(scope, receive, send)
        else:
            await self.behind(scope, receive, send)

    async def behind(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the framework."""
        await super().__call__(scope, receive, send)

    def openapi(self) -> dict[str, Any]:
        """Return the description of all routes: every one with its errors, and with what it needs to be let in."""
        if self.openapi_schema is None:
            self.openapi_schema = _described(self)
        return self.openapi_schema


def _state(desk: Desk, guard: Guard, behind_proxy: bool) -> State:
    limits = desk.limits
    return State(
        limits=limits, guard=guard, access=AccessLog(desk.store, startup=guard.startup), desk=desk, feeds=Feeds(desk),
        metrics=Metrics(), failures=Rate(limits.failures), log_ins=Rate(limits.log_ins), behind_proxy=behind_proxy,
    )  # fmt: skip


@asynccontextmanager
async def _lifespan(state: State, app: FastAPI) -> AsyncIterator[None]:
    watching = [asyncio.create_task(_look_for_revocations(state)), asyncio.create_task(state.desk.shelf.watch())]
    gc.collect()
    gc.freeze()  # what was loaded stays: looking through it again and again keeps stations waiting
    yield
    for watch in watching:
        watch.cancel()
    state.feeds.close()
    await state.desk.close()


async def _look_for_revocations(state: State) -> None:
    """Read what other processes and the command line wrote about tokens, every second."""
    while True:
        with suppress(ProbandError):
            await state.desk.run(state.access.refresh)
        await asyncio.sleep(FRESH)


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProbandError)
    return told_of(error, request.app.state.service.desk.places)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    said = mistakes_in(error.errors())
    return problem_of(RequestError(f"the request breaks a rule: {said}; /openapi.json says what it may hold"))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        said = "there is no such route; /openapi.json lists all of them"
    elif error.status_code == 405:
        allowed = ", ".join(_methods(request.app, request.scope["path"]))
        said = f"the route takes {allowed}, not {request.method}; /openapi.json says what else it takes"
        return problem_of(RequestError(said), {"Allow": allowed}, status=405)
    else:
        said = f"{error.detail}; /openapi.json says what the route takes"
    return problem_of(RequestError(said), dict(error.headers or {}), status=error.status_code)


def _methods(app: FastAPI, path: str) -> list[str]:
    """Return the methods that a path takes; routes of one path may stand in several places."""
    parts = path.split("/")
    found: set[str] = set()
    for template, operations in app.openapi()["paths"].items():
        wanted = template.split("/")
        fits = (want == part or (want.startswith("{") and part) for want, part in zip(wanted, parts, strict=False))
        if len(wanted) == len(parts) and all(fits):
            found |= {method.upper() for method in operations}
    return sorted(found) or ["GET"]


async def _unforeseen(request: Request, error: Exception) -> Response:
    return unforeseen(request.scope, error)


def _described(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    parts = schema.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = replies.Problem.model_json_schema()
    parts["schemas"]["LogIn"] = requests.LogIn.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(unused, None)
    parts["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A token (proband token create)."},
    }
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            _complete(path, operation)
    return schema


def _complete(path: str, operation: dict[str, Any]) -> None:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status in ERRORS:
        title = "An error; `detail` says what to do." if status != 401 else "Nobody knows who asks."
        operation["responses"][str(status)] = {"description": title, "content": content}
    operation["security"] = [] if path in ENTRANCES else [{"token": []}]
