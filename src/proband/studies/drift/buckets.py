"""Buckets: the observations of one test in one state (listed outcomes), or after one set of tests (measured ones).

Given the state s in which a test i was run, a listed outcome has the law P(x_i | s): one bucket for each (s, i). A
measured outcome is Gaussian around a linear function of what was known, and coefficients and spread depend on *which*
tests were known only: one bucket for each set O of tests and each test i, (O, i).

The first `STARTS[0]` observations of a bucket (more where there are coefficients to fit) only teach its predictives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array

import numpy as np

from proband.studies.drift import kernel
from proband.vocabulary import FloatArray

LARGEST_SHARE = 0.5
"""The weight of a bucket is how often it came among the observations until its first start, up to this."""

UNBOUNDED = np.full(len(kernel.STARTS), -np.inf)


class Bucket(ABC):
    """What happened to one test in one state, or after one set of tests."""

    __slots__ = ("_arrays", "_started", "first", "log_e", "numbers", "seen", "share", "state", "test")

    def __init__(self, state: FloatArray, test: int) -> None:
        self.state, self.test = state, test  # what was known; where tests are measured, what was known at first
        self.first = bool(np.isnan(state).all())  # whether nothing was known
        self.seen = array("d")  # outcomes; for measured tests, by how much each differs from what was expected
        self.numbers = array("q")  # which observations these were
        self.share = 0.0  # the bucket's weight ε in the evidence; 0 before the first start
        self.log_e = 0.0  # the evidence that its law changed
        self._started = 0
        self._arrays: tuple[FloatArray, ...] = ()

    @abstractmethod
    def add(self, state: FloatArray, outcome: float, number: int) -> None:
        """Add an observation."""

    def _begin(self) -> None:
        """Begin the next start of the e-process, from what :func:`listed_step` keeps."""
        counts, _, before, posterior, _ = self._arrays[-5:]
        before[self._started] = counts
        posterior[self._started, 0] = 1.0
        self._started += 1


class ListedBucket(Bucket):
    """A bucket of a test with k listed outcomes."""

    __slots__ = ("_k",)

    def __init__(self, state: FloatArray, test: int, k: int) -> None:
        super().__init__(state, test)
        self._k = k

    def add(self, state: FloatArray, outcome: float, number: int) -> None:
        """Add an observation."""
        self.seen.append(outcome)
        self.numbers.append(number)
        if self._started:
            self.log_e = kernel.listed_step(int(outcome), self._started, UNBOUNDED, *self._arrays)
        if self._started < len(kernel.STARTS) and len(self.seen) == kernel.STARTS[self._started]:
            self._start()

    def _start(self) -> None:
        if not self._started:  # many states are seen a few times only: arrays come when they are needed
            self._arrays = _arrays_of_bins(self._k)
            for outcome in self.seen:
                kernel.listed_step(int(outcome), 0, UNBOUNDED, *self._arrays)
            self.share = _share(len(self.seen), self.numbers[0], self.numbers[-1])
        self._begin()


class MeasuredBucket(Bucket):
    """A bucket of a measured test after a set of tests."""

    __slots__ = ("_columns", "_early", "_from", "_n")

    def __init__(self, state: FloatArray, test: int) -> None:
        super().__init__(state, test)
        self._columns = np.append(np.flatnonzero(~np.isnan(state)), test)
        q, starts = len(self._columns) + 1, len(kernel.STARTS)
        regressions = tuple(np.zeros(shape) for shape in ((q,), (q, q), (q,), (starts, q, q), (starts,)))
        self._arrays = regressions + _arrays_of_bins(len(kernel.EDGES) + 1)
        self._n = self._from = 0
        self._early: list[FloatArray] = []

    def add(self, state: FloatArray, outcome: float, number: int) -> None:
        """Add an observation."""
        row = np.ones(len(self._columns) + 1)
        row[1:] = state[self._columns]
        row[-1] = outcome
        if not self._n:
            self._arrays[0][:], self._from = row, number
        self.log_e, difference = kernel.measured_step(row, self._started, self._n, *self._arrays)
        if self._n > len(row):  # before, nothing could be expected
            self.seen.append(difference)
            self.numbers.append(number)
        if not self._started:
            self._early.append(row)
        self._n += 1
        if self._started < len(kernel.STARTS) and self._n == kernel.measured_start(self._started, len(row)):
            self._start(number)

    def _start(self, number: int) -> None:
        if not self._started:
            _, root, laid, *_ = self._arrays
            kernel.regress(root, self._n, laid)
            for row in self._early:
                b = kernel.bin_of((row[-1] - kernel.expected(laid, row)) / laid[-1])
                kernel.listed_step(b, 0, UNBOUNDED, *self._arrays[5:])
            self._early = []
            self.share = _share(self._n, self._from, number)
        self._begin()


def _arrays_of_bins(k: int) -> tuple[FloatArray, ...]:
    """Return what :func:`listed_step` keeps of k outcomes: counts, faded, before, posterior, predicted."""
    g, starts = len(kernel.HALF_LIVES), len(kernel.STARTS)
    return tuple(np.zeros(shape) for shape in ((k,), (g, k), (starts, k), (starts, 1 + g), (starts,)))


def _share(n: int, first: int, last: int) -> float:
    return min(LARGEST_SHARE, n / (last - first + 1))
