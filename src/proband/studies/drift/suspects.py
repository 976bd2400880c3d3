"""Which buckets speak for drift, in words: what they showed before and after the most likely moment of a change.

The moment is where two laws, one before and one after, make what was seen most likely. It describes; the test itself
(:mod:`proband.studies.drift.detection`) never looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from proband.problem import Problem
from proband.quantities import percent
from proband.studies.drift.buckets import Bucket
from proband.vocabulary import FloatArray

SHORTEST = 4
"""So many observations at least lie on either side of the moment."""


@dataclass(frozen=True)
class Suspect:
    """A test, in one state or after one set of tests, whose outcomes seem to have changed.

    Attributes
    ----------
    test : str
    given : str
        What was known when it was run ("visual=rusty"), or which tests were (where they are measured); "" for nothing.
    log_e : float
        The natural logarithm of this bucket's e-value: the evidence that it brings.
    since : int
        The observation with which the change most likely began.
    before, after : tuple of float
        The frequency of each outcome; of a measured test, the mean and the spread of its difference from what was
        expected of it.
    text : str
        All this in words.
    """

    test: str
    given: str
    log_e: float
    since: int
    before: tuple[float, ...]
    after: tuple[float, ...]
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the suspect as JSON values."""
        return {**vars(self), "before": list(self.before), "after": list(self.after)}


def suspect_of(problem: Problem, bucket: Bucket) -> Suspect:
    """Return a bucket as a suspect."""
    test, seen = problem.tests[bucket.test], np.frombuffer(bucket.seen)
    before: tuple[float, ...]
    after: tuple[float, ...]
    if test.measured:
        given = ", ".join(problem.describe(bucket.state))
        moment = measured_moment(seen)
        before, after = ((float(part.mean()), float(part.std())) for part in (seen[:moment], seen[moment:]))
        unit = f" {test.unit}" if test.unit else ""
        off = f"off by {before[0]:+.3g} → {after[0]:+.3g}".replace("-", "−")
        change = f"{off}{unit}, spread {before[1]:.3g} → {after[1]:.3g}{unit}"
    else:
        given = ", ".join(f"{name}={outcome}" for name, outcome in problem.describe(bucket.state).items())
        moment = listed_moment(seen, test.k)
        before, after = (frequencies(part, test.k) for part in (seen[:moment], seen[moment:]))
        most = int(np.argmax(np.subtract(after, before)))
        change = f"{test.names[most]} {_percent(before[most])} → {_percent(after[most])}"
    since = bucket.numbers[moment]
    place = f"after {given}" if given else "first"
    text = f"{test.name} {place}: {change} since observation {since:,}"
    return Suspect(test.name, given, bucket.log_e, since, before, after, text)


def listed_moment(seen: FloatArray, k: int) -> int:
    """Return after how many outcomes the law most likely changed."""
    n = np.arange(1, len(seen))
    value = np.zeros(len(seen) - 1)
    for b in range(k):
        came = np.cumsum(seen == b)
        value += _times_log(came[:-1]) + _times_log(came[-1] - came[:-1])
    return _best(value - _times_log(n) - _times_log(len(seen) - n))


def measured_moment(seen: FloatArray) -> int:
    """Return after how many differences their mean or spread most likely changed."""
    n = np.arange(1, len(seen))
    centred = seen - seen.mean()
    sums, squares = np.cumsum(centred), np.cumsum(centred**2)
    first = squares[:-1] / n - (sums[:-1] / n) ** 2
    rest = len(seen) - n
    second = (squares[-1] - squares[:-1]) / rest - ((sums[-1] - sums[:-1]) / rest) ** 2
    tiny = 1e-12 * squares[-1] / len(seen) + 1e-300
    return _best(-n * np.log(np.maximum(first, tiny)) - rest * np.log(np.maximum(second, tiny)))


def frequencies(seen: FloatArray, k: int) -> tuple[float, ...]:
    """Return the frequency of each of k outcomes."""
    return tuple((np.bincount(seen.astype(np.int64), minlength=k) / len(seen)).tolist())


def _best(value: FloatArray) -> int:
    """Return the place of the largest value that leaves enough on either side."""
    inner = value[SHORTEST - 1 : len(value) - SHORTEST + 1]
    return int(np.argmax(inner)) + SHORTEST


def _times_log(n: Any) -> Any:
    return n * np.log(np.maximum(n, 1))


def _percent(frequency: float) -> str:
    return percent(frequency)
