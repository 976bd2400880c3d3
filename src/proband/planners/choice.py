"""One door to all planners, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proband.distributions import Discrete, Distribution
from proband.errors import PlanError
from proband.planners.layout import layout_of
from proband.planners.memory import available_memory, human_bytes, human_number
from proband.planners.options import SPECIAL, Options, kinds_of, refuse_special
from proband.planners.plans import Plan
from proband.planners.progress import Report
from proband.problem import Problem
from proband.registries import Registry
from proband.vocabulary import Kind, Pooling

Planner = Callable[[Problem, Any, Options], Plan]

PLANNERS = Registry[Planner](
    "proband.planners",
    "method",
    PlanError,
    {
        "dense": "proband.planners.dense:plan_dense",
        "gpu": "proband.planners.gpu:plan_gpu",
        "sparse": "proband.planners.sparse.planner:plan_sparse",
        "rollout": "proband.planners.rollout.planner:plan_rollout",
        "myopic": "proband.planners.greedy:plan_myopic",
        "lookahead": "proband.planners.greedy:plan_lookahead",
        "gain": "proband.planners.greedy:plan_gain",
        "gaussian": "proband.planners.gaussian.planner:plan_gaussian",
        "subset": "proband.planners.subset.planner:plan_subset",
    },
)
"""Planners by name: functions of a problem, a law and options, marked with what they serve by :func:`serves`."""

WORTH_A_GPU = 2**24
"""With fewer states the CPU is done before the device has started."""

SEARCHABLE = 40_000
"""Rows times tests that a search gets through: with 20,000 it ended within 15 s on each of five tables, with 42,000
within 40 s on one of five."""

SHALLOW = 3
"""With at most so many tests for a subject it ends all the same."""


def plan(
    problem: Problem,
    distribution: Distribution,
    *,
    method: str | None = None,
    device: str | None = None,
    max_tests: int | None = None,
    budget: float | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    steps: int = 2,
    tolerance: float | None = None,
    progress: Report | None = None,
    node_penalty: float = 0.0,
    warm: Plan | None = None,
) -> Plan:
    """Return the best policy for a problem and a law.

    Parameters
    ----------
    problem : Problem
    distribution : Distribution
    method : str, optional
        A planner of :data:`PLANNERS`, or the place of one (``"module:function"``); chosen by kind and size if not
        given, and the plan tells why (`explain_choice`).
    device : {"cpu", "gpu"}, optional
        Where a dense plan is made; by default on a GPU if there is one and the problem is large.
    max_tests, budget : optional
        Most tests to run on a subject, most to pay for them.
    time_limit, memory_limit : optional
        Seconds and bytes after which a search returns the best plan so far, with its bound.
    steps : int, default 2
        How far ``method="lookahead"`` looks.
    tolerance : float, optional
        By how much the value of a Gaussian plan may be off, in units of the reward; by default a millionth of its range
        for one score, a thousandth for two. For a set the gap at which the search ends; by default 1e-9.
    progress : callable, optional
        Called with a :class:`~proband.planners.progress.Progress` now and then; a search that is answered False ends
        with the best plan so far.
    node_penalty : float, default 0
        With ``method="sparse"`` or ``"rollout"``, what every test node of the tree costs in the choice of the plan, in
        units of the reward of a subject: a smaller tree, which fits a law from few records better. `plan.value` is the
        true value, and `plan.search` has what was maximised.
    warm : SparsePlan or RolloutPlan, optional
        With ``method="sparse"``, a plan for the same tests to start from: the result is never worse than it.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> best = plan(problem, Discrete([[0], [1]], [0.75, 0.25]))
    >>> round(best.value, 3), problem.action_name(best.act([float("nan")])[0])
    (0.65, 'crack')
    """
    limits = (max_tests, budget, time_limit, memory_limit)
    options = Options(*limits, steps, progress, tolerance, device, node_penalty, warm)
    distribution.check(problem)
    law = distribution.solvable()
    if device == "gpu" and problem.measured:
        raise PlanError(f"device is {device!r}; Gaussian laws are planned on the cpu; leave it out")
    if method is None:
        method, why = CHOICES[problem.kind](problem, law, options)
    else:
        why = "asked for by name"
    planner = PLANNERS[method]
    if problem.kind not in kinds_of(planner):
        fitting = [name for name in PLANNERS if problem.kind in kinds_of(PLANNERS[name])]
        raise PlanError(f"method is {method!r}; planners for {problem.kind.value} are {', '.join(fitting)}; choose one")
    refuse_special(method, planner, options)
    made = planner(problem, law, options)
    made.explain_choice, made.max_tests, made.budget = why, max_tests, budget
    return made


def by_size(problem: Problem, distribution: Discrete, options: Options) -> tuple[str, str]:
    """Return the planner that suits a problem of listed outcomes, and why."""
    from proband.planners.dense import needed_memory, stakes_of  # compiled: not for those who only name planners
    from proband.planners.gpu import free_gpu_memory, needed_gpu_memory

    layout, columns = layout_of(problem), problem.n_columns
    size = f"{human_number(layout.n_states)} states"
    if options.device == "gpu":
        return "gpu", f"asked for by device; {size}"
    if options.max_tests is not None or options.budget is not None:
        return over_support(problem, distribution, options, "limits per subject need a search over the support")
    if options.special:
        return over_support(problem, distribution, options, SPECIAL[options.special[0]])
    limit = available_memory() if options.memory_limit is None else options.memory_limit
    needed = needed_memory(layout, stakes_of(problem))
    on_device = needed_gpu_memory(layout, columns, "single")
    if options.device is None and layout.n_states >= WORTH_A_GPU and on_device <= free_gpu_memory():
        return "gpu", f"{size} are worth a GPU, and need {human_bytes(on_device)} on it"
    if needed <= limit:
        return "dense", f"{size} fit into {human_bytes(needed)}, so all of them are solved"
    rows = f"{len(distribution):,} outcome vectors"
    why = f"{size} would not fit into {human_bytes(limit)}; the search works on {rows} instead"
    return over_support(problem, distribution, options, why)


def over_support(problem: Problem, distribution: Discrete, options: Options, why: str) -> tuple[str, str]:
    """Return the planner that works on the support, and why: a search, unless it would not end and nothing ends it."""
    rows, tests = len(distribution), len(problem.operable)
    ends = options.time_limit is not None or options.memory_limit is not None or options.warm is not None
    shallow = options.max_tests is not None and options.max_tests <= SHALLOW
    if ends or shallow or rows * tests <= SEARCHABLE or problem.reward.pooling is not Pooling.SUM:
        return "sparse", why
    return "rollout", (
        f"{rows:,} outcome vectors and {tests} tests are more than a search gets through, and nothing would end it; "
        "rollouts give a good plan at once (with a time limit it is a search, with a bound)"
    )


_SCORES = "gaussian", "outcomes are measured and the reward is a function of scores"
_SETS = "subset", "outcomes are measured and the reward is an entropy, so the best policy is a fixed set"

CHOICES: dict[Kind, Callable[[Problem, Any, Options], tuple[str, str]]] = {
    Kind.LISTED: by_size,
    Kind.SCORES: lambda problem, distribution, options: _SCORES,
    Kind.SETS: lambda problem, distribution, options: _SETS,
}
"""How the planner of a problem of each kind is chosen when none is named."""
