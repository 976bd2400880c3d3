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
enough to be worth the way to the store: 50 ms, and 5 ms if planning is aside. There, who made the last plan has a head
start for the next one: it has loaded what planning takes, and so not every process of a service has to. The plans
themselves may be made by another process or machine (:mod:`.orders`).

Closing waits for nobody: a plan that is being made then is thrown away when it is done, or with the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from proband.errors import ProbandError, StudyError
from proband.studies.learning.kept import KeptPolicies
from proband.studies.learning.learner import MakeAgent, PolicySpan, Statement
from proband.studies.learning.learners import Learners, Planned
from proband.studies.learning.orders import Planner
from proband.studies.learning.sharing import SharedPlans
from proband.studies.ledger.ledger import Ledger

MODES = ("background", "aside", "now", "never")
PAUSES = (0.05, 1.0)
"""Seconds between two looks at whether another process has planned: at first, and at most."""

HEAD_START = 1.0
"""Seconds that who made the last plan has for the next one, before another process makes it."""

RESTS = 4.0
"""How long the thread rests after an agent had to begin anew, in multiples of what that took."""

GRACE = 0.5
"""Seconds that closing gives the thread to end."""


def mode_of(given: str) -> str:
    """Return a mode after checking it."""
    if given not in MODES:
        raise StudyError(f"replan is {given!r}; it must be one of {', '.join(MODES)}; choose one")
    return given


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
        self._ledger, self._lock = ledger, lock
        self._shared, self._catch_up = shared, catch_up
        self._stopping, self._closed = threading.Event(), threading.Event()
        self._kept = KeptPolicies(ledger, lock)
        self._learners = Learners(
            make, ledger, lock, self._kept, shared=shared, planner=planner, eager=mode == "aside", closed=self._closed
        )  # fmt: skip
        self._planning, self._aside_lock = threading.Lock(), threading.Lock()
        self._worker: threading.Thread | None = None
        self.trouble: Exception | None = None  # what went wrong when the thread tried to learn

    @property
    def newest(self) -> PolicySpan | None:
        """What newcomers get at present; None before anybody asked for one."""
        return self._kept.newest

    @property
    def planned(self) -> Planned:
        """Plans that were made or taken over."""
        return self._learners.planned

    def current(self) -> PolicySpan:
        """Return the policy for newcomers; waits for a plan only if there is none at all."""
        if self.newest is None and self._shared is not None and self.mode in ("background", "aside"):
            with self._planning:
                self._begin()
        return self.newest or self.replan()

    def replan(self) -> PolicySpan:
        """Learn everything up to the end of the log, now."""
        with self._planning:
            self._learners.take_over()
            with self._lock:
                on_the_way = [] if self._learners.main is not None else self._kept.bound(self._ledger.position)
            for position in on_the_way:
                if self._kept.find(position) is None:
                    self._kept.keep(self._learners.learn_main(position))
            span = self._agreed()
            self._kept.keep(span)
            self._kept.newest, self.trouble = span, None
            return span

    def at(self, position: int) -> PolicySpan:
        """Return the policy of agent_at(position)."""
        found = self._kept.find(position)
        if found is not None:
            return found
        with self._aside_lock:
            self._learners.look_up(position)
            found = self._kept.find(position)
            if found is not None:
                return found
            for earlier in self._kept.bound(position):
                if self._kept.find(earlier) is None:
                    self._kept.keep(self._learners.learn_aside(earlier))
            found = self._kept.find(position)
            if found is None:
                found = self._learners.learn_aside(position)
                self._kept.keep(found)
        return found

    def statement(self) -> Statement:
        """Return what the agent behind the policy for newcomers states; nothing if it failed to learn."""
        self.current()
        return self._learners.statement()

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
        quick = not anew and self._learners.a_plan < self._learners.worth and not self._planning.locked()
        if due and (self.mode == "now" or quick):
            self._try()
        elif due:
            self._start()

    def close(self) -> None:
        """Stop the thread, or leave it alone with the plan that it is making: nothing comes of that any more."""
        self._closed.set()
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
                self._stopping.wait(RESTS * self._learners.took)

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
            self._learners.take_over()
            main = self._learners.main
            if main is not None:
                self._kept.keep(main.span)
                self._kept.newest = main.span
                if main.span.due(self._ledger):
                    self._start()

    def _agreed(self) -> PolicySpan:
        """Learn up to the end of the log; with others who share plans one makes them, and the others wait."""
        learners, pause = self._learners, PAUSES[0]
        head_start = HEAD_START if self.mode == "aside" and learners.takes_over else 0.0
        turn = time.monotonic() + head_start
        while self._shared is not None and self._shared.able and learners.a_plan >= learners.worth:
            if not learners.plans_ahead():
                break
            if time.monotonic() >= turn:
                with self._shared.claim() as mine:
                    if mine:
                        return learners.learn_for_all(self._ledger.position)
            self._stopping.wait(pause)
            learners.go_on()
            pause = min(PAUSES[1], 1.5 * pause)
            with suppress(ProbandError):
                self._catch_up()
            learners.take_over()
        return learners.learn_main(self._ledger.position)
