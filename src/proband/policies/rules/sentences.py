"""A tree in plain sentences, one for each leaf."""

from __future__ import annotations

import json
import re

from proband.policies.rules.places import Place, places
from proband.policies.tree import Tree
from proband.quantities import percent, told

_PLAIN = re.compile(r"[^\s\"',;:.]([^\"',;:]*[^\s\"',;:.])?")
_WORDS = re.compile(r"\b(if|is|and|then|decide|arrive|arrives)\b", re.IGNORECASE)


def sentences(tree: Tree) -> str:
    """Return a numbered sentence for each leaf; names that could be taken for words of the sentence are in quotes.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test, plan
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> print(sentences(plan(problem, Discrete([[0], [1]], [0.75, 0.25])).tree()))
    Run the tests of a sentence in its order, and go on to the next test only if the one before showed what is said.
    1. If crack is 0, decide pass (75 % of subjects; tests cost 0.1; value 1).
    2. If crack is 1, decide fail (25 % of subjects; tests cost 0.1; value 0).
    """
    leaves = [place for place in places(tree) if not place.node.children]
    head = "Run the tests of a sentence in its order, and go on to the next test only if the one before showed what is"
    first = [f"{head} said."] if len(leaves) > 1 else []
    return "\n".join([*first, *(f"{n}. {_sentence(tree, leaf)}" for n, leaf in enumerate(leaves, 1))])


def _sentence(tree: Tree, leaf: Place) -> str:
    problem, node = tree.problem, leaf.node
    shown = [f"{_said(problem.tests[i].name)} is {_said(problem.tests[i].names[b])}" for i, b in leaf.path]
    start = f"If {' and '.join(shown)}, decide" if shown else "Decide"
    share = f"{percent(node.probability)} of subjects" if node.probability > 0 else "never seen"
    cost, value = (told(each, problem.unit) for each in (leaf.cost, node.value))
    return f"{start} {_said(problem.action_name(node.action))} ({share}; tests cost {cost}; value {value})."


def _said(name: str) -> str:
    """Return a name as it stands in a sentence.

    Examples
    --------
    >>> _said("60 to 75 HRC"), _said("x and y is z")
    ('60 to 75 HRC', '"x and y is z"')
    """
    plain = _PLAIN.fullmatch(name) and not _WORDS.search(name)
    return name if plain else json.dumps(name, ensure_ascii=False)
