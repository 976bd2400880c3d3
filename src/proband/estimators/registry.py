"""What an estimator is: records in, a law out; and all estimators of discrete laws by name, made from a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from proband.distributions import Distribution
from proband.errors import UnknownNameError
from proband.registries import Registry
from proband.vocabulary import Records

if TYPE_CHECKING:
    from proband.estimators.listed.observations import CountingEstimator
    from proband.problem import Problem


@runtime_checkable
class Estimator(Protocol):
    """Records with missing entries to a law of the outcome vector; deterministic, incremental."""

    def update(self, records: Records) -> None:
        """Learn from more subjects."""
        ...

    def update_counts(self, observations: ArrayLike, counts: ArrayLike) -> None:
        """Learn from distinct observations (u, d), NaN where a test was not run, seen `counts` (u,) times."""
        ...

    def distribution(self) -> Distribution:
        """Return the estimate from all subjects so far."""
        ...


ESTIMATORS: Registry[Callable[[Problem], CountingEstimator]] = Registry(
    "proband.estimators",
    "estimator",
    UnknownNameError,
    {
        "complete-cases": "proband.estimators.listed.cases:CompleteCases",
        "add-alpha": "proband.estimators.listed.cases:add_alpha",
        "maximum-likelihood": "proband.estimators.listed.likelihood:maximum_likelihood",
        "dirichlet": "proband.estimators.listed.likelihood:Likelihood",
        "empirical-bayes": "proband.estimators.listed.likelihood:empirical_bayes",
        "structured": "proband.estimators.listed.structured:Structured",
        "biased-available-cases": "proband.estimators.listed.cases:BiasedAvailableCases",
        "biased-pooled-complete-cases": "proband.estimators.listed.cases:BiasedPooledCompleteCases",
    },
)
"""Name to estimator: ``ESTIMATORS["dirichlet"](problem)``."""
