"""The sparse planner: names and laws in, a search over sets of support rows, a plan with its certificate out."""

from __future__ import annotations

import math
import time

import numpy as np

from proband.distributions import Discrete
from proband.errors import PlanError
from proband.planners.memory import available_memory
from proband.planners.options import Options, serves
from proband.planners.sparse.instance import distinct_rows
from proband.planners.sparse.limits import Limits
from proband.planners.sparse.solve import SupportPlan, compile_kernels, solve_support
from proband.planners.sparse.trees import Trees
from proband.planners.tree_plan import Place, TreePlan, grow
from proband.policies import Decider, Node
from proband.problem import Problem
from proband.vocabulary import IntArray, Kind, Pooling

MEMORY_SHARE = 0.5
"""Share of the free memory that a search takes, if no limit is given."""


NODE_SECONDS = 1e-4
"""Time to make a node of a plan from one of the search."""

ROW_SECONDS = 2e-6
"""Time to evaluate a plan on a row."""


class GrownPlan(TreePlan):
    """A plan that was grown over the support, from which a search may start.

    Attributes
    ----------
    search : Trees
        A tree over the tests that can be run, for each of the outcomes known on arrival.
    """

    search: Trees


class SparsePlan(GrownPlan):
    """A plan from a search over the support.

    Attributes
    ----------
    search : SupportPlan
        How the search went: its `status` ("optimal", "time", "memory", "interrupted"), expansions and seconds. With a
        penalty of nodes, `search.penalised` is what was maximised and `search.bound` bounds that; `value` is the true
        value all the same, and `bound` what perfect information would bring.
    """

    search: SupportPlan


@serves(Kind.LISTED, takes=("node_penalty", "warm"))
def plan_sparse(problem: Problem, distribution: Discrete, options: Options) -> SparsePlan:
    """Search for the best plan; stopped by a limit or by Ctrl-C, return the best so far with a valid bound."""
    compile_kernels()  # which no limit counts
    began = time.perf_counter()
    decider = Decider(problem, distribution)
    context = contexts(problem, distribution)
    found = _search(problem, decider, context, options, began)
    root = root_of(problem, decider, context, found)
    # A bound of the penalised value says nothing of policies with more nodes.
    bound = found.bound if found.penalty == 0 else found.ceiling
    plan = SparsePlan(problem, distribution, root, method="sparse", bound=bound)
    plan.search = found
    if found.status == "optimal" and found.penalty == 0:
        plan.bound = plan.value
    return plan


def root_of(problem: Problem, decider: Decider, context: IntArray, trees: Trees) -> Node:
    """Return trees over the tests that can be run as one of a plan; `context` numbers the start set of each row."""

    def choose(place: Place) -> int | None:
        node = int(trees.roots[context[place.rows[0]]])
        while trees.node_test[node] >= 0:
            test = int(problem.operable[trees.node_test[node]])
            if np.isnan(place.state[test]):
                return test
            node = int(trees.children[node, int(place.state[test])])
        return None

    return grow(problem, decider, choose)


def _search(problem: Problem, decider: Decider, context: IntArray, options: Options, began: float) -> SupportPlan:
    law, prices = decider.distribution, problem.prices.only(problem.operable)
    memory = MEMORY_SHARE * available_memory() if options.memory_limit is None else options.memory_limit
    return solve_support(
        law.support[:, problem.operable].astype(np.int64),
        law.probabilities,
        decider.stakes,
        prices.cost,
        kind="sum" if problem.reward.pooling is Pooling.SUM else "max",
        group_cost=prices.group_cost,
        group=prices.group,
        max_tests=options.max_tests,
        budget=options.budget,
        starts=[np.flatnonzero(context == number) for number in range(int(context.max()) + 1)],
        penalty=options.node_penalty,
        warm=_trees(problem, law, options.warm),
        limits=Limits(seconds=_seconds(options, law, began), memory=memory, node_seconds=NODE_SECONDS),
        progress=options.progress,
    )


def _seconds(options: Options, distribution: Discrete, began: float) -> float:
    """Seconds for the search: what is left of the limit, less what evaluating its plan takes."""
    if options.time_limit is None:
        return math.inf
    return options.time_limit - (time.perf_counter() - began) - ROW_SECONDS * len(distribution)


def contexts(problem: Problem, distribution: Discrete) -> IntArray:
    """Return a number for what is known on arrival, for each support row."""
    return distinct_rows(distribution.support[:, problem.context].astype(np.int64))[1]


def _columns(problem: Problem) -> list[tuple[object, ...]]:
    """What a tree needs to know of the tests; prices may change."""
    return [(test.name, test.outcomes, test.available, test.on_arrival) for test in problem.tests]


def _trees(problem: Problem, distribution: Discrete, warm: object | None) -> Trees | None:
    """Return the trees of an earlier plan for the start sets of a law; -1 for what was not known on arrival then."""
    if warm is None:
        return None
    if not isinstance(warm, GrownPlan) or _columns(warm.problem) != _columns(problem):
        raise PlanError(
            "warm is no sparse plan for the tests of this problem; a search starts from trees over the same tests; "
            'give a plan that method="sparse" or "rollout" made for them, or leave it out'
        )
    before, now = (np.unique(law.support[:, problem.context], axis=0) for law in (warm.distribution, distribution))
    place = {tuple(known): int(root) for known, root in zip(before, warm.search.roots, strict=True)}
    roots = np.array([place.get(tuple(known), -1) for known in now], dtype=np.int64)
    return Trees(roots=roots, node_test=warm.search.node_test, children=warm.search.children)
