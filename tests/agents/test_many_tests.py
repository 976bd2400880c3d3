"""The default agent with more tests than states can be listed for."""

from __future__ import annotations

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test
from proband.agents import Setting, build_agent
from proband.agents.estimates import has_many_tests
from proband.agents.listed.audits import AuditedSubjects, bounded_interval
from proband.agents.listed.many import FARTHEST, LOST, Ends, ManyLeaves, log_trees
from proband.agents.registry import default_agent
from proband.agents.safe_leaf_completion import SafeLeafCompletion
from proband.estimators import Structured
from proband.policies import Completing, branches, chances, follow
from proband.rewards import Match, Table
from proband.simulation import simulate
from proband.vocabulary import FloatArray


def panel(d: int = 20, **label: object) -> Problem:
    tests = [Test(f"test {i}", 0.02) for i in range(d)]
    tests.append(Test("label", 0.25, **label))  # type: ignore[arg-type]
    return Problem(tests, ["pass", "fail"], Table(["label"], [[1, 0], [0, 1]]))


def latent(problem: Problem, n: int, seed: int = 0) -> FloatArray:
    """Four kinds of subjects, of which two fail; half of the tests tell them apart."""
    rng = np.random.default_rng(seed)
    tells = np.where(np.arange(problem.d) % 2, 0.5, 0.0) + rng.choice([0.1, 0.9], size=(4, problem.d)) * (
        np.arange(problem.d) % 2 == 0
    )
    kind = rng.integers(4, size=n)
    rows = (rng.random((n, problem.d)) < tells[kind]).astype(float)
    rows[:, -1] = rng.random(n) < np.where(kind < 2, 0.05, 0.95)
    return rows


@pytest.fixture(scope="module")
def law() -> Discrete:
    rows = latent(panel(), 4000)
    return Discrete.from_weights(rows, np.ones(len(rows)))


def agent_for(problem: Problem, seed: int = 1) -> SafeLeafCompletion:
    agent = build_agent(default_agent(problem), Setting(problem, seed=seed))
    assert isinstance(agent, SafeLeafCompletion)
    return agent


def test_the_default_switches_by_the_number_of_states() -> None:
    assert not has_many_tests(panel(11))
    assert has_many_tests(panel(12))
    assert not has_many_tests(panel(12, available=False))
    assert not has_many_tests(Problem([Test(f"test {i}") for i in range(20)], (), Match()))
    agent = agent_for(panel())
    assert isinstance(agent.leaves, ManyLeaves)
    assert isinstance(agent.estimator, Structured)
    assert agent.commitment == 100


def test_it_learns(law: Discrete) -> None:
    problem = panel()
    agent = agent_for(problem)
    stream = np.random.default_rng(5).integers(len(law), size=3000)
    run = simulate(problem, law, agent, stream, rng=np.random.default_rng(6), at=np.array([100, 1500, 3000]))
    complete = run.pseudo_regret[0] / 100
    late = (run.pseudo_regret[2] - run.pseudo_regret[1]) / 1500
    assert late < 0.15 * complete
    seen = agent.estimator.observations
    assert seen.counts[agent.estimator.tells(seen.rows)].sum() > 200  # 100 at the beginning, the others had an extra
    assert isinstance(agent.reference, AuditedSubjects)
    assert agent.reference.audited.any()


def test_audits_are_kept_from_learning_and_judge_the_plan(law: Discrete) -> None:
    problem = panel()
    agent = agent_for(problem)
    stream = np.random.default_rng(5).integers(len(law), size=3000)
    simulate(problem, law, agent, stream, rng=np.random.default_rng(6))
    audits = agent.reference.rows[agent.reference.audited]
    learned = agent.estimator.observations.rows
    assert not any((audit == learned).all(axis=1).any() for audit in audits)
    estimate = agent.value_estimate()
    assert estimate is not None
    assert estimate.subjects == len(audits)
    policy = agent.policy()
    assert isinstance(policy, Completing)
    episodes = follow(problem, policy.base, law.support)
    truth = float(law.probabilities @ (problem.realised(law.support, episodes.actions) - episodes.costs))
    assert estimate.low <= truth <= estimate.high
    assert estimate.distance >= 0


