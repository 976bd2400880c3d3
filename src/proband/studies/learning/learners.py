"""The agents of a station, and how they get on: the one that goes on with the log, and one aside for what was before.

They learn here, go on from what other processes have learned (:mod:`.sharing`), or have the plans made elsewhere
(:mod:`.orders`).
"""

from __future__ import annotations

import math
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from proband.errors import PlanError, ProbandError, StudyError
from proband.policies import chances
from proband.studies.learning.frozen import Basis, FreezeError
from proband.studies.learning.kept import KeptPolicies
from proband.studies.learning.learner import Advance, Learner, MakeAgent, PolicySpan, State, Statement
from proband.studies.learning.orders import Planner, order_of, outcome_of
from proband.studies.learning.sharing import SharedPlans
from proband.studies.ledger.ledger import Ledger
from proband.vocabulary import NEVER

QUICK = 0.05
"""Seconds of learning that nobody notices."""

WORTH = 0.005
"""Seconds of learning for which it is worth asking another process."""


class Planned(NamedTuple):
    """Plans that were made here or for us, the seconds that they took, and plans of others that were taken over."""

    made: int = 0
    seconds: float = 0.0
    taken: int = 0

    def plus(self, other: Planned) -> Planned:
        """Return both together."""
        return Planned(self.made + other.made, self.seconds + other.seconds, self.taken + other.taken)


class Learners:
    """The agents of a station; the lock is held while the ledger is read.

    Parameters
    ----------
    make, ledger, lock
        Makes a new agent; what it learns from, and its lock.
    kept : KeptPolicies
        Where the policies go.
    shared : SharedPlans, optional
    planner : Planner, optional
        Who makes the plans, if not this process.
    eager : bool
        Whether plans that take `WORTH` are shared already, not only those that take more than `QUICK`.
    closed : Event
        Set once nobody asks for what is being learned any more.
    """

    def __init__(
        self,
        make: MakeAgent,
        ledger: Ledger,
        lock: threading.RLock,
        kept: KeptPolicies,
        *,
        shared: SharedPlans | None,
        planner: Planner | None,
        eager: bool,
        closed: threading.Event,
    ) -> None:
        self._make, self._ledger, self._lock, self._kept = make, ledger, lock, kept
        self._shared, self._planner, self._closed = shared, planner, closed
        self.worth = WORTH if eager else QUICK
        self._learners: dict[bool, Learner] = {}  # by whether it is the one aside
        self._main_lock = threading.Lock()
        self.took, self.a_plan = 0.0, math.inf  # the seconds of learning last time, and of a plan
        self.planned = Planned()
        self.takes_over = False  # whether another process made the last plan

    @property
    def main(self) -> Learner | None:
        """The one that goes on; None before it learned anything, and after it failed."""
        return self._learners.get(False)

    def statement(self) -> Statement:
        """Return what the agent that goes on states; nothing if it failed to learn."""
        with self._main_lock:
            main = self.main
            return Statement() if main is None else Statement.of(main.agent)

    def plans_ahead(self) -> bool:
        """Return whether a plan is to be made to get to the end of the log."""
        with self._main_lock:
            main = self._learners.get(False) or self._learners.setdefault(False, self._new())
        with self._lock:
            return main.span.due(self._ledger)

    def take_over(self) -> None:
        """Go on from what another process has learned, if that is further."""
        main = self.main
        if self._shared is None or not self._shared.able or (main is not None and not self.plans_ahead()):
            return
        state = self._shared.latest(-1 if main is None else main.position)
        if state is not None:
            self.planned = self.planned.plus(Planned(taken=1))
            self.takes_over = True
            learner = self._new(state)
            self._warm(learner)
            with self._main_lock:
                self._learners[False] = learner
            self._kept.keep(learner.span)

    def look_up(self, position: int) -> None:
        """Take the plan that serves an earlier position from what is shared; or what there is before it, to go on."""
        state = None if self._shared is None else self._shared.at(position)
        if state is None:
            return
        learner, aside = self._new(state), self._learners.get(True)
        if learner.span.serves(self._ledger, position):
            self.planned = self.planned.plus(Planned(taken=1))
            self._kept.keep(learner.span)
        elif state.position <= position and (aside is None or not state.position >= aside.position > position):
            self._learners[True] = learner

    def learn_main(self, position: int) -> PolicySpan:
        """Take the agent that goes on to a position, here or where plans are made; return its policy there."""
        if self._planner is not None and self.a_plan >= WORTH and self.plans_ahead():
            with suppress(PlanError, FreezeError):
                return self._ordered(self._planner, position)
        with self._main_lock:
            return self._learn(position)

    def learn_for_all(self, position: int) -> PolicySpan:
        """The same as :meth:`learn_main`, and let the others have the plan if it took long enough."""
        self.take_over()
        span = self.learn_main(position)
        if self._shared is not None and span.plans and self.took >= self.worth:
            self._shared.publish(self._learners[False].state)
        return span

    def learn_aside(self, position: int) -> PolicySpan:
        """Take the agent for what was before to a position; return its policy there."""
        return self._learn(position, aside=True)

    def go_on(self) -> None:
        """Raise if the study was closed meanwhile."""
        if self._closed.is_set():
            raise StudyError("the study was closed while it was learning; a closed study does nothing; open it again")

    def _warm(self, learner: Learner) -> None:
        """Use a plan that was made elsewhere once, so that what has to be loaded for it is loaded before it is used."""
        policy, nothing = learner.span.policy, np.full((1, self._ledger.problem.d), np.nan)
        with suppress(ProbandError):
            chances(self._ledger.problem, policy, np.zeros_like(nothing))
            policy.act(nothing, NEVER)

    def _new(self, state: State | None = None) -> Learner:
        return Learner(self._make, self._ledger.unavailable, state)

    def _ordered(self, planner: Planner, position: int) -> PolicySpan:
        """Have somebody else learn up to a position; meanwhile the agent here is as it was."""
        basis = self._basis()
        with self._main_lock:
            main = self.main
            with self._lock:
                advance: Advance = (main or self._new()).way_to(self._ledger, position)
            order = order_of(self._ledger, basis, None if main is None else main.state, advance)
        came = outcome_of(planner.plan(order), basis)
        self.go_on()
        learner = self._new(came.state)
        self._warm(learner)
        with self._main_lock:
            self._learners[False] = learner
        self._count(came.seconds, came.plans)
        return replace(learner.span, plans=came.plans)

    def _basis(self) -> Basis:
        return Basis(self._ledger.problem, self._make()) if self._shared is None else self._shared.basis

    def _learn(self, position: int, *, aside: bool = False) -> PolicySpan:
        """Take an agent to a position and return its policy there."""
        learner = self._learners.pop(aside, None)  # an agent that fails half-way is not used again
        if learner is None:
            learner = self._new()
        with self._lock:
            advance = learner.way_to(self._ledger, position)
        began = time.perf_counter()
        span = learner.learn(advance, self.go_on)
        took = time.perf_counter() - began
        if aside:
            self.planned = self.planned.plus(Planned(span.plans, took))
        else:
            self._count(took, span.plans)
            if span.for_ever:  # there is nothing to be planned any more
                self.a_plan = min(self.a_plan, took)
        self._learners[aside] = learner
        return span

    def _count(self, seconds: float, plans: int) -> None:
        self.took = seconds
        self.planned = self.planned.plus(Planned(plans, seconds))
        if plans:
            self.a_plan, self.takes_over = seconds / plans, False
