"""Every agent keeps the contract: asking is pure, the commitment is honest, order and parts do not matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from proband import Problem, Records, Test
from proband.agents import Agent
from proband.agents.entropy import Certified, Elimination, EntropyExploreThenCommit, Thrifty
from proband.errors import AgentError
from proband.policies import follow
from proband.rewards import Match
from proband.vocabulary import FloatArray, Policy

AGENTS: dict[str, Callable[[Problem, int], Any]] = {
    "certified": lambda problem, horizon: Certified(problem, epsilon=0.01),
    "certified, known mean": lambda problem, horizon: Certified(problem, epsilon=0.0, mean=0),
    "thrifty": lambda problem, horizon: Thrifty(problem, horizon=horizon),
    "thrifty, no horizon": lambda problem, horizon: Thrifty(problem),
    "elimination": lambda problem, horizon: Elimination(problem, sigma=10.0, c=1e8),
    "elimination, few looks": lambda problem, horizon: Elimination(problem, sigma=10.0, c=1e8, growth=0.2),
    "elimination, as printed": lambda problem, horizon: Elimination(problem, sigma=10.0, c=1e8, as_printed=True),
    "explore-then-commit": lambda problem, horizon: EntropyExploreThenCommit(problem, horizon=horizon),
}


def check_policy(problem: Problem, policy: Policy, tested: tuple[int, ...]) -> None:
    """From nothing known, a policy measures its set, test by test, and stops; known tests are not measured again."""
    rng = np.random.default_rng(0)
    states: FloatArray = np.where(rng.random((20, problem.d)) < 0.5, rng.normal(size=(20, problem.d)), np.nan)
    states[0] = np.nan
    wanted = np.isin(np.arange(problem.d), tested)
    for _ in range(len(tested) + 1):
        actions = policy.act(states)
        missing = np.isnan(states) & wanted
        assert (actions[~missing.any(axis=1)] == problem.d).all()
        for n in np.flatnonzero(missing.any(axis=1)):
            assert missing[n, actions[n]]
            states[n, actions[n]] = 0.0
    assert (policy.act(states) == problem.d).all()


@pytest.fixture(params=AGENTS)
def make(request: pytest.FixtureRequest) -> Callable[[Problem, int], Any]:
    return AGENTS[request.param]


@pytest.mark.parametrize("seed", range(3))
def test_the_same_rounds_lead_to_the_same_agent(
    make: Callable[[Problem, int], Any], make_world: Callable[..., Any], make_near_ties: Callable[..., Any], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    world = make_near_ties(rng, 4) if seed == 2 else make_world(rng, 4, groups=seed == 1)
    whole, single, split, silent = (make(world.problem, 250) for _ in range(4))
    while whole.t < 250:
        n = min(whole.commitment, 250 - whole.t)
        tested, policy = whole.tested, whole.policy()
        assert single.tested == split.tested == tested
        check_policy(world.problem, policy, tested)
        rows = follow(world.problem, policy, world.rows(rng, n)).states
        assert (~np.isnan(rows) == whole.flags(tested)).all()
        whole.learn(Records(rows))
        silent.learn(Records(rows))
        for row in rows:
            assert single.policy() is single.policy()
            assert single.tested == tested
            assert single.commitment >= 1
            single.learn(Records(row[None]))
        shuffled = rows[rng.permutation(n)]
        for part in np.split(shuffled, np.sort(rng.integers(0, n + 1, size=2))):
            split.learn(Records(np.repeat(part, 2, axis=0), counts=np.tile([1, 0], len(part))))
    assert whole.tested == single.tested == split.tested == silent.tested
    assert whole.commitment == single.commitment == split.commitment == silent.commitment


def test_it_is_an_agent(make: Callable[[Problem, int], Any], make_problem: Callable[..., Problem]) -> None:
    agent = make(make_problem([1.0, 2.0]), 50)
    assert isinstance(agent, Agent)
    assert isinstance(agent.commitment, int)


def test_it_goes_on_after_surprises(
    make: Callable[[Problem, int], Any], make_world: Callable[..., Any], rng: np.random.Generator
) -> None:
    world = make_world(rng, 4)
    complete = world.rows(rng, 60)
    gaps = np.where(rng.random(complete.shape) < 0.5, complete, np.nan)
    nothing, blank = Records(np.empty((0, 4))), Records(np.full((1, 4), np.nan), counts=[100])
    huge = Records(1e8 * complete)
    same = Records(np.ones((1, 4)), counts=[500])
    nobody = Records(complete[:2], counts=[0, 0])
    for told in (
        [nothing, Records(gaps), blank, Records(complete), nobody],
        [huge, same],
        [same, same],
        [blank, blank],
    ):
        agent = make(world.problem, 120)
        for records in told:
            before = agent.tested, agent.commitment
            agent.learn(records)
            if not records.n:
                assert (agent.tested, agent.commitment) == before
            assert agent.commitment >= 1
            check_policy(world.problem, agent.policy(), agent.tested)


def test_a_round_is_paid_in_the_cheapest_order(make_problem: Callable[..., Problem]) -> None:
    problem = make_problem([3.0, 1.0], groups=[("van", 0.5), ("van", 0.9)])
    rows = np.zeros((1, 2))
    episodes = follow(problem, Thrifty(problem).policy(), rows)
    assert episodes.costs.tolist() == [1.5]


def test_another_reward_is_refused(make: Callable[[Problem, int], Any]) -> None:
    with pytest.raises(AgentError, match="the reward is Match; this agent is for maximum-entropy sampling"):
        make(Problem([Test("crack", 1.0)], (), Match()), 100)
