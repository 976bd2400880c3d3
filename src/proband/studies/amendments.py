"""What is done away from the line: corrections, voidings, truths that came late, past records, fresh starts.

None of it changes an entry of the log: each is an event of its own, with its reason, and the agent learns again from
what is now known to be right.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from proband.studies.events import checks
from proband.studies.events.imported import Learned, Past, past_records
from proband.studies.events.requests import StaleError
from proband.studies.ledger.names import Outcome
from proband.studies.ledger.subject import Subject
from proband.studies.operations import Desk, name_of
from proband.vocabulary import Records


class Office(Desk):
    """The side of a study that amends; see :class:`proband.studies.Study`."""

    def correct(
        self, subject: str | Subject, test: str, outcome: Outcome | None, *, reason: str, key: str | None = None
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
        why, names = checks.reason(reason), self._journal.ledger.names
        after = None if outcome is None else names.outcome(*names.number(test, outcome))
        return self._amend("corrected", subject, {"test": test, "outcome": after, "reason": why}, key)

    def void(self, subject: str | Subject, *, reason: str, key: str | None = None) -> Subject:
        """Take a subject out of the study: it stays in the log, and counts no more."""
        return self._amend("voided", subject, {"reason": checks.reason(reason)}, key)

    def reveal(self, subject: str | Subject, outcomes: Mapping[str, Outcome], *, key: str | None = None) -> Subject:
        """Tell what came to light about a finished subject: tests that were not run on it, or cannot be.

        Parameters
        ----------
        subject : str or Subject
        outcomes : mapping
            Names of tests to outcomes; those of unavailable tests (gold standards) teach the agent, too.
        key : str, optional
            Idempotency key.
        """
        names = self._journal.ledger.names
        shown = {test: names.outcome(*names.number(test, outcome)) for test, outcome in outcomes.items()}
        return self._amend("revealed", subject, {"outcomes": shown}, key)

    def learn_from(
        self, records: Records | str | os.PathLike[str], *, source: str | None = None, key: str | None = None
    ) -> Learned:
        """Learn from past records; return how many subjects they added, and how many were recognised.

        The same records again add nothing, in whatever order. A table that comes back under the same name with all of
        its rows and more adds what is more; one that has lost some of them and kept others is refused.

        Parameters
        ----------
        records : Records or path
            Records, or a table (.csv or .parquet) with one column a test, empty where it was not run.
        source : str, optional
            Where they come from, for the log; by default the name of the file.
        key : str, optional
            Idempotency key; all rows count, unless they came with this key before. By default they are looked at.

        Notes
        -----
        If every record is complete, this is taken for the rule and not for the choice of a policy, and their chance is
        1; else it is not known (:mod:`proband.studies.learning.acting`). Records that know it say so themselves.
        """
        self._check_open()
        past = past_records(records, self._journal.ledger.problem, source)
        while True:
            try:
                return self._learn_from(past, table=not isinstance(records, Records), key=key)
            except StaleError:  # others imported something meanwhile
                continue

    def _learn_from(self, past: Past, *, table: bool, key: str | None) -> Learned:
        self._journal.catch_up()
        with self._journal.lock:
            ledger = self._journal.ledger
            before, restart = ledger.position, ledger.last_restart(ledger.position)
            earlier = [imported for imported in ledger.imports if imported.number > restart]
        new = past.beyond(earlier) if table and key is None else past
        if not new.n:
            return Learned(0, recognised=past.n)
        content = {"parts": list(new.parts(ledger.names)), "seen": [restart, len(earlier)] if key is None else None}
        chosen = f"import {past.digest} {restart}" if key is None else key
        event = self._journal.write(self._journal.request("imported", None, content, chosen))
        self._tutor.after_write()
        added = new.n if event.number > before else 0
        return Learned(added, recognised=past.n - added)

    def restart(self, *, reason: str, key: str | None = None) -> None:
        """Start learning afresh: from here on the agent knows nothing of earlier subjects, and records imported before.

        Subjects that are open keep the policy that they met.
        """
        self._check_open()
        content = {"reason": checks.reason(reason)}
        self._journal.write(self._journal.request("restarted", None, content, key))
        self._tutor.after_write()

    def _amend(self, kind: str, subject: str | Subject, content: dict[str, Any], key: str | None) -> Subject:
        self._check_open()
        event = self._journal.write(self._journal.request(kind, name_of(subject), content, key))
        self._tutor.after_write(amended=True)
        return self._view(event)
