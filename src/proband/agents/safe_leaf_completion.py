"""Safe leaf completion: the default agent, with a worst-case rate.

Leaf completion (:mod:`proband.agents.leaf_completion`) with three safeguards. With K the number of outcome vectors
and t the number of subjects so far:

* **floor**: every subject that stops is completed with a probability of at least ⅔·c0·K^(1/3)·t^(−1/3), so that
  every outcome vector keeps being seen;
* **cap**: beyond the floor, at most c1·K^(1/3)·t^(2/3) subjects are ever completed;
* **veto**: with e_t(x) the (known) probability that the policy of subject t would see x completely, the measure
  W_t(x) = (1/t) Σ 1{x seen completely}/e_t(x) is an unbiased estimate of the law whatever the agent does. If the plan
  of W_t beats the proposal, under W_t, by more than `threshold`·G·K^(1/3)·c0^(−1/2)·t^(−1/3), it is played instead
  (G bounds what a subject can gain or lose).

Whatever the base agent proposes, the regret is then Õ(G K^(1/3) T^(2/3)) with high probability, for all T at once, also
where subjects are open side by side while policies change: ``docs/safe-leaf-completion.md`` has theorem and proof.
"""

from __future__ import annotations

import numpy as np

from proband.agents.agent import fully_tested
from proband.agents.leaf_completion import LeafCompletion, Leaves
from proband.distributions import Discrete, totals
from proband.errors import AgentError
from proband.estimators import Observations, Prior
from proband.planners import evaluate
from proband.planners.dense import DensePlan, Solution, solve_many
from proband.policies import Completing, chances
from proband.problem import Problem
from proband.vocabulary import FloatArray, Policy, Records, outcome_codes

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

    Attributes
    ----------
    completed : int
        How many subjects were completed by a coin beyond the floor.
    known : int
        Of how many subjects the probability of being seen completely is known: W_t averages over these.
    vetoes : int
        How often the proposal was overruled.

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
        self.known = 0
        self.vetoes = 0
        self.weighted = np.zeros(len(self.estimator.support))
        self._lowest = 1.0
        self._own = Observations(problem)
        self._told: list[Records] = []

    def learn(self, records: Records) -> None:
        """Count what was seen; complete subjects with the probability that their own policy gave them, where told."""
        if records.chances is None:
            self._own.add(records.outcomes, records.counts)
        else:
            self._tell(records)
        super().learn(records)

    def absorb(self, block: Observations) -> None:
        """Count what was seen, complete subjects with their inverse probabilities."""
        self._tell(Records(self._own.rows, self._own.counts, chances(self.problem, self._policy, self._own.rows)))
        self.known += sum(records.n for records in self._told)
        self._weigh([records.part(fully_tested(self.problem, records.outcomes)) for records in self._told])
        self._own, self._told = Observations(self.problem), []
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

    def _tell(self, records: Records) -> None:
        """Keep until the end of the block those whose chance is known, and who could have been seen as they were."""
        if records.chances is not None:
            possible = (records.chances > 0) | ~fully_tested(self.problem, records.outcomes)
            self._told.append(records.part(possible & ~np.isnan(records.chances)))

    def _weigh(self, told: list[Records]) -> None:
        """Add complete subjects to the inverse-probability measure, and count those beyond the floor.

        Subjects that are alike are added as one and in one order, so that it does not matter how they were told.
        """
        rows = np.vstack([records.outcomes for records in told])
        known = np.concatenate([records.chances for records in told if records.chances is not None])
        alike, of_row = np.unique(np.column_stack([rows, known]), axis=0, return_inverse=True)
        counts = totals(of_row.reshape(-1), np.concatenate([records.counts for records in told]), len(alike))
        tossed = (alike[:, -1] > self._lowest) & (alike[:, -1] < 1)
        self.completed += int(counts[tossed].sum())
        if self._measures:
            np.add.at(self.weighted, outcome_codes(alike[:, :-1], self.problem.tests), counts / alike[:, -1])

    @property
    def _measures(self) -> bool:
        """Whether W exists: every test can be run, and every outcome vector is in the support."""
        return self.problem.all_available and len(self.weighted) == self.problem.size

    def _vetoed(self, proposal: Completing) -> Policy:
        """Return the plan of the inverse-probability measure where it beats the proposal by too much."""
        if not self._measures or not self.weighted.any():
            return proposal
        support = self.estimator.support
        weights = self.weighted / self.known
        [solution] = solve_many(self.layout, support, weights[None], self.problem.payoff(support))
        rival = DensePlan(self.layout, Discrete.from_weights(support, weights), solution)
        scale = weights.sum()
        gain = rival.value - scale * evaluate(self.problem, rival.distribution, proposal.base).value
        if gain <= self.threshold * self._largest_stake * self._cube_root * self.floor**-0.5 * self.known ** (-1 / 3):
            return proposal
        self.vetoes += 1
        leaves = self.leaves_of(rival)
        return Completing(self.problem, rival, leaves.states, np.where(leaves.open, self._lowest, 0.0))

    @property
    def _largest_stake(self) -> float:
        """G: the largest |f| plus the full prices of all tests (in a group, what all cost depends on their order)."""
        payoff = self.problem.payoff(self.estimator.support)
        return float(np.abs(payoff).max() + sum(self.problem.tests[i].cost for i in self.problem.operable))
