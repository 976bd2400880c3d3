"""Policies by the positions that they serve: those that open subjects are bound to, and the latest."""

from __future__ import annotations

import threading

from proband.studies.learning.learner import PolicySpan
from proband.studies.ledger.ledger import Ledger

LATEST = 2
"""So many are kept although no subject is bound to them: an arrival may be under way."""


class KeptPolicies:
    """Policies that can be asked for again; the lock is held while the ledger is read."""

    def __init__(self, ledger: Ledger, lock: threading.RLock) -> None:
        self._ledger, self._lock = ledger, lock
        self._spans: list[PolicySpan] = []
        self.newest: PolicySpan | None = None  # what newcomers get at present

    def find(self, position: int) -> PolicySpan | None:
        """Return the policy of agent_at(position), if it is kept."""
        with self._lock:
            return next((kept for kept in reversed(self._spans) if kept.serves(self._ledger, position)), None)

    def keep(self, span: PolicySpan) -> None:
        """Keep a policy, and drop those that no open subject is bound to, but for the newest."""
        with self._lock:
            bound = self._positions()
            older, latest = self._spans[:-LATEST], self._spans[-LATEST:]
            used = [kept for kept in older if kept is self.newest or any(kept.serves(self._ledger, p) for p in bound)]
            self._spans = [*used, *latest, span]

    def bound(self, position: int) -> list[int]:
        """Return the positions of open subjects that an agent passes on its way to a position, in order."""
        with self._lock:
            return sorted(p for p in self._positions() if p < position and not self._ledger.outdated(p, position))

    def _positions(self) -> set[int]:
        """Return the positions that open subjects are bound to."""
        policies = self._ledger.columns.policy
        return {int(policies[i]) for i in self._ledger.open}
