"""The leaves of a fitted tree: who comes there, how many they were, and what is likely of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from proband.distributions import totals
from proband.fitting.grid import Grid
from proband.fitting.learning import Sample
from proband.planners.validation import LEVEL
from proband.policies import Node, Tree
from proband.vocabulary import FloatArray, IntArray


@dataclass(frozen=True)
class Chance:
    """A probability as the law has it, and limits from the subjects in the leaf alone (Jeffreys' interval)."""

    probability: float
    low: float
    high: float


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree.

    Attributes
    ----------
    known : dict of str to str
        Tests and outcomes on the way.
    decision : str
    count : float
        Subjects of the table that end there; parts of subjects where entries were missing.
    share : float
        The probability to end there, as the law has it.
    value : float
        Of the decision.
    outcomes : dict of str to Chance
        For each label its probability given what is known. A label of several targets is written "a, b".
    """

    known: dict[str, str]
    decision: str
    count: float
    share: float
    value: float
    outcomes: dict[str, Chance]


def leaves_of(tree: Tree, grid: Grid, sample: Sample) -> tuple[Leaf, ...]:
    """Return the leaves of a tree whose origin holds its law."""
    assert tree.origin is not None
    law = tree.origin.law
    assert law is not None
    problem, found = tree.problem, []
    law_labels, labels = grid.labels(law.support), grid.labels(sample.rows)
    for node, state in _ends(tree):
        here, there = (_agrees(rows, state) for rows in (law.support, sample.rows))
        p = totals(law_labels[here], law.probabilities[here], grid.n_labels)
        counts = totals(labels[there], sample.weights[there], grid.n_labels)
        shares = p / p.sum() if p.sum() > 0 else np.full(grid.n_labels, np.nan)
        known = {name: str(outcome) for name, outcome in problem.describe(state).items()}
        outcomes = dict(zip(label_names(grid), _chances(shares, counts), strict=True))
        decision = problem.action_name(node.action)
        found.append(Leaf(known, decision, float(counts.sum()), node.probability, node.value, outcomes))
    return tuple(found)


def label_names(grid: Grid) -> list[str]:
    """Return how labels are called."""
    tests = [grid.problem.tests[i] for i in grid.targets]
    return [", ".join(t.names[int(b)] for t, b in zip(tests, row, strict=True)) for row in grid.label_rows]


def _ends(tree: Tree) -> Iterator[tuple[Node, FloatArray]]:
    stack = [(tree.root, tree.problem.state())]
    while stack:
        node, state = stack.pop()
        if not node.children:
            yield node, state
            continue
        below = list(zip(node.children, tree.problem.after(state, node.action), strict=True))
        stack.extend(reversed(below))


def _agrees(rows: FloatArray, state: FloatArray) -> IntArray:
    known = ~np.isnan(state)
    return np.flatnonzero((rows[:, known] == state[known]).all(axis=1))


def _chances(shares: FloatArray, counts: FloatArray) -> list[Chance]:
    from scipy.special import betaincinv

    total, tail = counts.sum(), (1 - LEVEL) / 2
    low, high = (betaincinv(counts + 0.5, total - counts + 0.5, q) for q in (tail, 1 - tail))
    return [
        Chance(float(share), float(min(a, share)), float(max(b, share)))
        for share, a, b in zip(shares, low, high, strict=True)
    ]
