"""From records with missing entries to a law of the outcome vector; ``docs/estimators.md`` has the mathematics."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.estimators.gaussian.likelihood import GaussianLikelihood, GaussianPlugIn
    from proband.estimators.listed.cases import BiasedAvailableCases, BiasedPooledCompleteCases, CompleteCases
    from proband.estimators.listed.likelihood import Likelihood
    from proband.estimators.listed.observations import Observations
    from proband.estimators.listed.priors import Dirichlet, EmpiricalBayes, Prior
    from proband.estimators.listed.solvers import solve_dual, solve_em
    from proband.estimators.listed.structured import Structured
    from proband.estimators.registry import ESTIMATORS, Estimator
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "ESTIMATORS",
    "BiasedAvailableCases",
    "BiasedPooledCompleteCases",
    "CompleteCases",
    "Dirichlet",
    "EmpiricalBayes",
    "Estimator",
    "GaussianLikelihood",
    "GaussianPlugIn",
    "Likelihood",
    "Observations",
    "Prior",
    "Structured",
    "solve_dual",
    "solve_em",
]
