"""Estimators of discrete laws, from counts of what was seen."""

__all__ = [
    "agreement",
    "available_cases",
    "cells",
    "complete_cases",
    "counting",
    "draws",
    "dual",
    "em",
    "empirical_bayes",
    "likelihood",
    "observations",
    "priors",
    "supports",
]
