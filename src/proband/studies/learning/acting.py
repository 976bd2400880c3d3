"""What a policy says of one subject, also when the operator went another way.

A subject brings its coin u; a policy with coins acts on (state, u). Three rules make the action a pure function of
policy, state and coin:

* As long as everything known was told as advised, the policy acts: π(s, u).
* If more is known than the policy asked for (a test run against its advice, a result that came with the subject), it is
  on its path nevertheless when walking it through what is known uses all of it; then the policy acts, too.
* Off the path the policy acts without its coin, and a decision is the best one given all that is known: nothing that
  was paid for is ignored.

The *chance* of a finished subject is the probability with which its policy would have run every test on it: 1 where
the plan itself does, q(s) where it stops in the leaf s and a coin decides (whether the subject was completed, given
extra tests, or neither), 0 where it stops and there is no coin. It is not known (NaN) when what was tested is not what
the policy would have tested.
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np

from proband.policies import Decider, ProjectionDecider, chances
from proband.problem import Problem
from proband.vocabulary import NEVER, FloatArray, Policy


@runtime_checkable
class KnowsDecisions(Protocol):
    """A plan that knows the best decisions under its law."""

    decider: Decider | ProjectionDecider


@runtime_checkable
class OverPlan(Protocol):
    """A policy on top of a plan, which it leaves now and then so that the study learns."""

    base: Policy


def action(problem: Problem, policy: Policy, state: FloatArray, coin: float, *, steady: bool) -> int:
    """Return what to do in a state (d,), a test or a decision; `steady` if everything known was told as advised."""
    if steady:
        return act(policy, state, coin)
    reached, chosen = walk(problem, policy, state, coin)
    if _same_tests(problem, reached, state):
        return chosen
    free = act(plan_of(policy), state, NEVER)
    return free if free < problem.d else best_decision(policy, state, otherwise=free)


def act(policy: Policy, state: FloatArray, coin: float) -> int:
    """Return the policy's action in one state (d,)."""
    return int(policy.act(state[None], coin)[0])


def best_decision(policy: Policy, state: FloatArray, *, otherwise: int) -> int:
    """Return the best decision in a state under the policy's law; `otherwise` if it has none."""
    plan = plan_of(policy)
    return int(plan.decider.decide(state[None])[0][0]) if isinstance(plan, KnowsDecisions) else otherwise


def plan_of(policy: Policy) -> Policy:
    """Return the plan below a policy with coins; the policy itself if there is none."""
    return policy.base if isinstance(policy, OverPlan) else policy


def chance(problem: Problem, policy: Policy, row: FloatArray, coin: float, *, steady: bool) -> float:
    """Return the chance of a finished subject with what is known in the end (d,); NaN if it is not known.

    `steady` says that it was tested as advised and decided when the policy did.
    """
    if not steady:
        reached, chosen = walk(problem, policy, row, coin)
        if chosen < problem.d or not _same_tests(problem, reached, row):
            return math.nan
    return float(chances(problem, policy, row[None])[0])


def walk(problem: Problem, policy: Policy, row: FloatArray, coin: float) -> tuple[FloatArray, int]:
    """Walk a policy through what is known: the state that it comes to, and its first action that is not yet done."""
    reached = np.full(problem.d, np.nan)
    reached[problem.context] = row[problem.context]
    for _ in range(problem.d + 1):
        chosen = act(policy, reached, coin)
        if chosen >= problem.d or np.isnan(row[chosen]):
            break
        reached[chosen] = row[chosen]
    return reached, chosen


def _same_tests(problem: Problem, reached: FloatArray, row: FloatArray) -> bool:
    return bool((np.isnan(reached[problem.operable]) == np.isnan(row[problem.operable])).all())
