"""Blocks of subjects against a naive loop, pseudo against realised regret, and closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from proband import Discrete, Problem, Records, Test, evaluate, plan
from proband.agents import (
    AGENTS,
    FOREVER,
    Agent,
    Clairvoyant,
    Doubling,
    ExploreThenCommit,
    Greedy,
    LeafCompletion,
    SafeLeafCompletion,
    Setting,
    Thompson,
    build_agent,
    exploration_length,
)
from proband.agents import TestEverything as EveryTest
from proband.errors import AgentError
from proband.instances import Instance, many_states, paper_discrete, single_test
from proband.policies import AtLeaves, Completing, follow
from proband.rewards import Match
from proband.simulation import FullInformation, checkpoints, simulate
from proband.vocabulary import Policy, outcome_rows

SMALL = paper_discrete(np.random.default_rng(3), d=3)


def stream_of(instance: Instance, n: int, seed: int) -> np.ndarray:
    p = instance.distribution.probabilities
    return np.random.default_rng(seed).choice(len(p), size=n, p=p)


def one_at_a_time(instance: Instance, agent: Agent, stream: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The reference: every subject alone, every action asked for, every record learned at once.

    Returns realised regret, cost and number of tests.
    """
    problem, law = instance.problem, instance.distribution
    best = plan(problem, law)
    sums = np.zeros(3)
    for x in law.support[stream]:
        policy, state = agent.policy(), np.full((1, problem.d), np.nan)
        state[:, problem.context] = x[problem.context]
        coin = rng.random()
        cost = tests = 0.0
        while (action := int(policy.act(state, coin)[0])) < problem.d:
            cost, tests = cost + problem.costs(state)[0, action], tests + 1
            state[0, action] = x[action]
        earned = problem.realised(x[None], np.array([action]))[0] - cost
        ideal = follow(problem, best, x[None])
        sums += [problem.realised(x[None], ideal.actions)[0] - ideal.costs[0] - earned, cost, tests]
        agent.learn(Records(state))
    return sums


DETERMINISTIC: dict[str, Callable[[Problem, int], Agent]] = {
    "everything": lambda problem, horizon: EveryTest(problem),
    "etc": lambda problem, horizon: ExploreThenCommit(problem, horizon=horizon),
    "wrong horizon": lambda problem, horizon: ExploreThenCommit(problem, horizon=horizon // 9),
    "doubling": lambda problem, horizon: Doubling(lambda h: ExploreThenCommit(problem, horizon=h)),
    "keep": lambda problem, horizon: Doubling(lambda h: ExploreThenCommit(problem, horizon=h), keep=True),
    "greedy": lambda problem, horizon: Greedy(problem),
    "thompson": lambda problem, horizon: Thompson(problem, seed=4),
}


@pytest.mark.parametrize("name", DETERMINISTIC)
@pytest.mark.parametrize("instance", [SMALL, many_states(2, epsilon=0.3)], ids=["paper", "many"])
def test_blocks_are_exactly_the_naive_loop_without_coins(name: str, instance: Instance) -> None:
    stream, make = stream_of(instance, 400, 1), DETERMINISTIC[name]
    blocks = simulate(
        instance.problem, instance.distribution, make(instance.problem, 400), stream, rng=np.random.default_rng(0)
    )
    naive = one_at_a_time(instance, make(instance.problem, 400), stream, np.random.default_rng(0))
    assert [blocks.realised_regret[-1], blocks.cost[-1], blocks.tests[-1]] == pytest.approx(naive.tolist(), abs=1e-9)


class Fixed:
    """An agent of one policy."""

    commitment = FOREVER

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def policy(self) -> Policy:
        return self._policy

    def learn(self, records: Records) -> None:
        pass


def test_coins_in_blocks_are_those_of_the_naive_loop_in_distribution() -> None:
    problem, law = SMALL.problem, SMALL.distribution
    base = plan(problem, law)
    leaves = np.unique(np.nan_to_num(follow(problem, base, law.support).states, nan=-1), axis=0)
    policy = Completing(
        problem, base, AtLeaves(np.where(leaves < 0, np.nan, leaves), np.linspace(0.1, 0.9, len(leaves)))
    )
    exact = evaluate(problem, law, policy)
    n, streams = 100, 20
    naive = [
        one_at_a_time(SMALL, Fixed(policy), stream_of(SMALL, n, seed), np.random.default_rng(seed))
        for seed in range(streams)
    ]
    blocks = []
    for seed in range(1000, 1000 + 10 * streams):
        run = simulate(problem, law, Fixed(policy), stream_of(SMALL, n, seed), rng=np.random.default_rng(seed))
        blocks.append([run.realised_regret[-1], run.cost[-1], run.tests[-1]])
        assert run.pseudo_regret[-1] == pytest.approx(n * (base.value - exact.value))
    expected = n * np.array([base.value - exact.value, exact.cost, exact.tests])
    for runs in (np.array(naive), np.array(blocks)):
        assert within_3_errors(runs, expected)


def test_an_agent_with_coins_in_blocks_and_in_the_naive_loop() -> None:
    instance, n, runs = many_states(2, epsilon=0.3), 80, 25

    def agent(seed: int) -> Agent:
        return LeafCompletion(instance.problem, seed=seed, first=8, growth=1.0, draws=2)

    naive = [
        one_at_a_time(instance, agent(seed), stream_of(instance, n, seed), np.random.default_rng(seed))
        for seed in range(runs)
    ]
    blocks = []
    for seed in range(1000, 1000 + 3 * runs):
        law, rng = instance.distribution, np.random.default_rng(seed)
        run = simulate(instance.problem, law, agent(seed), stream_of(instance, n, seed), rng=rng)
        blocks.append([run.realised_regret[-1], run.cost[-1], run.tests[-1]])
    a, b = np.array(naive), np.array(blocks)
    error = np.sqrt(a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b))
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 3 * error).all()


