"""How far apart two Gaussian laws are, where it matters: what the plan of one can lose under the other.

In units in which the reference P is standard normal let the law Q be N(m, S). Then

    δ(Q | P)² = ½·‖S − I‖_F² + |m|²,

and, with G² = E_P (max_y |f(x, y)| + Σ c_i)², the best policy for Q loses at most (14/3)·G·δ(Q | P) to the best one for
P, whatever reward, prices and condition number (``docs/safe-gaussian.md``, Lemma 1). The maximum-likelihood law of n
complete subjects is √(D/n) from the truth in root mean square, up to O(1/n), D = d(d + 3)/2 being the number of means,
variances and covariances.
"""

from __future__ import annotations

import math

import numpy as np

from proband.distributions import Gaussian
from proband.distributions.gaussian import SINGULAR

OUTSIDE = 1e-4
"""Where the reference does not vary, another law may be off by this many of its units: rounding, and no more."""


def apart(distribution: Gaussian, reference: Gaussian) -> float:
    """Return δ(law | reference); infinite if the law varies, or lies, where the reference does not vary.

    Examples
    --------
    >>> apart(Gaussian([3.0], [[4.0]]), Gaussian([1.0], [[4.0]]))
    1.0
    >>> apart(Gaussian([0.0], [[1.0]]), Gaussian([0.0], [[0.0]]))
    inf
    """
    sd = np.sqrt(np.diagonal(reference.covariance))
    unit = np.where(sd > 0, sd, np.maximum(np.abs(reference.mean), 1.0))
    values, vectors = np.linalg.eigh(reference.covariance / np.outer(unit, unit))
    kept = values > SINGULAR
    covariance, shift = distribution.covariance / np.outer(unit, unit), (distribution.mean - reference.mean) / unit
    outside = vectors[:, ~kept]
    if np.trace(outside.T @ covariance @ outside) > OUTSIDE**2 or np.abs(outside.T @ shift).max(initial=0.0) > OUTSIDE:
        return math.inf
    whiten = vectors[:, kept] / np.sqrt(values[kept])
    spread = whiten.T @ covariance @ whiten - np.eye(int(kept.sum()))
    return math.sqrt(0.5 * float((spread**2).sum()) + float(((whiten.T @ shift) ** 2).sum()))


def free_parameters(d: int) -> float:
    """Return D: how many means, variances and covariances a Gaussian law of d tests has.

    Examples
    --------
    >>> free_parameters(1), free_parameters(6)
    (2.0, 27.0)
    """
    return d * (d + 3) / 2
