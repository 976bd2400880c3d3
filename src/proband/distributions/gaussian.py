"""Multivariate Gaussian laws of measured outcomes (Algorithm 3 and Theorem 4 of the paper).

With known entries O of a state s, the posterior of x is Gaussian again:

    mean  = μ + Σ[:, O] Σ[O, O]⁺ (s_O − μ_O),      covariance = Σ − Σ[:, O] Σ[O, O]⁺ Σ[O, :].

The covariance depends on *which* tests were run only; the mean carries the rest. A singular Σ means that some test is
a linear function of others: it is redundant once they were run. The pseudo-inverse and exact zeros handle it, and
:attr:`Gaussian.redundant` names such tests.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proband.distributions import covariance_files
from proband.errors import DistributionError, StateError
from proband.problem import Problem
from proband.vocabulary import FloatArray, Records

SINGULAR = 1e-10
"""A test whose variance given others is below this share of its own is a linear function of them."""
ASYMMETRIC = 1e-8
"""A covariance may differ from its transpose by this share of its scale: rounding, and no more."""
LARGEST = 1e150
"""Means and covariances are at most this, so that products of two of them are numbers."""


class Gaussian:
    """A Gaussian law of d measurements.

    Parameters
    ----------
    mean : array_like of shape (d,)
    covariance : array_like of shape (d, d)
        Symmetric and positive semi-definite.

    Examples
    --------
    >>> law = Gaussian([10.0, 800.0], [[0.01, 0.5], [0.5, 100.0]])
    >>> law.condition([10.1, float("nan")]).mean
    array([ 10.1, 805. ])
    >>> round(law.entropy([0]), 3), law.redundant
    (-0.884, ())
    """

    mean: FloatArray
    covariance: FloatArray

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        self.mean = _numbers("mean", mean)
        self.covariance = _checked_covariance(_numbers("covariance", covariance))
        if self.mean.shape != (self.d,) or not (np.abs(self.mean) <= LARGEST).all():
            raise DistributionError(
                f"the mean has shape {self.mean.shape} and the covariance {self.covariance.shape}; there must be one "
                f"finite number for each test, at most {LARGEST:g}; correct the mean"
            )
        self.mean.setflags(write=False)
        self.covariance.setflags(write=False)

    def __repr__(self) -> str:
        return f"Gaussian({self.d} tests)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gaussian):
            return NotImplemented
        return np.array_equal(self.mean, other.mean) and np.array_equal(self.covariance, other.covariance)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_records(cls, records: Records) -> Self:
        """Return the centred plug-in law of complete records (Algorithm 3, which forgets to centre)."""
        from_complete = records.complete()
        n = from_complete.n
        if n < 2:
            raise DistributionError(f"{n} records are complete; a covariance needs two or more; add some")
        if not (np.abs(from_complete.outcomes) <= LARGEST).all():
            raise DistributionError(f"a measurement is beyond {LARGEST:g}; its square is no number; use larger units")
        mean = from_complete.counts @ from_complete.outcomes / n
        centred = from_complete.outcomes - mean
        return cls(mean, (centred * from_complete.counts[:, None]).T @ centred / n)

    @classmethod
    def load(cls, path: str | os.PathLike[str], problem: Problem) -> Self:
        """Read a law: a covariance in CSV, NPY, NPZ or MAT (mean 0 unless the file holds one)."""
        mean, covariance = covariance_files.read(path, [test.name for test in problem.tests])
        try:
            return cls(mean, covariance)
        except DistributionError as error:
            raise DistributionError(f"{path}: {error}") from error

    def save(self, path: str | os.PathLike[str], problem: Problem) -> None:
        """Write the law as CSV: a header of test names, the mean, then the covariance."""
        covariance_files.write(Path(path), [test.name for test in problem.tests], self.mean, self.covariance)

    @property
    def d(self) -> int:
        """Number of tests."""
        return len(self.covariance)

    def check(self, problem: Problem) -> None:
        """Raise :class:`DistributionError` if the law does not fit the problem's tests."""
        if not problem.measured:
            raise DistributionError(
                "the law is Gaussian and the problem's tests list outcomes; a Gaussian law is of measured tests; give "
                "a discrete law, or say that the tests are measured"
            )
        if self.d != problem.d:
            raise DistributionError(
                f"the law has {self.d} tests and the problem {problem.d}; they must agree; use the same tests"
            )

    @cached_property
    def factor(self) -> FloatArray:
        """A matrix F with F Fᵀ = Σ, shape (d, d)."""
        values, vectors = np.linalg.eigh(self.covariance)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        factor[np.diagonal(self.covariance) == 0] = 0.0  # rounding must not move what is known
        return np.asarray(factor)

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        """Draw n outcome vectors, shape (n, d)."""
        return self.mean + rng.standard_normal((n, self.d)) @ self.factor.T

    def condition(self, state: ArrayLike) -> Self:
        """Return the posterior law of x given the known entries of a state; these have variance 0 in it."""
        row = np.asarray(state, dtype=np.float64)
        if row.shape != (self.d,) or np.isinf(row).any():
            raise StateError(
                f"the state has shape {row.shape}; it must have one finite entry for each of the {self.d} tests, NaN "
                "where a test was not run; correct it"
            )
        known = ~np.isnan(row)
        gain, covariance = self.posterior(known)
        mean = self.mean + gain @ (row[known] - self.mean[known])
        mean[known] = row[known]
        return type(self)(mean, covariance)

    def posterior(self, known: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        """Return, for a set O of known tests, Σ[:, O] Σ[O, O]⁺ (d, known) and the posterior covariance (d, d)."""
        sd = np.sqrt(np.diagonal(self.covariance))
        scale = np.where(sd > 0, sd, 1.0)
        correlation = self.covariance / np.outer(scale, scale)
        gain = correlation[:, known] @ np.linalg.pinv(correlation[np.ix_(known, known)], rcond=SINGULAR, hermitian=True)
        rest = correlation - gain @ correlation[known]
        certain = known | (np.diagonal(rest) <= SINGULAR)
        rest[certain] = 0.0
        rest[:, certain] = 0.0
        return gain * scale[:, None] / scale[known], (rest + rest.T) / 2 * np.outer(scale, scale)

    def conditioned_means(self, states: FloatArray) -> FloatArray:
        """Return the posterior mean of x in each state (n, d), whatever each knows: shape (n, d)."""
        means = np.empty_like(states)
        patterns, which = np.unique(~np.isnan(states), axis=0, return_inverse=True)
        for n, known in enumerate(patterns):
            here = which.reshape(-1) == n
            gain, _ = self.posterior(known)
            means[here] = self.mean + (states[np.ix_(here, known)] - self.mean[known]) @ gain.T
            means[np.ix_(here, known)] = states[np.ix_(here, known)]
        return means

    def entropy(self, tests: Sequence[int] | None = None) -> float:
        """Return the differential entropy in nats, of all tests or of some; -inf where one of them is redundant."""
        chosen = list(range(self.d)) if tests is None else list(tests)
        sign, logdet = np.linalg.slogdet(self.covariance[np.ix_(chosen, chosen)])
        singular = any(i in self.redundant for i in chosen) and self.restricted(chosen).redundant
        return (
            -math.inf if sign <= 0 or singular else float(len(chosen) / 2 * math.log(2 * math.pi * math.e) + logdet / 2)
        )

    def solvable(self) -> Self:
        """Return the law that planners take for it: itself."""
        return self

    def restricted(self, tests: Sequence[int]) -> Self:
        """Return the law of some of the tests."""
        chosen = list(tests)
        return type(self)(self.mean[chosen], self.covariance[np.ix_(chosen, chosen)])

    @property
    def condition_number(self) -> float:
        """The paper's σ: largest over smallest eigenvalue; infinite where the covariance is singular."""
        values = np.linalg.eigvalsh(self.covariance)
        return math.inf if self.redundant or values[0] <= 0 else float(values[-1] / values[0])

    @cached_property
    def redundant(self) -> tuple[int, ...]:
        """The tests that are linear functions of the tests before them (constants among them)."""
        found = []
        kept: list[int] = []
        for i in range(self.d):
            known = np.zeros(self.d, dtype=np.bool_)
            known[kept] = True
            if self.covariance[i, i] <= 0 or self.posterior(known)[1][i, i] <= 0:
                found.append(i)
            else:
                kept.append(i)
        return tuple(found)


def _numbers(what: str, given: ArrayLike) -> FloatArray:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DistributionError(f"the {what} is no array of numbers ({error}); correct it") from error


def _checked_covariance(matrix: FloatArray) -> FloatArray:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise DistributionError(f"the covariance has shape {matrix.shape}; it must be square (d, d); correct it")
    wrong = ~(np.abs(matrix) <= LARGEST)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise DistributionError(
            f"the covariance of tests {i} and {j} is {matrix[i, j]}; it must be finite, at most {LARGEST:g}; correct it"
        )
    apart = np.abs(matrix - matrix.T)
    if apart.max() > ASYMMETRIC * np.abs(matrix).max():
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise DistributionError(
            f"the covariance of tests {i} and {j} is {matrix[i, j]:g} one way and {matrix[j, i]:g} the other; it must "
            "be symmetric; correct it"
        )
    matrix = (matrix + matrix.T) / 2
    try:
        smallest = float(np.linalg.eigvalsh(matrix)[0])
    except np.linalg.LinAlgError as error:
        raise DistributionError(
            f"the eigenvalues of the covariance cannot be worked out ({error}); bring its tests to similar units"
        ) from error
    if smallest < -ASYMMETRIC * max(float(np.diagonal(matrix).max()), 0.0) or (np.diagonal(matrix) < 0).any():
        raise DistributionError(
            f"the covariance has the eigenvalue {smallest:g}; it must be positive semi-definite; estimate it from "
            "whole rows (not pair by pair), or add to its diagonal"
        )
    return matrix
