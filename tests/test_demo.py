from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from proband import Plan, Problem, Records, evaluate, plan
from proband.demo import Demonstration, inspect_stream, journey, report, show
from proband.demo.stream import curves
from proband.figures import draw_demo
from proband.instances import bolts
from proband.policies import follow, test_everything


@pytest.fixture(scope="module")
def demonstration() -> Demonstration:
    return inspect_stream(seed=1, subjects=2000, sizes=(50, 200, 800))


def test_the_first_bolts_go_through_every_test(demonstration: Demonstration) -> None:
    episodes, switch = demonstration.episodes, demonstration.switch
    assert switch == 800
    assert not np.isnan(episodes.states[:switch]).any()
    np.testing.assert_allclose(episodes.costs[:switch], demonstration.everything.cost)
    assert demonstration.paid()[0] == pytest.approx(demonstration.everything.cost)


def test_the_others_follow_the_last_plan(demonstration: Demonstration) -> None:
    problem, switch = demonstration.instance.problem, demonstration.switch
    again = follow(problem, demonstration.learned.plan, demonstration.stream[switch:])
    np.testing.assert_array_equal(again.actions, demonstration.episodes.actions[switch:])
    np.testing.assert_array_equal(again.costs, demonstration.episodes.costs[switch:])


def test_it_learns_from_the_records_alone(demonstration: Demonstration) -> None:
    problem, law = bolts().problem, bolts().distribution
    for lesson in demonstration.lessons:
        assert lesson.plan.distribution.probabilities.min() >= 1 / lesson.records - 1e-12
        assert lesson.truth == evaluate(problem, law, lesson.plan)
        assert lesson.truth.value <= demonstration.clairvoyant.value + 1e-12


def test_learning_pays(demonstration: Demonstration) -> None:
    before, after = demonstration.paid()
    assert after < before / 2
    assert 0.8 < demonstration.achieved <= 1
    assert demonstration.earned()[1] > demonstration.earned()[0]


def test_shares_are_those_of_the_clairvoyant(demonstration: Demonstration) -> None:
    shares = demonstration.test_shares()
    assert sum(best for _, best in shares.values()) == pytest.approx(demonstration.clairvoyant.expected_tests)


def test_another_learner_may_take_its_place() -> None:
    seen: list[int] = []

    def clairvoyant(problem: Problem, records: Records) -> Plan:
        seen.append(len(records))
        return plan(problem, bolts().distribution)

    found = inspect_stream(subjects=100, sizes=(10, 20), learner=clairvoyant)
    assert seen == [10, 20]
    assert found.achieved == pytest.approx(1)


def test_progress_is_told() -> None:
    told: list[tuple[int, str]] = []
    inspect_stream(subjects=500, sizes=(100,), tell=lambda done, doing: told.append((done, doing)))
    assert sum(done for done, _ in told) == 500
    assert "planned from 100 records" in [doing for _, doing in told]


def test_a_journey_costs_what_the_episode_cost(demonstration: Demonstration) -> None:
    problem = demonstration.instance.problem
    for n in range(800, 830):
        steps, decision, paid = journey(problem, demonstration.learned.plan, demonstration.stream[n])
        assert paid == pytest.approx(demonstration.episodes.costs[n])
        assert len(steps) == demonstration.episodes.tests[n]
        assert decision == problem.action_name(int(demonstration.episodes.actions[n]))
    steps, _, paid = journey(problem, test_everything(problem), demonstration.stream[0])
    assert (len(steps), paid) == (9, pytest.approx(9.25))


def test_the_report_says_it_all(demonstration: Demonstration) -> None:
    written = report(demonstration)
    assert "| 800 |" in written
    assert f"{demonstration.paid()[1]:.2f}" in written
    assert "![What was learned](demo.png)" in written
    assert "bolt weight (0.05 USD)" in written


def test_the_figure_has_three_panels(demonstration: Demonstration) -> None:
    titles = [axes.get_title(loc="left") for axes in draw_demo(curves(demonstration)).axes]
    assert titles == ["What a plan is worth", "What testing cost", "Which tests are run"]


def test_the_show_ends_with_its_files(tmp_path: Path) -> None:
    screen = io.StringIO()
    show(tmp_path / "out", console=Console(file=screen, width=120))
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "report.md").read_text().startswith("# Bolt inspection")
    shown = screen.getvalue()
    assert "bolt 3201" in shown
    assert "% of the way from testing everything to the clairvoyant" in shown
