"""Every planner of the benchmark behind one interface: from an instance to a function that solves it once.

Peers are imported only where they run, so that a process holds, and is charged for, its own planner.
"""

import time
from dataclasses import dataclass

import numpy as np

import proband
from benchmarks.planners import inductions
from benchmarks.planners.cases import majority
from proband.planners import dense
from proband.planners.dense_plan import root_value
from proband.planners.layout import layout_of
from proband.policies import Node, Tree

ALMOST_ONE = 1 - 1e-12
"""Discount of peers that need one below 1: it moves a value by less than 2e-11."""

DRAWS = 32
PROVED = 1e-8
"""A gap below this is rounding: the plan is proved optimal."""


@dataclass(frozen=True)
class Answer:
    """A value; `bound` and `proved` where the planner gives them.

    `building` are the seconds that went into translating the problem, `checking` those into finding the value of what
    the planner returned, which are no part of planning.
    """

    value: float
    bound: float | None = None
    proved: bool = True
    building: float = 0.0
    checking: float = 0.0


def proband_dense(problem, law):
    return lambda: Answer(proband.plan(problem, law, method="dense").value)


def proband_kernel(problem, law):
    """The backward induction alone, with the layout and the payoff at hand."""
    layout, payoff = layout_of(problem), problem.payoff(law.support)
    codes = dense.complete_codes(layout, law.support)

    def solve():
        solution = dense.solve(layout, codes, law.probabilities, payoff)
        return Answer(root_value(layout, solution))

    return solve


def proband_draws(problem, law):
    """All draws together; the value is their mean."""
    layout, payoff, draws = layout_of(problem), problem.payoff(law.support), posterior(law)

    def solve():
        solutions = dense.solve_many(layout, law.support, draws, payoff)
        return Answer(float(np.mean([root_value(layout, solution) for solution in solutions])))

    return solve


def numpy_draws(problem, law):
    """One draw after another; the value is their mean."""
    laws = [proband.Discrete.from_weights(law.support, draw) for draw in posterior(law)]
    arrays = [inductions.arrays_of(problem, draw) for draw in laws]
    return lambda: Answer(float(np.mean([inductions.by_levels(*each)[0] for each in arrays])))


def posterior(law):
    """Draws from a posterior around the law, shape (draws, n)."""
    return np.random.default_rng(1).dirichlet(1 + 1000 * law.probabilities, DRAWS)


def numpy_levels(problem, law):
    arrays = inductions.arrays_of(problem, law)
    return lambda: Answer(float(inductions.by_levels(*arrays)[0]))


def numpy_sets(problem, law):
    arrays = inductions.arrays_of(problem, law)
    return lambda: Answer(float(inductions.by_sets(*arrays)[0]))


def quantecon(problem, law):
    """Value iteration, which ends after d + 1 sweeps: the fastest of the methods that gives the right answer."""
    from quantecon.markov import DiscreteDP

    arrays = inductions.arrays_of(problem, law)

    def solve():
        start = time.perf_counter()
        rewards, Q, states, actions = inductions.decision_process(*arrays)
        building = time.perf_counter() - start
        process = DiscreteDP(rewards, Q, ALMOST_ONE, states, actions)
        result = process.solve(method="value_iteration", epsilon=1e-9, max_iter=problem.d + 2)
        return Answer(float(result.v[-2]), building=building)

    return solve


def mdpsolver(problem, law):
    """Modified policy iteration with Gauss-Seidel updates: children come first, so one sweep is nearly all it needs."""
    import mdpsolver

    arrays = inductions.arrays_of(problem, law)

    def solve():
        start = time.perf_counter()
        rewards, Q, states, _ = inductions.decision_process(*arrays)
        rewards, chances, places = inductions.as_lists(rewards, Q, states)
        building = time.perf_counter() - start
        model = mdpsolver.model()
        model.mdp(discount=ALMOST_ONE, rewards=rewards, tranMatProbs=chances, tranMatColumns=places)
        model.solve(algorithm="mpi", update="gs", tolerance=1e-9, postProcessing=False, makeFinalCheck=False)
        return Answer(model.getValue(len(rewards) - 2), building=building)

    return solve


def proband_sparse(subjects, cost, *, depth=None, limit):
    problem, law = subjects.problem(cost)

    def solve():
        plan = proband.plan(problem, law, method="sparse", max_tests=depth, time_limit=limit)
        return Answer(plan.value, plan.bound, proved=plan.gap < PROVED)

    return solve


def pystreed(subjects, cost, *, depth, limit):
    """The cost-sensitive task: every test is its own group, so its price is paid by each subject that runs it.

    This is the objective of the plan, but for the limit on the depth. The value is that of its tree under
    :func:`proband.evaluate`.
    """
    from pystreed import STreeDCostSensitiveClassifier
    from pystreed.data import CostSpecifier, FeatureCostSpecifier

    problem, law = subjects.problem(cost)
    prices = [FeatureCostSpecifier(cost, cost, f"t{i}", i, i) for i in range(subjects.outcomes.shape[1])]
    costs = CostSpecifier([[0.0, 1.0], [1.0, 0.0]], prices)

    def node(grown):
        if grown.is_leaf_node():
            return Node(problem.d + int(grown.label), 0.0, 0.0)
        return Node(grown.feature, 0.0, 0.0, (), (node(grown.left_child), node(grown.right_child)))

    def solve():
        model = STreeDCostSensitiveClassifier(max_depth=depth, time_limit=limit)
        model.fit(subjects.outcomes, subjects.labels, costs)
        start = time.perf_counter()
        value = proband.evaluate(problem, law, Tree(problem, node(model.get_tree()))).value
        return Answer(value, proved=model.fit_result.is_optimal(), checking=time.perf_counter() - start)

    return solve


DENSE = {
    "proband": proband_dense,
    "proband, induction alone": proband_kernel,
    f"proband, {DRAWS} draws": proband_draws,
    "NumPy by levels": numpy_levels,
    "NumPy by sets": numpy_sets,
    f"NumPy by levels, {DRAWS} draws": numpy_draws,
    "quantecon": quantecon,
    "mdpsolver": mdpsolver,
}
SPARSE = {"proband": proband_sparse, "pystreed": pystreed}


def prepare(job):
    """Return a function that warms up and one that solves the job's instance once."""
    if job["part"] == "dense":
        planner = DENSE[job["planner"]]
        return planner(*majority(4)), planner(*majority(job["tests"]))
    from benchmarks.planners.subjects import SUBJECTS, Subjects

    planner, options = SPARSE[job["planner"]], {"depth": job["depth"], "limit": job["limit"]}
    few = Subjects((np.arange(16)[:, None] >> np.arange(4)) & 1, np.arange(16) % 3 % 2)
    return planner(few, 0.01, **options), planner(SUBJECTS[job["subjects"]](), job["cost"], **options)
