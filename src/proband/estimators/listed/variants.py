"""Estimators that have a name and are others with their options."""

from __future__ import annotations

from proband.estimators.listed.complete_cases import CompleteCases
from proband.estimators.listed.empirical_bayes import EmpiricalBayes
from proband.estimators.listed.likelihood import Likelihood
from proband.estimators.listed.priors import Dirichlet
from proband.problem import Problem


def add_alpha(problem: Problem) -> CompleteCases:
    """Count complete rows, and one more of each that is possible."""
    return CompleteCases(problem, alpha=1.0)


def maximum_likelihood(problem: Problem) -> Likelihood:
    """Learn from all subjects, without a prior."""
    return Likelihood(problem, prior=Dirichlet(0.0))


def empirical_bayes(problem: Problem) -> Likelihood:
    """Learn from all subjects, and the prior from them too."""
    return Likelihood(problem, prior=EmpiricalBayes())
