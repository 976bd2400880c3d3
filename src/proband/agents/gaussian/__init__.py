"""Agents for measured outcomes: the law is Gaussian, and estimated."""

from proband.agents.gaussian.completing_sets import CompletingSets
from proband.agents.gaussian.explore_then_commit import (
    GaussianExploreThenCommit,
    correlation_condition_number,
    gaussian_exploration_length,
)
from proband.agents.gaussian.leaf_completion import GaussianLeafCompletion
from proband.agents.gaussian.nearness import apart
from proband.agents.gaussian.replanning import GaussianGreedy, GaussianReplanning, GaussianThompson
from proband.agents.gaussian.safe_leaf_completion import SafeGaussianLeafCompletion
from proband.agents.gaussian.tolerance import suited_tolerance

__all__ = [
    "CompletingSets",
    "GaussianExploreThenCommit",
    "GaussianGreedy",
    "GaussianLeafCompletion",
    "GaussianReplanning",
    "GaussianThompson",
    "SafeGaussianLeafCompletion",
    "apart",
    "correlation_condition_number",
    "gaussian_exploration_length",
    "suited_tolerance",
]
