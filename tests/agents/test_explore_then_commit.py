"""Algorithm 2 and the doubling trick against the paper: lengths, estimates, plans, restarts."""

from __future__ import annotations

import numpy as np
import pytest

from proband import Discrete, Problem, Records, Test, plan
from proband.agents import FOREVER, Doubling, ExploreThenCommit, exploration_length
from proband.errors import AgentError
from proband.instances import paper_discrete
from proband.planners.dense_plan import DensePlan
from proband.policies import FixedSet, follow
from proband.rewards import Match, Table
from proband.simulation import simulate

INSTANCE = paper_discrete(np.random.default_rng(3), d=3)
PROBLEM, LAW = INSTANCE.problem, INSTANCE.distribution


def brute_force_length(size: int, horizon: int) -> int:
    n = 0
    while (n + 1) ** 3 <= size * horizon**2:
        n += 1
    return n


def test_the_exploration_length_is_the_floor_of_the_formula() -> None:
    for size in [*range(1, 30), 64, 125, 243, 1000]:
        for horizon in [*range(1, 30), 64, 100, 343]:
            assert exploration_length(size, horizon) == brute_force_length(size, horizon)


@pytest.mark.parametrize("bits", [20, 47, 60, 64, 100, 333, 500, 1000, 3000])
def test_huge_exploration_lengths_are_exact(bits: int) -> None:
    for size, horizon in [(1, 2**bits), (2**bits, 1), (2**bits - 1, 2**20), (3**bits, 3**bits), (10**bits, 7)]:
        n = exploration_length(size, horizon)
        assert n**3 <= size * horizon**2 < (n + 1) ** 3
    assert exploration_length(1, 8**bits) == 4**bits
    assert exploration_length(1, 8**bits - 1) == 4**bits - 1


def test_numpy_integers_do_not_overflow() -> None:
    assert exploration_length(np.int64(1024), np.int64(2**40)) == exploration_length(1024, 2**40)  # type: ignore[arg-type]


@pytest.mark.parametrize(("horizon", "size"), [(10, 8), (100, 8), (1000, 3), (12345, 8), (2**20, 1024)])
def test_explore_then_commit_explores_so_long(horizon: int, size: int) -> None:
    agent = ExploreThenCommit(PROBLEM, horizon=horizon, support_size=size)
    n = min(horizon, brute_force_length(size, horizon)) if horizon < 2**15 else 104031
    assert (agent.exploration, agent.commitment) == (n, n)
    assert isinstance(agent.policy(), FixedSet)


def test_by_default_the_support_is_bounded_by_the_product() -> None:
    assert ExploreThenCommit(PROBLEM, horizon=1000).exploration == exploration_length(8, 1000) == 200


@pytest.mark.parametrize("parts", [1, 4, 200])
def test_after_exploring_it_plays_the_plan_of_the_empirical_law(parts: int) -> None:
    rng = np.random.default_rng(0)
    agent = ExploreThenCommit(PROBLEM, horizon=1000)
    rows = LAW.sample(rng, agent.exploration)
    for part in np.array_split(rows, parts):
        assert isinstance(agent.policy(), FixedSet)
        agent.learn(Records(part))
    empirical = Discrete.from_records(Records(rows))
    estimate = agent.estimator().distribution()
    assert np.array_equal(estimate.support, empirical.support)
    assert np.array_equal(estimate.probabilities, empirical.probabilities)
    played, best = agent.policy(), plan(PROBLEM, empirical)
    assert isinstance(played, DensePlan)
    assert isinstance(best, DensePlan)
    assert np.array_equal(played.solution.values, best.solution.values)
    assert np.array_equal(played.solution.actions, best.solution.actions)
    assert agent.commitment == FOREVER
    agent.learn(Records(LAW.sample(rng, 5000)))
    assert agent.policy() is played


def test_every_explored_subject_is_tested_completely() -> None:
    agent = ExploreThenCommit(PROBLEM, horizon=50)
    episodes = follow(PROBLEM, agent.policy(), LAW.support)
    assert not np.isnan(episodes.states).any()
    assert np.array_equal(PROBLEM.realised(LAW.support, episodes.actions), np.ones(len(LAW)))


def test_a_given_length_and_an_estimated_support() -> None:
    assert ExploreThenCommit(PROBLEM, horizon=1000, explore=7).exploration == 7
    assert ExploreThenCommit(PROBLEM, horizon=5, explore=7).exploration == 5
    agent = ExploreThenCommit(PROBLEM, horizon=1000, estimate_support=True)
    assert agent.exploration == exploration_length(1, 1000) == 100
    while agent.commitment < FOREVER:
        agent.learn(Records(LAW.support[:4], counts=[agent.commitment, 0, 0, 0] if agent.seen else [1, 1, 1, 0]))
    assert agent.exploration == agent.seen == exploration_length(3, 1000) == 144


def test_without_exploration_it_plans_on_the_prior() -> None:
    agent = ExploreThenCommit(PROBLEM, horizon=100, explore=0)
    assert agent.commitment == FOREVER
    assert agent.policy().act(np.full((1, 3), np.nan)).shape == (1,)


def test_subjects_with_gaps_do_not_count_as_explored() -> None:
    agent = ExploreThenCommit(PROBLEM, horizon=100, explore=3)
    agent.learn(Records([[0, np.nan, 1]], counts=[50]))
    agent.learn(Records([[0, 1, 1]], counts=[2]))
    assert (agent.seen, agent.commitment) == (2, 1)
    agent.learn(Records([[1, 1, 1]]))
    assert agent.commitment == FOREVER
    assert agent.estimator().distribution().probabilities == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize("options", [{"horizon": 0}, {"horizon": 2.5}, {"horizon": 5, "explore": -1}, {"horizon": -3}])
