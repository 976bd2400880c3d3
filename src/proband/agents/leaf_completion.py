"""Leaf completion: explore only where it pays.

Where the plan stops in a leaf s with tests left, a coin decides whether the subject is completed (all remaining tests
run) all the same. Its probability weighs what a wrong decision there may cost the subjects to come against the price
of looking. With

    mass  = P(stops in s),        loss  = what stopping there may lose a subject, over posterior draws of the law,
    kappa = what completing all subjects that stop there would cost,        n = complete subjects that tell about s,
    H     = `ahead` · t the subjects to come, m those of this block,

completing n' more subjects costs n'·kappa/mass and shrinks the loss of the H·mass visits to come like 1/(n + n'), so it
pays while H·mass·loss·n/(n + n')² > kappa, which gives n' = sqrt(H·mass·loss·n/kappa) − n, at most doubling n; the
coin's probability is n'/(m·mass). Where a plan stops, and what that may lose, is the mathematics of the kind of
problem: :mod:`proband.agents.listed.leaves` and :mod:`proband.agents.gaussian.leaves`.

**Floor**: every subject that stops with tests left is completed with a probability of at least ⅔·c0·t^(−1/3).

**What is proved.** The floor alone: complete subjects, chosen by coins that look at nothing, keep accruing, about
c0·T^(2/3) of them by T, and cost at most Σ c_i each. No rate is proved: the rule's completions are not capped, and
nothing checks the likelihood (:mod:`proband.agents.safe_leaf_completion` does both).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from proband.agents.estimates import PerSubject, has_many_tests
from proband.agents.gaussian.leaves import GaussianLeaves
from proband.agents.listed.leaves import ListedLeaves
from proband.agents.listed.many import ManyLeaves
from proband.agents.replanning import Replanning
from proband.agents.setting import Setting
from proband.agents.stops import Leaves, Stops
from proband.errors import AgentError
from proband.estimators import Estimator
from proband.policies import Completing
from proband.problem import Problem
from proband.vocabulary import FloatArray, Kind, Policy

LEAVES: dict[Kind, Callable[..., Any]] = {Kind.LISTED: ListedLeaves, Kind.SCORES: GaussianLeaves}
"""What is made of a problem and the agent's options, by the kind of problem."""


def suited_leaves(problem: Problem, limits: PerSubject) -> Callable[..., Any]:
    """Return the leaves for a problem: by its kind, and of listed outcomes by whether its states can be listed."""
    leaves = ManyLeaves if has_many_tests(problem) else LEAVES[problem.kind]
    return partial(leaves, limits=limits) if limits.given else leaves


class LeafCompletion(Replanning):
    """The anytime agent of this library: learns from every subject, completes some by a coin.

    Parameters
    ----------
    problem, seed, first, growth, estimator, max_tests, budget
        As for :class:`~proband.agents.replanning.Replanning`.
    ahead : float, optional
        How far to plan exploration, as a multiple of the subjects so far; by default 4, and 1.5 with many tests.
    horizon : int, optional
        T, if known: nothing is explored for subjects beyond it.
    floor : float, optional
        c0, the constant of the floor; by default 0 for listed outcomes and 0.03 for measured ones.
    leaves : callable, optional
        Makes a :class:`~proband.agents.stops.Leaves` of the problem; by default that of its kind.
    **options
        For the leaves, such as the number of posterior `draws`.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> agent = LeafCompletion(Problem([Test("crack", 0.75)], (), Match()), seed=1, first=32, draws=8)
    >>> agent.commitment
    32
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        first: int | None = None,
        growth: float | None = None,
        estimator: Estimator | None = None,
        ahead: float | None = None,
        horizon: int | None = None,
        floor: float | None = None,
        leaves: Callable[..., Any] | None = None,
        max_tests: int | None = None,
        budget: float | None = None,
        **options: Any,
    ) -> None:
        if problem.kind not in self.kinds:
            raise AgentError(
                f"the reward is {type(problem.reward).__name__}; leaf completion serves listed outcomes and scores; "
                "choose another agent"
            )
        limits = PerSubject(max_tests, budget)
        limits.check(problem)
        self.leaves: Leaves = (suited_leaves(problem, limits) if leaves is None else leaves)(problem, **options)
        self.floor = self.leaves.floor if floor is None else floor
        self.ahead = self.leaves.ahead if ahead is None else ahead
        if not self.ahead >= 0 or not self.floor >= 0:
            raise AgentError(f"ahead is {ahead}, floor {floor}; both must be 0 or more; correct them")
        super().__init__(
            problem,
            seed=seed,
            first=self.leaves.first if first is None else first,
            growth=self.leaves.growth if growth is None else growth,
            estimator=estimator,
            max_tests=max_tests,
            budget=budget,
        )
        self.horizon = horizon
        self.memoryless = self.leaves.memoryless

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the agent for a setting."""
        given = {name: getattr(setting, name) for name in ("seed", "horizon", "max_tests", "budget")}
        return cls(setting.problem, **given)

    def next_policy(self) -> Policy:
        """Return the plan of the block, with coins where it stops."""
        return self.propose()

    def propose(self) -> Completing:
        """Return the plan of the block, with coins where it stops."""
        lowest = self.lowest
        rng = np.random.default_rng([self.seed, self.begun]) if self.memoryless else self.rng
        stops = self.leaves.look(self.estimator, self.planner, rng, self.begun)
        chances = np.maximum(self.coins(stops), np.where(stops.open, lowest, 0.0))
        completion = self.leaves.completion(stops, chances, lowest)
        extra = self.leaves.extra(
            self.estimator, stops, rng, ahead=self.subjects_ahead(), left=self.length, allowed=self.extras_allowed()
        )
        return Completing(self.problem, stops.base, completion, self.distribution_for_unavailable(), extra=extra)

    def extras_allowed(self) -> float:
        """Return what may be paid for a part of the tests, a subject of the block, as a part of what is at stake."""
        return math.inf

    @property
    def lowest(self) -> float:
        """The floor of the block."""
        return self.floor_after(self.begun)

    def floor_after(self, t: int) -> float:
        """Return the floor after t subjects: with which probability any subject that stops is completed at least."""
        return min(1.0, float(2 / 3 * self.floor * self.root * max(t, 1) ** (-1 / 3)))

    @property
    def root(self) -> float:
        """What floor and cap grow with: 1, for nothing is proved of larger laws."""
        return 1.0

    def coins(self, stops: Stops) -> FloatArray:
        """Return the probability of completing in each leaf, before the floor."""
        mass, loss, kappa, n, ahead = stops.mass, stops.loss, stops.kappa, stops.n, self.subjects_ahead()
        want = np.clip(np.sqrt(ahead * mass * loss * n / kappa) - n, 1.0, n + 1)
        pays = (ahead * mass * loss / n > kappa) & (mass > 0) & stops.open
        chance = np.divide(want, self.length * mass, out=np.zeros(len(mass)), where=pays)
        return np.asarray(np.minimum(chance, self.leaves.surest))

    def subjects_ahead(self) -> float:
        """Return H: for how many subjects to come exploration should pay.

        Leaves that expect a number of subjects expect as many as they are told.
        """
        expected = self.leaves.expected if self.horizon is None or not self.leaves.expected else self.horizon
        ahead = max(self.ahead * self.begun, expected - self.begun)
        return ahead if self.horizon is None else max(0.0, min(ahead, self.horizon - self.begun))
