"""A study as one station has it: the log, the policies, and for how long it keeps subjects."""

from __future__ import annotations

import getpass
import platform

from proband.studies.events import checks
from proband.studies.learning.replanning import Replanner
from proband.studies.log.journal import Journal
from proband.texts import escaped


class Station:
    """What operations, amendments and queries work on; see :class:`proband.studies.Study`."""

    def __init__(self, journal: Journal, replanner: Replanner, *, lease: float) -> None:
        self._journal = journal
        self._replanner = replanner
        self._lease = lease
        self._advised: dict[str, tuple[int, tuple[int, str]]] = {}


def actor_of(given: str | None) -> str:
    """Return who tells: the given name, or the user's."""
    if given is not None:
        return checks.text("the actor", given)
    try:
        return escaped(getpass.getuser())
    except (KeyError, OSError):  # a container may run under a number without a name
        return "unknown"


def station_of(given: str | None) -> str:
    """Return where: the given name, or the machine's, so that all commands on one machine are one station."""
    return checks.text("the station", given) if given is not None else escaped(platform.node()) or "unknown"
