"""The kinds of events, one file each: a new kind is its file and a line here."""

from typing import Any

from proband.studies.events.arrived import ARRIVED
from proband.studies.events.corrected import CORRECTED
from proband.studies.events.decided import DECIDED
from proband.studies.events.imported import IMPORTED
from proband.studies.events.kind import EventKind
from proband.studies.events.observed import OBSERVED
from proband.studies.events.restarted import RESTARTED
from proband.studies.events.revealed import REVEALED
from proband.studies.events.taken import TAKEN
from proband.studies.events.voided import VOIDED

__all__ = ["EVENTS", "EventKind"]

EVENTS: dict[str, EventKind[Any]] = {
    kind.name: kind for kind in (ARRIVED, OBSERVED, DECIDED, CORRECTED, VOIDED, REVEALED, TAKEN, IMPORTED, RESTARTED)
}
"""Kinds of events by name; :mod:`~proband.studies.events.created` begins a log and stands apart."""
