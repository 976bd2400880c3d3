"""One door to all planners."""

from __future__ import annotations

from proband.distributions import Discrete
from proband.planners.dense import plan_dense
from proband.planners.plan import Plan
from proband.problem import Problem

PLANNERS = {"dense": plan_dense}


def plan(problem: Problem, distribution: Discrete) -> Plan:
    """Return the best policy for a problem and a law.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.rewards import Table
    >>> problem = Problem([Test("crack", 0.1)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]))
    >>> best = plan(problem, Discrete([[0], [1]], [0.75, 0.25]))
    >>> round(best.value, 3), problem.action_name(best.act([float("nan")])[0])
    (0.65, 'crack')
    """
    return plan_dense(problem, distribution)
