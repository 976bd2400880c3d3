"""A tree as one CASE expression of standard SQL over columns that are called as the tests are.

The rules stand one below the other and not within each other: SQLite's parser takes some twenty levels.
"""

from __future__ import annotations

import sys

from proband.policies.rules.places import Place, between, places
from proband.policies.tree import Tree
from proband.vocabulary import Test

NO_OUTCOME = "no outcome of a test"
"""What the expression is where a column holds something that is no outcome."""


def sql(tree: Tree) -> str:
    """Return the expression: 'test: ' with the next test, or 'decide: ' with the decision; NULL is a test not run.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> print(sql(plan(problem, Discrete([[0], [1]], [0.75, 0.25])).tree()))
    CASE
      WHEN "crack" IS NULL THEN 'test: crack'
      WHEN "crack" = '0' THEN 'decide: pass'
      WHEN "crack" = '1' THEN 'decide: fail'
      ELSE 'no outcome of a test'
    END
    """
    rules = [f"  WHEN {_condition(tree, place)} THEN {_answer(tree, place)}" for place in places(tree)]
    return "\n".join(["CASE", *rules, f"  ELSE {_text(NO_OUTCOME)}", "END"])


def _answer(tree: Tree, place: Place) -> str:
    verb = "test" if place.node.children else "decide"
    return _text(f"{verb}: {tree.problem.action_name(place.node.action)}")


def _condition(tree: Tree, place: Place) -> str:
    tests = tree.problem.tests
    parts = [_shows(tests[i], b) for i, b in place.path]
    if place.node.children:
        parts.append(f"{_name(tests[place.node.action].name)} IS NULL")
    return " AND ".join(parts) or "1 = 1"


def _shows(test: Test, outcome: int) -> str:
    column = _name(test.name)
    if not test.cuts:
        return f"{column} = {_text(test.names[outcome])}"
    # Columns that were imported from text files often hold numbers as text, which compares in its own way.
    number, (low, high) = f"CAST({column} AS DOUBLE PRECISION)", between(test, outcome)
    above = [] if low is None else [f"{number} >= {low!r}"]
    # To PostgreSQL NaN is above all numbers.
    return " AND ".join([*above, f"{number} <= {sys.float_info.max!r}" if high is None else f"{number} < {high!r}"])


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
