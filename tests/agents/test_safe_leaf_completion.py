"""The three safeguards of the safe agent, watched from outside: floor, cap, veto, and the measure W_t behind it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test, evaluate, plan
from proband.agents import LeafCompletion, SafeLeafCompletion
from proband.agents.listed import leaves
from proband.errors import AgentError
from proband.instances import Instance, easy, gout, many_states, paper_discrete, single_test
from proband.planners.dense_plan import BorrowedPlan
from proband.planners.layout import layout_of
from proband.policies import AtLeaves, Completing, DecideNow, chances, follow
from proband.rewards import Match, Table
from proband.simulation import simulate
from proband.vocabulary import Policy, outcome_rows


def context_and_groups() -> Instance:
    tests = [
        Test("age", on_arrival=True),
        Test("urate", 0.3, outcomes=("low", "mid", "high"), group="blood", group_cost=0.1),
        Test("crp", 0.2, group="blood", group_cost=0.05),
        Test("x-ray", 0.1),
    ]
    problem = Problem(tests, ["no", "yes"], Table(["x-ray", "crp"], [[[1, 0], [0, 1]], [[0, 2], [-1, 1]]]))
    weights = np.random.default_rng(4).exponential(size=24)
    return Instance("context", problem, Discrete.from_weights(outcome_rows(np.arange(24), tests), weights))


INSTANCES = {
    "paper": paper_discrete(np.random.default_rng(0), d=4),
    "single": single_test(epsilon=0.05),
    "many": many_states(4, epsilon=0.2),
    "easy": easy(),
    "context": context_and_groups(),
}


class Watch:
    """Passes everything on to an agent and looks at what happens."""

    def __init__(self, agent: SafeLeafCompletion, *, floor: float = 0.004) -> None:
        self.agent, self.problem = agent, agent.problem
        self.rows = outcome_rows(np.arange(self.problem.size), self.problem.tests)
        seen = [i for i, test in enumerate(self.problem.tests) if test.available]
        self.k, self.floor = math.prod(self.problem.k[seen].tolist()), floor
        self.t = self.start = self.beyond = self.completed = 0
        self.lowest, self.chance = 1.0, np.ones(len(self.rows))
        self.last: Policy | None = None
        self.measure = np.zeros(self.problem.size)
        self.shares: list[float] = []

    @property
    def commitment(self) -> int:
        return self.agent.commitment

    def policy(self) -> Policy:
        policy = self.agent.policy()
        if policy is not self.last:
            self.last, self.start = policy, self.t
            self.chance = self.propensities(policy)
            if self.t:
                self.lowest = min(1.0, 2 / 3 * self.floor * self.k ** (1 / 3) * self.t ** (-1 / 3))
            assert (self.chance >= self.lowest * (1 - 1e-12)).all()
        return policy

    def propensities(self, policy: Policy) -> np.ndarray:
        """The probability with which each outcome vector is seen completely."""
        if not isinstance(policy, Completing):
            return np.ones(len(self.rows))
        stopped = policy.stopped(self.rows).states
        stopped = np.isnan(stopped[:, self.problem.operable]).any(axis=1)
        return np.where(stopped, policy.completion(policy.stopped(self.rows).states), 1.0)

    def learn(self, records: Records) -> None:
        for row, count in zip(records.outcomes, records.counts.tolist(), strict=True):
            if np.isnan(row[self.problem.operable]).any():
                continue
            agreeing = np.flatnonzero((np.isnan(row) | (self.rows == row)).all(axis=1))
            e = self.chance[agreeing[0]]
            self.measure[agreeing[0]] += count / e
            self.beyond += count * (self.lowest * (1 + 1e-12) < e < 1 or (e == 1 and self.by_coin(agreeing[0])))
        self.t += records.n
        cap = self.agent.cap * self.k ** (1 / 3) * self.t ** (2 / 3)
        assert self.beyond <= cap + 1e-9
        self.shares.append(self.beyond / cap)
        self.agent.learn(records)

    def by_coin(self, row: int) -> bool:
        """Whether a subject that is always completed is so by a coin of probability one, not by the base policy."""
        if not isinstance(self.last, Completing) or self.lowest >= 1:
            return False
        return bool(np.isnan(self.last.stopped(self.rows[[row]]).states[:, self.problem.operable]).any())


def run(instance: Instance, agent: Any, n: int, seed: int = 0) -> Any:
    law = instance.distribution
    stream = np.random.default_rng(seed).choice(len(law), size=n, p=law.probabilities)
    return simulate(instance.problem, law, agent, stream, rng=np.random.default_rng(seed + 1), at=np.array([n]))


def close(agent: SafeLeafCompletion) -> None:
    """End the block with subjects of whom nothing was seen: an agent learns at the end of a block."""
    agent.learn(Records(np.full((1, agent.problem.d), np.nan), counts=[agent.left]))


@pytest.mark.parametrize("name", INSTANCES)
def test_floor_and_cap_hold_in_every_block(name: str) -> None:
    instance = INSTANCES[name]
    watch = Watch(SafeLeafCompletion(instance.problem, seed=1, draws=4))
    run(instance, watch, 20_000)
    close(watch.agent)
    assert watch.beyond == watch.agent.completed
    assert watch.measure == pytest.approx(watch.agent.reference.weighted)
    assert watch.lowest < 0.02


@pytest.mark.parametrize("name", INSTANCES)
def test_draws_that_are_solved_below_the_leaves_alone_lose_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for problems of many states: the same leaves and losses where the tables below them hold everything."""
    instance = INSTANCES[name]
    agent = SafeLeafCompletion(instance.problem, seed=1, draws=4, thompson=0.0)
    run(instance, agent, 3_000)
    stops = []
    for largest in (2**20, 0):
        monkeypatch.setattr(leaves, "LARGEST_TABLE", largest)
        stops.append(agent.leaves.look(agent.estimator, agent.planner, np.random.default_rng(2), agent.t))
    whole, below = stops
    assert np.array_equal(whole.where, below.where, equal_nan=True)
    assert below.loss == pytest.approx(whole.loss, abs=1e-12)


