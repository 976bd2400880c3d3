"""Drift: do recent subjects still follow the law that was learned? A test that is valid at every moment.

**Hypothesis.** The law P of x is the same for all subjects. Then, whatever rule chose test i in the state s (a rule
that knows the past and s, and tosses coins), its outcome has the law P(x_i | s). So each *bucket*, the observations of
one test in one state, is a sequence of independent outcomes of one unknown law, however they came about. (Measured
tests: one test after one *set* of tests; the outcome is Gaussian around a linear function of what was known.)

**One bucket.** From its m-th observation on, with any predictives q that use the past only,

    E^m = Π_k q_k(x_k) / sup_θ Π_k θ(x_k)

is at most the likelihood ratio against the true θ, which is a martingale that begins with 1. E_b is the average of
E^m over a few starts m. The predictive begins with what the bucket has learned, and may change, at any moment and with
known prior probabilities, to one that forgets: E_b grows when the law changes. (Measured tests: the denominator is
the larger one of the best Gaussian regression and of the best law of five bins, so that the shape of a law that stays
as it is, Gaussian or not, does not pass for drift.)

**All buckets.** The bucket gets the weight ε_b, its share of the observations up to its first start, and

    E = Π_b (1 − ε_b + ε_b E_b).

With the true likelihood ratios in the place of E_b this is a martingale that begins with 1, so that by Ville's
inequality P(E ever reaches 1/α) ≤ α. The alarm is raised when it does: without drift, the probability that this ever
happens is α at most, however long it runs and however often somebody looks.

That is from one restart to the next, for outcomes as they were recorded when they came (a correction or a voiding makes
another sequence of them), and not for an operator who chooses by more than the state says. ``docs/drift.md`` has the
proof, what the test does not see, and what its alarm may mean besides.

Examples
--------
>>> import numpy as np
>>> from proband import Problem, Test
>>> from proband.rewards import Table
>>> problem = Problem(
...     [Test("crack", 2.0, outcomes=("no", "yes"))], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]])
... )
>>> rng = np.random.default_rng(1)
>>> cracks = np.concatenate([rng.random(1000) < 0.1, rng.random(300) < 0.3]).astype(float)
>>> report = drift(problem, [(problem.state(), 0, crack) for crack in cracks])
>>> report.alarm, report.raised
(True, Raised(observation=1172, subject=1172))
>>> print(report.suspects[0].text)
crack first: yes 9.14 % → 26.6 % since observation 1,008
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import StateError, StudyError
from proband.problem import Problem
from proband.studies.drift.buckets import Bucket, ListedBucket, MeasuredBucket
from proband.studies.drift.suspects import Suspect, suspect_of
from proband.vocabulary import FloatArray, as_states

DEFAULT_ALPHA = 0.01
MOST_SUSPECTS = 5
LARGEST_MEASUREMENT = 1e100


class Raised(NamedTuple):
    """When an alarm was first raised: after so many observations, in the course of so many subjects."""

    observation: int
    subject: int


@dataclass(frozen=True)
class DriftReport:
    """What a check for drift found.

    Attributes
    ----------
    alpha : float
        The false-alarm rate: under the hypothesis of this module, the probability that there is ever an alarm between
        two restarts is this at most.
    observations, subjects : int
        How many were looked at.
    log_e : float
        The natural logarithm of the evidence E at the end.
    p_value : float
        min(1, 1 / the largest E so far); the alarm is raised when it reaches `alpha`.
    alarm : bool
    raised : Raised or None
        When it was first raised.
    suspects : tuple of Suspect
        What speaks most for drift, the strongest first; before an alarm, chance alone may speak.
    """

    alpha: float
    observations: int
    subjects: int
    log_e: float
    p_value: float
    alarm: bool
    raised: Raised | None
    suspects: tuple[Suspect, ...]

    def __str__(self) -> str:
        seen = f"{self.observations:,} observations of {self.subjects:,} subjects"
        rate = f"false-alarm rate {100 * self.alpha:g} %"
        if self.raised is None:
            return f"no drift seen in {seen} (p = {self.p_value:.2g}; {rate})"
        when = f"raised at observation {self.raised.observation:,}, subject {self.raised.subject:,}"
        lines = [f"drift in {seen}, {when} (p = {self.p_value:.2g}; {rate})"]
        return "\n  ".join([*lines, *(suspect.text for suspect in self.suspects)])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        raised = None if self.raised is None else self.raised._asdict()
        return {**vars(self), "raised": raised, "suspects": [suspect.to_dict() for suspect in self.suspects]}


class Drift:
    """A check for drift that is told one observation at a time.

    Parameters
    ----------
    problem : Problem
    alpha : float, default 0.01
        The false-alarm rate.

    Attributes
    ----------
    log_e : float
        The natural logarithm of the evidence E so far.
    raised : Raised or None
        When the alarm was first raised.
    observations, subjects : int
        How many there were.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> problem = bolts().problem
    >>> check = Drift(problem, alpha=0.05)
    >>> check.update(problem.state(), problem.test_index("bolt weight"), 1)
    >>> check.alarm, check.p_value, check.observations
    (False, 1.0, 1)
    """

    def __init__(self, problem: Problem, *, alpha: float = DEFAULT_ALPHA) -> None:
        if not 0 < alpha < 1:
            raise StudyError(f"alpha is {alpha}; a false-alarm rate lies between 0 and 1; give one such as 0.01")
        self.problem = problem
        self.alpha = float(alpha)
        self.log_e = 0.0
        self.raised: Raised | None = None
        self.observations = self.subjects = 0
        self._highest = 0.0
        self._buckets: tuple[dict[bytes, Bucket], ...] = tuple({} for _ in problem.tests)

    @property
    def alarm(self) -> bool:
        """Whether the alarm was ever raised."""
        return self.raised is not None

    @property
    def p_value(self) -> float:
        """min(1, 1 / the largest E so far): valid at every moment."""
        return math.exp(-self._highest)

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """What speaks most for drift, the strongest first, at most five."""
        buckets = {id(bucket): bucket for found in self._buckets for bucket in found.values() if bucket.log_e > 0}
        ranked = sorted(buckets.values(), key=lambda bucket: (-_weighed(bucket), bucket.numbers[0]))
        return tuple(suspect_of(self.problem, bucket) for bucket in ranked[:MOST_SUSPECTS])

    def update(self, state: ArrayLike, test: int, outcome: float, *, begins: bool | None = None) -> None:
        """Add an observation.

        Parameters
        ----------
        state : array_like of shape (d,)
            What was known of the subject before, NaN for the rest.
        test : int
            Which test was run, or read on arrival.
        outcome : float
            Its outcome: the number of a listed one, or what was measured.
        begins : bool, optional
            Whether it is the first observation of its subject; by default, whether nothing was known before. It only
            matters for counting subjects.
        """
        row = np.asarray(state, dtype=np.float64)
        self._check(row, test, outcome)
        bucket = self._bucket(row, test)
        self.observations += 1
        self.subjects += bucket.first if begins is None else begins
        was = _weighed(bucket)
        bucket.add(row, outcome, self.observations)
        self.log_e += _weighed(bucket) - was
        if self.log_e > self._highest:
            self._highest = self.log_e
            if self.raised is None and self.log_e >= -math.log(self.alpha):
                self.raised = Raised(self.observations, self.subjects)

    def report(self) -> DriftReport:
        """Return what was found so far."""
        return DriftReport(**{name: getattr(self, name) for name in DriftReport.__dataclass_fields__})

    def _bucket(self, row: FloatArray, test: int) -> Bucket:
        """Return the bucket of an observation; a new one where there is none."""
        buckets = self._buckets[test]
        key = np.isnan(row).tobytes() if self.problem.measured else row.tobytes()
        bucket = buckets.get(key)
        if bucket is None:
            bucket = buckets[key] = self._new_bucket(row, test)
        return bucket

    def _new_bucket(self, row: FloatArray, test: int) -> Bucket:
        state = as_states(row, self.problem.tests)[0] + 0.0  # no negative zeros
        state[np.isnan(state)] = np.nan  # of all its forms, one
        if not math.isnan(state[test]):
            name = self.problem.tests[test].name
            raise StateError(
                f"test {name!r} is known in the state; its outcome was seen before; give what was known then"
            )
        if self.problem.measured:
            return MeasuredBucket(state, test)
        return self._buckets[test].setdefault(state.tobytes(), ListedBucket(state, test, self.problem.tests[test].k))

    def _check(self, row: FloatArray, test: int, outcome: float) -> None:
        """Check what can be checked fast; a new state is checked once, with its bucket."""
        if row.shape != (self.problem.d,) or not 0 <= test < self.problem.d:
            raise StateError(
                f"the state has shape {row.shape} and the test is {test}; a state has one entry for each of the "
                f"{self.problem.d} tests, which are numbered from 0; correct them"
            )
        one = self.problem.tests[test]
        if one.measured:
            largest = np.fmax.reduce(np.abs(row))  # NaN where nothing is known
            if not abs(outcome) < LARGEST_MEASUREMENT or largest >= LARGEST_MEASUREMENT:
                raise StateError(
                    f"test {one.name!r} has the outcome {outcome:g} in the state {row.tolist()}; measurements are "
                    f"finite and below {LARGEST_MEASUREMENT:g}; correct them"
                )
        elif not (0 <= outcome < one.k and outcome == int(outcome)):
            raise StateError(
                f"test {one.name!r} has the outcome {outcome}; outcomes are numbered 0 to {one.k - 1}; give one of them"
            )


def drift(
    problem: Problem, observations: Iterable[tuple[ArrayLike, int, float]], *, alpha: float = DEFAULT_ALPHA
) -> DriftReport:
    """Check observations for drift.

    Parameters
    ----------
    problem : Problem
    observations : iterable of (state, test, outcome)
        In the order in which they were made, subjects side by side or one after the other: what was known of the
        subject before, shape (d,), the test that was run, and its outcome. What is known on arrival counts as observed,
        one test after the other.
    alpha : float, default 0.01
        The false-alarm rate.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> problem = bolts().problem
    >>> weights = [(problem.state(), 2, 1.0)] * 100
    >>> print(drift(problem, weights))
    no drift seen in 100 observations of 100 subjects (p = 1; false-alarm rate 1 %)
    """
    check = Drift(problem, alpha=alpha)
    for state, test, outcome in observations:
        check.update(state, test, outcome)
    return check.report()


def _weighed(bucket: Bucket) -> float:
    """Return log(1 − ε + ε·E) of a bucket, without overflow."""
    if bucket.log_e > 0:
        return bucket.log_e + math.log(bucket.share + (1 - bucket.share) * math.exp(-bucket.log_e))
    return math.log1p(bucket.share * math.expm1(bucket.log_e))
