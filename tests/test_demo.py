from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from proband import evaluate, plan
from proband.agents import DEFAULT_AGENT, ExploreThenCommit
from proband.demo import Demonstration, journey, learn_online, report, show
from proband.demo.report import cost_table, curves, regret_table, way
from proband.demo.stream import NAMES
from proband.figures import draw_demo
from proband.instances import bolts
from proband.policies import AtLeaves, Completing, follow, test_everything
from proband.simulation import simulate
from proband.vocabulary import IntArray

SEED, SUBJECTS = 1, 3000
PROBLEM, LAW = bolts().problem, bolts().distribution


@pytest.fixture(scope="module")
def demonstration() -> Demonstration:
    return learn_online(seed=SEED, subjects=SUBJECTS)


@pytest.fixture
def stream() -> IntArray:
    return np.random.default_rng(SEED).choice(len(LAW), size=SUBJECTS, p=LAW.probabilities)


def test_three_agents_and_the_clairvoyant(demonstration: Demonstration) -> None:
    assert [run.name for run in demonstration.learners] == ["explore-then-commit", "doubling", DEFAULT_AGENT]
    clairvoyant = demonstration.runs[-1]
    assert clairvoyant.name == "clairvoyant"
    np.testing.assert_allclose(clairvoyant.regret, 0, atol=1e-9)


def test_explore_then_commit_tests_everything_at_first(demonstration: Demonstration, stream: IntArray) -> None:
    run, doubling, _ = demonstration.learners
    assert demonstration.exploration == 2496  # ⌊1728^(1/3) 3000^(2/3)⌋
    gap = demonstration.clairvoyant.value - evaluate(PROBLEM, LAW, test_everything(PROBLEM)).value
    assert run.after(run.regret, 300) == pytest.approx(300 * gap)
    assert doubling.after(doubling.regret, 300) == pytest.approx(300 * gap)
    episodes = follow(PROBLEM, test_everything(PROBLEM), LAW.support[stream[:100]])
    rewards = PROBLEM.realised(LAW.support[stream[:100]], episodes.actions)
    assert demonstration.stretches(run, run.cost)[0] == pytest.approx(9.25)
    assert demonstration.stretches(run, run.earned)[0] == pytest.approx(rewards.mean() - 9.25)


def test_it_commits_to_the_plan_of_its_records(demonstration: Demonstration, stream: IntArray) -> None:
    agent = ExploreThenCommit(PROBLEM, horizon=SUBJECTS)
    simulate(PROBLEM, LAW, agent, stream, rng=np.random.default_rng(0))
    last = LAW.support[stream[-300:]]
    episodes = follow(PROBLEM, agent.policy(), last)
    earned = (PROBLEM.realised(last, episodes.actions) - episodes.costs).mean()
    run = demonstration.learners[0]
    assert demonstration.stretches(run, run.cost)[1] == pytest.approx(episodes.costs.mean())
    assert demonstration.stretches(run, run.earned)[1] == pytest.approx(earned)
    loss = demonstration.clairvoyant.value - evaluate(PROBLEM, LAW, agent.policy()).value
    assert demonstration.stretches(run, run.regret)[1] == pytest.approx(loss)


def test_learning_pays(demonstration: Demonstration) -> None:
    run = demonstration.learners[-1]
    before, after = demonstration.stretches(run, run.cost)
    assert after < 0.6 * before
    assert 0 < demonstration.share(run) < 0.5
    assert demonstration.share(demonstration.learners[0]) == 1


def test_the_learned_plan_is_measured_by_the_truth(demonstration: Demonstration) -> None:
    assert demonstration.truth == evaluate(PROBLEM, LAW, demonstration.learned)
    assert demonstration.truth.value <= demonstration.clairvoyant.value + 1e-12
    assert 0 < demonstration.completing < 0.5
    shares = demonstration.test_shares()
    assert sum(learned for learned, _ in shares.values()) == pytest.approx(demonstration.truth.tests)
    assert sum(best for _, best in shares.values()) == pytest.approx(demonstration.clairvoyant.expected_tests)


def test_hindsight_is_the_best_of_the_lengths_tried(demonstration: Demonstration, stream: IntArray) -> None:
    length, least = demonstration.hindsight
    for explore in (100, 200, 400, 800, 1600):
        agent = ExploreThenCommit(PROBLEM, horizon=SUBJECTS, explore=explore)
        found = simulate(PROBLEM, LAW, agent, stream, rng=np.random.default_rng(0)).pseudo_regret[-1]
        assert found == pytest.approx(least) if explore == length else found > least


