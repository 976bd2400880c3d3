"""A subject as people see it: its name, what is known, what it cost, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from proband.studies.ledger.chain import as_time
from proband.studies.ledger.ledger import Ledger
from proband.studies.ledger.names import Outcome

OPEN, FINISHED, VOIDED = "open", "finished", "voided"


@dataclass(frozen=True)
class Subject:
    """One subject of a study, as it stood when it was asked for.

    Attributes
    ----------
    name : str
    number : int
        1, 2, ... in the order of arrival.
    status : str
        "open", "finished" or "voided".
    known : mapping
        What is known of it: names of tests to outcomes (numbers where they are measured).
    ran : tuple of str
        The tests that were run, in this order; what came with the subject or was revealed later is not among them.
    spent : float
        What they cost.
    unit : str
    decision : str or None
    followed : bool or None
        Whether the decision was the advised one; None while there is none.
    deviations : int
        How many tests were run against the advice.
    policy : int
        The position of the log whose agent advises it.
    coin : float
    station : str
        Who holds it, or held it last.
    held_until : str
        When another station may go on with it without asking.
    arrived : str
        When.
    finished : str or None
    """

    name: str
    number: int
    status: str
    known: Mapping[str, Outcome]
    ran: tuple[str, ...]
    spent: float
    unit: str
    decision: str | None
    followed: bool | None
    deviations: int
    policy: int
    coin: float
    station: str
    held_until: str
    arrived: str
    finished: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the subject as JSON values."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**content, "known": dict(self.known), "ran": list(self.ran)}


def subject_of(ledger: Ledger, i: int) -> Subject:
    """Return the subject in a row of the ledger."""
    columns, problem = ledger.columns, ledger.problem
    ran = np.flatnonzero(~np.isnan(columns.paid[i]))
    decided = bool(columns.decided[i])
    return Subject(
        name=columns.names[i],
        number=i + 1,
        status=status_of(ledger, i),
        known=MappingProxyType(ledger.names.known(columns.rows[i])),
        ran=tuple(problem.tests[j].name for j in ran[np.argsort(columns.when[i, ran])]),
        spent=float(columns.spent[i]),
        unit=problem.unit,
        decision=columns.decisions[i],
        followed=bool(columns.obeyed[i]) if decided else None,
        deviations=int(columns.deviations[i]),
        policy=int(columns.policy[i]),
        coin=float(columns.coin[i]),
        station=columns.holders[i],
        held_until=as_time(columns.lease_end[i]),
        arrived=as_time(columns.arrived_at[i]),
        finished=as_time(columns.finished_at[i]) if decided else None,
    )


def status_of(ledger: Ledger, i: int) -> str:
    """Return whether a subject is open, finished or voided."""
    if ledger.columns.voided[i]:
        return VOIDED
    return FINISHED if ledger.columns.decided[i] else OPEN
