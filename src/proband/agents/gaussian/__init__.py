"""What is particular to measured outcomes: the law is Gaussian, and estimated."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.agents.gaussian.explore_then_commit import (
        GaussianExploreThenCommit,
        correlation_condition_number,
        gaussian_exploration_length,
    )
    from proband.agents.gaussian.reference import apart
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "GaussianExploreThenCommit",
    "apart",
    "correlation_condition_number",
    "gaussian_exploration_length",
]
