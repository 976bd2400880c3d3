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
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaln, stdtr

from proband.vocabulary import FloatArray

NODES, WEIGHTS = np.polynomial.laguerre.laggauss(24)
STEEP = 30.0
"""Beyond this |y|, sinh is as good as infinite."""


def expected_addition(gain: FloatArray, degrees: float | FloatArray, scale: float) -> FloatArray:
    """Return the expected improvement by adding tests, of the gains' shape.

    Parameters
    ----------
    gain : FloatArray
        Estimated gains λ/2·log(2πe·s²) − rise.
    degrees : float or FloatArray of the same shape
        k.
    scale : float
        λ.

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
    """Return (an upper bound on) the expected improvement by exchanges, of the gains' shape.

    Parameters
    ----------
    gain : FloatArray
        Estimated gains.
    spread : FloatArray
        √((1 − r²)/k).
    degrees : float
        k, above 1.
    scale : float
        λ.

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
