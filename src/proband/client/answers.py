"""From JSON to the library's own types: what comes from a service is what a :class:`proband.Study` would return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from proband.errors import ServiceError
from proband.studies import Advice, Alternative, Event, Subject

_SUBJECT = [field.name for field in fields(Subject)]
_ADVICE = [field.name for field in fields(Advice)]
_EVENT = [field.name for field in fields(Event)]


def subject_of(content: Mapping[str, Any]) -> Subject:
    """Return a subject."""
    values = _values(content, _SUBJECT)
    values["known"], values["ran"] = MappingProxyType(dict(values["known"])), tuple(values["ran"])
    return Subject(**values)


def advice_of(content: Mapping[str, Any]) -> Advice:
    """Return an advice."""
    values = _values(content, _ADVICE)
    values["alternatives"] = tuple(
        Alternative(*(other[name] for name in Alternative._fields)) for other in values["alternatives"]
    )
    return Advice(**values)


def event_of(content: Mapping[str, Any]) -> Event:
    """Return an event."""
    return Event(**_values(content, _EVENT))


def _values(content: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    try:
        return {name: content[name] for name in names}
    except (LookupError, TypeError) as error:
        raise ServiceError(
            f"the answer lacks {error}; the service is of another version; update the older one"
        ) from error
