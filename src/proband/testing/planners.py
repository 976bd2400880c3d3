"""What every planner must do: plans that are worth what they say, and, if exact, as good as brute force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proband.distributions import Discrete
from proband.planners import DiscretePlan, evaluate
from proband.problem import Problem
from proband.testing.brute_force import BruteForce, exhaustive_value
from proband.testing.policies import check_policy
from proband.testing.random_instances import instance_text, random_distribution, random_problem, random_states
from proband.vocabulary import FloatArray

Planner = Callable[[Problem, Discrete], DiscretePlan]

STATES = 400


def check_planner(
    planner: Planner,
    rng: np.random.Generator | None = None,
    *,
    instances: int = 50,
    exact: bool = True,
    tolerance: float = 1e-12,
    kind: str | None = None,
) -> None:
    """Raise AssertionError unless a planner keeps its contract on random instances.

    Every plan is a policy (:func:`~proband.testing.check_policy`) whose value is that of following it, summed over
    every outcome vector, and whose bound no policy exceeds. An exact planner has the values of brute force in
    every state that can occur, and acts best there.

    Parameters
    ----------
    planner : callable
        ``planner(problem, distribution)`` gives a :class:`~proband.Plan`.
    rng : numpy.random.Generator, optional
        Draws the instances; by default a fixed one.
    instances : int
        How many to try.
    exact : bool
        Whether the planner claims to be exact.
    tolerance : float
        How far values may be off, relative to the larger of one and the value, beside what a plan says of itself: its
        `error` is how far its value may be off, and so an action may lose twice as much.
    kind : str, optional
        Kind of reward to try alone, a key of :data:`~proband.testing.REWARDS`.

    Examples
    --------
    >>> from proband import plan
    >>> check_planner(plan, np.random.default_rng(0), instances=2, kind="match")
    """
    rng = np.random.default_rng(0) if rng is None else rng
    for n in range(instances):
        problem = random_problem(rng, kind=kind)
        distribution = random_distribution(rng, problem)
        try:
            check_plan(planner(problem, distribution), rng, exact=exact, tolerance=tolerance)
        except AssertionError as error:
            raise AssertionError(f"instance {n}: {error}\n{instance_text(problem, distribution)}") from error


def check_plan(plan: DiscretePlan, rng: np.random.Generator, *, exact: bool = True, tolerance: float = 1e-12) -> None:
    """Raise AssertionError unless one plan keeps its contract; see :func:`check_planner`.

    Examples
    --------
    >>> import proband
    >>> problem = random_problem(np.random.default_rng(0))
    >>> law = random_distribution(np.random.default_rng(0), problem)
    >>> check_plan(proband.plan(problem, law), np.random.default_rng(0))
    """
    problem, distribution = plan.problem, plan.distribution
    brute_force = BruteForce(problem, distribution)
    best, allowed = brute_force.value(), Allowed(tolerance, 2 * plan.error)
    check_policy(problem, plan, rng, rows=distribution.sample(rng, 30))
    allowed.check("the plan's value is", plan.value, "evaluate gives", evaluate(problem, distribution, plan).value)
    allowed.check("the plan's value is", plan.value, "following it", exhaustive_value(problem, distribution, plan))
    slack = allowed.about(best)
    assert plan.value <= best + slack, f"the plan's value {plan.value} exceeds the best possible, {best}"
    assert plan.bound >= best - slack, f"the plan's bound {plan.bound} is below the best possible, {best}"
    if exact:
        allowed.check("the plan's value is", plan.value, "brute force gives", best)
        allowed.check("the plan's bound is", plan.bound, "brute force gives", best)
        _check_states(plan, brute_force, rng, allowed)
    _check_unseen(plan, rng)


@dataclass(frozen=True)
class Allowed:
    """How far two numbers that should be the same may be apart: relatively, and for what a plan says of itself."""

    tolerance: float
    error: float

    def about(self, value: float) -> float:
        """Return the difference that is allowed near a value."""
        return self.tolerance * max(1.0, abs(value)) + self.error

    def check(self, what: str, a: float, other: str, b: float) -> None:
        """Raise AssertionError unless two numbers are close."""
        assert abs(a - b) <= self.about(b), f"{what} {float(a)!r}; {other} {float(b)!r}"


def _check_states(plan: DiscretePlan, brute_force: BruteForce, rng: np.random.Generator, allowed: Allowed) -> None:
    """Compare values and actions with brute force, in every state that can occur (or many of them)."""
    states = list(brute_force.states())
    if len(states) > STATES:
        states = [states[n] for n in rng.choice(len(states), STATES, replace=False)]
    rows: FloatArray = np.array([[np.nan if b is None else b for b in state] for state in states])
    values, actions = plan.values(rows), plan.act(rows)
    for n, state in enumerate(states):
        known = brute_force.action_values(state)
        best = max(known.values())
        allowed.check(f"in the state {rows[n].tolist()} the plan's value is", values[n], "brute force gives", best)
        action = int(actions[n])
        assert action in known, f"in the state {rows[n].tolist()} the plan takes {action}, not among {sorted(known)}"
        allowed.check(f"in {rows[n].tolist()} action {action} is worth", known[action], "the best", best)


def _check_unseen(plan: DiscretePlan, rng: np.random.Generator) -> None:
    """States of probability zero have a finite value too; that they get an action is a matter of policies."""
    rows = plan.problem.states(random_states(rng, plan.problem, 30))
    values = plan.values(rows[plan.distribution.mass(rows) <= 0])
    assert np.isfinite(values).all(), f"a state of probability zero has the value {values}"
