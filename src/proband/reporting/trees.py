"""A report on a tree alone: what a policy file states of itself, where neither rows nor a way to plan are at hand."""

from __future__ import annotations

import math
from collections import defaultdict

from proband.policies import Tree
from proband.policies.rules.places import places
from proband.reporting.report import Report

METHOD = (
    "a policy file: all numbers are what it states of itself, by the law it was made with; what subjects bring that it "
    "has not seen, and what tests are worth, is told by proband report PROBLEM --data TABLE"
)


def report_on_tree(tree: Tree) -> Report:
    """Return what a tree tells of itself: the tree, its value and costs, and its sentences.

    Examples
    --------
    >>> import proband
    >>> from proband.instances import bolts
    >>> plan = proband.plan(bolts().problem, bolts().distribution)
    >>> found = report_on_tree(plan.tree())
    >>> round(found.expected_cost, 6) == round(plan.expected_cost, 6)
    True
    """
    problem, decisions = tree.problem, defaultdict[str, float](float)
    leaves = [place for place in places(tree) if not place.node.children]
    for place in leaves:
        decisions[problem.action_name(place.node.action)] += place.node.probability
    return Report(
        problem=problem,
        tree=tree,
        value=tree.root.value,
        expected_cost=math.fsum(place.node.probability * place.cost for place in leaves),
        expected_tests=math.fsum(
            place.node.probability * sum(problem.tests[i].operable for i, _ in place.path) for place in leaves
        ),
        in_sample=None,
        decisions=dict(sorted(decisions.items(), key=lambda each: -each[1])),
        curve=[],
        tests=[],
        places=[],
        method=METHOD,
    )
