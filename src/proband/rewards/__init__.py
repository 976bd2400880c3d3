"""Rewards f(x, y): of listed outcomes, of a projection of measurements, or the entropy of what is measured."""

from proband.rewards.entropy import Entropy
from proband.rewards.listed import Function, Match, RewardFunction, Table, Unstated, rowwise
from proband.rewards.projection import Piece, Projection, Score

__all__ = [
    "Entropy",
    "Function",
    "Match",
    "Piece",
    "Projection",
    "RewardFunction",
    "Score",
    "Table",
    "Unstated",
    "rowwise",
]
