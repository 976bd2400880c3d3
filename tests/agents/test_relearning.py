from __future__ import annotations

import math

import numpy as np

from proband.agents import FOREVER, Agent, Greedy
from proband.estimators import CompleteCases, Likelihood
from proband.instances import bolts
from proband.planners import plan
from proband.policies import follow, test_everything
from proband.vocabulary import Records


def test_it_plans_again_as_subjects_accrue(rng: np.random.Generator) -> None:
    instance = bolts()
    agent = Greedy(instance.problem, estimator=Likelihood(instance.problem), first=100, growth=0.5)
    assert isinstance(agent, Agent)
    agent.learn(Records(instance.sample(rng, 60)))
    assert agent.commitment == 40
    agent.learn(Records(instance.sample(rng, 40)))
    first = agent.policy()
    assert agent.commitment == 50
    agent.learn(Records(follow(instance.problem, first, instance.sample(rng, 50)).states))
    assert agent.policy() is not first
    assert agent.commitment == 75


def test_ignoring_what_follows_is_explore_then_commit(rng: np.random.Generator) -> None:
    instance = bolts()
    agent = Greedy(instance.problem, estimator=CompleteCases(instance.problem), first=50, growth=math.inf)
    rows = instance.sample(rng, 50)
    assert np.array_equal(agent.policy().act(rows), test_everything(instance.problem).act(rows))
    agent.learn(Records(rows))
    committed = agent.policy()
    estimator = CompleteCases(instance.problem)
    estimator.update(Records(rows))
    best = plan(instance.problem, estimator.distribution())
    assert np.array_equal(committed.act(rows[:, :] * np.nan), best.act(rows[:, :] * np.nan))
    assert agent.commitment == FOREVER
    agent.learn(Records(instance.sample(rng, 50)))
    assert agent.policy() is committed
    assert agent.estimator.observations.total == 50