def test_impossible_settings(options: dict[str, int]) -> None:
    with pytest.raises(AgentError, match="must be a whole number"):
        ExploreThenCommit(PROBLEM, **options)


class Spy(ExploreThenCommit):
    made: list[Spy]

    def __init__(self, horizon: int, **options: int) -> None:
        super().__init__(PROBLEM, horizon=horizon, **options)
        self.learned: list[Records] = []
        self.made.append(self)

    def learn(self, records: Records) -> None:
        self.learned.append(records)
        super().learn(records)


@pytest.mark.parametrize("keep", [False, True])
def test_doubling_restarts_after_1_3_7_subjects(keep: bool) -> None:
    Spy.made = []
    agent = Doubling(Spy, keep=keep)
    born = {0: 1}
    for t in range(1, 1025):
        agent.learn(Records(LAW.sample(np.random.default_rng(t), 1)))
        if agent.agent is Spy.made[-1] and agent.agent.horizon not in born.values():
            born[t] = agent.agent.horizon
    assert born == {2**i - 1: 2**i for i in range(11)}
    assert len(Spy.made) == 11
    explored = [made.exploration for made in Spy.made]
    assert explored == [min(2**i, brute_force_length(8, 2**i)) for i in range(11)]


def test_restarting_forgets_everything() -> None:
    Spy.made = []
    agent = Doubling(Spy)
    simulate(PROBLEM, LAW, agent, _stream(300), rng=np.random.default_rng(0))
    for made in Spy.made[:-1]:
        assert sum(records.n for records in made.learned) == made.horizon


def test_keeping_hands_over_all_explored_subjects_and_no_others() -> None:
    """After exploring, the plan leaves some subjects complete because of what they showed: these would bias the law."""
    Spy.made = []
    agent = Doubling(Spy, keep=True)
    explored = np.zeros(8)
    committed = 0
    for row in LAW.support[_stream(2000)]:
        policy, batch = agent.policy(), agent.agent
        state = follow(PROBLEM, policy, row[None]).states
        if isinstance(policy, FixedSet):
            explored[int(state[0] @ [4, 2, 1])] += 1
        else:
            committed += int(not np.isnan(state).any())
        agent.learn(Records(state))
        if agent.agent is not batch:
            told = np.zeros(8)
            for records in Spy.made[-1].learned:
                np.add.at(told, (records.outcomes @ [4, 2, 1]).astype(int), records.counts)
            assert np.array_equal(told, explored)
            assert len(Spy.made[-1].learned) == 1
    assert committed > 100
    seen = [made.seen for made in Spy.made]
    wanted = [min(made.horizon, exploration_length(8, made.horizon)) for made in Spy.made]
    assert all(a >= b for a, b in zip(seen[:-1], wanted[:-1], strict=True))
    assert explored.sum() == max(wanted)


def test_a_kept_lump_of_history_is_not_lost() -> None:
    agent = Doubling(lambda horizon: ExploreThenCommit(PROBLEM, horizon=horizon), keep=True)
    agent.learn(Records(LAW.support, counts=np.full(8, 100)))
    assert (agent.batch, agent.left) == (512, 1023 - 800)
    assert isinstance(agent.agent, ExploreThenCommit)
    assert agent.agent.seen == 800
    assert not isinstance(agent.policy(), FixedSet)


def test_doubling_wraps_any_agent() -> None:
    problem = Problem([Test("a", 0.1)], ["y", "z"], Table(["a"], [[1, 0], [0, 1]]))
    agent = Doubling(lambda horizon: ExploreThenCommit(problem, horizon=horizon, explore=1))
    assert agent.commitment == 1
    agent.learn(Records([[0]]))
    assert (agent.batch, agent.commitment) == (2, 1)
    agent.learn(Records([[0]]))
    assert (agent.batch, agent.commitment) == (2, 1)
    agent.learn(Records([[0]]))
    assert (agent.batch, agent.left, agent.commitment) == (4, 4, 1)


def test_huge_products_of_outcomes_are_no_trouble() -> None:
    problem = Problem([Test(f"t{i}", 0.1) for i in range(300)], ["y"], Table(["t0"], [[1.0], [0.0]]))
    assert ExploreThenCommit(problem, horizon=1000).exploration == 1000
    assert Problem([Test("a")], (), Match()).size == 2


def _stream(n: int) -> np.ndarray:
    return np.random.default_rng(9).choice(len(LAW), size=n, p=LAW.probabilities)


def test_doubling_explores_more_than_it_would_if_it_knew_the_horizon() -> None:
    """The paper says that both explore equally long on its instance with d = 10 and T = 2^20."""
    problem = Problem([Test(f"x{i}", 0.05) for i in range(10)], (), Match())
    horizon, explored = 2**20, 0
    agent = Doubling(lambda length: ExploreThenCommit(problem, horizon=length))
    left, rng = horizon, np.random.default_rng(0)
    while left:
        n = min(agent.commitment, left)
        everything = isinstance(agent.policy(), FixedSet)
        explored += n * everything
        rows = rng.integers(0, 2, size=(8, 10)) if everything else np.full((1, 10), np.nan)
        counts = [n - 7, *[1] * 7] if everything and n > 7 else [n, *[0] * (len(rows) - 1)]
        agent.learn(Records(rows, counts))
        left -= n
    assert ExploreThenCommit(problem, horizon=horizon).exploration == 104_031
    assert explored == 176_383
