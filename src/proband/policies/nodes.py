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
class Chance:
    """A probability, and limits from the subjects of a leaf alone (Jeffreys' interval)."""

    probability: float
    low: float
    high: float


@dataclass(frozen=True)
class Evidence:
    """On what a leaf rests.

    Attributes
    ----------
    count : float
        Past subjects that end there; parts of subjects where entries were missing.
    matters : str
        The label by which the decision loses most.
    outcomes : mapping of str to Chance
        The probability of each label, given what is known.
    """

    count: float
    matters: str
    outcomes: Mapping[str, Chance]


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
    evidence : Evidence, optional
        At a decision of a tree that was fitted to past subjects.
    """

    action: int
    value: float
    probability: float
    alternatives: tuple[Alternative, ...] = ()
    children: tuple[Node, ...] = ()
    evidence: Evidence | None = None


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
    if node.evidence is not None:
        chances = {name: [one.probability, one.low, one.high] for name, one in node.evidence.outcomes.items()}
        content["evidence"] = {"count": node.evidence.count, "matters": node.evidence.matters, "outcomes": chances}
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
    figures = (_number(content, "value"), _number(content, "probability"))
    return Node(action, *figures, alternatives, children, _evidence(content.get("evidence")))


def _evidence(content: Any) -> Evidence | None:
    if content is None:
        return None
    outcomes = {
        str(name): Chance(*(_number(dict(enumerate(limits)), place) for place in range(3)))
        for name, limits in content["outcomes"].items()
    }
    if content["matters"] not in outcomes:
        raise PolicyError(f"matters is {shown(content['matters'])}; it must be one of the outcomes; write it again")
    return Evidence(_number(content, "count"), content["matters"], outcomes)


def _alternative(problem: Problem, content: Mapping[str, Any]) -> Alternative:
    action, at_most = _action_from_dict(problem, content), content.get("at_most", False)
    if not isinstance(at_most, bool):
        raise PolicyError(f"at_most is {shown(at_most)}; it must be true or false; write the policy again")
    return Alternative(action, _number(content, "value"), _number(content, "loss"), at_most)


def _number(content: Mapping[Any, Any], key: str | int) -> float:
    given = content[key]
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise PolicyError(f"{key} is {shown(given)}; it must be a finite number; write the policy again")
    return float(given)
