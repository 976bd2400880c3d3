"""A subject as people see it, with what is known and what became of it, and as its policy sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from proband.studies.ledger.chain import as_time
from proband.studies.ledger.ledger import Ledger, Outcome
from proband.vocabulary import FloatArray


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
        return {**vars(self), "known": dict(self.known), "ran": list(self.ran)}


def subject_of(ledger: Ledger, i: int) -> Subject:
    """Return the subject in a row of the ledger."""
    columns, problem = ledger.columns, ledger.problem
    row, ran = columns.rows[i], np.flatnonzero(~np.isnan(columns.paid[i]))
    known = np.flatnonzero(~np.isnan(row)).tolist()
    decided = bool(columns.decided[i])
    return Subject(
        name=columns.names[i],
        number=i + 1,
        status=ledger.status(i),
        known=MappingProxyType({problem.tests[j].name: ledger.stated(j, row[j]) for j in known}),
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


class Situation(NamedTuple):
    """A subject in front of its policy."""

    name: str
    state: FloatArray
    coin: float
    steady: bool  # whether everything known was told as advised
    policy: int  # its position
    spent: float
    version: int  # the last event of the subject


def situation_of(ledger: Ledger, i: int) -> Situation:
    """Return the subject in a row of the ledger in front of its policy."""
    columns = ledger.columns
    state = np.where(ledger.unavailable, np.nan, columns.rows[i])
    return Situation(
        columns.names[i], state, float(columns.coin[i]), bool(columns.steady[i]), int(columns.policy[i]),
        float(columns.spent[i]), int(columns.touched[i]),
    )  # fmt: skip
