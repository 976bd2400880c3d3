"""Maximum-entropy sampling with a certificate: "this set is within ε a round of the best, with probability 1 − δ".

1. Measure everything that may be in the best set. At growing numbers of rounds, tests go IN or OUT
   (:mod:`~proband.agents.entropy.certificates.rules`).
2. Once at most 16 tests are undecided, compare the sets that are left pair by pair
   (:mod:`~proband.agents.entropy.certificates.lattice`), and measure the union of the survivors.
3. Where near-tied substitutes remain, the union is dear: measure it while its estimated loss is below four times the
   sum of those of the maximal survivors, else the one of these that was measured in the fewest rounds
   (:mod:`~proband.agents.entropy.certificates.branches`). The factor was chosen by experiment; validity does not depend
   on it.
4. Stop when f(S*) − f(Ŝ) ≤ ε for sure (:mod:`~proband.agents.entropy.certificates.rivals`), and measure Ŝ from then on.

δ is shared: 4/10 for the rules (nothing where there are 16 tests or fewer, and no rules), 1/10 for comparisons at
rounds that are no look, 1/10 each for both kinds of comparison on branches, the rest for comparisons at looks.
``docs/entropy-sampling.md`` has the proofs. They hold for Gaussian measurements, independent from round to round, and
for rounds that measured the set that they were given: where one did not, the certificate is withdrawn for good. The
agent goes on choosing sets by the same rules, which then certify nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from proband.agents.agent import FOREVER
from proband.agents.entropy.certificates.branches import Branches, Chains
from proband.agents.entropy.certificates.certificate import Certificate
from proband.agents.entropy.certificates.lattice import Lattice
from proband.agents.entropy.certificates.rivals import Rivals
from proband.agents.entropy.certificates.rules import Rules
from proband.agents.entropy.certificates.widths import Event, Looks
from proband.agents.entropy.rounds import SetAgent, checked_mean, checked_positive, checked_share
from proband.prices import Flags
from proband.problem import Problem
from proband.vocabulary import FloatArray, IntArray

FEW = 16
"""So many undecided tests, and their sets are compared one by one."""
FEW_SETS = 256
"""So few sets left, and maximal ones may be measured instead of their union."""
UNION = 4.0
"""A round of the union is worth so many times one of each maximal set: it compares them on the same measurements."""
FINE = 0.01
"""Growth of the fine looks, for rounds that come as they come."""


class Certified(SetAgent):
    """Learn which set is best, and say when it is certain.

    Parameters
    ----------
    problem : Problem
        With an :class:`~proband.rewards.Entropy` reward.
    delta : float, default 0.05
        δ, the probability that anything certified is wrong.
    epsilon : float, default 0.05
        ε, in units of the reward: stop when no set can be better by more than this a round. With 0 the agent stops
        when only one set is left.
    mean : array_like of shape (d,), optional
        The mean of the measurements, where it is known; estimated by default, which costs one round.
    growth : float, default 0.1
        By which share the number of rounds grows from look to look.

    Attributes
    ----------
    inside, possible : ndarray of bool, shape (d,)
        Tests certainly in the best set, and possibly in it, unless the certificate was withdrawn.
    best : tuple of int
        The set that seems best.

    Examples
    --------
    >>> from proband import Problem, Records, Test
    >>> from proband.rewards import Entropy
    >>> sites = [Test(name, 1.5, outcomes=None) for name in ("harbour", "station", "park")]
    >>> agent = Certified(Problem(sites, ["stop"], Entropy()), mean=0)
    >>> rng = np.random.default_rng(0)
    >>> while not agent.finished:
    ...     rows = rng.normal(scale=[3.0, 2.0, 0.5], size=(agent.commitment, 3))
    ...     agent.learn(Records(np.where(agent.flags(agent.tested), rows, np.nan)))
    >>> print(agent.certificate())
    With probability 0.95: measuring harbour, station is best.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        delta: float = 0.05,
        epsilon: float = 0.05,
        mean: ArrayLike | None = None,
        growth: float = 0.1,
    ) -> None:
        super().__init__(problem)
        d = problem.d
        self.delta = checked_share("delta", delta)
        self.epsilon = checked_positive("epsilon", epsilon, zero=True)
        first = d + max(8, d // 4)
        self.looks = Looks(first, checked_positive("growth", growth))
        self.fine = Looks(first, min(FINE, growth), flat=400)
        rules = 0.4 if d > FEW else 0.0
        self._shares = {"rules": rules, "looks": 0.7 - rules, "between": 0.1, "branches": 0.1}
        self.rules = Rules(self.costs, self.scale, self.looks, self._log_delta("rules")) if rules else None
        self.rounds = Branches(d, checked_mean(problem, mean))
        self.inside: Flags = np.zeros(d, dtype=np.bool_)
        self.possible: Flags = np.ones(d, dtype=np.bool_)
        self.lattice: Lattice | None = None
        self.best: tuple[int, ...] = self.tested
        self.finished = False
        self._bound = math.inf
        self._looked_at = 0
        self.left = first

    def next_block(self, rows: FloatArray, counts: IntArray) -> int:
        """Learn from a block: look, decide what is certain, and choose what to measure next."""
        self.rounds.add(self.tested, rows, counts)
        self._looked_at = self.t
        self._look()
        if self._bound <= self.epsilon:
            self.finished, self.tested = True, self.best
            return FOREVER
        self.tested = self._next_set()
        n = self.rounds.trunk.n if len(self.tested) == self.possible.sum() else self.rounds.rounds(self.tested)
        return self.looks.after(n) - n

    def certificate(self) -> Certificate:
        """Return what is certain now; it holds for all times at once, unless it is withdrawn later."""
        names = [test.name for test in self.problem.tests]
        bound, unit = self._bound, self.problem.unit or ("nats" if self.scale == 1 else "units of the reward")
        if math.isinf(bound) and self.lattice is None and not self.finished and not self.astray:
            bound = self._certified_bound(math.inf)

        def called(flags: Flags) -> tuple[str, ...]:
            return tuple(names[i] for i in np.flatnonzero(flags))

        found = Certificate(
            called(self.inside), called(~self.possible), called(self.possible & ~self.inside),
            tuple(names[i] for i in self.best), bound, self.epsilon, self.delta, self._looked_at, unit=unit,
        )  # fmt: skip
        return found.withdraw(self._strayed) if self.astray else found

    def _look(self) -> None:
        if self.rounds.trunk.n < self.looks.count(0):
            return
        if self.lattice is None and self.rules is not None:
            self._settle(*self.rules.settle(self.rounds.trunk, self.inside, self.possible))
        undecided = self.possible & ~self.inside
        if self.lattice is None and undecided.sum() <= FEW:
            self.lattice = Lattice(np.flatnonzero(self.inside), np.flatnonzero(undecided))
        if self.lattice is None:
            rivals = Rivals(self.rounds.trunk, self.costs, self.scale, self.inside, self.possible)
            self.best = tuple(rivals.climb(self.best))
            self._bound = self._certified_bound(self.epsilon)
        else:
            self._compare(self.lattice)

    def _compare(self, lattice: Lattice) -> None:
        """Drop sets from the lattice, and find the best one and its bound."""
        trunk = self.rounds.trunk
        rewards = lattice.rewards(trunk, self.costs, self.scale)
        if self.rounds.others:
            self._compare_on_branches(lattice, lattice.best(rewards))
        else:
            widths = lattice.widths(self._event(), self.scale)
            lattice.compare(rewards, widths)
            best = lattice.best(rewards)
            self.best, self._bound = lattice.members(best), lattice.bound(rewards, widths, best)
        self.lattice = lattice.settled()
        inside = self.flags(self.lattice.base)
        self._settle(inside, inside | self.flags(self.lattice.free))

    def _compare_on_branches(self, lattice: Lattice, rival: int) -> None:
        chains = Chains(lattice, self.rounds, self.costs, self.scale, self.fine, self._log_delta("branches"))
        sets, ahead, _ = chains.against(rival)
        best = int(sets[np.argmax(ahead)])
        sets, ahead, widths = chains.against(best)
        lattice.alive[sets[ahead + widths < 0]] = False
        self.best, self._bound = lattice.members(best), max(float((ahead + widths).max()), 0.0)

    def _settle(self, inside: Flags, possible: Flags) -> None:
        shrunk = (possible != self.possible).any()
        self.inside, self.possible = inside, possible
        if shrunk:
            self.rounds.shrink(possible)

    def _next_set(self) -> tuple[int, ...]:
        """Return the union of what is left, or its least measured maximal set where the union is too dear."""
        union = tuple(np.flatnonzero(self.possible).tolist())
        if self.lattice is None or not 1 < self.lattice.alive.sum() <= FEW_SETS:
            return union
        lattice = self.lattice
        rewards = lattice.rewards(self.rounds.trunk, self.costs, self.scale)
        maximal = lattice.maximal()
        losses = rewards[lattice.best(rewards)] - rewards
        if losses[-1] <= UNION * losses[maximal].sum():
            return union
        return min((lattice.members(int(S)) for S in maximal), key=lambda tests: (self.rounds.rounds(tests), tests))

    def _certified_bound(self, hopeless: float) -> float:
        """Return the bound without enumeration; inf where it is above `hopeless` for sure."""
        if self.rounds.trunk.n < self.looks.count(0):
            return math.inf
        rivals = Rivals(self.rounds.trunk, self.costs, self.scale, self.inside, self.possible)
        return rivals.bound(self.best, self._event(), hopeless)

    def _event(self) -> Event:
        """Return what holds for the best set on the trunk at its present number of rounds."""
        trunk = self.rounds.trunk
        lost = trunk.n - trunk.degrees
        look, between = self.looks.floor(trunk.n), self.fine.floor(trunk.n)
        if self.looks.count(look) == trunk.n:
            log_alpha = self._log_delta("looks") + self.looks.log_share(look)
            return Event(self.problem.d, trunk.degrees, trunk.degrees, trunk.degrees, log_alpha)
        log_alpha = self._log_delta("between") + self.fine.log_share(between)
        low, high = self.fine.count(between) - lost, self.fine.count(between + 1) - lost
        return Event(self.problem.d, low, high, trunk.degrees, log_alpha)

    def _log_delta(self, share: str) -> float:
        part = self._shares[share]
        return math.log(self.delta * part) if part else -math.inf
