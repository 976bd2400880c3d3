"""A tree as a Python function that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from proband.policies.nodes import Node
from proband.policies.rules.places import between
from proband.policies.tree import Tree
from proband.vocabulary import Test

DEEPEST = 16
"""Tests within each other in one function: Python takes no more than a hundred levels."""

_HEAD = '''\
def next_action(known):
    """Return ("test", name) of the test to run next, or ("decision", name).

    known holds what tests showed, by their names: of a test with cuts the number, of any other the name of its
    outcome. What is absent, None or NaN was not run; what the policy does not ask for is not looked at.
    """'''


def python(tree: Tree) -> str:
    """Return the source of a function that acts as the tree does; an outcome that does not exist is a ValueError.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> source = python(plan(problem, Discrete([[0], [1]], [0.75, 0.25])).tree())
    >>> room = {}
    >>> exec(source, room)
    >>> room["next_action"]({}), room["next_action"]({"crack": "1"})
    (('test', 'crack'), ('decision', 'fail'))
    """
    program = _Program(tree)
    lines = [_HEAD, *program.lines(tree.root, 0)]
    for number, node in enumerate(program.parts, 1):  # which grow while they are written
        lines += ["", "", f"def _part_{number}(known):", *program.lines(node, 0)]
    return "\n".join([*lines, ""])


@dataclass
class _Program:
    """The lines of functions; `parts` are the nodes with which further ones begin."""

    tree: Tree
    parts: list[Node] = field(default_factory=list)

    def lines(self, node: Node, depth: int) -> Iterator[str]:
        indent, problem = "    " * (depth + 1), self.tree.problem
        if not node.children:
            yield f"{indent}return 'decision', {problem.action_name(node.action)!r}"
            return
        if depth == DEEPEST:
            self.parts.append(node)
            yield f"{indent}return _part_{len(self.parts)}(known)"
            return
        test = problem.tests[node.action]
        yield f"{indent}value = known.get({test.name!r})"
        yield f"{indent}if value is None or value != value:"
        yield f"{indent}    return 'test', {test.name!r}"
        if test.cuts:
            yield f"{indent}if isinstance(value, str) or value - value != 0:  # a text, or infinite"
            yield f"{indent}    raise ValueError({test.name!r} + f' is {{value!r}}; it must be a finite number')"
        for b, child in enumerate(node.children):
            yield f"{indent}if {_condition(test, b)}:"
            yield from self.lines(child, depth + 1)
        if not test.cuts:
            wanted = f"; it must be one of {', '.join(map(repr, test.names))}"
            yield f"{indent}raise ValueError({test.name!r} + f' is {{value!r}}' + {wanted!r})"


def _condition(test: Test, outcome: int) -> str:
    if not test.cuts:
        return f"value == {test.names[outcome]!r}"
    low, high = between(test, outcome)
    if low is None:
        return f"value < {high!r}"
    return f"value >= {low!r}" if high is None else f"{low!r} <= value < {high!r}"
