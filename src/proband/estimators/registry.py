"""All estimators of discrete laws by name, each made from a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from proband.errors import UnknownNameError
from proband.registries import Registry

if TYPE_CHECKING:
    from proband.estimators.listed.counting import CountingEstimator
    from proband.problem import Problem

ESTIMATORS: Registry[Callable[[Problem], CountingEstimator]] = Registry(
    "proband.estimators",
    "estimator",
    UnknownNameError,
    {
        "complete-cases": "proband.estimators.listed.complete_cases:CompleteCases",
        "add-alpha": "proband.estimators.listed.variants:add_alpha",
        "maximum-likelihood": "proband.estimators.listed.variants:maximum_likelihood",
        "dirichlet": "proband.estimators.listed.likelihood:Likelihood",
        "empirical-bayes": "proband.estimators.listed.variants:empirical_bayes",
        "biased-available-cases": "proband.estimators.listed.available_cases:BiasedAvailableCases",
        "biased-pooled-complete-cases": "proband.estimators.listed.complete_cases:BiasedPooledCompleteCases",
    },
)
"""Name to estimator: ``ESTIMATORS["dirichlet"](problem)``."""
