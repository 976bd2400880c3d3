"""Rows with missing cells down a tree: a cell that is missing is a test that cannot be run.

As long as a row has what the tree asks for it goes down the tree. Where it has not, the law is conditioned on what was
seen, the missing tests are taken away, and what is best then is planned anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from proband.planners.continuing import continue_from
from proband.planners.layout import layout_of
from proband.policies import Decider, Node, Tree
from proband.vocabulary import FloatArray, IntArray

MOST_STATES = 2**16
"""Where there are more states, a tree is grown by rollouts."""


@dataclass(frozen=True)
class Treated:
    """What became of rows.

    Attributes
    ----------
    actions : ndarray (n,)
        Decisions, as actions.
    states : ndarray (n, d)
        What was looked at.
    costs : ndarray (n,)
    visits : list of ndarray
        The rows that came to each node of the tree, in the order of :meth:`proband.policies.Tree.nodes`.
    """

    actions: IntArray
    states: FloatArray
    costs: FloatArray
    visits: list[IntArray]


@dataclass(frozen=True)
class Walker:
    """Takes rows down a tree that has its law."""

    tree: Tree
    known: dict[tuple[bytes, bytes], int] = field(default_factory=dict, repr=False)

    def treat(self, rows: FloatArray) -> Treated:
        """Treat rows (n, d); NaN is missing."""
        n, problem = len(rows), self.tree.problem
        treated = Treated(np.full(n, -1), np.full((n, problem.d), np.nan), np.zeros(n), [])
        self._visit(self.tree.root, np.arange(n), rows, treated)
        for row in np.flatnonzero(treated.actions < 0):
            self._finish(int(row), rows[row], treated)
        return treated

    def next(self, row: FloatArray, missing: NDArray[np.bool_]) -> int:
        """Return what to do where so much is known, and all that is not missing can be found out."""
        node, used = self.tree.node(row), self.tree.used(row)
        if len(used) == int((~np.isnan(row)).sum()) and not (node.children and missing[node.action]):
            return node.action
        return self._continued(row, missing)

    def truths(self, states: FloatArray, truth: int, number: int) -> FloatArray:
        """Return the probabilities of what is decided about in states (n, d), shape (n, number)."""
        assert self.tree.origin is not None
        assert self.tree.origin.law is not None
        law, decider = self.tree.origin.law, Decider(self.tree.problem, self.tree.origin.law)
        distinct, of_row = np.unique(states, axis=0, return_inverse=True)
        shares = np.empty((len(distinct), number))
        for place, state in enumerate(distinct):
            rows = decider.agreeing(state)
            outcomes = law.support[rows, truth].astype(np.int64)
            shares[place] = np.bincount(outcomes, weights=law.probabilities[rows], minlength=number)
        return np.asarray((shares / shares.sum(axis=1, keepdims=True))[of_row.reshape(-1)])

    def _visit(self, node: Node, here: IntArray, rows: FloatArray, treated: Treated) -> None:
        treated.visits.append(here)
        if not node.children:
            treated.actions[here] = node.action
            return
        outcomes = rows[here, node.action]
        seen = here[~np.isnan(outcomes)]
        if len(seen):
            treated.costs[seen] += self.tree.problem.costs(treated.states[seen[0]])[0, node.action]
            treated.states[seen, node.action] = rows[seen, node.action]
        for b, child in enumerate(node.children):
            self._visit(child, here[outcomes == b], rows, treated)

    def _finish(self, place: int, row: FloatArray, treated: Treated) -> None:
        """Go on with a row of which the tree asks for what is missing."""
        problem, state = self.tree.problem, treated.states[place]
        missing = np.isnan(row)
        while (action := self._continued(state, missing)) < problem.d:
            treated.costs[place] += problem.costs(state)[0, action]
            state[action] = row[action]
        treated.actions[place] = action

    def _continued(self, state: FloatArray, missing: NDArray[np.bool_]) -> int:
        key = state.tobytes(), missing.tobytes()
        if key not in self.known:
            problem = self.tree.problem.without(np.flatnonzero(missing & np.isnan(state)))
            start = Tree(problem, Node(problem.d, 0.0, 1.0), self.tree.origin)
            method = "dense" if layout_of(problem).n_states <= MOST_STATES else "rollout"
            limited = start.origin is not None and (start.origin.max_tests, start.origin.budget) != (None, None)
            found = continue_from(start, state, method="rollout" if limited else method)
            self.known[key] = found.explanation.action
        return self.known[key]
