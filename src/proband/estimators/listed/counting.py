"""The counting that all estimators of discrete laws share."""

from __future__ import annotations

from abc import ABC, abstractmethod

from numpy.typing import ArrayLike

from proband.distributions import Discrete
from proband.estimators.listed.observations import Observations
from proband.problem import Problem
from proband.vocabulary import FloatArray, Records


class CountingEstimator(ABC):
    """An estimator whose sufficient statistics are the counts of distinct observations.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.observations = Observations(problem)
        self._law: Discrete | None = None

    def update(self, records: Records) -> None:
        """Learn from more subjects."""
        self.update_counts(records.outcomes, records.counts)

    def update_counts(self, observations: ArrayLike, counts: ArrayLike | None) -> None:
        """Learn from observations (u, d) that were seen `counts` (u,) times; None for once each."""
        self.observations.add(observations, counts)
        self._law = None

    def distribution(self) -> Discrete:
        """Return the estimate from all subjects so far (kept until the next update)."""
        if self._law is None:
            self._law = Discrete.from_weights(*self._estimate())
        return self._law

    @abstractmethod
    def _estimate(self) -> tuple[FloatArray, FloatArray]:
        """Return outcome vectors (K, d) and their weights (K,)."""
