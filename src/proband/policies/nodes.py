"""The nodes of a tree, and their structure in a policy file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from proband.errors import PolicyError, shown
from proband.problem import Problem
from proband.vocabulary import outcome_codes, outcome_rows


@dataclass(frozen=True)
class Alternative:
    """One possible action, its value, and by how much it loses to the best.

    Attributes
    ----------
    action : int
    value : float
        Expected remaining reward if it is taken, and then what is best.
    loss : float
        By how much it loses to the best.
    at_most : bool
        The value is that of one way to go on, and the best one may bring more: it loses `loss` at most.
    """

    action: int
    value: float
    loss: float
    at_most: bool = False


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


def node_to_dict(problem: Problem, node: Node) -> dict[str, Any]:
    """Return the structure of a node, and of all below it."""
    content = {
        **_action_to_dict(problem, node.action),
        "value": node.value,
        "probability": node.probability,
        "alternatives": [
            {
                **_action_to_dict(problem, other.action),
                "value": other.value,
                "loss": other.loss,
                **({"at_most": True} if other.at_most else {}),
            }
            for other in node.alternatives
        ],
    }
    if node.children:
        below = zip(problem.tests[node.action].names, node.children, strict=True)
        content["children"] = {name: node_to_dict(problem, child) for name, child in below}
    return content


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


def node_from_dict(problem: Problem, content: Mapping[str, Any]) -> Node:
    """Build a node, and all below it, from its structure."""
    action = _action_from_dict(problem, content)
    alternatives = tuple(_alternative(problem, other) for other in content["alternatives"])
    children: tuple[Node, ...] = ()
    if action < problem.d:
        below = content["children"]
        children = tuple(node_from_dict(problem, below[name]) for name in problem.tests[action].names)
    return Node(action, _number(content, "value"), _number(content, "probability"), alternatives, children)


def _alternative(problem: Problem, content: Mapping[str, Any]) -> Alternative:
    action, at_most = _action_from_dict(problem, content), content.get("at_most", False)
    if not isinstance(at_most, bool):
        raise PolicyError(f"at_most is {shown(at_most)}; it must be true or false; write the policy again")
    return Alternative(action, _number(content, "value"), _number(content, "loss"), at_most)


def _number(content: Mapping[str, Any], key: str) -> float:
    given = content[key]
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise PolicyError(f"{key} is {shown(given)}; it must be a finite number; write the policy again")
    return float(given)