@pytest.mark.parametrize("kind", [Greedy, pytest.param(SafeLeafCompletion, marks=pytest.mark.slow)])
def test_realised_regret_is_pseudo_regret_on_average(kind: type[Greedy] | type[SafeLeafCompletion]) -> None:
    problem, law = SMALL.problem, SMALL.distribution
    gaps = []
    for seed in range(40):
        agent = kind(problem, seed=seed, first=8, growth=0.5)
        run = simulate(problem, law, agent, stream_of(SMALL, 300, seed), rng=np.random.default_rng(seed))
        gaps.append(run.realised_regret - run.pseudo_regret)
    gap = np.array(gaps)
    assert within_3_errors(gap[:, [5, 12, 20, -1]], np.zeros(4))
    assert gap[:, -1].std() > 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("horizon", [500, 4096])
def test_explore_then_commit_has_the_binomial_regret_of_the_single_test_bound(horizon: int, sign: int) -> None:
    """N subjects lose 1/4 + ε/2 each; the other T − N lose ε each if the majority of N was wrong."""
    epsilon = horizon ** (-1 / 3)
    instance = single_test(epsilon=epsilon, sign=sign)
    expected = expected_regret(instance, horizon, epsilon)
    runs = 400
    pseudo, realised = np.empty(runs), np.empty(runs)
    for seed in range(runs):
        agent = ExploreThenCommit(instance.problem, horizon=horizon)
        stream, rng = stream_of(instance, horizon, seed), np.random.default_rng(0)
        run = simulate(instance.problem, instance.distribution, agent, stream, rng=rng, at=np.array([horizon]))
        pseudo[seed], realised[seed] = run.pseudo_regret[-1], run.realised_regret[-1]
    assert within_3_errors(pseudo[:, None], np.array([expected]))
    assert within_3_errors(realised[:, None], np.array([expected]))


def test_doubling_has_the_sum_of_its_batches_regrets() -> None:
    epsilon, batches = 0.1, 11
    instance = single_test(epsilon=epsilon)
    expected = sum(expected_regret(instance, 2**i, epsilon) for i in range(batches))
    pseudo = np.empty(120)
    for seed in range(len(pseudo)):
        agent = Doubling(lambda horizon: ExploreThenCommit(instance.problem, horizon=horizon))
        stream, rng = stream_of(instance, 2**batches - 1, seed), np.random.default_rng(0)
        run = simulate(instance.problem, instance.distribution, agent, stream, rng=rng, at=np.array([len(stream)]))
        pseudo[seed] = run.pseudo_regret[-1]
    assert within_3_errors(pseudo[:, None], np.array([expected]))


def expected_regret(instance: Instance, horizon: int, epsilon: float) -> float:
    zero = float(instance.distribution.probabilities[0])
    n = min(horizon, exploration_length(2, horizon))
    tie = plan(instance.problem, Discrete([[0], [1]], [0.5, 0.5])).act([[np.nan]])[0] - instance.problem.d
    name_zero = binom.sf(n / 2, n, zero) + (binom.pmf(n / 2, n, zero) if tie == 0 and n % 2 == 0 else 0.0)
    wrong = 1 - name_zero if zero > 0.5 else name_zero
    return n * (1 / 4 + epsilon / 2) + (horizon - n) * epsilon * wrong


def test_the_clairvoyant_regrets_nothing() -> None:
    problem, law = SMALL.problem, SMALL.distribution
    run = simulate(problem, law, Clairvoyant(problem, law), stream_of(SMALL, 500, 0), rng=np.random.default_rng(0))
    assert not run.pseudo_regret.any()
    assert not run.realised_regret.any()
    assert run.blocks == 1


