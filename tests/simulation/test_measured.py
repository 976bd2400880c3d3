from __future__ import annotations

import numpy as np
import pytest

from proband import plan
from proband.agents import Clairvoyant, TestEverything
from proband.agents.entropy import Thrifty
from proband.agents.gaussian import GaussianExploreThenCommit
from proband.instances import bolts_measured, monitoring_network, paper_entropy
from proband.policies import follow, test_everything
from proband.simulation import draw_stream, simulate

RNG = np.random.default_rng


def test_the_clairvoyant_loses_nothing() -> None:
    instance = bolts_measured()
    problem, law = instance.problem, instance.distribution
    run = simulate(problem, law, Clairvoyant(problem, law), draw_stream(problem, law, RNG(0), 3000), rng=RNG(1))
    assert np.abs(run.pseudo_regret).max() == 0
    assert np.abs(run.realised_regret).max() == 0
    assert run.blocks == 1


def test_testing_everything_loses_what_it_loses() -> None:
    instance = bolts_measured()
    problem, law = instance.problem, instance.distribution
    rows = draw_stream(problem, law, RNG(0), 40_000)
    run = simulate(problem, law, TestEverything(problem), rows, rng=RNG(1))
    everything = follow(problem, test_everything(problem), rows)
    best = plan(problem, law)
    reference = follow(problem, best, rows)
    mine = problem.realised(rows, everything.actions) - everything.costs
    theirs = problem.realised(rows, reference.actions) - reference.costs
    assert run.realised_regret[-1] == pytest.approx((theirs - mine).sum())
    assert run.pseudo_regret[-1] == pytest.approx(
        run.realised_regret[-1], abs=5 * (theirs - mine).std() * np.sqrt(len(rows))
    )
    assert run.cost[-1] == pytest.approx(everything.costs.sum())
    assert run.tests[-1] == 6 * len(rows)
    expected = best.value - float((problem.payoff(rows).max(axis=1)).mean() - everything.costs[0])
    assert run.pseudo_regret[-1] / len(rows) == pytest.approx(expected, abs=0.01)


def test_a_stream_begins_with_the_same_subjects() -> None:
    problem, law = bolts_measured().problem, bolts_measured().distribution
    assert (draw_stream(problem, law, RNG(3), 10) == draw_stream(problem, law, RNG(3), 20)[:10]).all()


def test_explore_then_commit_explores_then_commits() -> None:
    instance = bolts_measured()
    problem, law = instance.problem, instance.distribution
    agent = GaussianExploreThenCommit(problem, horizon=1000, explore=100)
    run = simulate(problem, law, agent, draw_stream(problem, law, RNG(0), 1000), rng=RNG(1), at=np.array([100, 1000]))
    assert run.tests[0] == 600
    assert run.tests[1] - run.tests[0] < 6 * 900
    assert run.blocks == 2


def test_sets_lose_exactly_the_difference_of_their_rewards() -> None:
    instance = paper_entropy(RNG(2), d=6)
    problem, law = instance.problem, instance.distribution
    best = plan(problem, law).value
    cost = sum(test.cost for test in problem.tests)
    run = simulate(problem, law, TestEverything(problem), draw_stream(problem, law, RNG(0), 100), rng=RNG(1))
    assert run.pseudo_regret[-1] == pytest.approx(100 * (best - law.entropy() + cost))
    assert (run.pseudo_regret == run.realised_regret).all()
    assert run.tests[-1] == 600


def test_a_set_agent_learns() -> None:
    instance = monitoring_network()
    problem, law = instance.problem, instance.distribution
    rows = draw_stream(problem, law, RNG(0), 4096)
    everything = simulate(problem, law, TestEverything(problem), rows, rng=RNG(1))
    thrifty = simulate(problem, law, Thrifty(problem, horizon=4096), rows, rng=RNG(1))
    assert thrifty.pseudo_regret[-1] < everything.pseudo_regret[-1] / 10
    assert (np.diff(thrifty.pseudo_regret) >= -1e-9).all()
