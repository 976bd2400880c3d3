"""Replanning: a station's agent is kept up to date outside the write path, and policies are handed out by position.

A station goes on with the policy that it has while a new one is being made; only where there is none at all, somebody
waits. Three modes:

* ``"background"``: when the policy may have changed, learn at once if the last plan took less than 50 ms, else in a
  thread. After an agent had to begin anew (a correction of something learned, a late truth) the thread rests four times
  as long as that took, so that many amendments are learned in one go and cost a fifth of a core at most.
* ``"now"``: learn at once, always; for scripts and tests.
* ``"never"``: learn only when :meth:`Replanner.replan` is called; for commands that end after one answer.

Closing waits for nobody: a plan that is being made then is thrown away when it is done, or with the process.
"""

from __future__ import annotations

import math
import threading
import time

from proband.errors import StudyError
from proband.studies.learning.learner import Learner, MakeAgent, PolicySpan, Statement
from proband.studies.ledger.ledger import Ledger

MODES = ("background", "now", "never")
QUICK = 0.05
"""Seconds of learning that nobody notices."""

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


class Replanner:
    """Policies of one station; the lock is held while the ledger is read."""

    def __init__(self, make: MakeAgent, ledger: Ledger, lock: threading.RLock, *, mode: str = "background") -> None:
        self.mode = mode_of(mode)
        self._make, self._ledger, self._lock = make, ledger, lock
        self.newest: PolicySpan | None = None  # what newcomers get at present; None before anybody asked for one
        self._kept: list[PolicySpan] = []
        self._learners: dict[bool, Learner] = {}  # the one that goes on, and one aside for what was before
        self._main_lock, self._aside_lock = threading.Lock(), threading.Lock()
        self._worker: threading.Thread | None = None
        self._stopping, self._closed = threading.Event(), False
        self._took, self._a_plan = 0.0, math.inf
        self.trouble: Exception | None = None  # what went wrong when the thread tried to learn

    def current(self) -> PolicySpan:
        """Return the policy for newcomers; waits for a plan only if there is none at all."""
        return self.newest or self.replan()

    def replan(self) -> PolicySpan:
        """Learn everything up to the end of the log, now."""
        with self._main_lock:
            with self._lock:
                end = self._ledger.position
                on_the_way = [] if False in self._learners else self._bound(end)
            for position in on_the_way:
                if self._find(position) is None:
                    self._keep(self._learn(position))
            span = self._learn(end)
            self._keep(span)
            self.newest, self.trouble = span, None
            return span

    def at(self, position: int) -> PolicySpan:
        """Return the policy of agent_at(position)."""
        found = self._find(position)
        if found is not None:
            return found
        with self._aside_lock:
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
        quick = not anew and self._a_plan < QUICK and not self._main_lock.locked()
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

    def _learn(self, position: int, *, aside: bool = False) -> PolicySpan:
        """Take an agent to a position and return its policy there."""
        learner = self._learners.pop(aside, None)  # an agent that fails half-way is not used again
        if learner is None:
            learner = Learner(self._make, self._ledger.unavailable)
        with self._lock:
            advance = learner.way_to(self._ledger, position)
        began = time.perf_counter()
        span = learner.learn(advance, self._go_on)
        if not aside:
            self._took = time.perf_counter() - began
            if span.plans:
                self._a_plan = self._took / span.plans
        self._learners[aside] = learner
        return span

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
