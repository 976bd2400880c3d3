"""Forged logs: an event is changed, and every later hash is written anew, so that the chain is whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from proband.studies.exchange.exports import KIND
from proband.studies.ledger.chain import FORMAT, NO_HASH, Event, canonical, seal, unseal
from proband.studies.stores import Entry


def forged(entries: Sequence[Entry], number: int, change: Callable[[Event], Event]) -> list[Entry]:
    """Return a log in which one event is another one."""
    found, previous = [], NO_HASH
    for entry in entries:
        event = unseal(entry)
        event = change(event) if event.number == number else event
        found.append(seal(dataclasses.replace(event, previous=previous)))
        previous = found[-1].hash
    return found


def saying(**changes: Any) -> Callable[[Event], Event]:
    """Change what an event says; None takes a field away."""

    def change(event: Event) -> Event:
        data = {name: value for name, value in {**event.data, **changes}.items() if value is not ...}
        return dataclasses.replace(event, data=data)

    return change


def export(path: Path, study: str, entries: Sequence[Entry]) -> Path:
    """Write a log as `Study.export` does."""
    head = {"format": FORMAT, "kind": KIND, "study": study, "length": len(entries), "hash": entries[-1].hash}
    path.write_text("\n".join([canonical(head), *(entry.body for entry in entries)]) + "\n", encoding="utf-8")
    return path
