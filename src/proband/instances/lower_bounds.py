"""The instances behind the paper's lower bounds (Theorems 1 and 2), their measured twins, and an easy counterpart.

**Single test.** x in {0, 1} is a label, worth 1 if decided rightly; the test costs 3/4, and P(x = 0) = (1 ± ε)/2. Never
testing is best and brings (1 + ε)/2; yet only testing, which loses more than 1/4, teaches which label is likelier. With
ε = T^(-1/3) the regret is Ω(T^(2/3)).

**Many states.** A second, free test takes |P|/2 values with equal probability; given each value, the label follows one
of the two laws above. Each value is a lower bound of its own: Ω(|P|^(1/3) T^(2/3)) for T ≳ |P| (``docs/paper.md`` has
the proof; the printed one has a gap).

**Easy.** A single test again, but the label is 0 for nine subjects of ten: deciding "0" untested brings 0.9, testing
1/4, deciding "1" 0.1, and a handful of subjects teach what is best.

Of the measured twins the sign of a measurement is wanted, worth 1 if named rightly; measuring costs 3/4, more than it
can bring, so that the best plan never measures, and yet only measuring teaches what to name: what has to be learned is
not seen by whoever plays what looks best.

**Single measurement.** x ~ N(±ε, 1). Naming the likelier sign brings Φ(ε), the other one 1 − Φ(ε), measuring 1/4. With
ε = ⅔·T^(−1/3) the regret of every agent is at least T^(2/3)/16 for one of the two signs (``docs/safe-gaussian.md``).

**Proxy.** Beside the measurement, of mean 0, there is a cheap one with which it has the correlation ρ. Going by it
brings ½ + arcsin(|ρ|)/π, less its price; going against it where ρ says otherwise 2·arcsin(|ρ|)/π less. The proxy alone,
however often it is read, tells nothing about ρ. At a price of arcsin(r)/π it is worth reading where |ρ| > r.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proband.distributions import Discrete, Gaussian
from proband.errors import ProblemError
from proband.instances.instance import Instance
from proband.problem import Problem
from proband.rewards import Piece, Projection, Score, Table
from proband.vocabulary import Test

COST = 0.75
EPSILON = 0.1


def labelling(name: str, *, states: int | None = None) -> Problem:
    """Return the problem of naming a label, with a free test of so many states beside it if asked for.

    Examples
    --------
    >>> [(test.name, test.cost, test.k) for test in labelling("Many states", states=4).tests]
    [('label', 0.75, 2), ('state', 0.0, 4)]
    """
    tests = [Test("label", COST)]
    if states is not None:
        tests.append(Test("state", 0.0, outcomes=[str(value) for value in range(states)]))
    return Problem(tests, ["0", "1"], Table(["label"], [[1.0, 0.0], [0.0, 1.0]]), name=name)


def single_test(*, epsilon: float = EPSILON, sign: int = 1) -> Instance[Discrete]:
    """Return the single-test instance: P(label = 0) = (1 + sign·ε)/2.

    Examples
    --------
    >>> from proband import plan
    >>> instance = single_test(epsilon=0.1)
    >>> round(plan(instance.problem, instance.distribution).value, 12)
    0.55
    """
    zero = _zero(epsilon, [sign])[0]
    return Instance("single-test", labelling("Single test"), Discrete([[0], [1]], [zero, 1 - zero]))


def easy() -> Instance[Discrete]:
    """Return the easy instance.

    Examples
    --------
    >>> from proband import plan
    >>> instance = easy()
    >>> round(plan(instance.problem, instance.distribution).value, 12)
    0.9
    """
    return Instance("easy", labelling("Easy"), Discrete([[0], [1]], [0.9, 0.1]))


def many_states(
    states: int = 8,
    *,
    epsilon: float = EPSILON,
    signs: Sequence[int] | None = None,
    rng: np.random.Generator | None = None,
) -> Instance[Discrete]:
    """Return the many-states instance, whose support has 2·states outcome vectors.

    Parameters
    ----------
    states : int, default 8
        Number |P|/2 of values of the free test.
    epsilon : float, default 0.1
        How far the label is from a fair coin.
    signs : sequence of +1 and -1, optional
        For each state which label is likelier: +1 for label 0.
    rng : numpy.random.Generator, optional
        Draws the signs, when none are given; without both they alternate.

    Examples
    --------
    >>> instance = many_states(2, epsilon=0.2, signs=[1, -1])
    >>> instance.distribution.support.tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> instance.distribution.probabilities.round(3).tolist()
    [0.3, 0.2, 0.2, 0.3]
    """
    if states < 1 or (signs is not None and (len(signs) != states or rng is not None)):
        raise ProblemError(
            f"states is {states} and signs are {signs!r}; give one state or more, one sign for each, and no rng "
            "beside signs"
        )
    if signs is None:
        signs = (1 - 2 * (np.arange(states) % 2) if rng is None else rng.choice([-1, 1], size=states)).tolist()
    zero = _zero(epsilon, signs) / states
    values = np.arange(states, dtype=np.float64)
    support = np.concatenate([np.column_stack([np.full(states, label), values]) for label in (0.0, 1.0)])
    law = Discrete(support, np.concatenate([zero, 1 / states - zero]))
    return Instance("many-states", labelling("Many states", states=states), law)


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


def _zero(epsilon: float, signs: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return P(label = 0) for each sign."""
    if not 0 <= epsilon <= 1 or not set(signs) <= {-1, 1}:
        raise ProblemError(
            f"epsilon is {epsilon} and signs are {list(signs)}; epsilon lies between 0 and 1 and a sign is +1 or -1; "
            "correct them"
        )
    return (1 + epsilon * np.array(signs, dtype=np.float64)) / 2
