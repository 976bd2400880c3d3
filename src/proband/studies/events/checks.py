"""Checks that several kinds of events share.

There are two sorts. Some look at what somebody *asks* for: they return what it means, or raise an error that names the
value, the rule and the remedy. Others look at what *stands in a log*, which may come from elsewhere; they raise
ValueError or TypeError, and whoever reads the log says which entry it was. Those are kept lean: a study is opened by
reading its log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proband.errors import HeldError, StudyError, UnknownNameError, shown
from proband.files import LARGEST_NUMBER
from proband.problem import Problem
from proband.studies.events.kind import Data, Request, StaleError
from proband.studies.ledger.chain import Event, as_time
from proband.studies.ledger.leases import Leases
from proband.studies.ledger.ledger import FINISHED, OPEN, VOIDED, Ledger
from proband.texts import check_plain, escaped, quoted
from proband.vocabulary import outcome_codes

Decision = str | Mapping[str, str]
"""The name of a decision; for a match also the named outcomes of all tests."""

NUMBERS = (float, int)

LONGEST = 200
"""Characters of a name or a key."""

LONGEST_REASON = 2000
"""Characters of a reason."""

LONGEST_LEASE = 30 * 24 * 3600

MOST_SUBJECTS = 2**53
"""Subjects of a study by its horizon, and in one import of past records: floats tell so many apart."""


# What somebody asks for


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


def lease_of(given: float) -> float:
    """Return a lease in seconds."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= LONGEST_LEASE:
        raise StudyError(
            f"lease is {given!r}; it must be a number of seconds from 0 to {LONGEST_LEASE:,} (30 days); correct it"
        )
    return float(given)


def decision_of(problem: Problem, given: Decision) -> int:
    """Return the action of a decision; that of a match names the outcome of every test."""
    if problem.decisions:
        if not isinstance(given, str):
            raise UnknownNameError(f"decision {given!r} does not exist; choose one of {', '.join(problem.decisions)}")
        return problem.decision_action(given)
    outcomes = _vector(problem, given, 0) if isinstance(given, str) else given
    if outcomes is None or set(outcomes) != {test.name for test in problem.tests}:
        example = problem.action_name(problem.d)
        raise UnknownNameError(
            f"decision {given!r} does not exist; a decision names the outcome of every test; write it as {example!r}"
        )
    return problem.d + int(outcome_codes(problem.state(outcomes)[None], problem.tests)[0])


def _vector(problem: Problem, text: str, first: int) -> dict[str, str] | None:
    """Read "length=ok, weight=low" from a test on; names may hold commas and equal signs themselves."""
    test, last = problem.tests[first], first == problem.d - 1
    for outcome in test.names:
        head = f"{test.name}={outcome}"
        if text == head and last:
            return {test.name: outcome}
        if text.startswith(f"{head}, ") and not last:
            rest = _vector(problem, text[len(head) + 2 :], first + 1)
            if rest is not None:
                return {test.name: outcome, **rest}
    return None


def open_subject(ledger: Ledger, name: str, doing: str) -> int:
    """Return the row of a subject that is neither decided nor voided."""
    i = ledger.row_of(name)
    if ledger.status(i) == FINISHED:
        raise StudyError(
            f"subject {name!r} is finished, decided {ledger.columns.decisions[i]!r}; {doing} is for open subjects; "
            "use reveal for what came to light later, correct for a wrong entry, or void"
        )
    return live_subject(ledger, name, doing)


def live_subject(ledger: Ledger, name: str, doing: str) -> int:
    """Return the row of a subject that is not voided."""
    i = ledger.row_of(name)
    if ledger.status(i) == VOIDED:
        raise StudyError(
            f"subject {name!r} was voided; {doing} is for subjects that count; let it arrive again under another name"
        )
    return i


def finished_subject(ledger: Ledger, name: str, doing: str) -> int:
    """Return the row of a decided subject."""
    i = live_subject(ledger, name, doing)
    if ledger.status(i) == OPEN:
        raise StudyError(
            f"subject {name!r} is not decided yet; {doing} is for finished subjects; tell the tests that were run, and "
            "decide first"
        )
    return i


def not_held(ledger: Ledger, i: int, station: str, leases: Leases | None) -> None:
    """Raise if another station's lease of an open subject has not run out."""
    columns = ledger.columns
    open_elsewhere = ledger.status(i) == OPEN and columns.holders[i] != station
    if leases is not None and open_elsewhere and not leases.over(i):
        raise HeldError(
            f"subject {columns.names[i]!r} is held by station {columns.holders[i]!r} until "
            f"{as_time(columns.lease_end[i])}, and this is {station!r}; one station works on a subject at a time; "
            "wait, or take it over at once (take)"
        )


