"""Safe leaf completion for measured outcomes: the agent with a worst-case rate, whatever its likelihood says.

Leaf completion (:mod:`proband.agents.gaussian.leaf_completion`) with three safeguards. With D = d(d + 3)/2 the number
of parameters of the law, and t the number of subjects so far:

* **floor**: every subject that stops is completed with a probability of at least ε_t = ⅔·c0·D^(1/3)·t^(−1/3);
* **cap**: of N subjects completed by coins beyond the floor so far, a block of m subjects may add at most
  c1·D^(1/3)·t^(2/3) − N in expectation: no such coin is above this difference over m;
* **veto**: a complete subject whose policy completes subjects like it with probability e is *accepted* with probability
  ε_t/e. So every subject is accepted with probability ε_t whatever it shows: the accepted ones are an independent
  sample, and their mean and covariance are those of Algorithm 3. If the law that leaf completion would plan with is
  further than `threshold`·√(D/n) from that of the n accepted subjects (:mod:`proband.agents.gaussian.nearness`), the
  plan of the latter is played instead.

If the law is Gaussian, the regret is then Õ(G D^(1/3) T^(2/3)) with high probability, for all T at once, and whatever
the condition number: ``docs/safe-gaussian.md`` has the theorem and its proof.
"""

from __future__ import annotations

import math

import numpy as np

from proband.agents.agent import fully_tested
from proband.agents.gaussian.completing_sets import CompletingSets
from proband.agents.gaussian.leaf_completion import GaussianLeafCompletion, StoppingSets
from proband.agents.gaussian.nearness import apart, free_parameters
from proband.distributions import totals
from proband.errors import AgentError
from proband.estimators.gaussian.likelihood import GaussianPlugIn, Shrinkage
from proband.policies import SUREST, chances
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy, Records


class SafeGaussianLeafCompletion(GaussianLeafCompletion):
    """Leaf completion for measured outcomes, with a floor, a cap and a veto.

    Parameters
    ----------
    problem, seed, first, growth, shrinkage, draws, subjects, ahead, horizon
        As for :class:`~proband.agents.gaussian.leaf_completion.GaussianLeafCompletion`.
    floor : float, default 0.01
        c0, the constant of the floor.
    cap : float, default 1
        c1, the constant of the cap.
    threshold : float, default 3
        The constant of the veto.

    Notes
    -----
    Where tests are unavailable no complete outcome vector is ever seen in operation, and there is no veto; floor and
    cap hold.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Piece, Projection, Score
    >>> reward = Projection([Score("length", {"length": 1.0})], [Piece("pass", slope={"length": 1.0})])
    >>> problem = Problem([Test("length", 1.0, outcomes=None)], ["pass", "fail"], reward)
    >>> agent = SafeGaussianLeafCompletion(problem, seed=1)
    >>> agent.learn(Records([[0.1], [-0.4]] * 32))
    >>> agent.reference.n, agent.vetoes
    (64, 0)
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
        floor: float = 0.01,
        cap: float = 1.0,
        threshold: float = 3.0,
    ) -> None:
        if not floor > 0 or not cap >= 0 or not threshold >= 0:
            raise AgentError(
                f"floor is {floor}, cap {cap}, threshold {threshold}; the floor must be positive, the others 0 or "
                "more; correct them"
            )
        super().__init__(
            problem, seed=seed, first=first, growth=growth, shrinkage=shrinkage, draws=draws, subjects=subjects,
            ahead=ahead, horizon=horizon, floor=floor,
        )  # fmt: skip
        self.cap = cap
        self.threshold = threshold
        self.completed = 0
        self.vetoes = 0
        self.reference = GaussianPlugIn(problem)
        self._accepting = np.random.default_rng([seed, 1])
        self._level = 1.0
        self._seen = [np.empty((0, problem.d + 2))]

    def learn(self, records: Records) -> None:
        """Collect what was seen; of complete subjects also the chance that they had to be seen completely."""
        complete = fully_tested(self.problem, records.outcomes)
        rows, counts = records.outcomes[complete], records.counts[complete]
        known = chances(self.problem, self._policy, rows) if records.chances is None else records.chances[complete]
        self._seen.append(np.column_stack([rows, known, counts])[known > 0])
        super().learn(records)

    def absorb(self, rows: FloatArray, counts: IntArray) -> None:
        """Learn from the rows of the finished block, and accept some of the complete ones as reference."""
        seen = np.vstack(self._seen)
        self._seen = [seen[:0]]
        by_coin = (seen[:, -2] > self._level) & (seen[:, -2] < 1)
        self.completed += int(seen[by_coin, -1].sum())
        if self.problem.all_available and len(seen):
            different, which = np.unique(seen[:, :-1], axis=0, return_inverse=True)  # in an order of their own
            n = totals(which.reshape(-1), seen[:, -1], len(different)).astype(np.int64)
            accepted = self._accepting.binomial(n, np.minimum(1.0, self._level / different[:, -1]))
            self.reference.update_counts(different[:, :-1], accepted)
        super().absorb(rows, counts)

    def next_policy(self) -> Policy:
        """Return the proposal of leaf completion within floor and cap, or the plan of the accepted subjects."""
        self._level = self.lowest
        if not self._vetoed():
            return super().next_policy()
        self.vetoes += 1
        return CompletingSets(self.problem, self.plan_of(self.reference.distribution()), {}, otherwise=self._level)

    @property
    def lowest(self) -> float:
        """The floor: with which probability any subject that stops is completed at least."""
        return min(1.0, float(2 / 3 * self.floor * self._cube_root * max(self.t, 1) ** (-1 / 3)))

    def coins(self, sets: StoppingSets) -> FloatArray:
        """Return the probability of completing in each set, within the cap and before the floor."""
        allowed = max(0.0, self.cap * self._cube_root * self.t ** (2 / 3) - self.completed)
        return np.minimum(super().coins(sets), min(allowed / self.left, SUREST))

    @property
    def _cube_root(self) -> float:
        """D^(1/3)."""
        return float(free_parameters(self.problem.d) ** (1 / 3))

    def _vetoed(self) -> bool:
        """Return whether the law to plan with is too far from that of the accepted subjects."""
        if self.reference.n <= self.problem.d:
            return False
        width = math.sqrt(free_parameters(self.problem.d) / self.reference.n)
        return apart(self.estimator.distribution(), self.reference.distribution()) > self.threshold * width
