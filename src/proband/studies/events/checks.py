"""What an operator may do: every request is checked against the ledger before anything is written.

Each function returns what the request means, or raises an error that names the value, the rule and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proband.errors import HeldError, StudyError
from proband.studies.ledger.chain import as_time
from proband.studies.ledger.leases import Leases
from proband.studies.ledger.ledger import Ledger
from proband.studies.ledger.names import Outcome
from proband.studies.ledger.subject import FINISHED, OPEN, VOIDED, status_of
from proband.texts import check_plain, escaped, quoted

LONGEST = 200
"""Characters of a name or a key."""

LONGEST_REASON = 2000
"""Characters of a reason."""

EARLIEST, LATEST = 946_684_800.0, 4_102_444_800.0
"""What a clock may say, in seconds since 1970: from 2000 up to 2100."""


def text(what: str, given: object) -> str:
    """Return a name, key or the like: some printable characters, not too many."""
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST or escaped(given) != given:
        shown = quoted(str(given))
        raise StudyError(
            f"{what} is {shown}; it must be a text of 1 to {LONGEST} printable characters; give another one"
        )
    return given


def reason(given: object) -> str:
    """Return the reason for a correction, a voiding or a restart."""
    if not isinstance(given, str) or not given.strip():
        raise StudyError(f"the reason is {given!r}; whoever reads the log later needs one; say why in a few words")
    if len(given) > LONGEST_REASON:
        raise StudyError(
            f"the reason has {len(given):,} characters; it must have {LONGEST_REASON:,} at most; say it shorter, or "
            "where it is written down"
        )
    return check_plain("the reason", given.strip(), StudyError)


def moment(clock: float) -> float:
    """Return what a clock says, if that can be: an event has its date for good, and no later one an earlier date."""
    if not EARLIEST <= clock < LATEST:
        raise StudyError(
            f"the clock says {clock!r} seconds since 1970; the time of a station must lie between the years "
            f"{as_time(EARLIEST)[:4]} and {as_time(LATEST)[:4]}; set the clock"
        )
    return clock


def open_subject(ledger: Ledger, name: str, doing: str) -> int:
    """Return the row of a subject that is neither decided nor voided."""
    i = ledger.row_of(name)
    status = status_of(ledger, i)
    if status == FINISHED:
        raise StudyError(
            f"subject {name!r} is finished, decided {ledger.columns.decisions[i]!r}; {doing} is for open subjects; "
            "use reveal for what came to light later, correct for a wrong entry, or void"
        )
    _not_voided(ledger, i, doing)
    return i


def live_subject(ledger: Ledger, name: str, doing: str) -> int:
    """Return the row of a subject that is not voided."""
    i = ledger.row_of(name)
    _not_voided(ledger, i, doing)
    return i


def finished_subject(ledger: Ledger, name: str, doing: str) -> int:
    """Return the row of a decided subject."""
    i = live_subject(ledger, name, doing)
    if status_of(ledger, i) == OPEN:
        raise StudyError(
            f"subject {name!r} is not decided yet; {doing} is for finished subjects; tell the tests that were run, and "
            "decide first"
        )
    return i


def not_held(ledger: Ledger, i: int, station: str, leases: Leases) -> None:
    """Raise if another station's lease of an open subject has not run out."""
    columns = ledger.columns
    if status_of(ledger, i) == OPEN and columns.holders[i] != station and not leases.over(i):
        raise HeldError(
            f"subject {columns.names[i]!r} is held by station {columns.holders[i]!r} until "
            f"{as_time(columns.lease_end[i])}, and this is {station!r}; one station works on a subject at a time; "
            "wait, or take it over at once (take)"
        )


def new_subject(ledger: Ledger, name: str | None, number: int) -> str:
    """Return the name of a newcomer: the given one if it is free, else its number."""
    if name is None:
        name, n = str(number), 1
        while name in ledger.index:  # somebody called a subject by a number
            n += 1
            name = f"{number}-{n}"
        return name
    if text("the name of a subject", name) in ledger.index:
        raise StudyError(f"subject {name!r} arrived already; names must differ; give it another one")
    return name


def known(ledger: Ledger, given: Mapping[str, Outcome] | None) -> dict[str, Outcome]:
    """Return what came with a newcomer, in the order and the form of the problem."""
    row = ledger.names.row(given or {})
    shown = [ledger.problem.tests[i].name for i in np.flatnonzero(~np.isnan(row) & ledger.unavailable)]
    if shown:
        raise StudyError(
            f"the tests {shown} are unavailable: their outcomes come to light later, if ever; leave them out, and "
            "reveal them when the subject is finished"
        )
    return ledger.names.known(row)


def told(ledger: Ledger, i: int, test: str, outcome: Outcome) -> tuple[int, float]:
    """Return a test and its outcome if it can be told now."""
    j, value = ledger.names.number(test, outcome)
    before = ledger.columns.rows[i, j]
    if ledger.unavailable[j]:
        raise StudyError(
            f"test {test!r} is unavailable: it cannot be run on a subject; reveal its outcome when the subject is "
            "finished"
        )
    if not np.isnan(before):
        raise StudyError(
            f"test {test!r} of subject {ledger.columns.names[i]!r} showed {ledger.names.outcome(j, before)!r} already; "
            "a test is told once; use correct if that was wrong"
        )
    return j, value


def corrected(ledger: Ledger, i: int, test: str, outcome: Outcome | None) -> tuple[Outcome, Outcome | None]:
    """Return what a told outcome was and what it shall be; None withdraws it."""
    j = ledger.problem.test_index(test)
    before = ledger.columns.rows[i, j]
    name = ledger.columns.names[i]
    if np.isnan(before):
        raise StudyError(
            f"test {test!r} of subject {name!r} was never told; only what was told can be corrected; use tell or reveal"
        )
    was = ledger.names.outcome(j, before)
    after = None if outcome is None else ledger.names.outcome(j, ledger.names.number(test, outcome)[1])
    if after == was:
        raise StudyError(f"test {test!r} of subject {name!r} is {was!r} already; there is nothing to correct")
    return was, after


def revealed(ledger: Ledger, i: int, outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return what is new in outcomes that came to light."""
    new: dict[str, Outcome] = {}
    for test, outcome in outcomes.items():
        j, value = ledger.names.number(test, outcome)
        before = ledger.columns.rows[i, j]
        if np.isnan(before):
            new[test] = ledger.names.outcome(j, value)
        elif before != value:
            raise StudyError(
                f"test {test!r} of subject {ledger.columns.names[i]!r} was told as "
                f"{ledger.names.outcome(j, before)!r} and is revealed as {outcome!r}; use correct if it was wrong"
            )
    if not new:
        raise StudyError(
            f"everything in {dict(outcomes)!r} is known of subject {ledger.columns.names[i]!r} already; reveal what "
            "is new"
        )
    return new


def _not_voided(ledger: Ledger, i: int, doing: str) -> None:
    if status_of(ledger, i) == VOIDED:
        raise StudyError(
            f"subject {ledger.columns.names[i]!r} was voided; {doing} is for subjects that count; let it arrive again "
            "under another name"
        )
