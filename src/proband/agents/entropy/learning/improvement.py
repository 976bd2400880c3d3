"""What a test may still bring to a set that does without it, on average over what its variances may be.

Given a set S and n rounds (degrees of freedom), let s² be the estimated variance of test i given S and k = n − |S|.

* *Adding* i brings λ/2·log(2πe·σ²) − rise of the cost. As k·s²/σ² is χ²_k, σ² = k·s²/X with X ~ χ²_k describes what is
  known of σ² (exactly so, as a confidence distribution), and the expected improvement is

      λ/2 · E (log(x/X))⁺ = λ/2 · ∫_0^∞ P(X < x·e^(−y)) dy,    x = k·exp(2·gain/λ).

* *Exchanging* j in S for i brings λ/2·log of the ratio of their variances given the rest, less the rise of the cost. By
  Pitman and Morgan, sinh(½·log of the ratio's error) = √((1 − r²)/k)·τ with τ Student's t of k degrees of freedom and r
  the sample correlation of i and j given the rest. With y = −gain/λ and c = √((1 − r²)/k) the expected improvement is

      λ · E (asinh(c·τ) − y)⁺ ≤ λ/cosh(y⁺) · E (c·τ − sinh y)⁺      (asinh is concave beyond 0),

  and the last expectation has a closed form. The bound is used.

Normal approximations of both are far too thin in the tail while k is small, and make an agent drop good tests early.

*Before much is known*, the variances of many tests tell about that of one. Suppose that the tests' variances σ² (given
what is measured beside them) follow a scaled inverse χ² distribution with d degrees of freedom and scale s₀². Of
estimates s² from k degrees of freedom each, log s² then has the mean log s₀² + ψ(k/2) − log(k/2) − ψ(d/2) + log(d/2)
and the variance ψ′(k/2) + ψ′(d/2), which give d and s₀²; and what is known of a test's σ² is what (k·s² + d·s₀²)/(k +
d), from k + d degrees of freedom, would tell (G. K. Smyth, Linear models and empirical Bayes methods, Statistical
Applications in Genetics and Molecular Biology 3, 2004).

Where variances differ widely (other units, another kind of site), d is small and little changes. As tests are no draws
from anything, what is borrowed is limited.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import digamma, gammainc, gammaln, polygamma, stdtr

from proband.vocabulary import FloatArray

NODES, WEIGHTS = np.polynomial.laguerre.laggauss(24)
STEEP = 30.0
"""Beyond this |y|, sinh is as good as infinite."""
FEWEST_VARIANCES = 5
"""Fewer do not tell how variances are spread."""
MOST_BORROWED = 20.0
"""Degrees of freedom that are borrowed at most."""


def expected_addition(gain: FloatArray, degrees: float | FloatArray, scale: float) -> FloatArray:
    """Return the expected improvement by adding tests of estimated gains λ/2·log(2πe·s²) − rise, of their shape.

    `degrees` is k, one number or one for each gain; `scale` is λ.

    Examples
    --------
    >>> expected_addition(np.array([-0.5, 0.0]), 20.0, 1.0).round(4)
    array([0.0003, 0.0774])
    """
    x = degrees * np.exp(2 * np.minimum(gain, STEEP * scale) / scale)
    step = 2 / np.maximum(degrees - np.minimum(x, 0.9 * degrees), 1.0)
    lower = x[..., None] * np.exp(-step[..., None] * NODES)
    chances = gammainc(np.asarray(degrees)[..., None] / 2, lower / 2)
    return np.asarray(scale / 2 * step * (chances * WEIGHTS * np.exp(NODES)).sum(axis=-1))


def expected_exchange(gain: FloatArray, spread: FloatArray, degrees: float, scale: float) -> FloatArray:
    """Return (an upper bound on) the expected improvement by exchanges of some estimated gains, of their shape.

    `spread` is √((1 − r²)/k), `degrees` is k, above 1, and `scale` λ.

    Examples
    --------
    >>> expected_exchange(np.array([-0.5, 0.0]), np.array([0.2, 0.2]), 20.0, 1.0).round(4)
    array([0.0007, 0.0829])
    """
    y = np.clip(-gain / scale, -STEEP, STEEP)
    z = np.sinh(y) / spread
    log_density = gammaln((degrees + 1) / 2) - gammaln(degrees / 2) - np.log(degrees * np.pi) / 2
    density = np.exp(log_density - (degrees + 1) / 2 * np.log1p(z * z / degrees))
    excess = (degrees + z * z) / (degrees - 1) * density - z * stdtr(degrees, -z)
    return np.asarray(scale * spread * np.maximum(excess, 0.0) / np.cosh(np.maximum(y, 0.0)))


def borrowed(variances: FloatArray, degrees: float) -> tuple[float, float]:
    """Return how many degrees of freedom n estimates s² > 0 of k `degrees` each lend to each other, and the scale s₀².

    Examples
    --------
    >>> alike = borrowed(np.array([1.0, 1.1, 0.9, 1.2, 0.8, 1.0]), 20.0)
    >>> alike[0], round(alike[1], 2)
    (20.0, 0.99)
    >>> degrees, scale = borrowed(np.array([0.01, 0.1, 1.0, 10.0, 100.0]), 20.0)
    >>> degrees < 1
    True
    """
    if len(variances) < FEWEST_VARIANCES:
        return 0.0, 1.0
    logs = np.log(variances) - digamma(degrees / 2) + math.log(degrees / 2)
    spread = float(logs.var(ddof=1) - polygamma(1, degrees / 2))
    most = float(polygamma(1, MOST_BORROWED / 2))
    lent = MOST_BORROWED if spread <= most else 2 * _inverse_trigamma(spread)
    return lent, math.exp(float(logs.mean()) + float(digamma(lent / 2)) - math.log(lent / 2))


def _inverse_trigamma(value: float) -> float:
    """Return x with ψ′(x) = value, by Newton's method on 1/ψ′, which is convex and nearly straight."""
    x = 0.5 + 1 / value
    for _ in range(20):
        trigamma = float(polygamma(1, x))
        x += trigamma * (1 - trigamma / value) / float(polygamma(2, x))
    return x
