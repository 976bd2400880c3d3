"""Leaf completion for measured outcomes: explore only where it pays.

The discrete agent's rule (:mod:`proband.agents.leaf_completion`) with one coin for each *set* O of tests in which the
plan stops, for no two subjects stop with the same numbers. With posterior draws D_1 ... D_J, the estimate P, and
simulated subjects of P that end in states s with decisions y,

    mass  = P(stops with O),
    loss  = E 1{stops with O} · mean_j [ v_j(s) − E_j[f(x, y) | s] ]⁺               what stopping there may lose,
    kappa = E 1{stops with O} · ( E[f(x, y) | s] − W(x) + price of the rest )       what looking there costs,
    n     = complete subjects,   H = `ahead` · t the subjects to come, m those of this block,

W(x) being the value of the best decision once every test is run. Completing n' more subjects in O costs n'·kappa/mass
and shrinks the loss like 1/(n + n'), which gives n' = sqrt(H·mass·loss·n/kappa) − n, at most doubling n, and the
coin's probability n'/(m·mass). Unlike in the discrete agent n counts *all* complete subjects and not those of O
alone: the parameters of a Gaussian law are shared, and whoever is completed tells about every regression.

**Floor**: every subject that stops with tests left is completed with a probability of at least ⅔·c0·t^(−1/3), as in
the safe agent (with K = 1: measured outcomes have no number of outcome vectors).

**What is proved.** The floor alone: complete subjects, chosen by coins that look at nothing, keep accruing, about
c0·T^(2/3) of them by T, and cost at most Σ c_i each. No rate is proved: the rule's completions are not capped, and
nothing checks the likelihood (:mod:`proband.agents.gaussian.safe_leaf_completion` does both). The estimate relies on
the law being Gaussian. If it is not, the plan is that of the nearest Gaussian law, and exploring does not mend it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.agents.agent import fully_tested
from proband.agents.gaussian.completing_sets import CompletingSets
from proband.agents.gaussian.replanning import GaussianReplanning
from proband.distributions import totals
from proband.errors import AgentError
from proband.estimators.gaussian.likelihood import Shrinkage
from proband.planners import Plan
from proband.planners.evaluation import expected_rewards
from proband.policies import Episodes, ProjectionDecider, follow
from proband.policies.beliefs import masks_of
from proband.problem import Problem
from proband.rewards import Projection
from proband.vocabulary import FloatArray, IntArray, Policy


@dataclass(frozen=True)
class StoppingSets:
    """The sets of tests with which a plan stops while tests are left.

    Attributes
    ----------
    masks : IntArray of shape (sets,)
        As bit masks, sorted.
    mass, loss, kappa : FloatArray of shape (sets,)
        How often it stops there, what that may lose a subject, and what completing all of them would cost.
    """

    masks: IntArray
    mass: FloatArray
    loss: FloatArray
    kappa: FloatArray


class GaussianLeafCompletion(GaussianReplanning):
    """The anytime agent for measured outcomes: learns from every subject, completes some by a coin.

    Parameters
    ----------
    problem : Problem
        Measured tests and a projection reward.
    seed, first, growth, shrinkage
        As for :class:`~proband.agents.gaussian.GaussianReplanning`.
    draws : int, default 16
        J, the number of posterior draws.
    subjects : int, default 2048
        How many subjects are simulated to see where a plan stops.
    ahead : float, default 4
        How far to plan exploration, as a multiple of the subjects so far.
    horizon : int, optional
        T, if known: nothing is explored for subjects beyond it.
    floor : float, default 0.03
        c0, the constant of the floor.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> limits = Piece("pass", 5.0, when={"length": (9.9, 10.1)})
    >>> reward = Projection([Score("length", {"length": 1.0})], [limits])
    >>> problem = Problem([Test("length", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> agent = GaussianLeafCompletion(problem, seed=1, first=32)
    >>> agent.commitment
    32
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        first: int = 64,
        growth: float = 0.15,
        shrinkage: Shrinkage = None,
        draws: int = 16,
        subjects: int = 2048,
        ahead: float = 4.0,
        horizon: int | None = None,
        floor: float = 0.03,
    ) -> None:
        if draws < 1 or subjects < 1 or not ahead >= 0 or not floor >= 0:
            raise AgentError(
                f"draws is {draws}, subjects {subjects}, ahead {ahead}, floor {floor}; the first two must be 1 or "
                "more, the others 0 or more; correct them"
            )
        if not isinstance(problem.reward, Projection):
            raise AgentError(
                f"the reward is {type(problem.reward).__name__}; leaf completion for measured outcomes needs a "
                "projection; write the reward as one, or choose another agent"
            )
        super().__init__(problem, seed=seed, first=first, growth=growth, shrinkage=shrinkage)
        self.draws = draws
        self.subjects = subjects
        self.ahead = ahead
        self.horizon = horizon
        self.floor = floor
        self.complete = 0

    def absorb(self, rows: FloatArray, counts: IntArray) -> None:
        """Learn from the rows of the finished block, and count the complete ones."""
        super().absorb(rows, counts)
        self.complete += int(counts[fully_tested(self.problem, rows)].sum())

    def next_policy(self) -> Policy:
        """Return the plan of the estimate, with coins where it stops."""
        base = self.plan_of(self.estimator.distribution())
        drawn = [self.plan_of(law) for law in self.estimator.draws(self.rng, self.draws)]
        sets = self.stopping_sets(base, drawn)
        chances = np.maximum(self.coins(sets), self.lowest)
        probabilities = dict(zip(sets.masks.tolist(), chances.tolist(), strict=True))
        law = self.law_for_unavailable()
        return CompletingSets(self.problem, base, probabilities, law, otherwise=self.lowest)

    @property
    def lowest(self) -> float:
        """The floor: with which probability any subject that stops is completed at least."""
        return min(1.0, float(2 / 3 * self.floor * max(self.t, 1) ** (-1 / 3)))

    def coins(self, sets: StoppingSets) -> FloatArray:
        """Return the probability of completing in each set, before the floor."""
        n, ahead = max(1, self.complete), self.subjects_ahead()
        want = np.clip(np.sqrt(ahead * sets.mass * sets.loss * n / sets.kappa) - n, 1.0, n + 1)
        pays = ahead * sets.mass * sets.loss / n > sets.kappa
        return np.where(pays, np.minimum(want / (self.left * sets.mass), 1.0), 0.0)

    def subjects_ahead(self) -> float:
        """Return H: for how many subjects to come exploration should pay."""
        ahead = self.ahead * self.t
        return ahead if self.horizon is None else max(0.0, min(ahead, self.horizon - self.t))

    def stopping_sets(self, base: Plan, drawn: list[Plan]) -> StoppingSets:
        """Return where a plan stops on simulated subjects of the estimate, and what it may lose there."""
        law, problem = self.estimator.distribution(), self.problem
        rows = law.sample(self.rng, self.subjects)
        episodes = follow(problem, base, rows)
        left = np.isnan(episodes.states[:, problem.operable]).any(axis=1)
        stopped = Episodes(episodes.states[left], episodes.actions[left], episodes.costs[left], episodes.tests[left])
        decider = ProjectionDecider(problem, law)
        gained = decider.decide(rows[left])[1] - expected_rewards(decider, stopped.states, stopped.actions)
        price = problem.cost_of_the_rest(stopped.states) - gained
        loss = np.mean([_losses(plan, stopped) for plan in drawn], axis=0)
        masks, which = np.unique(masks_of(stopped.states), return_inverse=True)
        mass, lost, paid = (totals(which, each, len(masks)) / len(rows) for each in (np.ones(len(which)), loss, price))
        return StoppingSets(masks, mass, lost, np.maximum(paid, 1e-12))


def _losses(plan: Plan, stopped: Episodes) -> FloatArray:
    """Return what stopping loses to the best policy under the law of a plan, shape (n,)."""
    decider = ProjectionDecider(plan.problem, plan.distribution)  # type: ignore[arg-type]
    decided = expected_rewards(decider, stopped.states, stopped.actions)
    return np.maximum(plan.values(stopped.states) - decided, 0.0)
