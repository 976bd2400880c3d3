"""One subject at a time: which tests it went through, what they showed, what was decided."""

from __future__ import annotations

from dataclasses import dataclass

from proband.problem import Problem
from proband.vocabulary import NEVER, FloatArray, Policy


@dataclass(frozen=True)
class Journey:
    """What happened to one subject.

    Attributes
    ----------
    number : int
        The subject's place in the stream, from 1 on.
    steps : tuple of (str, str)
        The tests run and their outcomes, in order.
    decision : str
    paid : float
        What the tests cost.
    explored : bool
        Whether the policy's coin had the remaining tests run where its plan would have stopped.
    """

    number: int
    steps: tuple[tuple[str, str], ...]
    decision: str
    paid: float
    explored: bool


def journey(problem: Problem, policy: Policy, row: FloatArray, *, number: int = 1, coin: float = NEVER) -> Journey:
    """Follow one subject with the outcome vector `row`, shape (d,).

    A policy that tosses coins is handed `coin`, in [0, 1); by default one that never falls.

    Examples
    --------
    >>> import numpy as np
    >>> from proband.instances import bolts
    >>> from proband.policies import FixedSet
    >>> problem = bolts().problem
    >>> weigh = FixedSet(problem, ["bolt weight"], bolts().distribution)
    >>> found = journey(problem, weigh, np.zeros(9))
    >>> found.steps, found.decision, found.paid
    ((('bolt weight', 'light'),), 'fail', 0.05)
    """
    state, steps, paid, explored = problem.state(), [], 0.0, False
    state[problem.context] = row[problem.context]
    while (action := int(policy.act(state, coin)[0])) < problem.d:
        explored = explored or int(policy.act(state, NEVER)[0]) >= problem.d
        paid += float(problem.costs(state)[0, action])
        state[action] = row[action]
        steps.append((problem.tests[action].name, problem.tests[action].names[int(row[action])]))
    return Journey(number, tuple(steps), problem.action_name(action), paid, explored)
