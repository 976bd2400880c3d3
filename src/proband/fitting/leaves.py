"""The leaves of a fitted tree: who comes there, how many they were, and what is likely of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from proband.distributions import totals
from proband.fitting.grid import Grid
from proband.fitting.learning import Sample
from proband.planners.validation import LEVEL
from proband.policies import Node, Tree
from proband.policies.nodes import Chance, Evidence
from proband.rewards import Table
from proband.vocabulary import FloatArray, IntArray, Records

MOST_LABELS = 64
"""Outcomes of the targets together, of which leaves tell."""


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
    matters : str
        The label by which the decision loses most.
    """

    known: dict[str, str]
    decision: str
    count: float
    share: float
    value: float
    outcomes: dict[str, Chance]
    matters: str


def leaves_of(tree: Tree) -> tuple[Leaf, ...]:
    """Return the leaves of a tree that holds evidence."""
    found = []
    for node, state in _ends(tree):
        assert node.evidence is not None
        known = {name: str(outcome) for name, outcome in tree.problem.describe(state).items()}
        told = (node.evidence.count, node.probability, node.value, dict(node.evidence.outcomes), node.evidence.matters)
        found.append(Leaf(known, tree.problem.action_name(node.action), *told))
    return tuple(found)


def with_evidence(tree: Tree, grid: Grid, sample: Sample) -> Tree:
    """Return a tree whose origin holds its law with, at each leaf, what it rests on."""
    return _rested(tree, grid, sample.rows, sample.weights)


def with_counts(tree: Tree, records: Records) -> Tree:
    """Return a tree that was planned with a law of records with, at each leaf, what it rests on.

    Counted are the subjects who have a label and all that is asked on the way. A tree of which nobody can say so
    comes back as it is: one without its law, or whose reward is no table of a label or a few.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("a", 0.1), Test("y", available=False)], ["no", "yes"], Table(["y"], [[1, 0], [0, 1]]))
    >>> rows = Records([[0, 0], [1, 1], [1, 1]])
    >>> [leaf.count for leaf in leaves_of(with_counts(plan(problem, Discrete.from_records(rows)).tree(), rows))]
    [1.0, 2.0]
    """
    problem = tree.problem
    if tree.origin is None or tree.origin.law is None or not isinstance(problem.reward, Table):
        return tree
    grid = Grid(problem)
    if grid.n_labels > MOST_LABELS:
        return tree
    labelled = ~np.isnan(records.outcomes[:, grid.targets]).any(axis=1)
    return _rested(tree, grid, records.outcomes[labelled], records.counts[labelled].astype(np.float64))


def _rested(tree: Tree, grid: Grid, seen_rows: FloatArray, seen_weights: FloatArray) -> Tree:
    """Return a tree with what each leaf rests on: its law, and weighted rows (n, d) that have labels."""
    assert tree.origin is not None
    law = tree.origin.law
    assert law is not None
    labels = grid.labels(law.support), grid.labels(seen_rows)
    rows, weights = (law.support, seen_rows), (law.probabilities, seen_weights)
    names = label_names(grid)

    def grown(node: Node, law_here: IntArray, here: IntArray) -> Node:
        if node.children:
            seen = [part[which, node.action] for part, which in zip(rows, (law_here, here), strict=True)]
            below = [grown(child, law_here[seen[0] == b], here[seen[1] == b]) for b, child in enumerate(node.children)]
            return replace(node, children=tuple(below))
        pairs = zip(labels, weights, (law_here, here), strict=True)
        p, counts = (totals(label[which], weight[which], grid.n_labels) for label, weight, which in pairs)
        shares = p / p.sum() if p.sum() > 0 else np.full(grid.n_labels, 1.0 / grid.n_labels)
        payoff = grid.label_payoff
        loss = shares * (payoff.max(axis=1) - payoff[:, node.action - grid.problem.d])
        chances = dict(zip(names, _chances(shares, counts), strict=True))
        return replace(node, evidence=Evidence(float(counts.sum()), names[int(loss.argmax())], chances))

    every = (np.arange(len(part)) for part in rows)
    return Tree(tree.problem, grown(tree.root, *every), tree.origin)


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


def _chances(shares: FloatArray, counts: FloatArray) -> list[Chance]:
    from scipy.special import betaincinv

    total, tail = counts.sum(), (1 - LEVEL) / 2
    low, high = (betaincinv(counts + 0.5, total - counts + 0.5, q) for q in (tail, 1 - tail))
    return [
        Chance(float(share), float(min(a, share)), float(max(b, share)))
        for share, a, b in zip(shares, low, high, strict=True)
    ]