def test_an_extra_buys_the_label_most_where_a_decision_is_in_doubt(law: Discrete) -> None:
    problem = panel()
    agent = agent_for(problem)
    agent.learn(Records(law.support[:100]))
    policy = agent.policy()
    assert isinstance(policy, Completing)
    assert policy.extra is not None
    assert problem.test_index("label") in policy.extra.tests
    assert 8 < len(policy.extra.tests) < problem.d
    ways = branches(problem, policy, law.support[:200])
    assert len(ways) == 3
    assert sum(chance for chance, _ in ways) == pytest.approx(1)
    _, complete, part = (chance for chance, _ in ways)
    assert complete == pytest.approx(agent.lowest)
    assert part == pytest.approx(np.minimum(policy.extra.chances(policy.leaves(ways[0][1].states)), 1 - agent.lowest))
    ends = Ends(problem, agent.estimator, policy.base)
    chances = ends.chances(policy.extra.tests, known=100.0, lost=0.05, ahead=10_000, left=35, rate=0.4)
    price, some_left = ends._prices(policy.extra.tests)
    worth = np.where(some_left, ends.stake / price, 0.0)
    assert np.array_equal(np.argsort(chances, kind="stable"), np.argsort(worth, kind="stable"))
    assert len(np.unique(chances)) > 1


def test_more_is_bought_where_halves_disagree(law: Discrete) -> None:
    """A plan that halves of the subjects agree on loses less, it is believed, than one that they dispute."""
    problem = panel()
    plain = law.support[:500].copy()
    plain[:, -1] = plain[:, 0]
    lost = []
    for rows in (plain, law.support[:500]):
        agent = agent_for(problem)
        agent.learn(Records(rows[:100]))
        agent.estimator.update(Records(rows[100:]))
        ends = Ends(problem, agent.estimator, agent.planner(problem, agent.estimator.distribution(), 500))
        curve = LOST * float(ends.mass @ ends.stake) * 5**-0.4
        lost.append(ends.lost(500.0, 0.4, np.random.default_rng(0)) / curve)
        assert ends.lost(399.0, 0.4, np.random.default_rng(0)) == pytest.approx(curve * (500 / 399) ** 0.4)
    agreed, disputed = lost
    assert agreed == pytest.approx((200 / 500) ** 0.5)
    assert agreed < disputed <= FARTHEST


def test_extras_cost_no_more_than_the_cap_allows(law: Discrete) -> None:
    problem = panel()
    agent = SafeLeafCompletion(problem, seed=1, cap=1e-3)
    agent.learn(Records(law.support[:100]))
    policy = agent.policy()
    assert isinstance(policy, Completing)
    assert policy.extra is not None
    paid = policy.extra.chance * sum(problem.tests[i].cost for i in policy.extra.tests)
    assert paid <= 2 / 3 * 1e-3 * agent.root * 100 ** (-1 / 3) * (1 + 20 * 0.02 + 0.25) * (1 + 1e-12)


def test_what_an_extra_is(law: Discrete) -> None:
    """Eight tests beside the label, more while they cost no more than it does, and never one that is known to all."""
    rows = law.support[:100]
    for price, least in ((0.25, 12), (0.02, 8), (0.0, 8)):
        tests = [*panel().tests[:-1], Test("label", price)]
        problem = Problem(tests, ["pass", "fail"], Table(["label"], [[1, 0], [0, 1]]))
        agent = agent_for(problem)
        agent.learn(Records(rows))
        ends = Ends(problem, agent.estimator, agent.policy().base)  # type: ignore[attr-defined]
        bundle = ends.bundle(agent.estimator.draws(np.random.default_rng(0), 3))
        assert problem.d - 1 in bundle
        assert len(bundle) == least + 1


def test_an_extra_is_never_everything() -> None:
    """Few tests with many outcomes: who has an extra still tells about labels, and is no audit."""
    tests = [Test(f"test {i}", 0.02, outcomes=[str(b) for b in range(20)]) for i in range(5)]
    problem = Problem([*tests, Test("label", 0.25)], ["pass", "fail"], Table(["label"], [[1, 0], [0, 1]]))
    rng = np.random.default_rng(0)
    rows = rng.integers(20, size=(100, 6)).astype(float)
    rows[:, -1] = rows[:, 2] > 9
    agent = agent_for(problem)
    assert isinstance(agent.leaves, ManyLeaves)
    agent.learn(Records(rows))
    policy = agent.policy()
    assert isinstance(policy, Completing)
    ends = Ends(problem, agent.estimator, policy.base)
    bundle = ends.bundle(agent.estimator.draws(rng, 3))
    assert len(bundle) == 5
    assert 5 in bundle
    shown = np.full((1, 6), np.nan)
    shown[0, list(bundle)] = 0
    assert agent.estimator.tells(shown).all()


