"""A policy as a decision tree: readable, portable, and usable without any distribution.

Each node holds an action; a test has one child for every outcome. Acting walks down from the root: the first test
on the way that a state does not know is run, and the decision of the leaf is taken. Outcomes that are known but
not asked for on the way are ignored; with the law that a tree was made with they can be used
(:mod:`proband.planners.continuing`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import PolicyError, StateError
from proband.policies.episodes import Episodes
from proband.policies.nodes import Node, node_from_dict, node_to_dict
from proband.policies.origin import Origin
from proband.policies.policy_files import check_format, read_policy, write_policy
from proband.problem import Problem
from proband.quantities import amount
from proband.showing import Shown
from proband.vocabulary import FloatArray, IntArray

FORMAT = "proband policy"
SCHEMA = 1


@dataclass(frozen=True, repr=False)
class Tree(Shown):
    """A decision tree for a problem.

    Attributes
    ----------
    problem : Problem
    root : Node
    origin : Origin, optional
        What it was made with: limits, and the law, by which what it does not ask for can be used all the same.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.policies.rendering import text
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> tree = plan(problem, Discrete([[0], [1]], [0.75, 0.25])).tree()
    >>> print(text(tree))
    crack (0.1)  value 0.65
    ├─ 0 · 75 %: pass  value 1
    └─ 1 · 25 %: fail  value 0
    """

    problem: Problem
    root: Node
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._check(self.root, frozenset())

    def __repr__(self) -> str:
        nodes = list(self.nodes())
        tests, named = sum(bool(node.children) for node in nodes), f"{self.problem.name!r}: " * bool(self.problem.name)
        value = amount(self.root.value, self.problem.unit)
        return f"Tree({named}{tests} tests and {len(nodes) - tests} leaves, value {value})"

    def act(self, states: ArrayLike, coins: ArrayLike | None = None) -> IntArray:
        """Return the action of each state (n, d): shape (n,)."""
        rows = self.problem.states(states)
        actions = np.empty(len(rows), dtype=np.int64)
        for node, here in self._visits(rows):
            actions[here] = node.action
        return actions

    def run(self, rows: FloatArray) -> Episodes:
        """Take subjects with complete outcome vectors (n, d) from arrival to decision, in one walk down the tree.

        Outcomes are looked at, and checked, where a node asks for them: with a hundred tests most never are.
        """
        n, problem = len(rows), self.problem
        episodes = Episodes(np.full((n, problem.d), np.nan), np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n, int))
        episodes.states[:, problem.context] = rows[:, problem.context]
        pending = [(self.root, np.arange(n), np.zeros(problem.d, dtype=np.bool_))]
        while pending:
            node, here, done = pending.pop()
            if not node.children:
                episodes.actions[here] = node.action
                continue
            test, outcomes = node.action, rows[here, node.action]
            if not problem.tests[test].on_arrival:
                episodes.costs[here] += problem.prices.after(done[None])[0, test]
                episodes.tests[here] += 1
                episodes.states[here, test] = outcomes
            parts = [here[outcomes == b] for b in range(len(node.children))]
            if sum(map(len, parts)) < len(here):
                raise _no_outcome(problem, rows[here], test)
            after = done | (np.arange(problem.d) == test)
            pending.extend((child, part, after) for child, part in zip(node.children, parts, strict=True) if len(part))
        return episodes

    def node(self, state: ArrayLike) -> Node:
        """Return the node at which a state stands."""
        rows = self.problem.states(state)
        if len(rows) != 1:
            raise StateError(f"{len(rows)} states are given; one state stands at a node; give one row")
        [(node, _)] = self._visits(rows)
        return node

    def used(self, state: ArrayLike) -> list[int]:
        """Return the known tests on which the way to a state depends, in the order asked."""
        [row], node, used = self.problem.states(state), self.root, list[int]()
        while node.children and not np.isnan(row[node.action]):
            used.append(node.action)
            node = node.children[int(row[node.action])]
        return used

    def nodes(self) -> Iterator[Node]:
        """Yield every node, a parent before its children."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as JSON, with the tests and decisions that it speaks of."""
        write_policy(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a policy file."""
        return read_policy(path, cls.from_dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the structure of a policy file."""
        return {
            "format": FORMAT,
            "schema": SCHEMA,
            "problem": self.problem.to_dict(unstated=True),
            **({} if self.origin is None else self.origin.to_dict(self.problem)),
            "root": node_to_dict(self.problem, self.root),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Build a tree from the structure of a policy file."""
        check_format(content, FORMAT, SCHEMA)
        problem = Problem.from_dict(content["problem"])
        return cls(problem, node_from_dict(problem, content["root"]), Origin.from_dict(content, problem))

    def _visits(self, rows: FloatArray) -> Iterator[tuple[Node, IntArray]]:
        """Yield the nodes at which states stand, with the positions of these states."""
        stack: list[tuple[Node, IntArray]] = [(self.root, np.arange(len(rows)))]
        while stack:
            node, here = stack.pop()
            if node.children:
                outcomes = rows[here, node.action]
                below = ((child, here[outcomes == b]) for b, child in enumerate(node.children))
                stack.extend((child, there) for child, there in below if len(there))
                here = here[np.isnan(outcomes)]
            if len(here):
                yield node, here

    def _check(self, node: Node, done: frozenset[int]) -> None:
        d = self.problem.d
        if node.action >= d:
            if node.children or node.action >= d + self.problem.n_decisions:
                raise PolicyError(f"a leaf has action {node.action} and {len(node.children)} children; it must decide")
            return
        test = self.problem.tests[max(node.action, 0)]
        if node.action < 0 or node.action in done or not test.available or len(node.children) != test.k:
            raise PolicyError(
                f"a node runs {test.name!r} with {len(node.children)} children; it must run an available test, once "
                "on each path, with one child for each outcome"
            )
        for child in node.children:
            self._check(child, done | {node.action})


def _no_outcome(problem: Problem, rows: FloatArray, test: int) -> StateError:
    """Return the error of subjects that show no outcome of a test that is run on them."""
    one, shown_values = problem.tests[test], rows[~np.isin(rows[:, test], np.arange(problem.tests[test].k)), test]
    return StateError(
        f"test {one.name!r} has the value {shown_values[0]:g}; a subject's whole outcome vector must be known to run "
        f"it, with outcomes numbered 0 to {one.k - 1}; give one of these"
    )
