"""One door to all planners, and the choice between them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import overload

from proband.distributions import Discrete, Gaussian, Law
from proband.errors import PlanError
from proband.planners.dense import needed_memory, plan_dense
from proband.planners.discrete_plan import DiscretePlan
from proband.planners.gaussian.planner import plan_gaussian
from proband.planners.gpu import free_gpu_memory, needed_gpu_memory, plan_gpu
from proband.planners.greedy import plan_gain, plan_lookahead, plan_myopic
from proband.planners.layout import layout_of
from proband.planners.memory import available_memory, human_bytes, human_number
from proband.planners.options import Options
from proband.planners.plans import Plan
from proband.planners.progress import Report
from proband.planners.sparse import plan_sparse
from proband.planners.subset.planner import plan_subset
from proband.problem import Problem
from proband.rewards import Entropy

PLANNERS: dict[str, Callable[[Problem, Discrete, Options], DiscretePlan]] = {
    "dense": plan_dense,
    "gpu": plan_gpu,
    "sparse": plan_sparse,
    "myopic": plan_myopic,
    "lookahead": plan_lookahead,
    "gain": plan_gain,
}
"""Planners for listed outcomes, by name."""


MEASURED_PLANNERS: dict[str, Callable[[Problem, Gaussian, Options], Plan]] = {
    "gaussian": plan_gaussian,
    "subset": plan_subset,
}
"""Planners for measured outcomes, by name."""

WORTH_A_GPU = 2**24
"""With fewer states the CPU is done before the device has started."""


@overload
def plan(
    problem: Problem,
    distribution: Discrete,
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
) -> DiscretePlan: ...


@overload
def plan(
    problem: Problem,
    distribution: Law,
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
) -> Plan: ...


def plan(
    problem: Problem,
    distribution: Law,
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
) -> Plan:
    """Return the best policy for a problem and a law.

    Parameters
    ----------
    problem : Problem
    distribution : Discrete or Gaussian
    method : str, optional
        A planner of :data:`PLANNERS` (:data:`MEASURED_PLANNERS` for a Gaussian law); chosen by size and reward if not
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

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> best = plan(problem, Discrete([[0], [1]], [0.75, 0.25]))
    >>> round(best.value, 3), problem.action_name(best.act([float("nan")])[0])
    (0.65, 'crack')
    """
    options = Options(max_tests, budget, time_limit, memory_limit, steps, progress, tolerance)
    distribution.check(problem)
    if isinstance(distribution, Gaussian):
        return _plan_measured(problem, distribution, method, device, options)
    if method is None:
        method, why = choose(problem, distribution, options, device)
    else:
        why = "asked for by name"
    _check_method(method, PLANNERS, "listed")
    made = PLANNERS[method](problem, distribution, options)
    made.explain_choice = why
    return made


def _plan_measured(problem: Problem, law: Gaussian, method: str | None, device: str | None, options: Options) -> Plan:
    if device not in (None, "cpu"):
        raise PlanError(f"device is {device!r}; Gaussian laws are planned on the cpu; leave it out")
    entropy = isinstance(problem.reward, Entropy)
    name = method or ("subset" if entropy else "gaussian")
    _check_method(name, MEASURED_PLANNERS, "measured")
    made = MEASURED_PLANNERS[name](problem, law, options)
    if method is None:
        reward = "an entropy, so the best policy is a fixed set" if entropy else "a function of scores"
        made.explain_choice = f"outcomes are measured and the reward is {reward}"
    return made


def _check_method(method: str, planners: Collection[str], what: str) -> None:
    if method not in planners:
        raise PlanError(f"method is {method!r}; planners for {what} outcomes are {', '.join(planners)}; choose one")


def choose(problem: Problem, distribution: Discrete, options: Options, device: str | None) -> tuple[str, str]:
    """Return the planner that suits a problem, and why."""
    if device not in (None, "cpu", "gpu"):
        raise PlanError(f"device is {device!r}; devices are cpu and gpu; choose one")
    layout, columns = layout_of(problem), problem.n_columns
    size = f"{human_number(layout.n_states)} states"
    if device == "gpu":
        return "gpu", f"asked for by device; {size}"
    if options.max_tests is not None or options.budget is not None:
        return "sparse", "limits per subject need a search over the support"
    limit = available_memory() if options.memory_limit is None else options.memory_limit
    needed = needed_memory(layout, columns)
    on_device = needed_gpu_memory(layout, columns, "single")
    if device is None and layout.n_states >= WORTH_A_GPU and on_device <= free_gpu_memory():
        return "gpu", f"{size} are worth a GPU, and need {human_bytes(on_device)} on it"
    if needed <= limit:
        return "dense", f"{size} fit into {human_bytes(needed)}, so all of them are solved"
    rows = f"{len(distribution):,} outcome vectors"
    return "sparse", f"{size} would not fit into {human_bytes(limit)}; the search works on {rows} instead"
