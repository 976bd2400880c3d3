"""What the variances of many tests tell about that of one, before much is known.

Suppose that the tests' variances σ² (given what is measured beside them) follow a scaled inverse χ² distribution with d
degrees of freedom and scale s₀². Of estimates s² from k degrees of freedom each, log s² then has the mean
log s₀² + ψ(k/2) − log(k/2) − ψ(d/2) + log(d/2) and the variance ψ′(k/2) + ψ′(d/2), which give d and s₀²; and what is
known of a test's σ² is what (k·s² + d·s₀²)/(k + d), from k + d degrees of freedom, would tell (G. K. Smyth, Linear
models and empirical Bayes methods, Statistical Applications in Genetics and Molecular Biology 3, 2004).

Where variances differ widely (other units, another kind of site), d is small and little changes. As tests are no draws
from anything, what is borrowed is limited.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import digamma, polygamma

from proband.vocabulary import FloatArray

FEWEST_VARIANCES = 5
"""Fewer do not tell how variances are spread."""
MOST_BORROWED = 20.0
"""Degrees of freedom that are borrowed at most."""


def borrowed(variances: FloatArray, degrees: float) -> tuple[float, float]:
    """Return how many degrees of freedom the variances lend to each other, and the scale s₀².

    Parameters
    ----------
    variances : FloatArray of shape (n,)
        Estimates s², above 0.
    degrees : float
        k.

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
