"""Policies: maps from states to actions, and what following one does to subjects."""

from proband.policies.beliefs import ProjectionDecider
from proband.policies.completing import SUREST, CoinPolicy, Completing, ExtraPolicy, branches, chances, has_extra
from proband.policies.deciding import Decider, StopDecider, decider_for
from proband.policies.episodes import Episodes, follow
from proband.policies.extra import Extra
from proband.policies.fixed import DecideNow, FixedSet, test_everything
from proband.policies.leaf_chances import AtLeaves, ByTests, Completion
from proband.policies.nodes import Node
from proband.policies.origin import Origin
from proband.policies.treating import Way, ways
from proband.policies.tree import Tree

__all__ = [
    "SUREST",
    "AtLeaves",
    "ByTests",
    "CoinPolicy",
    "Completing",
    "Completion",
    "DecideNow",
    "Decider",
    "Episodes",
    "Extra",
    "ExtraPolicy",
    "FixedSet",
    "Node",
    "Origin",
    "ProjectionDecider",
    "StopDecider",
    "Tree",
    "Way",
    "branches",
    "chances",
    "decider_for",
    "follow",
    "has_extra",
    "test_everything",
    "ways",
]
