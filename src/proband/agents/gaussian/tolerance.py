"""How accurately to plan with an estimate.

The plan of a law estimated from n rows loses something of the order of the reward's range over n to the best one: a
smooth problem is flat at its optimum, and estimates are off by 1/√n. Planning to a hundredth of that is as good as
exactly.
"""

from __future__ import annotations

from proband.problem import Problem
from proband.rewards import Projection

SHARE = 0.01
FINEST = 1e-6
COARSEST = 1e-3


def suited_tolerance(problem: Problem, n: int) -> float | None:
    """Return the accuracy, in units of the reward, that suits a law estimated from n subjects.

    None, for the planner's own choice, where the reward has no single score.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> limits = Piece("pass", 5.0, when={"length": (9.9, 10.1)})
    >>> reward = Projection([Score("length", {"length": 1.0})], [limits])
    >>> problem = Problem([Test("length", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> suited_tolerance(problem, 100)
    0.0005
    """
    reward = problem.reward
    if not isinstance(reward, Projection) or len(reward.scores) > 1:
        return None
    span = reward.line(problem.decisions).span
    return span * min(max(SHARE / max(n, 1), FINEST), COARSEST) if span > 0 else None