def open_and_ours(ledger: Ledger, request: Request, leases: Leases | None, doing: str) -> int:
    """Return the row of an open subject that no other station holds."""
    i = open_subject(ledger, str(request.subject), doing)
    not_held(ledger, i, request.station, leases)
    return i


def fresh(ledger: Ledger, i: int, request: Request) -> None:
    """Raise unless the subject is as it was when its advice was worked out."""
    if request.content["seen"] not in (None, ledger.columns.touched[i]):
        raise StaleError


# What stands in a log


def open_row(ledger: Ledger, event: Event) -> int:
    """Return the row of a subject that is neither decided nor voided."""
    i = ledger.index[event.subject]  # type: ignore[index]  # nobody is called None
    if i not in ledger.open:
        raise ValueError(f"subject {event.subject!r} was decided on or voided before")
    return i


def live_row(ledger: Ledger, event: Event) -> int:
    """Return the row of a subject that is not voided."""
    i = ledger.index[event.subject]  # type: ignore[index]  # nobody is called None
    if ledger.columns.voided[i]:
        raise ValueError(f"subject {event.subject!r} was voided before")
    return i


def nobody(event: Event) -> None:
    """Check that an event is about no subject."""
    if event.subject is not None:
        raise ValueError(f"it is about subject {event.subject!r}, and can be about nobody")


def available(ledger: Ledger, j: int) -> None:
    """Check that a test can be run."""
    if ledger.unavailable[j]:
        raise ValueError(f"the test {ledger.problem.tests[j].name!r} is unavailable, and nobody can have run it")


def advice(ledger: Ledger, i: int, data: Data) -> None:
    """Check what an event says of the advice that it answers."""
    if data["policy"] != ledger.columns.policy[i]:
        raise ValueError(f"its policy is {shown(data['policy'])}, and its subject's {ledger.columns.policy[i]}")
    cost = data["cost"]
    if type(cost) not in NUMBERS or not 0 <= cost <= LARGEST_NUMBER:
        raise ValueError(f"its cost is {shown(cost)}; a cost is a finite number of 0 or more")
    if type(data["followed"]) is not bool or type(data["advised"]) is not str:
        raise TypeError("it does not say what was advised, or whether this was followed")


def lease(given: Any) -> None:
    """Check a lease."""
    if type(given) not in NUMBERS or not 0 <= given <= LARGEST_NUMBER:
        raise ValueError(f"its lease is {shown(given)}; a lease is a finite number of seconds, 0 or more")


def chance(given: Any) -> None:
    """Check a probability."""
    if type(given) not in NUMBERS or not 0 <= given <= 1:
        raise ValueError(f"a chance is {shown(given)}; a chance is from 0 to 1")


def written(data: Data, name: str) -> str:
    """Return a text."""
    given = data[name]
    if type(given) is not str:
        raise TypeError(f"its {name} is {shown(given)}; it must be a text")
    return given


def number(name: str, given: Any) -> None:
    """Check a finite number."""
    if type(given) not in NUMBERS or not abs(given) <= LARGEST_NUMBER:
        raise ValueError(f"its {name} is {shown(given)}; it must be a finite number")


# What stands in an export


def same(given: Mapping[Any, Any], right: Mapping[Any, Any]) -> None:
    """Raise unless an event says what a direct call would have recorded."""
    for name, value in right.items():
        if name not in given or given[name] != value or type(given[name]) is not type(value):
            raise StudyError(
                f"it says {given.get(name)!r} under {name!r}; a direct call would have recorded {value!r}; export the "
                "log again"
            )


def advised(ledger: Ledger, data: Data, chosen: str, action: int) -> tuple[int, str]:
    """Return what was advised by its name, which must be that of an action, and as the chosen action if it was that."""
    problem, name = ledger.problem, data["advised"]
    if name not in {test.name for test in problem.tests}:
        name = problem.action_name(decision_of(problem, name))
    return (action if data["followed"] is True and name == chosen else -1), name


def asked_with_reason(ledger: Ledger, event: Event, data: Data) -> Data:
    """Return the content of a request that gives a reason and nothing else."""
    return {"reason": reason(data["reason"])}


def whole(what: str, given: object, least: int, most: int) -> None:
    """Check a whole number."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise StudyError(f"{what} is {given!r}; it is a whole number from {least} to {most}; export the log again")


def exported_chance(given: object) -> None:
    """Check a probability, or none."""
    if given is not None and not (isinstance(given, float) and 0 <= given <= 1):
        raise StudyError(f"a chance is {given!r}; it is a number from 0 to 1, or none; export the log again")
