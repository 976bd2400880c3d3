from __future__ import annotations

import html
import re

import numpy as np
import pytest

from proband import Discrete, Plan, Problem, Test, plan
from proband.policies.rendering import FORMATS, dot, mermaid, text
from proband.rewards import Match, Table
from proband.testing import random_distribution, random_problem

ODD = [
    'say "hi"',
    "a|b",
    "größe 大 🔩",
    "<b>bold</b>",
    "back\\slash\\",
    "#35; #quot; a#b",
    "[x](y){z}",
    "`*md*`",
    "%% ;",
    "$$x^2$$",
    "a &lt; b",
    "line\\nbreak",
]
QUOTED = r'"(?:[^"\\\n]|\\.)*"'
DOT_LINE = re.compile(rf"    n\d+ \[label={QUOTED}(, style=rounded)?\];|    n\d+ -> n\d+ \[label={QUOTED}\];")
LABEL = r'"[^"\n]*"'
MERMAID_LINE = re.compile(rf"    n\d+\[{LABEL}\]|    n\d+\(\[{LABEL}\]\)|    n\d+ -->\|{LABEL}\| n\d+")


def odd_plan(name: str) -> Plan:
    problem = Problem(
        [Test(name, 0.01, outcomes=(name + "0", name + "1")), Test("b" + name, on_arrival=True)],
        [name, "no " + name],
        Table([name], [[1, 0], [0, 1]]),
        unit=name,
    )
    return plan(problem, Discrete([[0, 0], [1, 0]], [0.5, 0.5]))


@pytest.mark.parametrize("name", ODD)
def test_one_line_for_each_node_and_edge(name: str) -> None:
    tree = odd_plan(name).tree()
    n = len(list(tree.nodes()))
    assert len(text(tree).splitlines()) == n
    lines = mermaid(tree).splitlines()
    assert lines[0] == "flowchart LR"
    assert len(lines) == 1 + n + (n - 1)
    for line in lines[1:]:
        assert MERMAID_LINE.fullmatch(line), line
    lines = dot(tree).splitlines()
    assert lines[0] == "digraph policy {"
    assert lines[-1] == "}"
    assert len(lines) == 3 + n + (n - 1) + 1
    for line in lines[3:-1]:
        assert DOT_LINE.fullmatch(line), line


@pytest.mark.parametrize("name", ODD)
def test_names_can_be_read_back(name: str) -> None:
    tree = odd_plan(name).tree()
    assert name in text(tree)
    assert name in re.sub(r"#(\d+);", lambda found: chr(int(found[1])), mermaid(tree))
    assert name in html.unescape(dot(tree).replace('\\"', '"').replace("\\\\", "\\"))


def test_names_do_not_act_in_mermaid_and_graphviz() -> None:
    drawn = mermaid(odd_plan("#quot; <img src=x> `*md*` $$x$$ a&b \\n").tree())
    labels = "".join(re.findall(LABEL, drawn))
    assert not set("<>`$&\\") & set(labels)
    assert '"#35;quot;' in drawn
    assert "&amp;lt;" in dot(odd_plan("&lt;").tree())


def test_a_tree_in_words(problem: Problem) -> None:
    law = Discrete([[0, 0], [1, 0], [1, 1]], [0.75, 0.05, 0.2])
    tree = plan(problem, law).tree()
    assert text(tree) == (
        "visual (0.1 EUR)  value 0.65\n├─ clean · 75 %: pass  value 1\n└─ rusty · 25 %: fail  value 0"
    )


def test_never_seen_and_on_arrival() -> None:
    drawn = text(odd_plan("x").tree())
    assert "bx (on arrival)" in drawn
    assert "1 · never seen: " in drawn
    assert "0 · 100 %: " in drawn


def test_the_price_is_that_of_the_moment() -> None:
    problem = Problem(
        [Test("a", 0.2, group="g", group_cost=0.05), Test("b", 0.3, group="g", group_cost=0.1)],
        ["same", "other"],
        Table(["a", "b"], [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
    )
    tree = plan(problem, Discrete.product([[0.5, 0.5]] * 2)).tree()
    for draw in FORMATS.values():
        assert "a (0.2)" in draw(tree)
        assert "b (0.1)" in draw(tree)
        assert "b (0.3)" not in draw(tree)


def test_every_format_draws_random_trees(rng: np.random.Generator) -> None:
    for _ in range(20):
        problem = random_problem(rng)
        tree = plan(problem, random_distribution(rng, problem)).tree()
        for draw in FORMATS.values():
            assert draw(tree)


def test_a_lone_decision() -> None:
    problem = Problem([Test("a", 5.0)], reward=Match())
    tree = plan(problem, Discrete([[0], [1]], [0.5, 0.5])).tree()
    assert text(tree) == "a=0  value 0.5"
    assert mermaid(tree).splitlines()[1:] == ['    n0(["a=0  value 0.5"])']
    assert "style=rounded" in dot(tree)
