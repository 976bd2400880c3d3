"""Replanning: a station's agent is kept up to date outside the write path, and policies are handed out by position.

A station goes on with the policy that it has while a new one is being made; only where there is none at all, somebody
waits. Three modes:

* ``"background"``: when the policy may have changed, learn at once if the last plan took less than 50 ms, else in a
  thread. After an agent had to begin anew (a correction of something learned, a late truth) the thread rests four times
  as long as that took, so that many amendments are learned in one go and cost a fifth of a core at most.
* ``"aside"``: in the thread always, for a service: nobody's call does what all have to wait for.
* ``"now"``: learn at once, always; for scripts and tests.
* ``"never"``: learn only when :meth:`Replanner.replan` is called; for commands that end after one answer.

Where the store keeps plans (:mod:`.sharing`), what another process planned is taken over, and of several who need the
same plan one makes it; the others go on with theirs, or wait if they have none. That goes for plans that take long
enough to be worth the way to the store: 50 ms, and 5 ms if planning is aside. The plans themselves may be made by
another process or machine (:mod:`.orders`).

Closing waits for nobody: a plan that is being made then is thrown away when it is done, or with the process.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from proband.errors import PlanError, ProbandError, StudyError
from proband.policies import chances
from proband.studies.learning.frozen import Basis, FreezeError
from proband.studies.learning.learner import Advance, Learner, MakeAgent, PolicySpan, State, Statement
from proband.studies.learning.orders import Planner, order_of, outcome_of
from proband.studies.learning.sharing import SharedPlans
from proband.studies.ledger.ledger import Ledger
from proband.vocabulary import NEVER

MODES = ("background", "aside", "now", "never")
QUICK = 0.05
"""Seconds of learning that nobody notices."""

WORTH = 0.005
"""Seconds of learning for which it is worth asking another process."""

PAUSES = (0.05, 1.0)
"""Seconds between two looks at whether another process has planned: at first, and at most."""

RESTS = 4.0
"""How long the thread rests after an agent had to begin anew, in multiples of what that took."""

GRACE = 0.5
"""Seconds that closing gives the thread to end."""

KEPT = 2
"""Policies that are kept although no subject is bound to them: an arrival may be under way."""


def mode_of(given: str) -> str:
    """Return a mode after checking it."""
    if given not in MODES:
        raise StudyError(f"replan is {given!r}; it must be one of {', '.join(MODES)}; choose one")
    return given


class Planned(NamedTuple):
    """Plans that were made here or for us, the seconds that they took, and plans of others that were taken over."""

    made: int = 0
    seconds: float = 0.0
    taken: int = 0

    def plus(self, other: Planned) -> Planned:
        """Return both together."""
        return Planned(self.made + other.made, self.seconds + other.seconds, self.taken + other.taken)


class Replanner:
    """Policies of one station; the lock is held while the ledger is read.

    Parameters
    ----------
    make, ledger, lock
        Makes a new agent; what it learns from, and its lock.
    mode : str
    shared : SharedPlans, optional
    planner : Planner, optional
        Who makes the plans, if not this process.
    catch_up : callable, optional
        Folds what others wrote.
    """

    def __init__(
        self,
        make: MakeAgent,
        ledger: Ledger,
        lock: threading.RLock,
        *,
        mode: str = "background",
        shared: SharedPlans | None = None,
        planner: Planner | None = None,
        catch_up: Callable[[], None] = lambda: None,
    ) -> None:
        self.mode = mode_of(mode)
        self._make, self._ledger, self._lock = make, ledger, lock
        self._shared, self._planner, self._catch_up = shared, planner, catch_up
        self._worth = WORTH if mode == "aside" else QUICK
        self.newest: PolicySpan | None = None  # what newcomers get at present; None before anybody asked for one
        self._kept: list[PolicySpan] = []
        self._learners: dict[bool, Learner] = {}  # the one that goes on, and one aside for what was before
        self._planning, self._main_lock, self._aside_lock = threading.Lock(), threading.Lock(), threading.Lock()
        self._worker: threading.Thread | None = None
        self._stopping, self._closed = threading.Event(), False
        self._took, self._a_plan = 0.0, math.inf
        self.planned = Planned()
        self.trouble: Exception | None = None  # what went wrong when the thread tried to learn

    def current(self) -> PolicySpan:
        """Return the policy for newcomers; waits for a plan only if there is none at all."""
        if self.newest is None and self._shared is not None and self.mode in ("background", "aside"):
            with self._planning:
                self._begin()
        return self.newest or self.replan()

    def replan(self) -> PolicySpan:
        """Learn everything up to the end of the log, now."""
        with self._planning:
            self._take_over()
            with self._lock:
                on_the_way = [] if False in self._learners else self._bound(self._ledger.position)
            for position in on_the_way:
                if self._find(position) is None:
                    self._keep(self._learn_main(position))
            span = self._agreed()
            self._keep(span)
            self.newest, self.trouble = span, None
            return span

    def at(self, position: int) -> PolicySpan:
        """Return the policy of agent_at(position)."""
        found = self._find(position)
        if found is not None:
            return found
        with self._aside_lock:
            self._look_up(position)
            found = self._find(position)
            if found is not None:
                return found
            with self._lock:
                on_the_way = self._bound(position)
            for earlier in on_the_way:
                if self._find(earlier) is None:
                    self._keep(self._learn(earlier, aside=True))
            found = self._find(position)
            if found is None:
                found = self._learn(position, aside=True)
                self._keep(found)
        return found

    def statement(self) -> Statement:
        """Return what the agent behind the policy for newcomers states; nothing if it failed to learn."""
        self.current()
        with self._main_lock:
            main = self._learners.get(False)
            return Statement() if main is None else Statement.of(main.agent)

    def after_write(self, *, amended: bool = False) -> None:
        """Bring the policy up to date if it may have changed, now or in a thread, as the mode says.

        Amendments often come in numbers: ``"now"`` learns them with the next subject, the thread in one go.
        """
        span = self.newest
        if span is None or self.mode == "never" or (amended and self.mode == "now"):
            return
        with self._lock:
            end = self._ledger.position
            due = span.due(self._ledger)
            anew = due and self._ledger.outdated(span.position, end)
        limit = self._worth if self.mode == "aside" else QUICK
        quick = not anew and self._a_plan < limit and not self._planning.locked()
        if due and (self.mode == "now" or quick):
            self._try()
        elif due:
            self._start()

    def close(self) -> None:
        """Stop the thread, or leave it alone with the plan that it is making: nothing comes of that any more."""
        self._closed = True
        self._stopping.set()
        worker = self._worker
        if worker is not None:
            worker.join(GRACE)

    def _start(self) -> None:
        with self._lock:
            if self._stopping.is_set() or (self._worker is not None and self._worker.is_alive()):
                return
            self._worker = threading.Thread(target=self._work, name="proband replanning", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        while not self._stopping.is_set():
            with self._lock:
                span = self.newest
                if span is None or not span.due(self._ledger):
                    self._worker = None
                    return
                anew = self._ledger.outdated(span.position, self._ledger.position)
            if not self._try():
                with self._lock:
                    self._worker = None
                return
            if anew:
                self._stopping.wait(RESTS * self._took)

    def _try(self) -> bool:
        """Learn; if that fails, the study goes on with the policy that it has, and its summary tells."""
        try:
            self.replan()
        except Exception as error:
            self.trouble = error
        return self.trouble is None

    def _begin(self) -> None:
        """Begin with what others planned last, even if there will soon be another plan."""
        if self.newest is None:
            self._take_over()
            main = self._learners.get(False)
            if main is not None:
                self._keep(main.span)
                self.newest = main.span
                if main.span.due(self._ledger):
                    self._start()

    def _agreed(self) -> PolicySpan:
        """Learn up to the end of the log; with others who share plans one makes them, and the others wait."""
        pause = PAUSES[0]
        while self._shared is not None and self._shared.able and self._a_plan >= self._worth and self._plans_ahead():
            with self._shared.claim() as mine:
                if mine:
                    self._take_over()
                    span = self._learn_main(self._ledger.position)
                    if span.plans and self._took >= self._worth:
                        self._shared.publish(self._learners[False].state)
                    return span
            self._stopping.wait(pause)
            self._go_on()
            pause = min(PAUSES[1], 1.5 * pause)
            with suppress(ProbandError):
                self._catch_up()
            self._take_over()
        return self._learn_main(self._ledger.position)

    def _plans_ahead(self) -> bool:
        """Return whether a plan is to be made to get to the end of the log."""
        with self._main_lock:
            main = self._learners.get(False) or self._learners.setdefault(False, self._new())
        with self._lock:
            return main.span.due(self._ledger)

    def _take_over(self) -> None:
        """Go on from what another process has learned, if that is further."""
        main = self._learners.get(False)
        if self._shared is None or not self._shared.able or (main is not None and not self._plans_ahead()):
            return
        state = self._shared.latest(-1 if main is None else main.position)
        if state is not None:
            self.planned = self.planned.plus(Planned(taken=1))
            learner = self._new(state)
            self._warm(learner)
            with self._main_lock:
                self._learners[False] = learner
            self._keep(learner.span)

    def _warm(self, learner: Learner) -> None:
        """Use a plan that was made elsewhere once, so that what has to be loaded for it is loaded before it is used."""
        policy, nothing = learner.span.policy, np.full((1, self._ledger.problem.d), np.nan)
        with suppress(ProbandError):
            chances(self._ledger.problem, policy, np.zeros_like(nothing))
            policy.act(nothing, NEVER)

    def _look_up(self, position: int) -> None:
        """Take the plan that serves an earlier position from what is shared; or what there is before it, to go on."""
        state = None if self._shared is None else self._shared.at(position)
        if state is None:
            return
        learner, aside = self._new(state), self._learners.get(True)
        if learner.span.serves(self._ledger, position):
            self.planned = self.planned.plus(Planned(taken=1))
            self._keep(learner.span)
        elif state.position <= position and (aside is None or not state.position >= aside.position > position):
            self._learners[True] = learner

    def _new(self, state: State | None = None) -> Learner:
        return Learner(self._make, self._ledger.unavailable, state)

    def _learn_main(self, position: int) -> PolicySpan:
        """Take the agent that goes on to a position, here or where plans are made; return its policy there."""
        if self._planner is not None and self._a_plan >= WORTH and self._plans_ahead():
            with suppress(PlanError, FreezeError):
                return self._ordered(self._planner, position)
        with self._main_lock:
            return self._learn(position)

    def _ordered(self, planner: Planner, position: int) -> PolicySpan:
        """Have somebody else learn up to a position; meanwhile the agent here is as it was."""
        basis = self._basis()
        with self._main_lock:
            main = self._learners.get(False)
            with self._lock:
                advance: Advance = (main or self._new()).way_to(self._ledger, position)
            order = order_of(self._ledger, basis, None if main is None else main.state, advance)
        came = outcome_of(planner.plan(order), basis)
        self._go_on()
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
        span = learner.learn(advance, self._go_on)
        took = time.perf_counter() - began
        if aside:
            self.planned = self.planned.plus(Planned(span.plans, took))
        else:
            self._count(took, span.plans)
            if span.for_ever:  # there is nothing to be planned any more
                self._a_plan = min(self._a_plan, took)
        self._learners[aside] = learner
        return span

    def _count(self, seconds: float, plans: int) -> None:
        self._took = seconds
        self.planned = self.planned.plus(Planned(plans, seconds))
        if plans:
            self._a_plan = seconds / plans

    def _go_on(self) -> None:
        if self._closed:
            raise StudyError("the study was closed while it was learning; a closed study does nothing; open it again")

    def _find(self, position: int) -> PolicySpan | None:
        with self._lock:
            return next((kept for kept in reversed(self._kept) if kept.serves(self._ledger, position)), None)

    def _keep(self, span: PolicySpan) -> None:
        """Keep a policy, and drop those that no open subject is bound to."""
        with self._lock:
            policies = self._ledger.columns.policy
            bound = {int(policies[i]) for i in self._ledger.open}
            older, latest = self._kept[:-KEPT], self._kept[-KEPT:]
            used = [kept for kept in older if kept is self.newest or any(kept.serves(self._ledger, p) for p in bound)]
            self._kept = [*used, *latest, span]

    def _bound(self, position: int) -> list[int]:
        """Return the positions of open subjects that an agent passes on its way to a position, in order."""
        policies = self._ledger.columns.policy
        bound = {int(policies[i]) for i in self._ledger.open}
        return sorted(p for p in bound if p < position and not self._ledger.outdated(p, position))
