"""Plans that are made once: what one process planned is kept beside the log, for all others and for the next start.

An agent that has learned up to a position is kept there, frozen (:mod:`.frozen`), with its policy and all that it needs
to go on. It is named after the code that made it and the positions that it serves, and sealed with a hash over this
code, the position, and the hash of the entry there, on which everything that was learned depends: problem, settings,
every record. Whoever finds one that is not sealed like that, or makes no sense, ignores it and plans. It is a cache,
and trusted as far as a snapshot is: a replay works everything out anew, and shows what was never planned.

Of several who need the same plan one makes it: the one who has the *claim*, which is swapped into the store in one
step. While he plans he shows every few seconds that he is alive. A claim that was not renewed for as long as somebody
watched it is over; nobody compares clocks. That of a process of the same machine is over as soon as this has ended
(:mod:`.claimants`): a service that was killed and started again need not wait for itself.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import platform
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Protocol

import proband
from proband.errors import ProbandError
from proband.fingerprints import LEARNING, fingerprint
from proband.studies.learning.claimants import claimant, is_gone
from proband.studies.learning.frozen import Basis, FreezeError, freeze, thaw
from proband.studies.learning.learner import MakeAgent, State
from proband.studies.ledger.ledger import Ledger
from proband.studies.stores.contract import Store, Swaps
from proband.studies.stores.patience import within

SOURCES = (*LEARNING, "studies/events/created.py", "studies/learning", "studies/ledger")
"""What a plan depends on, below the package."""

CLAIM = "planning"
PLAN = "plan"

ALIVE = 1.0
"""Seconds between two signs of life of who plans."""

OVER = 10.0
"""Seconds without one, after which another plans."""

MOMENT = 5.0
"""Seconds that a store may take; then everybody plans for himself."""

MOST_KEPT = 12
"""Plans that are kept of a study: those that open subjects are bound to, the latest ones first."""

MOST_BYTES = 2**26


class KeepsPlans(Store, Swaps, Protocol):
    """A store that can keep plans for all."""


class Kept(NamedTuple):
    """A plan that is kept: its name, and the positions that it serves at least."""

    name: str
    since: int
    position: int


class SharedPlans:
    """The plans of a study that are kept in its store, as one process sees them."""

    def __init__(
        self, store: KeepsPlans, study: str, ledger: Ledger, lock: threading.RLock, make: MakeAgent, agent: str
    ) -> None:
        self._store, self._study, self._ledger, self._lock = store, study, ledger, lock
        self._make, self._agent = make, agent
        self._me = f"{uuid.uuid4().hex} {claimant() or '-'}"
        self._watched: tuple[bytes, float] = (b"", 0.0)
        self.able = True  # until something cannot be frozen

    @functools.cached_property
    def basis(self) -> Basis:
        """What is not in the bytes of an agent."""
        return Basis(self._ledger.problem, self._make())

    @functools.cached_property
    def code(self) -> str:
        """What made a plan, as far as it may matter: sources, packages, processor."""
        return code_of(self._agent)

    def latest(self, after: int) -> State | None:
        """Return what was learned furthest beyond a position, and still holds at the end of the log."""
        with self._lock:
            end = self._ledger.position
            found = [kept for kept in self._kept() if after < kept.position <= end]
            found = [kept for kept in found if not self._ledger.outdated(kept.position, end)]
        for kept in sorted(found, key=lambda kept: -kept.position):
            state = self._state(kept)
            if state is not None:
                return state
        return None

    def at(self, position: int) -> State | None:
        """Return the one that serves a position, or the last one that serves positions before it; if any is kept."""
        found = [kept for kept in self._kept() if kept.since <= position]
        for kept in sorted(found, key=lambda kept: -kept.position)[:1]:
            return self._state(kept)
        return None

    def publish(self, state: State) -> None:
        """Keep a plan for all, and no more those that nobody needs."""
        if not self.able:
            return
        try:
            frozen = freeze(list(state), self.basis)
        except (FreezeError, RecursionError):
            self.able = False
            return
        if len(frozen) > MOST_BYTES:
            return
        with suppress(ProbandError), within(MOMENT):
            name = f"{PLAN} {self.code} {state.since} {state.position}"
            self._store.keep(self._study, name, self._seal(state.since, state.position, frozen) + frozen)
            self._prune()

    @contextmanager
    def claim(self) -> Iterator[bool]:
        """Give whether it is this process that plans now; it shows that it is alive until the block ends."""
        own, ended = self._claimed(), threading.Event()
        if own is None:
            yield False
            return
        signs = threading.Thread(target=self._show, args=(own, ended), name="proband claim", daemon=True)
        signs.start()
        try:
            yield True
        finally:
            ended.set()
            signs.join()

    def _claimed(self) -> bytes | None:
        """Return the claim of this process; nothing if another one has it."""
        own = f"{self._me} 0".encode()
        try:
            with within(MOMENT):
                seen = self._store.cached(self._study, CLAIM)
                free = not seen or self._is_over(seen)
                return own if free and self._store.swap(self._study, CLAIM, seen, own) else None
        except ProbandError:  # then everybody plans for himself
            return own

    def _is_over(self, seen: bytes) -> bool:
        """Return whether a claim is that of a process which has ended, or was not renewed for as long as watched."""
        _, _, rest = seen.decode(errors="replace").partition(" ")
        if is_gone(rest.partition(" ")[0]):
            return True
        now = time.monotonic()
        if seen != self._watched[0]:
            self._watched = seen, now
        return now - self._watched[1] > OVER

    def _show(self, own: bytes, ended: threading.Event) -> None:
        """Renew the claim until it is over, and give it up."""
        n = 0
        while not ended.wait(ALIVE):
            n += 1
            renewed = f"{self._me} {n}".encode()
            with suppress(ProbandError), within(MOMENT):
                if self._store.swap(self._study, CLAIM, own, renewed):
                    own = renewed
        with suppress(ProbandError), within(MOMENT):
            self._store.swap(self._study, CLAIM, own, None)

    def _kept(self, *, any_code: bool = False) -> list[Kept]:
        found = []
        with suppress(ProbandError), within(MOMENT):
            for name in self._store.kept(self._study):
                kind, _, rest = name.partition(" ")
                code, *numbers = rest.split(" ")
                known = kind == PLAN and (any_code or code == self.code)
                if known and len(numbers) == 2 and all(number.isdecimal() for number in numbers):
                    found.append(Kept(name, *map(int, numbers)))
        return found

    def _state(self, kept: Kept) -> State | None:
        """Return what is kept, if it is what it must be; else drop it."""
        with suppress(ProbandError), within(MOMENT):
            content = self._store.cached(self._study, kept.name) or b""
            head, _, frozen = content.partition(b"\n")
            if head + b"\n" == self._seal(kept.since, kept.position, frozen):
                with suppress(FreezeError, TypeError):
                    state = State(*thaw(frozen, self.basis))
                    if (state.since, state.position) == (kept.since, kept.position):
                        return state
            self._store.forget(self._study, kept.name)
        return None

    def _seal(self, since: int, position: int, frozen: bytes) -> bytes:
        """Return the first line of what is kept: to which code, log and content it belongs."""
        entry = self._store.read(self._study, position - 1, 1)[0].hash if position else ""
        said = f"{self.code} {since} {position} {entry}\n".encode()
        return b"proband plan 1 " + hashlib.sha256(said + frozen).hexdigest().encode() + b"\n"

    def _prune(self) -> None:
        """Drop plans that no open subject is bound to, and those of other code but for the latest."""
        own = sorted(self._kept(), key=lambda kept: -kept.position)
        others = [kept for kept in self._kept(any_code=True) if kept not in own]
        with self._lock:
            policies = self._ledger.columns.policy
            bound = {int(policies[i]) for i in self._ledger.open}
        needed = {next((kept for kept in own if kept.since <= p), None) for p in bound}
        stay = [kept for n, kept in enumerate(own) if n < 2 or kept in needed][:MOST_KEPT]
        stay += sorted(others, key=lambda kept: -kept.position)[:1]
        for kept in {*own, *others} - {*stay}:
            self._store.forget(self._study, kept.name)


def shared_plans(
    store: Store, study: str, ledger: Ledger, lock: threading.RLock, make: MakeAgent, agent: str
) -> SharedPlans | None:
    """Return the plans that are kept with a study; None if its store cannot keep any."""
    return SharedPlans(store, study, ledger, lock, make, agent) if isinstance(store, Swaps) else None


@functools.lru_cache(maxsize=64)
def code_of(agent: str) -> str:
    """Return a hash of the code that makes the plans of an agent, and of what may matter beside it.

    Examples
    --------
    >>> len(code_of("greedy")), code_of("greedy") == code_of("thompson")
    (16, True)
    """
    from proband.agents import AGENTS

    said = [_surroundings()]
    place = AGENTS.places.get(agent, agent) if agent not in AGENTS.own else ""
    if ":" in place:
        module = importlib.import_module(place.partition(":")[0])
        said.append(hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest())
    return hashlib.sha256(" ".join(said).encode()).hexdigest()[:16]


@functools.cache
def _surroundings() -> str:
    packages = [f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "llvmlite")]
    return " ".join([fingerprint(Path(proband.__file__).parent, SOURCES), *packages, sys.version, *_machine()])


def _machine() -> list[str]:
    """Return what is known of the processor: what is compiled for one may sum in another order than for another."""
    lines = []
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    told = {
        line.partition(":")[0].strip(): line for line in reversed(lines) if line.startswith(("model name", "flags"))
    }
    return [platform.machine(), platform.processor(), *told.values()]
