"""The planner by rollouts: names and laws in, a tree grown over the support, a plan out."""

from __future__ import annotations

import numpy as np

from proband.distributions import Discrete
from proband.errors import PlanError
from proband.planners.options import Options, serves
from proband.planners.rollout.arrays import Enough, ideal_of
from proband.planners.rollout.trees import GrownTree, grow_tree
from proband.planners.sparse.instance import distinct_rows
from proband.planners.sparse.planner import GrownPlan, contexts, root_of
from proband.policies import Decider
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling

TRIED = 12
"""Tests tried at each node: a plan of thousands of rows and fifty tests takes about a tenth of a second."""


class RolloutPlan(GrownPlan):
    """A plan grown by information and improved by rollouts.

    Attributes
    ----------
    search : GrownTree
        The tree over the tests that can be run. With a penalty of nodes, `search.penalised` is what was maximised.
    """

    search: GrownTree


@serves(Kind.LISTED, takes=("node_penalty",))
def plan_rollout(
    problem: Problem, distribution: Discrete, options: Options, *, enough: Enough | None = None
) -> RolloutPlan:
    """Grow a plan: the same for the same problem and law on any machine, without a proof that it is the best.

    With `enough` each outcome of a test has so many of the subjects that rows of the support stand for, or none.
    """
    if problem.reward.pooling is not Pooling.SUM:
        raise PlanError(
            f"the reward is {type(problem.reward).__name__}; rollouts grow trees by what is to be decided, and a match "
            'has a decision for each outcome vector; use method="sparse", with a time limit if they are many'
        )
    decider, context = Decider(problem, distribution), contexts(problem, distribution)
    found = _grown(problem, decider, context, options, enough)
    root = root_of(problem, decider, context, found)
    plan = RolloutPlan(problem, distribution, root, method="rollout", bound=found.bound)
    plan.search = found
    return plan


def _grown(problem: Problem, decider: Decider, context: IntArray, options: Options, enough: Enough | None) -> GrownTree:
    """Grow trees over the rows, those alike in all that can be seen as one."""
    law, prices = decider.distribution, problem.prices.only(problem.operable)
    codes = np.empty((len(context), len(problem.operable) + 1), dtype=np.int64)
    codes[:, :-1], codes[:, -1] = law.support[:, problem.operable], context
    first, alike = distinct_rows(codes)
    ideal = law.probabilities[:, None] * ideal_of(problem.payoff(law.support))
    start = context[first]
    if enough is not None:
        enough = Enough(enough.least, _pooled(alike, enough.subjects[:, None])[:, 0])
    return grow_tree(
        codes[first, :-1],
        _pooled(alike, law.probabilities[:, None])[:, 0],
        _pooled(alike, decider.stakes),
        _pooled(alike, ideal),
        prices.cost,
        group=prices.group,
        group_cost=prices.group_cost,
        starts=[np.flatnonzero(start == number) for number in range(int(start.max()) + 1)],
        max_tests=options.max_tests,
        budget=options.budget,
        penalty=options.node_penalty,
        width=TRIED,
        enough=enough,
    )


def _pooled(alike: IntArray, amounts: FloatArray) -> FloatArray:
    """Add up the rows that are alike."""
    made = np.zeros((int(alike.max()) + 1, amounts.shape[1]))
    np.add.at(made, alike, amounts)
    return made
