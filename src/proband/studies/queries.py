"""What a study can tell: its subjects, a summary, tables, what was learned, and the log itself.

These are methods of :class:`proband.studies.Study`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from proband.errors import StudyError, TamperedError
from proband.policies import FixedSet
from proband.studies.events.created import make_agent
from proband.studies.exchange import exports
from proband.studies.exchange.exports import Verified
from proband.studies.exchange.spreadsheets import Rows, table_of, write_rows
from proband.studies.learning import acting
from proband.studies.learning import replay as replaying
from proband.studies.learning.advice import Advice, action_for, advise
from proband.studies.learning.learners import Planned
from proband.studies.learning.replay import Replayed
from proband.studies.ledger.chain import Event, unseal
from proband.studies.ledger.ledger import OPEN, Observation, Outcome
from proband.studies.ledger.subject import Situation, Subject, subject_of
from proband.studies.log.fold import read_entries
from proband.studies.log.snapshots import Audit
from proband.studies.operations import Station
from proband.studies.searching import Search
from proband.studies.stores.contract import Entry
from proband.studies.summary import Summary, summarise
from proband.vocabulary import NEVER, Policy, Records

if TYPE_CHECKING:
    from proband.policies import Tree
    from proband.studies.drift import DriftReport


@runtime_checkable
class DrawsTree(Protocol):
    """A plan that can be drawn as a decision tree."""

    def tree(self, *, depth: int | None = None) -> Tree:
        """Return the tree."""
        ...


class Drawn(NamedTuple):
    """A plan as a tree, the plan, and up to which event its agent had learned."""

    tree: Tree
    plan: Policy
    position: int


def policy(study: Station) -> Policy:
    """Return the policy that a newcomer would get."""
    study._journal.check_open()
    return study._replanner.current().policy


def last_entry(study: Station) -> tuple[int, str]:
    """Return the number and the hash of the last entry that was read; no method of a study, for a service."""
    journal = study._journal
    with journal.lock:
        return journal.ledger.position, journal.ledger.hash


def has_entry(study: Station, number: int, hash: str) -> bool:
    """Return whether the log has an entry; no method of a study, for a service."""
    journal = study._journal
    return [entry.hash for entry in journal.store.read(journal.study, number - 1, 1)] == [hash]


def planned(study: Station) -> Planned:
    """Return what was planned for this process so far; no method of a study, as it is about the process."""
    return study._replanner.planned


def tree(study: Station, *, depth: int | None = None) -> Tree:
    """Return what was learned as a decision tree: the plan of the present policy, without its exploration."""
    return drawn(study, depth=depth).tree


def drawn(study: Station, *, depth: int | None = None) -> Drawn:
    """Return what was learned as a tree, with the plan that it is of; no method of a study, for who draws it."""
    study._journal.check_open()
    span = study._replanner.current()
    plan = acting.plan_of(span.policy)
    if not isinstance(plan, DrawsTree):
        raise StudyError(
            f"study {study._journal.study!r} has no plan yet: its first subjects are tested alike, to learn from "
            "them; go on until the agent has planned"
        )
    return Drawn(plan.tree(depth=depth), plan, span.position)


def same_tests(study: Station) -> list[str] | None:
    """Return the tests that newcomers get whatever they show, in this order; None if what they show matters."""
    study._journal.check_open()
    plan = acting.plan_of(study._replanner.current().policy)
    tests = study._journal.ledger.problem.tests
    return [tests[i].name for i in plan.order] if isinstance(plan, FixedSet) else None


def what_if(study: Station, known: Mapping[str, Outcome] | None = None) -> Advice:
    """Return what the present policy would advise for a newcomer of whom this much were known, without exploring.

    Nothing is written, and no subject need be like this.

    Parameters
    ----------
    known : mapping, optional
        Names of tests to outcomes; by default nothing is known.
    """
    journal = study._journal
    journal.refresh()
    ledger, span = journal.ledger, study._replanner.current()
    state = ledger.problem.state(known)
    unavailable = [ledger.problem.tests[i].name for i in np.flatnonzero(~np.isnan(state) & ledger.unavailable)]
    if unavailable:
        raise StudyError(
            f"the tests {unavailable} are unavailable: no advice can rest on what they would show; leave them out"
        )
    ran = [i for i in ledger.problem.operable.tolist() if not np.isnan(state[i])]
    situation = Situation("", state, NEVER, False, span.position, ledger.problem.prices.of(ran), 0)
    return advise(ledger, span, situation, action_for(ledger.problem, span, situation))


def subject(study: Station, name: str) -> Subject:
    """Return a subject by its name."""
    study._journal.refresh()
    return study._journal.subject(name)


def subjects(study: Station, *, open: bool | None = None, after: int = 0, limit: int | None = None) -> list[Subject]:
    """Return the subjects in order of arrival: all, the open ones, or those that are not.

    Parameters
    ----------
    open : bool, optional
    after : int
        Only subjects whose number is larger.
    limit : int, optional
        How many at most.
    """
    study._journal.refresh()
    with study._journal.lock:
        ledger = study._journal.ledger
        rows = (i for i in ledger.open if i >= after) if open else range(max(after, 0), len(ledger.columns))
        chosen = (i for i in rows if open is None or (ledger.status(i) == OPEN) == open)
        return [subject_of(ledger, i) for i in itertools.islice(chosen, limit)]


def summary(study: Station, *, exploration: bool = True, drift: bool = True) -> Summary:
    """Return the study at a glance.

    Parameters
    ----------
    exploration, drift : bool
        Whether to say what is still to be explored and what the agent states, which needs a plan, and to check for
        drift, which looks at every outcome; both may take a while in a long study.
    """
    journal, replanner = study._journal, study._replanner
    journal.refresh()
    span = replanner.current() if exploration else None
    statement = replanner.statement() if exploration else None
    seen, trouble = look_for_drift(study) if drift else None, replanner.trouble
    with journal.lock:
        return summarise(journal.ledger, journal.leases, span=span, statement=statement, drift=seen, trouble=trouble)


def look_for_drift(study: Station, *, alpha: float = 0.01) -> DriftReport:
    """Check whether the outcomes since the last restart still follow one law (:mod:`proband.studies.drift`).

    Parameters
    ----------
    alpha : float
        The false-alarm rate, from one restart to the next; outcomes count as they now stand, corrections included.
    """
    from proband.studies.drift import drift  # brings compiled code with it

    return drift(study._journal.ledger.problem, observations(study), alpha=alpha)


def records(study: Station) -> Records:
    """Return what is known of the finished subjects, voided ones left out, in the order of their decisions."""
    study._journal.refresh()
    with study._journal.lock:
        columns = study._journal.ledger.columns
        done = np.array([i for i in study._journal.ledger.order if not columns.voided[i]], dtype=np.int64)
        return Records(columns.rows[done], None, columns.chance[done])


def table(study: Station, search: Search | None = None) -> Rows:
    """Return one dictionary for each subject: outcomes by test, and what became of it.

    Parameters
    ----------
    search : Search, optional
        Which subjects, and in which order (:class:`proband.studies.searching.Search`); by default all of them, as they
        arrived.
    """
    study._journal.refresh()
    with study._journal.lock:
        ledger = study._journal.ledger
        return table_of(ledger, (search or Search()).among(ledger))


def write_table(study: Station, path: str | os.PathLike[str], search: Search | None = None) -> None:
    """Write the table of subjects (.csv, .json or .parquet); `search` as for :meth:`table`."""
    write_rows(path, table(study, search))


def observations(study: Station) -> list[Observation]:
    """Return every outcome since the last restart with what was known of its subject before, in order."""
    study._journal.refresh()
    with study._journal.lock:
        return list(study._journal.ledger.observations())


def events(study: Station, after: int = 0, *, limit: int | None = None) -> Iterator[Event]:
    """Yield the events after a position, from the store; `limit` of them at most."""
    study._journal.check_open()
    if limit is None:
        yield from map(unseal, _entries(study, after))
    else:
        yield from map(unseal, study._journal.store.read(study._journal.study, after, limit))


def verify(
    study: Station, *, length: int | None = None, hash: str | None = None, export: str | os.PathLike[str] | None = None
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
    audit = _audit(study)
    found = exports.verify(_entries(study), length=length, hash=hash, each=audit.fold)
    if export is not None:
        kept = exports.verify_export(export)
        number = exports.differs_from(_entries(study), exports.read_export(export)[1])
        if number is not None or kept.length > found.length:
            raise TamperedError(
                f"entry {number or found.length + 1} is not the one of {export}; it was altered or dropped since; "
                "import the export into another store and compare"
            )
    audit.settle()
    return found


def replay(study: Station) -> Replayed:
    """Work out again, from the log alone, everything that was advised; what is held is checked as by `verify`."""
    audit, ledger = _audit(study), study._journal.ledger
    found = replaying.replay(_entries(study), lambda: make_agent(ledger.problem, ledger.creation), watch=audit.compare)
    audit.settle()
    return found


def export(study: Station, path: str | os.PathLike[str]) -> Verified:
    """Write the whole log as JSON lines, lossless (:mod:`proband.studies.exchange.exports`)."""
    study._journal.check_open()
    return exports.export_study(study._journal.store, study._journal.study, path)


def _entries(study: Station, after: int = 0) -> Iterator[Entry]:
    return read_entries(study._journal.store, study._journal.study, after=after)


def _audit(study: Station) -> Audit:
    study._journal.check_open()
    return Audit(study._journal.store, study._journal.study, study._journal.ledger, study._journal.lock)
