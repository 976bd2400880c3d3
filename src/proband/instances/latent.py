"""Joint laws from latent classes: tests depend on each other through hidden states of the subject alone.

A hidden state z has probability π(z); given z the tests are independent, so that

    P(x) = Σ_z π(z) Π_i P(x_i | z),

computed exactly on the whole product space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.errors import DistributionError
from proband.problem import Problem
from proband.vocabulary import FloatArray, outcome_rows


def latent_class_law(problem: Problem, classes: Iterable[tuple[float, Sequence[ArrayLike]]]) -> Discrete:
    """Return the law of a mixture of products.

    Parameters
    ----------
    problem : Problem
        Says which outcomes each test has.
    classes : iterable of (probability, marginals)
        For each hidden state its probability and, for each test, the probabilities of its outcomes.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("fever"), Test("cough")], reward=Match())
    >>> law = latent_class_law(problem, [(0.8, [[1, 0], [1, 0]]), (0.2, [[0, 1], [0.5, 0.5]])])
    >>> law.support.tolist(), law.probabilities.tolist()
    ([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [0.8, 0.1, 0.1])
    """
    weights = np.zeros(problem.size)
    for probability, marginals in classes:
        factors = [np.asarray(marginal, dtype=np.float64) for marginal in marginals]
        _check(problem, factors)
        weights += probability * reduce(np.multiply.outer, factors).reshape(-1)
    return Discrete(outcome_rows(np.arange(problem.size), problem.tests), weights)


def _check(problem: Problem, marginals: Sequence[FloatArray]) -> None:
    for test, marginal in zip(problem.tests, marginals, strict=True):
        if marginal.shape != (test.k,) or abs(marginal.sum() - 1) > 1e-9:
            raise DistributionError(
                f"the outcomes of test {test.name!r} have probabilities {marginal.tolist()}; a hidden state needs one "
                f"for each of its {test.k} outcomes, summing to one; correct them"
            )
