"""All estimators of discrete laws by name, each made from a problem."""

from __future__ import annotations

from collections.abc import Callable

from proband.estimators.listed.available_cases import BiasedAvailableCases
from proband.estimators.listed.complete_cases import BiasedPooledCompleteCases, CompleteCases
from proband.estimators.listed.counting import CountingEstimator
from proband.estimators.listed.empirical_bayes import EmpiricalBayes
from proband.estimators.listed.likelihood import Likelihood
from proband.estimators.listed.priors import Dirichlet
from proband.problem import Problem

ESTIMATORS: dict[str, Callable[[Problem], CountingEstimator]] = {
    "complete-cases": CompleteCases,
    "add-alpha": lambda problem: CompleteCases(problem, alpha=1.0),
    "maximum-likelihood": lambda problem: Likelihood(problem, prior=Dirichlet(0.0)),
    "dirichlet": Likelihood,
    "empirical-bayes": lambda problem: Likelihood(problem, prior=EmpiricalBayes()),
    "biased-available-cases": BiasedAvailableCases,
    "biased-pooled-complete-cases": BiasedPooledCompleteCases,
}
"""Name to estimator: ``ESTIMATORS["dirichlet"](problem)``."""