def test_testing_everything_loses_the_same_each_time() -> None:
    problem, law = SMALL.problem, SMALL.distribution
    loss = plan(problem, law).value - evaluate(problem, law, EveryTest(problem).policy()).value
    run = simulate(problem, law, EveryTest(problem), stream_of(SMALL, 500, 0), rng=np.random.default_rng(0))
    assert run.pseudo_regret == pytest.approx(loss * run.t)
    assert run.tests == pytest.approx(3 * run.t)
    assert run.cost == pytest.approx(0.15 * run.t)


@pytest.mark.parametrize("horizon", [1, 2, 3, 17, 64, 1000])
def test_checkpoints_end_with_the_horizon(horizon: int) -> None:
    at = checkpoints(horizon)
    assert (at[0], at[-1]) == (1, horizon)
    assert (np.diff(at) > 0).all()


def test_checkpoints_do_not_change_what_happens() -> None:
    problem, law = SMALL.problem, SMALL.distribution
    stream = stream_of(SMALL, 300, 5)
    runs = [
        simulate(problem, law, Thompson(problem, seed=1), stream, rng=np.random.default_rng(0), at=at)
        for at in (np.array([300]), np.arange(1, 301), checkpoints(300))
    ]
    assert len({run.blocks for run in runs}) == 1
    assert runs[1].pseudo_regret[runs[2].t - 1] == pytest.approx(runs[2].pseudo_regret)
    assert runs[0].realised_regret[-1] == pytest.approx(runs[1].realised_regret[-1])
    assert (np.diff(runs[1].tests) >= 0).all()
    assert runs[1].t.tolist() == list(range(1, 301))


def test_the_same_seeds_give_the_same_figures() -> None:
    problem, law = SMALL.problem, SMALL.distribution
    runs = [
        simulate(
            problem, law, SafeLeafCompletion(problem, seed=2), stream_of(SMALL, 500, 5), rng=np.random.default_rng(7)
        )
        for _ in range(2)
    ]
    for name in ("pseudo_regret", "realised_regret", "cost", "tests"):
        assert np.array_equal(getattr(runs[0], name), getattr(runs[1], name))


def test_subjects_with_context_and_unavailable_tests() -> None:
    tests = [Test("age", on_arrival=True), Test("sign", 0.1), Test("gold", available=False)]
    problem = Problem(tests, (), Match())
    law = Discrete.from_weights(outcome_rows(np.arange(8), tests), np.arange(1, 9))
    instance = Instance("context", problem, law)
    stream = stream_of(instance, 200, 3)
    run = simulate(problem, law, Greedy(problem, first=4), stream, rng=np.random.default_rng(0))
    naive = one_at_a_time(instance, Greedy(problem, first=4), stream, np.random.default_rng(0))
    assert [run.realised_regret[-1], run.cost[-1], run.tests[-1]] == pytest.approx(naive.tolist(), abs=1e-9)


def within_3_errors(runs: np.ndarray, expected: np.ndarray) -> bool:
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    return bool((np.abs(runs.mean(axis=0) - expected) <= 3 * error + 1e-9).all())


@pytest.mark.parametrize("instance", [SMALL, many_states(2, epsilon=0.2, rng=np.random.default_rng(5))])
def test_full_information_learns_whole_subjects_and_pays_for_its_policies_alone(instance: Instance) -> None:
    """Its law is that of all subjects, whatever was tested; costs are those of the policies that were played."""
    stream, policies = stream_of(instance, 500, 1), []

    class Recorded(Greedy):
        def learn(self, records: Records) -> None:
            policies.extend([self.policy()] * records.n)
            super().learn(records)

    agent = FullInformation(Recorded(instance.problem, first=16))
    run = simulate(instance.problem, instance.distribution, agent, stream, rng=np.random.default_rng(2))
    rows = instance.distribution.support[stream]
    seen = agent.agent.estimator.observations
    distinct, counts = np.unique(rows[: int(seen.total)], axis=0, return_counts=True)
    assert dict(zip(map(tuple, seen.rows), seen.counts, strict=True)) == dict(
        zip(map(tuple, distinct), counts, strict=True)
    )
    paid = sum(
        float(follow(instance.problem, policy, row[None]).costs[0]) for policy, row in zip(policies, rows, strict=True)
    )
    assert run.cost[-1] == pytest.approx(paid, abs=1e-9)
    assert run.cost[-1] < 500 * sum(test.cost for test in instance.problem.tests)


def test_full_information_is_no_agent_that_can_be_named() -> None:
    """A study or the command line could otherwise ask for what nobody can show."""
    assert not any("full" in name for name in AGENTS)
    with pytest.raises(AgentError, match="kinds"):
        build_agent("proband.simulation.full_information:FullInformation", Setting(SMALL.problem))
