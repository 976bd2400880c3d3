"""A unit that holds a number is multiplied out wherever amounts are shown: 4.3 of "100 EUR" reads as 430 EUR.

The same problem is told twice, in EUR and in "100 EUR": what is shown of both must be the same, word for word.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from proband import Problem, Records, Study, fit, plan
from proband.cli import printing
from proband.cli.study.printing import print_advice
from proband.cli.validating import facts
from proband.instances import bolts
from proband.policies.rendering import text
from proband.policies.rules import sentences
from proband.reporting import planned, report_on
from proband.reporting.notebooks import html_of
from proband.rewards import Table
from proband.studies import Advice

PLAIN, SCALED = "EUR", "100 EUR"


def told_in(unit: str) -> Problem:
    """Return bolts in a unit: in EUR all amounts are a hundred times as large."""
    problem, times = bolts().problem, 100 if unit == PLAIN else 1
    assert isinstance(problem.reward, Table)
    tests = [
        replace(test, cost=times * test.cost, group_cost=None if test.group_cost is None else times * test.group_cost)
        for test in problem.tests
    ]
    reward = Table(problem.reward.targets, times * problem.reward.utilities)
    return replace(problem, tests=tuple(tests), reward=reward, unit=unit)


def words(shown: str) -> str:
    """Return what is read: a picture's own numbers of places and shapes differ from run to run."""
    return re.sub(r"<svg.*?</svg>", "", shown, flags=re.DOTALL)


def as_text(unit: str) -> str:
    return text(plan(told_in(unit), bolts().distribution, max_tests=2).tree())


def as_sentences(unit: str) -> str:
    return sentences(plan(told_in(unit), bolts().distribution, max_tests=2).tree())


def as_report(unit: str) -> str:
    found = report_on(planned(told_in(unit), bolts().distribution), multipliers=(0.5, 1.0, 2.0))
    return words(found.html())


def as_fit(unit: str) -> str:
    rows = bolts().distribution.sample(np.random.default_rng(0), 300)
    made = fit(told_in(unit), Records(rows), strength=0.3, folds=3)
    validated = "\n".join(" ".join(fact) for fact in facts(made.problem, made.validation))
    return f"{made!r}\n{validated}\n{words(html_of(made))}"


def as_problem(unit: str) -> str:
    return html_of(told_in(unit))


def advice_on(problem: Problem) -> Advice:
    with Study.create(problem, store="memory:", agent="greedy", replan="now") as study:
        study.learn_from(Records(bolts().distribution.sample(np.random.default_rng(0), 200)))
        return study.ask(study.arrive(subject="bolt 1"))


@pytest.mark.parametrize("shown", [as_text, as_sentences, as_report, as_fit, as_problem])
def test_what_is_shown_is_the_same_in_both_units(shown: Callable[[str], str]) -> None:
    assert shown(SCALED) == shown(PLAIN)


def test_what_the_command_line_prints_of_actions_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for unit in (PLAIN, SCALED):
        problem = told_in(unit)
        found = plan(problem, bolts().distribution).explain(problem.state())
        printing.print_choices(problem, problem.state(), found.alternatives, found.action)
        print_advice(advice_on(problem))
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "EUR" in printed[0]


def test_advice_has_a_true_minus_sign() -> None:
    problem = told_in(SCALED)
    assert isinstance(problem.reward, Table)
    dear = replace(problem, reward=Table(problem.reward.targets, problem.reward.utilities - 10.0))
    reason = advice_on(dear).reason
    assert re.match(r"−[0-9,.]+ EUR are expected from here on\.", reason), reason