@pytest.mark.parametrize("name", INSTANCES)
def test_floor_and_cap_hold_with_many_states(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "LARGEST_TABLE", 0)
    instance = INSTANCES[name]
    watch = Watch(SafeLeafCompletion(instance.problem, seed=1, draws=4, thompson=1.0))
    run(instance, watch, 3_000)
    close(watch.agent)
    assert watch.beyond == watch.agent.completed


@pytest.mark.parametrize("name", INSTANCES)
def test_the_rival_is_what_is_most_worth_a_block(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its values under the estimate and the draws, each evaluated as a policy."""
    monkeypatch.setattr(leaves, "UNSEEN", 0.0)
    instance, problem = INSTANCES[name], INSTANCES[name].problem
    agent = SafeLeafCompletion(problem, seed=1, draws=6, thompson=1.0)
    run(instance, agent, 600)
    estimator = agent.estimator
    played = agent.leaves.look(estimator, agent.planner, np.random.default_rng(2), agent.t).base
    laws = [Discrete(estimator.support, p) for p in estimator.draws(np.random.default_rng(2), 6)]
    own = plan(problem, estimator.distribution(), method="dense")

    def worth(policy: Policy) -> float:
        lost, *gained = (
            evaluate(problem, law, policy).value - evaluate(problem, law, own).value
            for law in (estimator.distribution(), *laws)
        )
        return float(leaves.WORTH * np.maximum(gained, 0).mean() + lost)

    layout = layout_of(problem)
    rivals = [
        BorrowedPlan(layout, estimator.distribution(), plan(problem, law, method="dense").solution) for law in laws
    ]
    assert worth(played) == pytest.approx(max(0.0, *map(worth, rivals)), abs=1e-12)


@pytest.mark.parametrize("name", ["paper", "single"])
def test_the_cap_binds_when_the_base_agent_explores_without_measure(name: str) -> None:
    """`ahead` far too far: the base agent would complete (nearly) everybody; the cap stops it."""
    instance = INSTANCES[name]
    watch = Watch(SafeLeafCompletion(instance.problem, seed=1, draws=4, ahead=1e9))
    run(instance, watch, 20_000)
    close(watch.agent)
    assert watch.beyond == watch.agent.completed
    assert max(watch.shares) > 0.6
    assert max(watch.shares) <= 1
    free = SafeLeafCompletion(instance.problem, seed=1, draws=4, ahead=1e9, cap=1e9)
    run(instance, free, 3_000)
    close(free)
    assert free.completed > instance.problem.size ** (1 / 3) * 3_000 ** (2 / 3)


def test_the_floor_of_a_large_constant_completes_everybody() -> None:
    instance = INSTANCES["single"]
    watch = Watch(SafeLeafCompletion(instance.problem, floor=100.0, draws=2), floor=100.0)
    assert run(instance, watch, 500).tests[-1] == 500
    assert watch.beyond == watch.agent.completed == 0


def test_where_tests_are_unavailable_floor_and_cap_hold_and_nothing_is_vetoed() -> None:
    instance = gout()
    small = Problem(
        [test for test in instance.problem.tests if test.name in ("sex", "serum urate", "CRP", "dual-energy CT")],
        instance.problem.decisions,
        lambda x, y: np.where(x[:, -1] == y % 2, 1.0, 0.0),
    )
    rows = outcome_rows(np.arange(small.size), small.tests)
    law = Discrete.from_weights(rows, np.random.default_rng(1).exponential(size=len(rows)))
    watch = Watch(SafeLeafCompletion(small, seed=1, draws=2, threshold=0.0))
    run(Instance("small", small, law), watch, 3000)
    close(watch.agent)
    assert watch.agent.vetoes == 0
    assert watch.beyond == watch.agent.completed


def test_the_measure_is_unbiased() -> None:
    """E[W_t] = P whatever the agent does; W_t is also that of the definition, Σ 1{x seen}/e(x) over t."""
    instance, n, runs = many_states(2, epsilon=0.4), 150, 60
    measures = np.empty((runs, 4))
    for seed in range(runs):
        agent = SafeLeafCompletion(instance.problem, seed=seed, first=8, growth=2.0, draws=2, floor=0.3)
        watch = Watch(agent, floor=0.3)
        run(instance, watch, n, seed)
        assert agent.t == n
        close(agent)
        measures[seed] = agent.reference.weighted / n
        assert agent.reference.weighted == pytest.approx(watch.measure)
    truth = instance.distribution.probabilities
    error = measures.std(axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(measures.mean(axis=0) - truth) < 3 * error).all()
    assert (error > 0.001).all()


class Sabotaged(SafeLeafCompletion):
    """Proposes to decide wrongly and untested, always."""

    def propose(self) -> Completing:
        super().propose()
        wrong = DecideNow(self.problem, self.problem.decisions[-1])
        leaves = self.leaves.ends(wrong, self.estimator.support)  # type: ignore[attr-defined]
        coins = np.where(leaves.open, self.lowest, 0.0)
        return Completing(self.problem, wrong, AtLeaves(leaves.states, coins))


def test_a_sabotaged_proposal_is_vetoed_in_time() -> None:
    """With a floor of 0.03: 0.8 a subject are lost until 12.7·t^(−1/3) is below that, near t = 4,000."""
    instance = easy()
    n = 2**17
    with_veto, without = (Sabotaged(instance.problem, draws=2, floor=0.03, threshold=x) for x in (1, 1e9))
    lost, hopeless = (run(instance, agent, n).pseudo_regret[-1] for agent in (with_veto, without))
    assert hopeless == pytest.approx(0.8 * n, rel=0.02)
    assert with_veto.vetoes > 20
    assert lost < 0.1 * hopeless
    best = plan(instance.problem, instance.distribution).value
    played = with_veto.policy()
    assert isinstance(played, Completing)
    assert evaluate(instance.problem, instance.distribution, played.base).value == pytest.approx(best)


def test_with_a_lower_threshold_the_veto_fires_at_once() -> None:
    instance = easy()
    agent = Sabotaged(instance.problem, draws=2, floor=0.03, threshold=0.05)
    assert run(instance, agent, 2**14).pseudo_regret[-1] < 150
    assert agent.vetoes > 20


def test_a_good_proposal_is_left_alone() -> None:
    for name in ("paper", "easy", "many"):
        agent = SafeLeafCompletion(INSTANCES[name].problem, draws=4)
        run(INSTANCES[name], agent, 2**14)
        assert agent.vetoes == 0


def test_a_threshold_of_zero_is_safe_too() -> None:
    """A smaller threshold only vetoes more: then the plan of W_t is played, which loses at most two widths."""
    instance = easy()
    agent = SafeLeafCompletion(instance.problem, draws=2, threshold=0.0)
    assert run(instance, agent, 2**15).pseudo_regret[-1] < 400


def test_the_measure_stays_within_the_theorems_width() -> None:
    """docs/safe-leaf-completion.md, Lemma 2, where it is not vacuous: K = 2, t = 2^20."""
    instance, n = single_test(epsilon=0.1), 2**20
    agent = SafeLeafCompletion(instance.problem, draws=2, floor=0.03)
    run(instance, agent, n)
    close(agent)
    t, a = n, 2 / 3 * 0.03 * 2 ** (1 / 3)
    length = 2 * math.log(2) + math.log(t * (t + 1) / 0.01)
    h = math.sqrt(2 * length * (1 / t + t ** (-2 / 3) / a))
    distance = np.abs(agent.reference.weighted / t - instance.distribution.probabilities).sum()
    assert distance < h + 2 / 3 * h**2 < 1


def test_nothing_complete_nothing_to_veto_with() -> None:
    problem = Problem([Test("a", 0.1), Test("b", 0.1)], (), Match())
    agent = SafeLeafCompletion(problem, draws=2)
    agent.learn(Records([[0, np.nan]], counts=[100]))
    assert isinstance(agent.policy(), Completing)
    assert agent.vetoes == 0


@pytest.mark.parametrize("options", [{"floor": 0.0}, {"floor": -1.0}, {"threshold": -0.1}, {"cap": -0.1}])
def test_impossible_settings(options: dict[str, Any]) -> None:
    with pytest.raises(AgentError, match="correct them"):
        SafeLeafCompletion(easy().problem, **options)


@pytest.mark.parametrize("options", [{"draws": 0}, {"thompson": 1.5}, {"ahead": -1.0}, {"first": 0}, {"growth": 0}])
def test_impossible_settings_of_leaf_completion(options: dict[str, Any]) -> None:
    with pytest.raises(AgentError, match="correct them"):
        LeafCompletion(easy().problem, **options)


def test_a_known_horizon_ends_exploration() -> None:
    instance = INSTANCES["paper"]
    agent = LeafCompletion(instance.problem, draws=4, horizon=1000)
    run(instance, agent, 1200)
    policy = agent.policy()
    assert isinstance(policy, Completing)
    assert not policy.completion.probabilities.any()
    assert agent.subjects_ahead() == 0


def test_coins_are_zero_where_the_leaf_is_complete() -> None:
    instance = INSTANCES["paper"]
    agent = SafeLeafCompletion(instance.problem, draws=4)
    run(instance, agent, 2000)
    policy = agent.policy()
    assert isinstance(policy, Completing)
    complete = ~np.isnan(policy.completion.leaves).any(axis=1)
    assert not policy.completion.probabilities[complete].any()
    assert (policy.completion.probabilities[~complete] > 0).all()
    assert (policy.completion.probabilities < 1).all()


def treat(
    agent: SafeLeafCompletion, instance: Instance, n: int, *, told: bool, at_once: int = 0, seed: int = 0
) -> SafeLeafCompletion:
    """Take n subjects through an agent as a study does: each meets the policy of its arrival, and is learned later.

    Up to `at_once` are open side by side; with 0, none is open when the policy changes.
    """
    problem, rng = instance.problem, np.random.default_rng(seed)
    rows, coins = instance.sample(rng, n), rng.random(n)
    ended, known, learned, t = np.empty_like(rows), np.empty(n), 0, 0
    while learned < n:
        policy, stop = agent.policy(), min(n, t + agent.commitment, learned + (at_once or n))
        ended[t:stop] = follow(problem, policy, rows[t:stop], coins=coins[t:stop]).states
        known[t:stop] = chances(problem, policy, ended[t:stop])
        t = stop
        few = min(t, learned + min(agent.commitment, at_once // 2 or n)) if t < n else t
        for piece in np.array_split(np.arange(learned, few), 3):
            for part in np.array_split(piece, 1 + len(piece) // agent.commitment):
                agent.learn(Records(ended[part], chances=known[part] if told else None))
        learned = few
    return agent


@pytest.mark.parametrize("ahead", [4.0, 1e9])
@pytest.mark.parametrize("name", INSTANCES)
def test_told_is_untold(name: str, ahead: float) -> None:
    """A study tells every chance, a simulation none: both have the same agent, bit for bit, the cap included."""
    instance = INSTANCES[name]
    told, untold = (
        treat(SafeLeafCompletion(instance.problem, seed=1, draws=4, ahead=ahead), instance, 1500, told=each)
        for each in (True, False)
    )
    assert (told.completed, told.t, told.left) == (untold.completed, untold.t, untold.left)
    assert told.reference.known == untold.reference.known
    assert np.array_equal(told.reference.weighted, untold.reference.weighted)


@pytest.mark.parametrize("at_once", [0, 40])
@pytest.mark.parametrize("name", ["paper", "single"])
def test_the_cap_holds_for_subjects_that_are_told(name: str, at_once: int) -> None:
    """Coins of probability (nearly) 1 are usual in early blocks, and each of them counts."""
    instance = INSTANCES[name]
    agent = SafeLeafCompletion(instance.problem, seed=1, draws=4, ahead=1e9)
    treat(agent, instance, 6_000, told=True, at_once=at_once)
    close(agent)
    cap = instance.problem.size ** (1 / 3) * agent.t ** (2 / 3)
    assert 0.3 * cap < agent.completed <= cap + at_once


def test_open_side_by_side_the_measure_is_unbiased() -> None:
    """W averages with the chances of the policies that subjects met, not of the one that rules when they end."""
    instance, n, runs = many_states(2, epsilon=0.4), 150, 60
    measures = np.empty((2, runs, 4))
    for seed in range(runs):
        for way, told in enumerate((True, False)):
            agent = SafeLeafCompletion(instance.problem, seed=seed, first=8, growth=2.0, draws=2, floor=0.3)
            treat(agent, instance, n, told=told, at_once=20, seed=seed)
            close(agent)
            measures[way, seed] = agent.reference.weighted / n
    truth = instance.distribution.probabilities
    error = measures.std(axis=1, ddof=1) / np.sqrt(runs)
    assert (np.abs(measures[0].mean(axis=0) - truth) < 3 * error[0]).all()
    masses = measures.sum(axis=2)
    off, width = np.abs(masses.mean(axis=1) - 1), masses.std(axis=1, ddof=1) / np.sqrt(runs)
    assert off[0] < 3 * width[0]
    assert off[1] > 4 * width[1]  # as if they had met the later policy


def test_subjects_of_unknown_chance_count_for_the_pace_and_not_for_the_measure() -> None:
    instance = INSTANCES["single"]
    agent = SafeLeafCompletion(instance.problem, draws=2)
    agent.learn(Records([[0.0]], counts=[30], chances=[np.nan]))
    agent.learn(Records([[1.0]], counts=[34], chances=[1.0]))
    assert (agent.t, agent.reference.known, agent.reference.weighted.tolist()) == (64, 34, [0.0, 34.0])
