"""What a study can tell: its subjects, a summary, tables, what was learned, and the log itself."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from proband.errors import StudyError, TamperedError
from proband.policies import Tree
from proband.studies.amendments import Office
from proband.studies.drift.detection import DEFAULT_ALPHA, DriftReport, drift
from proband.studies.events.created import make_agent
from proband.studies.exchange import exports as exchange
from proband.studies.exchange.exports import Verified
from proband.studies.exchange.spreadsheets import Rows, table_of, write_rows
from proband.studies.learning import acting
from proband.studies.learning.replay import Replayed, replay
from proband.studies.ledger.chain import Event, unseal
from proband.studies.ledger.ledger import Observation
from proband.studies.ledger.subject import OPEN, Subject, status_of, subject_of
from proband.studies.log.audit import Audit
from proband.studies.stores.contract import Entry
from proband.studies.summary import Summary, summarise
from proband.vocabulary import Policy, Records


class Reading(Office):
    """The side of a study that tells; see :class:`proband.studies.Study`."""

    def policy(self) -> Policy:
        """Return the policy that a newcomer would get."""
        self._check_open()
        return self._tutor.current().policy

    def tree(self, *, depth: int | None = None) -> Tree:
        """Return what was learned as a decision tree: the plan of the present policy, without its exploration."""
        self._check_open()
        plan = acting.base(self._tutor.current().policy)
        if not hasattr(plan, "tree"):
            raise StudyError(
                f"study {self._journal.study!r} has no plan yet: its first subjects are tested alike, to learn from "
                "them; go on until the agent has planned"
            )
        tree: Tree = plan.tree(depth=depth)
        return tree

    def subject(self, name: str) -> Subject:
        """Return a subject by its name."""
        self._refresh()
        with self._journal.lock:
            return subject_of(self._journal.ledger, self._journal.ledger.row_of(name))

    def subjects(self, *, open: bool | None = None) -> list[Subject]:
        """Return the subjects in order of arrival: all, the open ones, or those that are not."""
        self._refresh()
        with self._journal.lock:
            ledger = self._journal.ledger
            rows = list(ledger.open) if open else range(len(ledger.columns))
            return [subject_of(ledger, i) for i in rows if open is None or (status_of(ledger, i) == OPEN) == open]

    def summary(self, *, exploration: bool = True, drift: bool = True) -> Summary:
        """Return the study at a glance.

        Parameters
        ----------
        exploration, drift : bool
            Whether to say what is still to be explored and what the agent states, which needs a plan, and to check for
            drift, which looks at every outcome; both may take a while in a long study.
        """
        self._refresh()
        published = self._tutor.current() if exploration else None
        statement = self._tutor.statement() if exploration else None
        drifted = self.drift() if drift else None
        with self._journal.lock:
            return summarise(
                self._journal.ledger,
                self._journal.leases,
                published=published,
                statement=statement,
                drift=drifted,
                trouble=self._tutor.trouble,
            )

    def drift(self, *, alpha: float = DEFAULT_ALPHA) -> DriftReport:
        """Check whether the outcomes since the last restart still follow one law (:mod:`proband.studies.drift`).

        Parameters
        ----------
        alpha : float
            The false-alarm rate, from one restart to the next; outcomes count as they now stand, corrections included.
        """
        return drift(self._journal.ledger.problem, self.observations(), alpha=alpha)

    def records(self) -> Records:
        """Return what is known of the finished subjects, voided ones left out, in the order of their decisions."""
        self._refresh()
        with self._journal.lock:
            columns = self._journal.ledger.columns
            done = np.array([i for i in self._journal.ledger.order if not columns.voided[i]], dtype=np.int64)
            return Records(columns.rows[done], None, columns.chance[done])

    def table(self) -> Rows:
        """Return one dictionary for each subject, in order of arrival: outcomes by test, and what became of it."""
        self._refresh()
        with self._journal.lock:
            return table_of(self._journal.ledger)

    def write_table(self, path: str | os.PathLike[str]) -> None:
        """Write the table of subjects (.csv or .parquet)."""
        write_rows(path, self.table())

    def observations(self) -> list[Observation]:
        """Return every outcome since the last restart with what was known of its subject before, in order."""
        self._refresh()
        with self._journal.lock:
            return list(self._journal.ledger.observations())

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield the events after a position, from the store."""
        self._check_open()
        yield from map(unseal, self._entries(after))

    def verify(
        self, *, length: int | None = None, hash: str | None = None, export: str | os.PathLike[str] | None = None
    ) -> Verified:
        """Prove that no entry was altered, reordered or dropped; raise :class:`TamperedError` at the first that was.

        The log is folded anew, and the snapshot in the store and what this process has of the study must be what it
        says; a snapshot that is not is made anew, and the error says so.

        Parameters
        ----------
        length, hash : int and str, optional
            What an earlier look returned: then the end of the log is vouched for, too. The hash alone will do.
        export : path, optional
            An earlier export: then every entry is compared with it.
        """
        audit = self._audit()
        found = exchange.verify(self._entries(), length=length, hash=hash, each=audit.fold)
        if export is not None:
            kept = exchange.verify_export(export)
            number = exchange.differs_from(self._entries(), exchange.read_export(export)[1])
            if number is not None or kept.length > found.length:
                raise TamperedError(
                    f"entry {number or found.length + 1} is not the one of {export}; it was altered or dropped since; "
                    "import the export into another store and compare"
                )
        audit.settle()
        return found

    def replay(self) -> Replayed:
        """Work out again, from the log alone, everything that was advised; what is held is checked as by `verify`."""
        audit, ledger = self._audit(), self._journal.ledger
        found = replay(self._entries(), lambda: make_agent(ledger.problem, ledger.founding), watch=audit.compare)
        audit.settle()
        return found

    def export(self, path: str | os.PathLike[str]) -> Verified:
        """Write the whole log as JSON lines, lossless (:mod:`proband.studies.exchange.exports`)."""
        self._check_open()
        return exchange.export_study(self._journal.store, self._journal.study, path)

    def _entries(self, after: int = 0) -> Iterator[Entry]:
        return exchange.read_entries(self._journal.store, self._journal.study, after=after)

    def _audit(self) -> Audit:
        self._check_open()
        return Audit(self._journal.store, self._journal.study, self._journal.ledger, self._journal.lock)

    def _refresh(self) -> None:
        self._check_open()
        self._journal.catch_up()
