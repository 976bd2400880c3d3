"""Errors as answers: ``application/problem+json`` (RFC 9457) with the library's words, and the status of its table.

``type`` names the class of the error, so that a client raises the same one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from proband.errors import ProbandError, as_problem
from proband.texts import escaped, without_passwords

MEDIA_TYPE = "application/problem+json"

_SERVER = re.compile(r'(connection to )?server (at|on socket) "[^"]*"( \([^)]*\))?(, port \d+)?')
"""How PostgreSQL's library says where a server is."""

_HEADERS: dict[int, dict[str, str]] = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "10"},
    503: {"Retry-After": "1"},
}


class Answer(Response):
    """A JSON answer: strict, so that a number that is not finite becomes null."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return encoded(content)


def encoded(content: Any) -> bytes:
    """Return strict JSON.

    Examples
    --------
    >>> encoded({"value": float("nan"), "unit": "µm"}).decode()
    '{"value":null,"unit":"µm"}'
    """
    return to_json(content, inf_nan_mode="null")


def problem_of(error: ProbandError, headers: Mapping[str, str] | None = None, *, status: int | None = None) -> Response:
    """Return the answer that an error is; its status is that of the table of errors, unless HTTP has one of its own."""
    told = as_problem(error)
    told["status"] = told["status"] if status is None else status
    told["detail"] = escaped(without_passwords(told["detail"]), keep="\n")
    return Response(encoded(told), told["status"], {**_HEADERS.get(told["status"], {}), **(headers or {})}, MEDIA_TYPE)


def told_of(error: ProbandError, places: Sequence[str]) -> Response:
    """Return the answer that an error of a study is; where the store is (these are its names), is nobody's business.

    Examples
    --------
    >>> from proband.errors import StoreError
    >>> answer = told_of(StoreError("/var/lib/a.db: the disk is full; make room"), ["/var/lib/a.db"])
    >>> b"this service's store: the disk is full; make room" in answer.body
    True
    """
    said = _SERVER.sub("its server", str(error))
    for place in places:
        said = said.replace(f" --store {shlex.quote(place)}", "").replace(place, "this service's store")
    return problem_of(type(error)(said))
