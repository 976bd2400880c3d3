"""Safe leaf completion: the default agent, with a worst-case rate.

Leaf completion (:mod:`proband.agents.leaf_completion`) with three safeguards. With K the number of outcome vectors
and t the number of subjects so far:

* **floor**: every subject that stops is completed with a probability of at least ⅔·c0·K^(1/3)·t^(−1/3), so that
  every outcome vector keeps being seen;
* **cap**: beyond the floor, at most c1·K^(1/3)·t^(2/3) subjects are ever completed;
* **veto**: with e_t(x) the (known) probability that x would be seen completely, the measure
  W_t(x) = (1/t) Σ 1{x seen completely}/e_t(x) is an unbiased estimate of the law whatever the agent does. If the plan
  of W_t beats the proposal, under W_t, by more than `threshold`·G·K^(1/3)·c0^(−1/2)·t^(−1/3), it is played instead
  (G bounds what a subject can gain or lose).

Whatever the base agent proposes, the regret is then Õ(G K^(1/3) T^(2/3)) with high probability, for all T at once:
``docs/safe-leaf-completion.md`` has the theorem and its proof.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proband.agents.agent import fully_tested
from proband.agents.leaf_completion import LeafCompletion, Leaves
from proband.distributions import Discrete
from proband.errors import AgentError
from proband.estimators import Observations, Prior
from proband.planners import evaluate
from proband.planners.dense import DensePlan, Solution, solve_many
from proband.policies import Completing
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy, Records, outcome_codes

SHORTEST_SHARE = 1 / 64
"""A block is cut to what the cap allows, but not below this share of its length: then only the floor is kept."""


class SafeLeafCompletion(LeafCompletion):
    """Leaf completion with a floor, a cap and a veto.

    Parameters
    ----------
    problem, seed, first, growth, prior, draws, thompson, ahead, horizon
        As for :class:`~proband.agents.leaf_completion.LeafCompletion`.
    floor : float, default 0.004
        c0, the constant of the floor.
    cap : float, default 1
        c1, the constant of the cap.
    threshold : float, default 1
        The constant of the veto.

    Notes
    -----
    Where tests are unavailable no complete outcome vector is ever seen in operation, W_t does not exist, and there is
    no veto; floor and cap hold.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        first: int = 64,
        growth: float = 0.15,
        prior: Prior | None = None,
        draws: int | None = None,
        thompson: float = 0.3,
        ahead: float = 4.0,
        horizon: int | None = None,
        floor: float = 0.004,
        cap: float = 1.0,
        threshold: float = 1.0,
    ) -> None:
        if not floor > 0 or not cap >= 0 or not threshold >= 0:
            raise AgentError(
                f"floor is {floor}, cap {cap}, threshold {threshold}; the floor must be positive, the others 0 or "
                "more; correct them"
            )
        super().__init__(
            problem, seed=seed, first=first, growth=growth, prior=prior, draws=draws, thompson=thompson,
            ahead=ahead, horizon=horizon,
        )  # fmt: skip
        self.floor = floor
        self.cap = cap
        self.threshold = threshold
        self.completed = 0
        self.vetoes = 0
        self.weighted = np.zeros(len(self.estimator.support))
        self._lowest = 1.0
        self._mine = Observations(problem)
        self._told: list[Records] = []

    def learn(self, records: Records) -> None:
        """Count what was seen; complete subjects with the probability that their own policy gave them, where told."""
        if records.chances is None:
            self._mine.add(records.outcomes, records.counts)
        else:
            self._told.append(records.part(fully_tested(self.problem, records.outcomes) & ~np.isnan(records.chances)))
        super().learn(records)

    def absorb(self, block: Observations) -> None:
        """Count what was seen, complete subjects with their inverse probabilities."""
        complete = fully_tested(self.problem, self._mine.rows)
        if complete.any():
            rows = self._mine.rows[complete]
            self._weigh(rows, self._mine.counts[complete], *self._chances(rows))
        for records in self._told:
            if records.chances is not None and len(records):
                self._weigh(records.outcomes, records.counts, records.chances, records.chances < 1)
        self._mine, self._told = Observations(self.problem), []
        super().absorb(block)

    def next_policy(self) -> Policy:
        """Return the proposal of leaf completion within floor and cap, or the vetoing plan."""
        self._lowest = min(1.0, 2 / 3 * self.floor * self._cube_root * self.t ** (-1 / 3))
        proposal = super().next_policy()
        return self._vetoed(proposal) if isinstance(proposal, Completing) else proposal

    def coins(self, leaves: Leaves, weights: FloatArray, solutions: list[Solution]) -> FloatArray:
        """Return the probability of completing in each leaf, within floor and cap."""
        lowest = np.where(leaves.open, self._lowest, 0.0)
        allowed = self.cap * self._cube_root * self.t ** (2 / 3) - self.completed
        if allowed < max(1.0, SHORTEST_SHARE * self.left):
            return lowest
        self.left = min(self.left, int(allowed))
        return np.maximum(lowest, super().coins(leaves, weights, solutions))

    @property
    def _cube_root(self) -> float:
        """K^(1/3), K the number of outcome vectors of the tests that can be run and of the context."""
        return float(self.layout.level_sizes[self.layout.m] ** (1 / 3))

    def _chances(self, rows: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return with which probability the present policy runs every test on complete rows, and where by a coin."""
        chances, tossed = np.ones(len(rows)), np.zeros(len(rows), dtype=np.bool_)
        if isinstance(self._policy, Completing):
            stopped = self._policy.run(rows).states
            tossed = np.asarray(np.isnan(stopped[:, self.problem.operable]).any(axis=1))
            chances[tossed] = self._policy.completion(stopped)[tossed]
        return chances, tossed

    def _weigh(
        self, rows: FloatArray, counts: FloatArray | IntArray, chances: FloatArray, tossed: NDArray[np.bool_]
    ) -> None:
        """Add complete subjects to the inverse-probability measure, and count those beyond the floor."""
        self.completed += int(counts[tossed & (chances > self._lowest)].sum())
        if self._law_for_unavailable() is None and len(self.weighted) == self.problem.size:
            np.add.at(self.weighted, outcome_codes(rows, self.problem.tests), counts / chances)

    def _vetoed(self, proposal: Completing) -> Policy:
        """Return the plan of the inverse-probability measure where it beats the proposal by too much."""
        no_measure = self._law_for_unavailable() is not None or len(self.weighted) != self.problem.size
        if no_measure or not self.weighted.any():
            return proposal
        support = self.estimator.support
        weights = self.weighted / self.t
        [solution] = solve_many(self.layout, support, weights[None], self.problem.payoff(support))
        rival = DensePlan(self.layout, Discrete.from_weights(support, weights), solution)
        scale = weights.sum()
        gain = rival.value - scale * evaluate(self.problem, rival.distribution, proposal.base).value
        if gain <= self.threshold * self._largest_stake * self._cube_root * self.floor**-0.5 * self.t ** (-1 / 3):
            return proposal
        self.vetoes += 1
        leaves = self.leaves_of(rival)
        return Completing(self.problem, rival, leaves.states, np.where(leaves.open, self._lowest, 0.0))

    @property
    def _largest_stake(self) -> float:
        """G: the largest |f| plus the full prices of all tests (in a group, what all cost depends on their order)."""
        payoff = self.problem.payoff(self.estimator.support)
        return float(np.abs(payoff).max() + sum(self.problem.tests[i].cost for i in self.problem.operable))
