"""An if-then table: a row for each leaf, a column for each test that is asked, as CSV."""

from __future__ import annotations

import csv
import io

from proband.policies.rules.places import asked, places
from proband.policies.tree import Tree
from proband.texts import cell_of

FIGURES = ("decision", "probability", "value", "cost")


def table(tree: Tree) -> str:
    r"""Return the leaves as CSV: the outcomes that lead there, empty where a test is not asked, and what follows.

    `probability` is that of coming there, `value` the reward expected of the decision, `cost` what the tests on the way
    cost; the policy is worth the sum of probability · (value - cost).

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> table(plan(problem, Discrete([[0], [1]], [0.75, 0.25])).tree()).splitlines()
    ['crack,decision,probability,value,cost', '0,pass,0.75,1.0,0.1', '1,fail,0.25,0.0,0.1']
    """
    problem, tests, text = tree.problem, asked(tree), io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [problem.tests[i].name for i in tests]
    writer.writerow([cell_of(name) for name in [*names, *(_free(figure, names) for figure in FIGURES)]])
    for place in places(tree):
        if place.node.children:
            continue
        shown = {i: cell_of(problem.tests[i].names[b]) for i, b in place.path}
        figures = [repr(float(x)) for x in (place.node.probability, place.node.value, place.cost)]
        writer.writerow([*(shown.get(i, "") for i in tests), cell_of(problem.action_name(place.node.action)), *figures])
    return text.getvalue()


def _free(name: str, taken: list[str]) -> str:
    """Return a name of a column that no test has."""
    while name in taken:
        name = f"policy {name}"
    return name
