"""What routes have in common: who may use them, names in paths, idempotency keys, pages, files that are lent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from pydantic import AfterValidator

from proband.errors import ProbandError, RequestError, shown
from proband.service.access.tokens import Caller, Role
from proband.service.gate import name_in
from proband.service.state import State
from proband.studies.events.checks import LONGEST
from proband.studies.stores.entries import LONGEST_NAME

LONGEST_PART = 3 * LONGEST_NAME
"""Characters of a name in a path, where some are escaped."""

KEY_PATTERN = r"^[!-~]+( [!-~]+)*$"
"""Of an idempotency key: what a header can hold as it is."""

StudyName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=LONGEST_PART,
        description="Name of the study, escaped by % where it must.",
        examples=["bolts"],
    ),
    AfterValidator(name_in),
]
SubjectName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=LONGEST_PART,
        description="Name of the subject, escaped by % where it must.",
        examples=["bolt 17"],
    ),
    AfterValidator(name_in),
]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=LONGEST,
        pattern=KEY_PATTERN,
        description="The same request with the same key is recorded once, and answered alike; with other content it is "
        "refused. A client that repeats a request needs one.",
    ),
]
After = Annotated[int, Query(ge=0, lt=2**53, description="Only what has a larger number.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="Entries of the page, at most.")]


class May:
    """Whoever asks has a role, in the study that the path names; `everywhere` asks for a token for all studies."""

    def __init__(self, role: Role, *, everywhere: bool = False) -> None:
        self.role, self.everywhere = role, everywhere

    async def __call__(self, request: Request) -> Caller:
        """Return who asks."""
        caller: Caller = request.state.caller
        study = request.path_params.get("study")
        if study is not None:
            caller.check(self.role, name_in(study))
        elif self.everywhere:
            caller.check(self.role)
        elif caller.role < self.role:
            caller.check(self.role, "" if caller.studies is None else caller.studies[0])
        return caller


async def state_of(request: Request) -> State:
    """Return what the parts of the service share; no coroutine would be run in a thread, which takes longer."""
    state: State = request.app.state.service
    return state


Service = Annotated[State, Depends(state_of)]
Viewer = Annotated[Caller, Depends(May(Role.VIEWER))]
Operator = Annotated[Caller, Depends(May(Role.OPERATOR))]
Engineer = Annotated[Caller, Depends(May(Role.ENGINEER))]
Admin = Annotated[Caller, Depends(May(Role.ADMIN, everywhere=True))]
Overseer = Annotated[Caller, Depends(May(Role.VIEWER, everywhere=True))]


async def only_known(request: Request) -> None:
    """Raise if a query names what the route does not take: a name that is mistyped would change nothing."""
    if request.scope["query_string"]:
        described = request.app.openapi()["paths"][request.scope["route"].path][request.method.lower()]
        known = {each["name"] for each in described.get("parameters", ()) if each["in"] == "query"}
        unknown = [name for name in request.query_params if name not in known]
        if unknown:
            takes = ", ".join(sorted(known)) or "none"
            raise RequestError(f"the query names {shown(unknown[0])}; this route takes {takes}; correct or drop it")


def router(tag: str, *, prefix: str = "/api") -> APIRouter:
    """Return a group of routes."""
    return APIRouter(prefix=prefix, tags=[tag], dependencies=[Depends(only_known)])


def page(items: list[Any], limit: int, place: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a page: one entry more than asked for was looked up, which tells whether another page follows."""
    return {"items": items[:limit], "next": place(items[limit - 1]) if len(items) > limit else None}


def check_addressed(what: str, name: str | None) -> None:
    """Raise if a name could not be reached: browsers and programs take dots in an address for a way up."""
    if name in (".", ".."):
        raise RequestError(f"{what} is {name!r}, which has another meaning in an address; give it another name")


@contextmanager
def lent(content: str, ending: str, name: str) -> Iterator[str]:
    """Lend a file of our own with some content; messages about it speak of `name`, and nobody learns where it was."""
    with tempfile.TemporaryDirectory(prefix="proband-") as folder:
        path = FilePath(folder) / f"content{ending}"
        path.write_text(content, encoding="utf-8", newline="")
        with speaking_of(path, name):
            yield str(path)


@contextmanager
def speaking_of(path: str | os.PathLike[str], name: str) -> Iterator[None]:
    """Let errors in the block speak of `name` instead of a path."""
    try:
        yield
    except ProbandError as error:
        raise type(error)(str(error).replace(str(path), name)) from error
