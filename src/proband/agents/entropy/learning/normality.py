"""Do the measurements look Gaussian? The widths of the certified agent hold for Gaussian measurements only.

Each test's skewness and kurtosis, brought to a normal scale by the transformations of D'Agostino and of Anscombe and
Glynn, and Mardia's multivariate skewness and kurtosis of all tests together,

    b1 = mean over pairs of rounds of m_rs³,    b2 = mean over rounds of m_rr²,    m_rs = (x_r − x̄)ᵀ S⁻¹ (x_s − x̄),

are compared with what Gaussian measurements give: for k tests and n rounds n·b1/6·c is about χ² with k(k+1)(k+2)/6
degrees of freedom, c = (k+1)(n+1)(n+3)/(n((n+1)(k+1)−6)), and b2 is about normal with the mean k(k+2)(n−1)/(n+1) and
the variance 8k(k+2)/n. The smallest p-value is multiplied by the number of comparisons (Bonferroni).

By default measurements are called clearly not Gaussian when that falls below 0.001. The transformations are
approximations, least exact far out: on simulated Gaussian data (64 to 1,024 rounds, 1 to 60 tests) between 0 and 0.6 %
of the checks were false alarms, so count on less than 1 % for each check. A departure that the rounds at hand do not
show is not excluded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc, ndtr

from proband.vocabulary import FloatArray

FEWEST = 64
"""Rounds below which nothing is said: the transformations are too rough there."""


@dataclass(frozen=True)
class Normality:
    """What a check of some rounds found.

    Attributes
    ----------
    rounds : int
        How many rounds were looked at.
    p_value : float
        Of the most conspicuous comparison, times the number of comparisons, 1 at most.
    culprit : str
        What that comparison was about.
    level : float
        Below it the measurements are called clearly not Gaussian.
    """

    rounds: int
    p_value: float
    culprit: str
    level: float

    @property
    def broken(self) -> bool:
        """Whether the measurements are clearly not Gaussian."""
        return self.p_value < self.level

    @property
    def message(self) -> str:
        """One sentence for people."""
        if not self.broken:
            return f"{self.rounds} rounds look Gaussian (adjusted p-value {self.p_value:.2g})."
        return (
            f"The measurements are clearly not Gaussian: {self.culprit} (adjusted p-value {self.p_value:.1g} in "
            f"{self.rounds} rounds). Entropies are then not those of the model and no certificate is valid; transform "
            "the measurements, for instance by logarithms."
        )


def check_normality(rows: FloatArray, *, names: Sequence[str] | None = None, level: float = 0.001) -> Normality | None:
    """Compare complete rows with what Gaussian measurements give.

    Parameters
    ----------
    rows : array_like of shape (n, k)
        Rounds in which all k tests were measured.
    names : sequence of str, optional
        Of the tests.
    level : float, default 0.001
        The adjusted p-value below which they are called clearly not Gaussian; less than 1 % of checks are false alarms.

    Returns
    -------
    Normality or None
        None where there are fewer than 64 rounds or no test.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> check_normality(rng.normal(size=(200, 3))).broken
    False
    >>> found = check_normality(rng.lognormal(size=(200, 1)), names=["dust"])
    >>> found.broken, found.culprit
    (True, "the skewness of test 'dust'")
    """
    n, k = rows.shape
    varying = np.ptp(rows, axis=0) > 0 if n else np.zeros(k, dtype=np.bool_)
    if n < FEWEST or not varying.any():
        return None
    names = [str(i) for i in range(k)] if names is None else list(names)
    found = [
        (p, f"the {what} of test {names[i]!r}")
        for what, scale in (("skewness", normal_skewness), ("kurtosis", normal_kurtosis))
        for i, p in zip(np.flatnonzero(varying), _two_sided(scale(rows[:, varying])), strict=True)
    ]
    found += _together(rows[:, varying])
    smallest, culprit = min(found, key=lambda pair: pair[0])
    return Normality(n, min(1.0, float(smallest) * len(found)), culprit, level)


def _together(rows: FloatArray) -> list[tuple[float, str]]:
    """Return Mardia's two comparisons, where there are enough rounds for the tests."""
    n, k = rows.shape
    if k < 2 or n < 4 * k:
        return []
    centred = rows - rows.mean(axis=0)
    scatter = centred.T @ centred / n
    if np.linalg.matrix_rank(scatter) < k:
        return []
    products = centred @ np.linalg.solve(scatter, centred.T)
    correction = (k + 1) * (n + 1) * (n + 3) / (n * ((n + 1) * (k + 1) - 6))
    skewness = n * float((products**3).mean()) / 6 * correction
    kurtosis = float((np.diagonal(products) ** 2).mean())
    off = (kurtosis - k * (k + 2) * (n - 1) / (n + 1)) / np.sqrt(8 * k * (k + 2) / n)
    return [
        (float(gammaincc(k * (k + 1) * (k + 2) / 12, skewness / 2)), "the skewness of all tests together"),
        (float(_two_sided(off)), "the kurtosis of all tests together"),
    ]


def normal_skewness(rows: FloatArray) -> FloatArray:
    """Return the skewness of each column of (n, k), brought to a normal scale (D'Agostino 1970), shape (k,)."""
    n = len(rows)
    y = _standardised_moment(rows, 3) * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (beta - 1)) - 1
    return np.asarray(np.arcsinh(y / math.sqrt(2 / (square - 1))) / math.sqrt(0.5 * math.log(square)))


def normal_kurtosis(rows: FloatArray) -> FloatArray:
    """Return the kurtosis of each column of (n, k), brought to a normal scale (Anscombe and Glynn 1983), shape (k,)."""
    n = len(rows)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (_standardised_moment(rows, 4) - 3 * (n - 1) / (n + 1)) / math.sqrt(variance)
    lean = 6 * (n**2 - 5 * n + 2) / ((n + 7) * (n + 9)) * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / lean * (2 / lean + math.sqrt(1 + 4 / lean**2))
    cube = np.cbrt((1 - 2 / a) / (1 + x * math.sqrt(2 / (a - 4))))
    return np.asarray((1 - 2 / (9 * a) - cube) / math.sqrt(2 / (9 * a)))


def _standardised_moment(rows: FloatArray, power: int) -> FloatArray:
    centred = rows - rows.mean(axis=0)
    return np.asarray((centred**power).mean(axis=0) / (centred**2).mean(axis=0) ** (power / 2))


def _two_sided(normal: FloatArray) -> FloatArray:
    """Return the probability that a standard normal number is as far from 0."""
    return np.asarray(2 * ndtr(-np.abs(normal)))