def test_progress_is_told_and_the_same_seed_gives_the_same() -> None:
    told: list[tuple[str, int]] = []
    first = learn_online(seed=5, subjects=200, tell=lambda name, done: told.append((name, done)))
    for name in NAMES:
        done = [n for agent, n in told if agent == name]
        assert (done[0], done[-1], done) == (0, 200, sorted(done))
    again, other = learn_online(seed=5, subjects=200), learn_online(seed=6, subjects=200)
    assert report(first) == report(again) != report(other)


class TestJourneys:
    def test_the_first_bolt_goes_through_every_test(self, demonstration: Demonstration) -> None:
        first, *later = demonstration.journeys
        assert (first.number, len(first.steps), first.paid) == (1, 9, pytest.approx(9.25))
        assert [found.number for found in later] == [3001, 3002, 3003, 3004]

    def test_it_costs_what_the_episode_cost(self, stream: IntArray) -> None:
        best, rows = plan(PROBLEM, LAW), LAW.support[stream[:30]]
        episodes = follow(PROBLEM, best, rows)
        for n, row in enumerate(rows):
            found = journey(PROBLEM, best, row, number=n)
            assert (found.paid, len(found.steps)) == (pytest.approx(episodes.costs[n]), episodes.tests[n])
            assert found.decision == PROBLEM.action_name(int(episodes.actions[n]))
            assert not found.explored

    def test_a_coin_that_falls_has_the_bolt_completed(self, stream: IntArray) -> None:
        best, row = plan(PROBLEM, LAW), LAW.support[stream[0]]
        leaf = follow(PROBLEM, best, row[None]).states
        policy = Completing(PROBLEM, best, AtLeaves(leaf, np.array([0.5])))
        fallen, not_fallen = (journey(PROBLEM, policy, row, coin=coin) for coin in (0.4, 0.6))
        assert (fallen.explored, len(fallen.steps)) == (True, 9)
        assert not_fallen == journey(PROBLEM, best, row)
        assert "a coin had it completed" in way(fallen, "USD")
        assert "coin" not in way(replace(fallen, explored=False), "USD")


def test_the_tables_say_what_was_found(demonstration: Demonstration) -> None:
    regret, costs = regret_table(demonstration), cost_table(demonstration)
    assert regret.headings[2:] == ("30 bolts", "300 bolts", "3,000 bolts", "of the first")
    assert [row[4] for row in regret.rows] == [f"{run.regret[-1]:,.0f}" for run in demonstration.learners]
    assert costs.headings[1:3] == ("tests cost, first 100", "tests cost, last 300")
    assert costs.rows[0][1] == "9.25"
    assert costs.rows[-1][0] == "clairvoyant"


def test_the_report_says_it_all(demonstration: Demonstration) -> None:
    written = report(demonstration)
    for row in (*regret_table(demonstration).rows, *cost_table(demonstration).rows):
        assert f"| {' | '.join(row)} |" in written
    assert "(demo.png)" in written
    assert "bolt weight (0.05 USD)" in written
    assert "one seed (1)" in written.replace("\n", " ")


def test_the_figure_has_three_panels(demonstration: Demonstration) -> None:
    panels = draw_demo(curves(demonstration)).axes
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles == ["Lost to the clairvoyant so far", "What testing a bolt costs", "Which tests are run in the end"]
    for axes in panels[:2]:
        assert all(any(label.get_text().startswith(name) for label in axes.texts) for name in NAMES)


def test_the_show_ends_with_its_files(tmp_path: Path) -> None:
    screen = io.StringIO()
    show(tmp_path / "out", subjects=500, console=Console(file=screen, width=120))
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "report.md").read_text().startswith("# Bolt inspection")
    shown = screen.getvalue()
    assert all(f"{name} " in shown for name in NAMES)
    assert "bolt 501:" in shown
    assert "an illustration, not a measurement" in shown


def test_without_matplotlib_it_says_so_first_and_writes_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    screen = io.StringIO()
    show(tmp_path / "out", subjects=500, console=Console(file=screen, width=120))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.md"]
    assert "demo.png" not in (tmp_path / "out" / "report.md").read_text()
    shown = screen.getvalue()
    assert shown.index('pip install "proband[figures]"') < shown.index("explore-then-commit")
    assert "report.md" in shown
    assert "demo.png" not in shown
