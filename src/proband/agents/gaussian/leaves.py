"""Where plans of measured outcomes stop, and what that may lose, for leaf completion.

There is one coin for each *set* O of tests in which the plan stops: no two subjects stop with the same numbers. With
posterior draws D_1 ... D_J, the estimate P, and simulated subjects of P that end in states s with decisions y,

    loss  = E 1{stops with O} · mean_j [ v_j(s) − E_j[f(x, y) | s] ]⁺               what stopping there may lose,
    kappa = E 1{stops with O} · ( E[f(x, y) | s] − W(x) + price of the rest )       what looking there costs,

W(x) being the value of the best decision once every test is run. Unlike with listed outcomes n counts *all* complete
subjects and not those of O alone: the parameters of a Gaussian law are shared, and whoever is completed tells about
every regression. The estimate relies on the law being Gaussian. If it is not, the plan is that of the nearest Gaussian
law, and exploring does not mend it.
"""

from __future__ import annotations

import numpy as np

from proband.agents.estimates import Planner
from proband.agents.gaussian.reference import AcceptedSubjects, free_parameters
from proband.agents.stops import Stops
from proband.distributions import Gaussian, totals
from proband.errors import AgentError
from proband.estimators import GaussianLikelihood
from proband.planners import Plan
from proband.planners.evaluation import expected_rewards
from proband.policies import SUREST, ByTests, Episodes, ProjectionDecider, follow
from proband.policies.beliefs import masks_of
from proband.problem import Problem
from proband.vocabulary import FloatArray


class GaussianLeaves:
    """The leaves of plans of measured outcomes (:class:`~proband.agents.stops.Leaves`).

    Parameters
    ----------
    problem : Problem
        With a reward of scores.
    draws : int, default 16
        J, the number of posterior draws.
    subjects : int, default 2048
        How many subjects are simulated to see where a plan stops.
    """

    floor, safe_floor, threshold, surest = 0.03, 0.01, 3.0, 1.0
    ahead, first, growth, expected = 4.0, 64, 0.15, 0
    memoryless = False
    reference = AcceptedSubjects

    def __init__(self, problem: Problem, *, draws: int = 16, subjects: int = 2048) -> None:
        if draws < 1 or subjects < 1:
            raise AgentError(f"draws is {draws}, subjects {subjects}; both must be 1 or more; correct them")
        self.problem = problem
        self.draws = draws
        self.subjects = subjects
        self.parameters = free_parameters(problem.d)

    def look(self, estimator: GaussianLikelihood, planner: Planner, rng: np.random.Generator, t: int) -> Stops:
        """Return the plan of the estimate, and where it stops."""
        distribution = estimator.distribution()
        base = planner(self.problem, distribution, t)
        drawn = [planner(self.problem, each, t) for each in estimator.draws(rng, self.draws)]
        return self.stops(base, drawn, distribution, rng, max(1, self.complete(estimator)))

    def completion(self, stops: Stops, chances: FloatArray, lowest: float) -> ByTests:
        """Return the probability of completing for each set of tests."""
        return ByTests(self.problem, dict(zip(stops.where.tolist(), chances.tolist(), strict=True)), otherwise=lowest)

    def extra(self, *whatever: object, **more: object) -> None:
        """Return None: who is looked at more closely is tested completely."""

    def within(self, allowed: float, left: int) -> tuple[int, float]:
        """Toss no coin with which the whole block may complete more than the cap allows, in expectation."""
        return left, min(allowed / left, SUREST)

    def complete(self, estimator: GaussianLikelihood) -> int:
        """Return how many subjects were seen with every test that can be run."""
        available = [i for i, test in enumerate(self.problem.tests) if test.available]
        return int(sum(pattern.n for pattern in estimator.patterns if np.isin(available, pattern.tests).all()))

    def stops(self, base: Plan, drawn: list[Plan], distribution: Gaussian, rng: np.random.Generator, n: int) -> Stops:
        """Return where a plan stops on simulated subjects of the estimate, and what it may lose there."""
        problem = self.problem
        rows = distribution.sample(rng, self.subjects)
        episodes = follow(problem, base, rows)
        left = np.isnan(episodes.states[:, problem.operable]).any(axis=1)
        stopped = Episodes(episodes.states[left], episodes.actions[left], episodes.costs[left], episodes.tests[left])
        decider = ProjectionDecider(problem, distribution)
        gained = decider.decide(rows[left])[1] - expected_rewards(decider, stopped.states, stopped.actions)
        price = problem.cost_of_the_rest(stopped.states) - gained
        loss = np.mean([_losses(plan, stopped) for plan in drawn], axis=0)
        masks, which = np.unique(masks_of(stopped.states), return_inverse=True)
        mass, lost, paid = (totals(which, each, len(masks)) / len(rows) for each in (np.ones(len(which)), loss, price))
        return Stops(base, masks, mass, lost, np.maximum(paid, 1e-12), n, np.ones(len(masks), dtype=np.bool_))


def _losses(plan: Plan, stopped: Episodes) -> FloatArray:
    """Return what stopping loses to the best policy under the law of a plan, shape (n,)."""
    decider = ProjectionDecider(plan.problem, plan.distribution)  # type: ignore[arg-type]
    decided = expected_rewards(decider, stopped.states, stopped.actions)
    return np.maximum(plan.values(stopped.states) - decided, 0.0)
