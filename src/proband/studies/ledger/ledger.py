"""The ledger: the state of a study, which is the fold of its events and nothing else.

It holds what is known of every subject (:class:`Columns`) and, because an agent is defined by a position
of the log (*the agent after folding all events up to p*), also what was known *then*: the order of decisions, and a
list of amendments (corrections, late truths and voidings of finished subjects) that can be undone.

With ended(p) the subjects decided up to p, each as it stood at p and without those voided by then, an agent at p has
learned, since the last restart up to p, the imported records and ended(p) in the order of the log.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from proband.errors import StateError, UnknownNameError
from proband.problem import Problem
from proband.studies.ledger.chain import LATEST, NO_HASH, Event
from proband.studies.ledger.columns import Columns
from proband.studies.stores.contract import Entry
from proband.vocabulary import FloatArray, IntArray

Outcome = str | float
"""The name of a listed outcome, or what was measured."""

OPEN, FINISHED, VOIDED = "open", "finished", "voided"

_CHUNK = 4096
_MOST_PRICES = 4096
VOIDING = -1
"""Stands for a test in the amendment that voids a subject."""


class Amendment(NamedTuple):
    """A change of a finished subject, and what it was before."""

    number: int
    subject: int
    test: int
    was: float
    chance: float


class Imported(NamedTuple):
    """Past records that came in with one event."""

    number: int
    outcomes: FloatArray
    counts: IntArray
    chances: FloatArray
    source: str


class Clock(NamedTuple):
    """A station's clock was behind the log."""

    number: int
    station: str
    seconds: float


