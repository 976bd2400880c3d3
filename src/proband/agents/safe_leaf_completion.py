"""Safe leaf completion: the default agent, with a worst-case rate.

Leaf completion (:mod:`proband.agents.leaf_completion`) with three safeguards. With K the number of outcome vectors, or
the number d(d + 3)/2 of parameters of a Gaussian law, and t the number of subjects so far:

* **floor**: every subject that stops is completed with a probability of at least ε_t = ⅔·c0·K^(1/3)·t^(−1/3), so that
  every outcome vector keeps being seen;
* **cap**: beyond the floor, at most c1·K^(1/3)·t^(2/3) subjects are ever completed (in expectation, where outcomes are
  measured);
* **veto**: complete subjects and their chances alone tell of the law what no estimator can spoil. Where that
  contradicts the proposal by too much, its own plan is played instead (:mod:`proband.agents.listed.reference`,
  :mod:`proband.agents.gaussian.reference`).

Whatever leaf completion proposes, the regret is then Õ(G K^(1/3) T^(2/3)) with high probability, for all T at once,
also where subjects are open side by side while policies change: ``docs/safe-leaf-completion.md`` and, for Gaussian laws
of whatever condition number, ``docs/safe-gaussian.md`` have the theorems and their proofs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.agents.agent import fully_tested
from proband.agents.blockwise import in_order
from proband.agents.leaf_completion import LeafCompletion
from proband.agents.listed.audits import AuditedSubjects, ValueEstimate
from proband.agents.stops import Stops
from proband.distributions import totals
from proband.errors import AgentError
from proband.policies import ByTests, Completing, chances
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray, Policy, Records


class SafeLeafCompletion(LeafCompletion):
    """Leaf completion with a floor, a cap and a veto.

    Parameters
    ----------
    problem : Problem
    seed : int, default 0
    floor : float, optional
        c0, the constant of the floor; by default 0.004 for listed outcomes and 0.01 for measured ones.
    cap : float, default 1
        c1, the constant of the cap.
    threshold : float, optional
        The constant of the veto; by default 1 for listed outcomes and 3 for measured ones.
    **options
        As for :class:`~proband.agents.leaf_completion.LeafCompletion`.

    Attributes
    ----------
    completed : int
        How many subjects were completed by a coin beyond the floor.
    vetoes : int
        How often the proposal was overruled.
    reference : Reference
        What vetoes.

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
    >>> agent = SafeLeafCompletion(problem, seed=1)
    >>> agent.learn(Records([[0.1], [-0.4]] * 32))
    >>> agent.reference.n, agent.vetoes
    (64, 0)
    """

    def __init__(
        self,
        problem: Problem,
        *,
        seed: int = 0,
        floor: float | None = None,
        cap: float = 1.0,
        threshold: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(problem, seed=seed, floor=floor, **options)
        self.floor = self.leaves.safe_floor if floor is None else floor
        self.cap = cap
        self.threshold = self.leaves.threshold if threshold is None else threshold
        if not self.floor > 0 or not cap >= 0 or not self.threshold >= 0:
            raise AgentError(
                f"floor is {self.floor}, cap {cap}, threshold {self.threshold}; the floor must be positive, the others "
                "0 or more; correct them"
            )
        self.completed = 0
        self.vetoes = 0
        self.reference: Any = self.leaves.reference(
            problem, self.estimator, threshold=self.threshold, floor=self.floor, seed=seed
        )
        if isinstance(self.reference, AuditedSubjects):
            self.reference.root = self.root
        if self.limits.given:
            self.reference.limits = self.limits
        self._lowest = 1.0

    def value_estimate(self) -> ValueEstimate | None:
        """Return what the policy in force brings a subject, as far as audits tell; None where there are none."""
        policy = self.policy()
        policy = policy.base if isinstance(policy, Completing) else policy
        return self.reference.value_of(policy) if isinstance(self.reference, AuditedSubjects) else None

    def absorb(self, block: list[Records]) -> None:
        """Learn from the finished block, and of complete subjects with the chance that they had to be seen so.

        Subjects that are alike are added as one and in one order, so that it does not matter how they were told.
        """
        rows, known, counts = self._with_chances(block)
        possible = ~np.isnan(known) & ((known > 0) | ~fully_tested(self.problem, rows))
        complete = possible & fully_tested(self.problem, rows)
        alike, which = np.unique(np.column_stack([rows, known])[complete], axis=0, return_inverse=True)
        n = totals(which.reshape(-1), counts[complete].astype(np.float64), len(alike)).astype(np.int64)
        by_coin = (alike[:, -1] > self._lowest) & (alike[:, -1] < 1)
        self.completed += int(n[by_coin].sum())
        self.reference.add(alike[:, :-1], alike[:, -1], n, lowest=self._lowest, subjects=int(counts[possible].sum()))
        learned = self._learned(rows, known, counts) if self.keeps_audits else block
        self._lowest = self.floor_after(self.t)
        super().absorb(learned)

    def next_policy(self) -> Policy:
        """Return the proposal of leaf completion within floor and cap, or the vetoing plan."""
        rival = self.reference.against_distribution(self.estimator.distribution(), self.planner, self.begun)
        if rival is None:
            proposal = self.propose()
            rival = self.reference.against_plan(proposal.base)
            if rival is None:
                return proposal
        self.vetoes += 1
        return Completing(self.problem, rival, ByTests(self.problem, {}, otherwise=self._lowest))

    def coins(self, stops: Stops) -> FloatArray:
        """Return the probability of completing in each leaf, within the cap and before the floor."""
        allowed = max(0.0, self.cap * self.root * self.begun ** (2 / 3) - self.completed)
        self.length, most = self.leaves.within(allowed, self.length)
        return np.minimum(super().coins(stops), most)

    def extras_allowed(self) -> float:
        """Return what may be paid for a part of the tests, a subject of the block, as a part of what is at stake."""
        return float(2 / 3 * self.cap * self.root * self.begun ** (-1 / 3))

    @property
    def keeps_audits(self) -> bool:
        """Whether subjects that the floor completed are kept from the estimate."""
        return isinstance(self.reference, AuditedSubjects) and self.reference.measures

    @property
    def root(self) -> float:
        """K^(1/3)."""
        return float(self.leaves.parameters ** (1 / 3))

    def _with_chances(self, block: list[Records]) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return all rows, the chances of their own policies, or of this one where none are told, and their counts."""
        told = [(each.outcomes, each.chances, each.counts) for each in block if each.chances is not None]
        untold = [each for each in block if each.chances is None]
        if untold:
            rows, counts = in_order(untold)
            told.append((rows, chances(self.problem, self.policy(), rows), counts))
        outcomes, known, numbers = zip(*told, strict=True)
        return np.vstack(outcomes), np.concatenate(known), np.concatenate(numbers)

    def _learned(self, rows: FloatArray, known: FloatArray, counts: IntArray) -> list[Records]:
        """Return what the estimate is told of a block: all but audits."""
        complete = fully_tested(self.problem, rows) & ~np.isnan(known)
        told = ~(complete & AuditedSubjects.audits(np.nan_to_num(known), self._lowest))
        return [Records(rows[told], counts[told])]
