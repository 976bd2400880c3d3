"""What is done away from the line: corrections, voidings, truths that came late, past records, fresh starts.

None of it changes an entry of the log: each is an event of its own, with its reason, and the agent learns again from
what is now known to be right. These are methods of :class:`proband.studies.Study`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proband.studies.events import checks
from proband.studies.events.corrected import stated
from proband.studies.events.imported import Learned, PastRecords, past_records
from proband.studies.events.kind import StaleError
from proband.studies.ledger.ledger import Outcome
from proband.studies.ledger.subject import Subject
from proband.studies.operations import Station, name_of
from proband.tables.frames import is_frame
from proband.tables.reading import called
from proband.texts import escaped
from proband.vocabulary import Records


def correct(
    study: Station, subject: str | Subject, test: str, outcome: Outcome | None, *, reason: str, key: str | None = None
) -> Subject:
    """Correct an outcome that was told wrongly; None withdraws it, with what the test cost.

    Parameters
    ----------
    subject : str or Subject
    test : str
    outcome : str, float or None
    reason : str
        Why; whoever reads the log later needs it.
    key : str, optional
        Idempotency key.
    """
    why, after = checks.reason(reason), stated(study._journal.ledger, test, outcome)
    return _amend(study, "corrected", subject, {"test": test, "outcome": after, "reason": why}, key)


def void(study: Station, subject: str | Subject, *, reason: str, key: str | None = None) -> Subject:
    """Take a subject out of the study: it stays in the log, and counts no more."""
    return _amend(study, "voided", subject, {"reason": checks.reason(reason)}, key)


def reveal(
    study: Station, subject: str | Subject, outcomes: Mapping[str, Outcome], *, key: str | None = None
) -> Subject:
    """Tell what came to light about a finished subject: tests that were not run on it, or cannot be.

    Parameters
    ----------
    subject : str or Subject
    outcomes : mapping
        Names of tests to outcomes; those of unavailable tests (gold standards) teach the agent, too.
    key : str, optional
        Idempotency key.
    """
    ledger = study._journal.ledger
    shown = {test: stated(ledger, test, outcome) for test, outcome in outcomes.items()}
    return _amend(study, "revealed", subject, {"outcomes": shown}, key)


def learn_from(
    study: Station, records: Any, *, source: str | None = None, sheet: str | None = None, key: str | None = None
) -> Learned:
    """Learn from past records; return how many subjects they added, and how many were recognised.

    The same records again add nothing, in whatever order. A table that comes back under the same name with all of
    its rows and more adds what is more; one that has lost some of them and kept others is refused.

    Parameters
    ----------
    records : Records, path, binary file or frame
        Records, or any table (:meth:`proband.Problem.records`) with one column a test, empty where it was not run.
    source : str, optional
        Where they come from, for the log; by default the name of the file.
    sheet : str, optional
        Which sheet of a workbook.
    key : str, optional
        Idempotency key; all rows count, unless they came with this key before. By default they are looked at.

    Notes
    -----
    If every record is complete, this is taken for the rule and not for the choice of a policy, and their chance is
    1; else it is not known (:mod:`proband.studies.learning.acting`). Records that know it say so themselves.
    """
    journal = study._journal
    journal.check_open()
    problem, file = journal.ledger.problem, not isinstance(records, Records) and not is_frame(records)
    if file and source is None:
        source = escaped(Path(called(records)).name)[: checks.LONGEST]
    if not isinstance(records, Records):
        records = problem.records(records, sheet=sheet)
    past = past_records(records, problem, source)
    while True:
        try:
            return _learn_from(study, past, table=file, key=key)
        except StaleError:  # others imported something meanwhile
            continue


def _learn_from(study: Station, past: PastRecords, *, table: bool, key: str | None) -> Learned:
    study._journal.catch_up()
    with study._journal.lock:
        ledger = study._journal.ledger
        before, restart = ledger.position, ledger.last_restart(ledger.position)
        earlier = [imported for imported in ledger.imports if imported.number > restart]
    new = past.beyond(earlier) if table and key is None else past
    if not new.n:
        return Learned(0, recognised=past.n)
    content = {"parts": list(new.parts(ledger)), "seen": [restart, len(earlier)] if key is None else None}
    chosen = f"import {past.digest} {restart}" if key is None else key
    event = study._journal.write(study._journal.request("imported", None, content, chosen))
    study._replanner.after_write()
    added = new.n if event.number > before else 0
    return Learned(added, recognised=past.n - added)


def restart(study: Station, *, reason: str, key: str | None = None) -> None:
    """Start learning afresh: from here on the agent knows nothing of earlier subjects, and records imported before.

    Subjects that are open keep the policy that they met.
    """
    study._journal.check_open()
    content = {"reason": checks.reason(reason)}
    study._journal.write(study._journal.request("restarted", None, content, key))
    study._replanner.after_write()


def _amend(study: Station, kind: str, subject: str | Subject, content: dict[str, Any], key: str | None) -> Subject:
    study._journal.check_open()
    event = study._journal.write(study._journal.request(kind, name_of(subject), content, key))
    study._replanner.after_write(amended=True)
    return study._journal.subject(str(event.subject))