class Observation(NamedTuple):
    """One outcome: what was known of the subject before the test (d,), the test, and what it showed."""

    state: FloatArray
    test: int
    outcome: float


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to be learned: those of successive decisions, or one import, which is learned in a single call."""

    outcomes: FloatArray
    counts: IntArray
    chances: FloatArray
    numbers: IntArray  # the events that finished the subjects; for an import its own
    whole: bool  # whether this is an import


@dataclass(eq=False)
class Ledger:
    """The state of a study after `position` events.

    Attributes
    ----------
    problem : Problem
    creation : mapping
        The data of the event that created the study.
    position : int
        How many events were folded.
    hash : str
        Of the entry there.
    time : str
        Of the event there.
    columns : Columns
        The subjects.
    index : dict
        From a subject's name to its row.
    open : dict
        Rows of the subjects that are neither decided nor voided, in order of arrival (as keys).
    order, ended : list of int
        Rows of the decided subjects in the order of their decisions, and the events of these.
    amendments, imports, restarts, forcing, clock : list
        What came in between, in the order of the log; `forcing` are the events after which an agent may change at
        once: amendments, imports and restarts.
    kinds : dict
        How many events there were of each kind.
    """

    problem: Problem
    creation: Mapping[str, Any]
    position: int = 0
    hash: str = NO_HASH
    time: str = ""
    index: dict[str, int] = field(default_factory=dict)
    open: dict[int, None] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    amendments: list[Amendment] = field(default_factory=list)
    imports: list[Imported] = field(default_factory=list)
    restarts: list[int] = field(default_factory=list)
    forcing: list[int] = field(default_factory=list)
    clock: list[Clock] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)
    columns: Columns = field(init=False)
    unavailable: NDArray[np.bool_] = field(init=False)
    operable: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        tests = self.problem.tests
        self.columns = Columns(self.problem.d)
        self.unavailable = np.array([not test.available for test in tests])
        self.operable = [test.operable for test in tests]
        # A study is opened by folding its log, perhaps a million events: what `Problem.outcome` says is looked up once.
        self._stated = [None if test.measured else test.names for test in tests]
        self._numbers: dict[tuple[str, Outcome], tuple[int, float]] = {
            (test.name, name): (j, self.problem.outcome(j, name))
            for j, test in enumerate(tests)
            for name in self._stated[j] or ()
        }
        self._prices: dict[bytes, list[float]] = {}

    @classmethod
    def begun(cls, creation: Mapping[str, Any]) -> Self:
        """Return the ledger with which a study begins, from the data of its first event."""
        return cls(Problem.from_dict(creation["problem"], source="the study's problem"), creation)

    def number(self, test: str, outcome: Outcome) -> tuple[int, float]:
        """Return the index of a test and its outcome as it stands in a state."""
        try:
            return self._numbers[test, outcome]
        except (KeyError, TypeError):
            j = self.problem.test_index(test)
            return j, self.problem.outcome(j, _plain(test, outcome))

    def stated(self, j: int, value: float) -> Outcome:
        """Return an outcome as a log has it: by its name, or the measured number."""
        names = self._stated[j]
        return float(value) if names is None else names[int(value)]

    def row(self, known: Mapping[str, Outcome]) -> FloatArray:
        """Return the row in which the named tests have the named outcomes, shape (d,)."""
        return self.problem.state({test: _plain(test, outcome) for test, outcome in known.items()})

    def price(self, row: FloatArray, test: int) -> float:
        """Return what a test costs in a state: this depends on which tests are known alone."""
        key = np.isnan(row).tobytes()
        prices = self._prices.get(key)
        if prices is None:
            if len(self._prices) >= _MOST_PRICES:
                self._prices.clear()
            prices = self._prices[key] = self.problem.costs(row)[0].tolist()
        return prices[test]

    def status(self, i: int) -> str:
        """Return whether the subject in a row is open, finished or voided."""
        if self.columns.voided[i]:
            return VOIDED
        return FINISHED if self.columns.decided[i] else OPEN

    def advance(self, entry: Entry, event: Event) -> None:
        """Move the position to an event that was folded."""
        self.position, self.hash, self.time = event.number, entry.hash, event.time
        self.kinds[event.kind] = self.kinds.get(event.kind, 0) + 1
        if "clock_behind" in event.data:
            self.clock.append(Clock(event.number, event.station, event.data["clock_behind"]))

    def hold(self, i: int, event: Event, seconds: float) -> None:
        """Let a station hold a subject: from the time of its own clock on, and not from that of an earlier event."""
        columns = self.columns
        columns.holders[i] = event.station
        columns.lease_end[i] = min(seconds - event.data.get("clock_behind", 0.0) + columns.lease[i], LATEST)
        columns.touched[i] = event.number

    def amend(self, i: int, j: int, number: int) -> None:
        """Keep what a finished subject was before an event changes it."""
        if self.columns.decided[i]:
            was = math.nan if j == VOIDING else float(self.columns.rows[i, j])
            self.amendments.append(Amendment(number, i, j, was, float(self.columns.chance[i])))
            if not self.forcing or self.forcing[-1] != number:
                self.forcing.append(number)

    def row_of(self, subject: str) -> int:
        """Return the row of a subject."""
        if subject not in self.index:
            raise UnknownNameError(
                f"subject {subject!r} does not exist in this study; a subject has to arrive first; check the name, or "
                "let it arrive"
            )
        return self.index[subject]

    def decided_since(self, after: int, upto: int) -> int:
        """Return how many subjects were decided by the events after + 1 ... upto."""
        return bisect_right(self.ended, upto) - bisect_right(self.ended, after)

    def forced(self, after: int, upto: int) -> bool:
        """Return whether an agent may change at once because of one of the events after + 1 ... upto."""
        return bisect_right(self.forcing, upto) > bisect_right(self.forcing, after)

    def last_forcing(self, upto: int) -> int:
        """Return the last such event up to a position; 0 if there is none."""
        place = bisect_right(self.forcing, upto)
        return self.forcing[place - 1] if place else 0

    def last_restart(self, upto: int) -> int:
        """Return the last restart up to a position; 0 if there is none."""
        place = bisect_right(self.restarts, upto)
        return self.restarts[place - 1] if place else 0

    def outdated(self, after: int, upto: int) -> bool:
        """Return whether an agent at `after` has to begin anew to get to `upto`: something that it learned changed.

        The truth about an unavailable test counts whenever it comes, learned or not: rows that show one are history,
        and how history is cut into pieces may matter to an agent.
        """
        if self.last_restart(upto) > after:
            return True
        for amendment in self._amendments(after, upto):
            if 0 < self.columns.decided[amendment.subject] <= after:
                return True
            if amendment.test != VOIDING and self.unavailable[amendment.test]:
                return True
        return False

    def parts(self, after: int, upto: int) -> list[Part]:
        """Return what is to be learned of the events after + 1 ... upto, as it stood at `upto`, in order."""
        after = max(after, self.last_restart(upto))
        parts, start = [], after
        for imported in self.imports:
            if after < imported.number <= upto:
                parts.append(self._decided(start, imported.number, upto))
                numbers = np.full(len(imported.counts), imported.number)
                parts.append(Part(imported.outcomes, imported.counts, imported.chances, numbers, whole=True))
                start = imported.number
        parts.append(self._decided(start, upto, upto))
        return [part for part in parts if len(part.numbers)]

    def observations(self, after: int | None = None) -> Iterator[Observation]:
        """Return every outcome that was told of subjects not voided, as it stands now, in the order of the log.

        What came with a subject is an observation if it is always known on arrival; what else came along is no outcome
        of a test that somebody chose to run, but known from then on. Read it before the ledger changes.

        Parameters
        ----------
        after : int, optional
            Begin after this event; by default after the last restart.
        """
        columns, n = self.columns, len(self.columns)
        start = self.last_restart(self.position) if after is None else after
        context = np.array([test.on_arrival for test in self.problem.tests])
        told = (columns.when[:n] > start) & (~np.isnan(columns.paid[:n]) | context)
        subjects, tests = np.nonzero(told & (columns.voided[:n] == 0)[:, None])
        order = np.argsort(columns.when[subjects, tests], kind="stable")
        subjects, tests = subjects[order], tests[order]
        return itertools.chain.from_iterable(
            self._observed(subjects[first : first + _CHUNK], tests[first : first + _CHUNK])
            for first in range(0, len(order), _CHUNK)
        )

    def _observed(self, subjects: IntArray, tests: IntArray) -> Iterator[Observation]:
        """Return some observations; entries of one event follow each other in the order of the tests."""
        when, rows = self.columns.when[subjects], self.columns.rows[subjects]
        own = when[np.arange(len(tests)), tests][:, None]
        earlier = (when < own) | ((when == own) & (np.arange(self.problem.d) < tests[:, None]))
        states = np.where((when > 0) & earlier & ~self.unavailable, rows, np.nan)
        outcomes = rows[np.arange(len(tests)), tests]
        return map(Observation, states, tests.tolist(), outcomes.tolist())

    def _decided(self, after: int, upto: int, seen_from: int) -> Part:
        """Return the subjects decided by the events after + 1 ... upto as they stood at a later position."""
        first, last = bisect_right(self.ended, after), bisect_right(self.ended, upto)
        subjects = np.array(self.order[first:last], dtype=np.int64)
        rows, chances = self.columns.rows[subjects], self.columns.chance[subjects]
        voided = self.columns.voided[subjects]
        undone = [a for a in self._amendments(seen_from, self.position) if a.test != VOIDING]
        if undone:
            place = {int(subject): n for n, subject in enumerate(subjects)}
            for amendment in reversed(undone):
                if amendment.subject in place:
                    n = place[amendment.subject]
                    rows[n, amendment.test], chances[n] = amendment.was, amendment.chance
        kept = (voided == 0) | (voided > seen_from)
        numbers = np.array(self.ended[first:last], dtype=np.int64)[kept]
        return Part(rows[kept], np.ones(len(numbers), dtype=np.int64), chances[kept], numbers, whole=False)

    def _amendments(self, after: int, upto: int) -> list[Amendment]:
        first = bisect_right(self.amendments, after, key=lambda amendment: amendment.number)
        last = bisect_right(self.amendments, upto, key=lambda amendment: amendment.number)
        return self.amendments[first:last]


def _plain(test: str, outcome: object) -> Outcome:
    """Return an outcome as a plain text or number; numpy's and the like come from tables."""
    if isinstance(outcome, str):
        return outcome
    if isinstance(outcome, int | float | np.integer | np.floating) and not isinstance(outcome, bool):
        return float(outcome)
    raise StateError(f"test {test!r} has the outcome {outcome!r}; an outcome is a name or a number; give one")
