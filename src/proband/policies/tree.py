"""A policy as a decision tree: readable, portable, and usable without any distribution.

Each node holds an action; a test has one child for every outcome. Acting walks down from the root: the first test
on the way that a state does not know is run, and the decision of the leaf is taken. Outcomes that are known but
not asked for on the way are ignored.

On disk policies of every kind are strict JSON in UTF-8.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from proband.errors import PolicyError, ProbandError, StateError, shown
from proband.files import read_json
from proband.policies.episodes import Episodes
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, outcome_codes, outcome_rows

FORMAT = "proband policy"
SCHEMA = 1

Built = TypeVar("Built")


@dataclass(frozen=True)
class Alternative:
    """One possible action, its value, and by how much it loses to the best."""

    action: int
    value: float
    loss: float


@dataclass(frozen=True)
class Node:
    """What to do in a state.

    Attributes
    ----------
    action : int
        A test, or a decision.
    value : float
        Expected remaining reward from here on.
    probability : float
        Probability that a subject comes here.
    alternatives : tuple of Alternative
        Every possible action here, best first.
    children : tuple of Node
        One for each outcome of the test; empty at a decision.
    """

    action: int
    value: float
    probability: float
    alternatives: tuple[Alternative, ...] = ()
    children: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Tree:
    """A decision tree for a problem.

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

    def __post_init__(self) -> None:
        self._check(self.root, frozenset())

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
            "root": self._node_to_dict(self.root),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Build a tree from the structure of a policy file."""
        check_format(content, FORMAT, SCHEMA)
        problem = Problem.from_dict(content["problem"])
        return cls(problem, _node_from_dict(problem, content["root"]))

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

    def _node_to_dict(self, node: Node) -> dict[str, Any]:
        content = {
            **_action_to_dict(self.problem, node.action),
            "value": node.value,
            "probability": node.probability,
            "alternatives": [
                {**_action_to_dict(self.problem, other.action), "value": other.value, "loss": other.loss}
                for other in node.alternatives
            ],
        }
        if node.children:
            outcomes = self.problem.tests[node.action].names
            content["children"] = {
                name: self._node_to_dict(child) for name, child in zip(outcomes, node.children, strict=True)
            }
        return content


def _no_outcome(problem: Problem, rows: FloatArray, test: int) -> StateError:
    """Return the error of subjects that show no outcome of a test that is run on them."""
    one, shown_values = problem.tests[test], rows[~np.isin(rows[:, test], np.arange(problem.tests[test].k)), test]
    return StateError(
        f"test {one.name!r} has the value {shown_values[0]:g}; a subject's whole outcome vector must be known to run "
        f"it, with outcomes numbered 0 to {one.k - 1}; give one of these"
    )


def write_policy(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the structure of a policy file."""
    try:
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise PolicyError(
            f"a number of the policy is not finite ({error}), and JSON has finite ones alone; give rewards and costs "
            "in larger units"
        ) from error
    Path(path).write_bytes(text + b"\n")


def read_policy(path: str | os.PathLike[str], build: Callable[[Mapping[str, Any]], Built]) -> Built:
    """Return what is built from the structure of a policy file, or say why it is none."""
    content = read_json(path, PolicyError)
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):  # numbers that no plan was made with
            return build(content)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        detail = error if isinstance(error, ProbandError) else f"{type(error).__name__}: {error}"
        raise PolicyError(f"{path}: it is no policy ({detail}); give a file that proband wrote") from error


def check_format(content: Mapping[str, Any], name: str, schema: int) -> None:
    """Raise unless the structure says that it is of this format."""
    if content.get("format") != name or content.get("schema") != schema:
        raise PolicyError(
            f"format is {content.get('format')!r}, schema {content.get('schema')!r}; this version reads "
            f"{name!r}, schema {schema}; write the policy again"
        )


def _action_to_dict(problem: Problem, action: int) -> dict[str, Any]:
    if action < problem.d:
        return {"test": problem.tests[action].name}
    if problem.decisions:
        return {"decision": problem.decisions[action - problem.d]}
    return {"decision": problem.describe(outcome_rows([action - problem.d], problem.tests)[0])}


def _action_from_dict(problem: Problem, content: Mapping[str, Any]) -> int:
    if "test" in content:
        return problem.test_index(content["test"])
    decision = content["decision"]
    if isinstance(decision, str):
        return problem.decision_action(decision)
    row = problem.state(decision)
    if problem.decisions or np.isnan(row).any():
        raise PolicyError(f"a decision is {shown(decision)}; it must be one of the problem's; write the policy again")
    return problem.d + int(outcome_codes(row[None], problem.tests)[0])


def _node_from_dict(problem: Problem, content: Mapping[str, Any]) -> Node:
    action = _action_from_dict(problem, content)
    alternatives = tuple(
        Alternative(_action_from_dict(problem, other), _number(other, "value"), _number(other, "loss"))
        for other in content["alternatives"]
    )
    children: tuple[Node, ...] = ()
    if action < problem.d:
        below = content["children"]
        children = tuple(_node_from_dict(problem, below[name]) for name in problem.tests[action].names)
    return Node(action, _number(content, "value"), _number(content, "probability"), alternatives, children)


def _number(content: Mapping[str, Any], key: str) -> float:
    given = content[key]
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise PolicyError(f"{key} is {shown(given)}; it must be a finite number; write the policy again")
    return float(given)
