"""What notebooks show: every kind of thing by its names, without a picture of a forest, and nothing that acts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Study, Test, evaluate, fit, plan
from proband.experiments.summary import Summary
from proband.instances import bolts, bolts_measured, gout, monitoring_network
from proband.planners.validation import cross_validate
from proband.policies import test_everything
from proband.reporting import planned, report_on
from proband.reporting.notebooks import html_of
from proband.rewards import Table

EVIL = '<img src=x onerror=alert(1)>"&amp;$x$'


def problem_of(name: str) -> Problem:
    tests = [Test(name, 0.1, outcomes=(f"{name}0", f"{name}1")), Test("label", available=False)]
    return Problem(tests, [name, f"no {name}"], Table(["label"], [[1.0, 0.0], [0.0, 1.0]]), name=name, unit=name)


def rows_of(name: str) -> Records:
    shown = [[f"{name}0", "0"]] * 40 + [[f"{name}1", "1"]] * 30 + [[f"{name}0", "1"]] * 5 + [["", "1"]]
    return problem_of(name).records({key: [row[i] for row in shown] for i, key in enumerate((name, "label"))})


def plan_of(name: str) -> Any:
    return plan(problem_of(name), Discrete.from_records(rows_of(name).complete()))


def study_of(name: str) -> Study:
    study = Study.create(problem_of(name), name=name, agent="test-everything", store="memory:", replan="now")
    study.learn_from(rows_of(name).complete())
    return study


def advice_of(name: str) -> Any:
    study = study_of(name)
    return study.ask(study.arrive(subject=name))


def summary_of(name: str) -> Any:
    study = study_of(name)
    subject = study.arrive(subject=name)
    study.tell(subject, name, f"{name}0")
    study.decide(subject, name)
    return study.summary()


THINGS: dict[str, Callable[[str], Any]] = {
    "problem": problem_of,
    "records": rows_of,
    "plan": plan_of,
    "tree": lambda name: plan_of(name).tree(),
    "fit": lambda name: fit(problem_of(name), rows_of(name), folds=3, strength=0.3),
    "evaluation": lambda name: evaluate(problem_of(name), plan_of(name).distribution, plan_of(name)),
    "advice": advice_of,
    "study": summary_of,
    "run": lambda name: Summary({"m": 3}, name, 5, 10.0, 2.0, 1.0, {}),
    "report": lambda name: report_on(planned(problem_of(name), plan_of(name).distribution), multipliers=(1.0,)),
}


class Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("kind", THINGS)
def test_things_are_shown_by_their_names_which_do_not_act(kind: str) -> None:
    thing = THINGS[kind](EVIL)
    bundle = thing._repr_mimebundle_()
    assert bundle == {"text/plain": repr(thing), "text/html": thing._repr_html_()}
    shown = Reader(bundle["text/html"])
    assert shown.tags == Reader(THINGS[kind]("plain")._repr_html_()).tags
    assert EVIL in shown.text
    assert "script" not in shown.tags


def test_texts_say_what_things_are() -> None:
    instance = bolts()
    problem, law = instance.problem, instance.distribution
    assert repr(problem) == "Problem('Bolt inspection': 9 tests, decisions pass, fail, reward Table)"
    best = plan(problem, law)
    assert repr(best) == "DensePlan('Bolt inspection': value 0.5458 USD a subject, by dense)"
    assert repr(best.tree()) == "Tree('Bolt inspection': 18 tests and 26 leaves, value 0.5458 USD)"
    limited = plan(problem, law, method="myopic")
    assert "below the best, by myopic)" in repr(limited)
    found = fit(problem, Records(instance.sample(np.random.default_rng(0), 100)), folds=3, strength=0.3)
    assert repr(found).startswith("Fit('Bolt inspection': value ")
    assert "in-sample, 100 subjects, by" in repr(found)
    with Study.create(problem, name="line", store="memory:", station="station 1") as study:
        assert repr(study) == "Study('line', station 'station 1')"
        empty = Reader(study.summary()._repr_html_())
    assert repr(study) == "Study('line', station 'station 1', closed)"
    assert "table" not in empty.tags  # nobody is finished: there are no decisions to count
    assert "opened group" not in Reader(monitoring_network().problem._repr_html_()).text
    assert "a number in µg/m³" in Reader(monitoring_network().problem._repr_html_()).text


@pytest.mark.parametrize("kind", THINGS)
def test_no_text_is_an_address_in_memory(kind: str) -> None:
    assert " object at 0x" not in repr(THINGS[kind]("crack"))


def test_plans_of_measured_tests_and_of_sets_are_drawn_too() -> None:
    for instance in (bolts_measured(), monitoring_network()):
        best = plan(instance.problem, instance.distribution)  # type: ignore[attr-defined]
        assert "svg" in Reader(best._repr_html_()).tags


def test_a_large_tree_is_not_grown_to_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    best = plan(gout().problem, gout().distribution)
    monkeypatch.setattr("proband.reporting.notebooks.MOST_PLANNED", 10)
    monkeypatch.setattr(type(best), "tree", lambda self: pytest.fail("it was grown"))
    assert "plan.tree(depth=3)" in html_of(best)


def test_other_policies_and_validations_are_shown_as_what_they_are() -> None:
    problem, rows = problem_of("a"), rows_of("a").complete()
    found = cross_validate(problem, rows, Discrete.from_records, lambda law: plan(problem, law), folds=3)
    assert "deciding at once" in found._repr_html_()
    law = Discrete.from_records(rows)
    assert "testing" not in html_of(evaluate(problem, law, test_everything(problem, law)))
    assert "&lt;class" in html_of(dict)


def test_nothing_that_draws_is_loaded_before_a_notebook_asks() -> None:
    code = "import sys, proband.problem, proband.vocabulary; print([m for m in sys.modules if 'reporting' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
