"""From records with missing entries to a law of the outcome vector; ``docs/estimators.md`` has the mathematics."""

from proband.estimators.available_cases import BiasedAvailableCases
from proband.estimators.complete_cases import BiasedPooledCompleteCases, CompleteCases
from proband.estimators.dual import solve_dual
from proband.estimators.em import solve_em
from proband.estimators.empirical_bayes import EmpiricalBayes
from proband.estimators.estimator import Estimator
from proband.estimators.gaussian import GaussianLikelihood, GaussianPlugIn
from proband.estimators.likelihood import Likelihood
from proband.estimators.observations import Observations
from proband.estimators.priors import Dirichlet, Prior
from proband.estimators.registry import ESTIMATORS

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
    "solve_dual",
    "solve_em",
]
