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

from proband.errors import ProbandError, as_problem, shown
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


_RULES = {
    "outcomes": "an outcome is a text or a finite number",
    "known": "an outcome is a text or a finite number",
    "outcome": "an outcome is a text or a finite number, and null withdraws it",
    "decision": "a decision is a name, or one for each thing to be decided",
}
"""Of fields that may hold several things, of which a model tells one by one that they are not there."""

_SAID = {
    "missing": "is missing; give it",
    "extra_forbidden": "is no field of this request; correct its name, or drop it",
}


def mistakes_in(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return what is wrong with a request, by field: the value, the rule and the remedy; the first three of them.

    Examples
    --------
    >>> mistakes_in([{"type": "string_type", "loc": ("body", "outcomes", "gap", "str"), "msg": "", "input": None}])
    'body.outcomes.gap is null; an outcome is a text or a finite number'
    """
    said: dict[str, str] = {}
    for error in errors:
        place, rule = [str(part) for part in error["loc"]], None
        if len(place) > 2 and error["type"] != "too_short":
            rule = _RULES.get(place[1])
            place = place[: 3 if place[1] in ("outcomes", "known") else 2] if rule else place
        said.setdefault(".".join(place), _said(error, rule, secret="token" in place))
    told = [f"{place} {what}" for place, what in said.items()]
    return "; ".join(told[:3]) + (f" (and {len(told) - 3} more)" if len(told) > 3 else "")


def _said(error: Mapping[str, Any], rule: str | None, *, secret: bool) -> str:
    if error["type"] == "json_invalid":
        return f"is where this stops being JSON ({error.get('ctx', {}).get('error', 'a mistake')}); correct it"
    if error["type"] in _SAID:
        return _SAID[error["type"]]
    value = error.get("input")
    named = {None: "null", True: "true", False: "false"}.get(value) if isinstance(value, bool | None) else shown(value)
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"is {'wrong' if secret else named}; {rule or message[:1].lower() + message[1:]}"


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