def test_plans_on_the_way_are_not_needed(law: Discrete) -> None:
    """Told with their chances, subjects lead to the same policy whether or not anybody asked for one before."""
    problem = panel()
    asked, silent = agent_for(problem), agent_for(problem)
    rng = np.random.default_rng(4)
    for _ in range(4):
        rows, policy = law.sample(rng, asked.commitment), asked.policy()
        seen = follow(problem, policy, rows, coins=rng.random(len(rows))).states
        told = Records(seen, chances=chances(problem, policy, seen))
        asked.learn(told)
        first, rest = told.outcomes[:3], told.outcomes[3:]
        known = told.chances
        assert known is not None
        silent.learn(Records(rest, chances=known[3:]))
        silent.learn(Records(first, chances=known[:3]))
    assert silent.commitment == asked.commitment
    states, coins = problem.states(law.sample(rng, 50)), rng.random(50)
    states[:, rng.permutation(problem.d)[:15]] = np.nan
    assert np.array_equal(asked.policy().act(states, coins), silent.policy().act(states, coins))


@pytest.mark.parametrize("label", [{}, {"available": False}], ids=["bought", "unavailable"])
def test_the_same_subjects_in_any_order_and_pieces(label: dict[str, object]) -> None:
    problem = panel(**label)
    rows = latent(problem, 100, seed=3)
    if label:
        rows[:50, -1] = np.nan
    whole, pieces = agent_for(problem), agent_for(problem)
    whole.learn(Records(rows))
    for piece in np.array_split(rows[::-1], 7):
        pieces.learn(Records(piece))
    assert whole.commitment == pieces.commitment
    states = problem.states(rows[:20] * np.where(np.random.default_rng(0).random((20, problem.d)) < 0.7, np.nan, 1))
    coins = np.random.default_rng(1).random(20)
    assert np.array_equal(whole.policy().act(states, coins), pieces.policy().act(states, coins))


def test_a_plan_that_audits_contradict_is_overruled() -> None:
    """With a threshold of 0 the veto speaks as soon as another plan is better on complete subjects."""
    problem = panel()
    law_rows = latent(problem, 2000)
    agent = SafeLeafCompletion(problem, seed=1, threshold=0.0)
    agent.learn(Records(law_rows[:100]))
    policy = agent.policy()
    assert agent.vetoes == 1
    assert agent.reference.against_plan(policy.base) is None  # type: ignore[attr-defined]


def test_the_bound_on_the_number_of_trees() -> None:
    """Against the exact number of trees over tests with two outcomes, which may repeat a test on a path."""

    def trees(nodes: int, tests: int, decisions: int) -> int:
        exact = [decisions]
        for size in range(1, nodes + 1):
            exact.append(tests * sum(exact[left] * exact[size - 1 - left] for left in range(size)))
        return sum(exact)

    for nodes in range(1, 8):
        assert np.log(float(trees(nodes, 5, 3))) <= log_trees(nodes, 5, 2, 3)


@pytest.mark.parametrize("n", [10, 30, 200])
@pytest.mark.parametrize(
    ("values", "odds", "least", "most"),
    [
        ([0.9, -0.1, 0.86], [0.85, 0.05, 0.1], -1.0, 1.0),
        ([0.63, 0.92, -0.08], [0.3, 0.65, 0.05], -0.55, 1.0),
        ([0.9, -20.1], [0.98, 0.02], -20.4, 1.0),
        ([0.75], [1.0], -0.25, 1.0),
    ],
)
def test_the_interval_covers(values: list[float], odds: list[float], least: float, most: float, n: int) -> None:
    drawn = np.random.default_rng(0).choice(values, p=odds, size=(2000, n))
    found = np.array([bounded_interval(row, least, most) for row in drawn])
    truth = float(np.dot(values, odds))
    assert np.mean((found[:, 0] <= truth) & (truth <= found[:, 1])) >= 0.9
    assert (found[:, 0] >= least).all()
    assert (found[:, 1] <= most).all()


def test_the_interval_is_narrow_where_values_spread_little() -> None:
    drawn = np.random.default_rng(0).choice([0.63, 0.92, -0.08], p=[0.3, 0.65, 0.05], size=200)
    low, high = bounded_interval(drawn, -0.55, 1.0)
    assert high - low < 1.2 * 2 * 1.645 * drawn.std() / np.sqrt(200)


def test_who_is_told_how_many_subjects_come_looks_ahead_to_them_all() -> None:
    untold, told = (build_agent("safe-leaf-completion", Setting(panel(), horizon=T)) for T in (None, 50_000))
    assert isinstance(untold, SafeLeafCompletion)
    assert isinstance(told, SafeLeafCompletion)
    for begun, without, with_it in ((100, 9_900, 49_900), (20_000, 30_000, 30_000), (45_000, 67_500, 5_000)):
        untold.begun = told.begun = begun
        assert (untold.subjects_ahead(), told.subjects_ahead()) == (without, with_it)
