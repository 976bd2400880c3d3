"""The instances behind the paper's lower bounds (Theorems 1 and 2).

**Single test.** x in {0, 1} is a label, worth 1 if decided rightly; the test costs 3/4, and P(x = 0) = (1 ± ε)/2. Never
testing is best and brings (1 + ε)/2; yet only testing, which loses more than 1/4, teaches which label is likelier. With
ε = T^(-1/3) the regret is Ω(T^(2/3)).

**Many states.** A second, free test takes |P|/2 values with equal probability; given each value, the label follows one
of the two laws above. Each value is a lower bound of its own: Ω(|P|^(1/3) T^(2/3)) for T ≳ |P| (``docs/paper.md`` has
the proof; the printed one has a gap).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proband.distributions import Discrete
from proband.errors import ProblemError
from proband.instances.instance import Instance
from proband.problem import Problem
from proband.rewards import Table
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


def _zero(epsilon: float, signs: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return P(label = 0) for each sign."""
    if not 0 <= epsilon <= 1 or not set(signs) <= {-1, 1}:
        raise ProblemError(
            f"epsilon is {epsilon} and signs are {list(signs)}; epsilon lies between 0 and 1 and a sign is +1 or -1; "
            "correct them"
        )
    return (1 + epsilon * np.array(signs, dtype=np.float64)) / 2
