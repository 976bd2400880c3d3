"""What a law of the outcome vector x must do to be planned with, evaluated under and learned."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from proband.distributions.discrete import Discrete
from proband.distributions.gaussian import Gaussian
from proband.problem import Problem
from proband.vocabulary import FloatArray

Solvable = Discrete | Gaussian
"""The laws that planners and deciders solve for."""


@runtime_checkable
class Distribution(Protocol):
    """A law of the outcome vector x: sample it, condition it on a state, plan with it.

    Planners know two laws, lists of outcome vectors and Gaussians. Any other law says which of these stands for it:
    over listed outcomes itself, as a list; over measurements the closest Gaussian, say. What a policy brings is then
    found under the law itself (:func:`proband.evaluate`), what a plan expects under the one that stands for it.
    """

    @property
    def d(self) -> int:
        """Number of tests."""
        ...

    def check(self, problem: Problem) -> None:
        """Raise :class:`~proband.errors.DistributionError` unless it is a law of the problem's tests."""
        ...

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        """Draw n outcome vectors, shape (n, d)."""
        ...

    def condition(self, state: ArrayLike) -> Distribution:
        """Return the posterior given the known entries of a state."""
        ...

    def entropy(self) -> float:
        """Return the entropy in nats."""
        ...

    def solvable(self) -> Solvable:
        """Return the law that planners and deciders take for it."""
        ...
