"""Measured twins of the paper's lower bound: what has to be learned is not seen by whoever plays what looks best.

What is wanted is the sign of a measurement, worth 1 if named rightly; measuring costs 3/4, more than it can bring, so
that the best plan never measures, and yet only measuring teaches what to name.

**Single measurement.** x ~ N(±ε, 1). Naming the likelier sign brings Φ(ε), the other one 1 − Φ(ε), measuring 1/4. With
ε = ⅔·T^(−1/3) the regret of every agent is at least T^(2/3)/16 for one of the two signs (``docs/safe-gaussian.md``).

**Proxy.** Beside the measurement, of mean 0, there is a cheap one with which it has the correlation ρ. Going by it
brings ½ + arcsin(|ρ|)/π, less its price; going against it where ρ says otherwise 2·arcsin(|ρ|)/π less. The proxy alone,
however often it is read, tells nothing about ρ. At a price of arcsin(r)/π it is worth reading where |ρ| > r.
"""

from __future__ import annotations

import numpy as np

from proband.distributions import Gaussian
from proband.errors import ProblemError
from proband.instances.instance import Instance
from proband.instances.lower_bounds import COST, EPSILON
from proband.problem import Problem
from proband.rewards import Piece, Projection, Score
from proband.vocabulary import Test


def sign_problem(name: str, *others: Test) -> Problem:
    """Return the problem of naming the sign of a measurement that costs more than it is worth.

    Examples
    --------
    >>> [test.name for test in sign_problem("Proxy", Test("proxy", outcomes=None)).tests]
    ['proxy', 'measurement']
    """
    pieces = [
        Piece("positive", 1.0, when={"measurement": (0, None)}),
        Piece("negative", 1.0, when={"measurement": (None, 0)}),
    ]
    reward = Projection([Score("measurement", {"measurement": 1.0})], pieces)
    return Problem([*others, Test("measurement", COST, outcomes=None)], ["positive", "negative"], reward, name=name)


def single_measurement(*, epsilon: float = EPSILON, sign: int = 1) -> Instance[Gaussian]:
    """Return the single measurement, of mean sign·ε and variance 1.

    Examples
    --------
    >>> from proband import plan
    >>> instance = single_measurement(epsilon=0.1)
    >>> round(plan(instance.problem, instance.distribution).value, 6)
    0.539828
    """
    if not epsilon >= 0 or sign not in (-1, 1):
        raise ProblemError(
            f"epsilon is {epsilon} and sign {sign}; epsilon is 0 or more and a sign is +1 or -1; correct them"
        )
    return Instance("single-measurement", sign_problem("Single measurement"), Gaussian([sign * epsilon], [[1.0]]))


def proxied(*, correlation: float = EPSILON, price: float = 0.0) -> Instance[Gaussian]:
    """Return the measurement with a proxy beside it.

    Parameters
    ----------
    correlation : float, default 0.1
        ρ, between −1 and 1.
    price : float, default 0
        Of reading the proxy.

    Examples
    --------
    >>> from proband import plan
    >>> instance = proxied(correlation=-0.1)
    >>> round(plan(instance.problem, instance.distribution).value - 0.5, 6)
    0.031884
    """
    if not -1 < correlation < 1:
        raise ProblemError(f"correlation is {correlation}; it must lie between -1 and 1; correct it")
    law = Gaussian(np.zeros(2), [[1.0, correlation], [correlation, 1.0]])
    return Instance("proxy", sign_problem("Proxy", Test("proxy", price, outcomes=None)), law)
