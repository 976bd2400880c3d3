"""Rewards f(x, y): of listed outcomes, of a projection of measurements, or the entropy of what is measured."""

from proband.rewards.base import REWARDS
from proband.rewards.entropy import Entropy
from proband.rewards.forecast import forecasts
from proband.rewards.listed import Function, Match, RewardFunction, Unstated, rowwise
from proband.rewards.projection import Projection
from proband.rewards.scores import Piece, Score
from proband.rewards.table import Table

__all__ = [
    "REWARDS",
    "Entropy",
    "Function",
    "Match",
    "Piece",
    "Projection",
    "RewardFunction",
    "Score",
    "Table",
    "Unstated",
    "forecasts",
    "rowwise",
]
