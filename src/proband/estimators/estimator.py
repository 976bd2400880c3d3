"""What an estimator is: records in, a law out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from proband.distributions import Distribution
from proband.vocabulary import Records


@runtime_checkable
class Estimator(Protocol):
    """Records with missing entries to a law of the outcome vector; deterministic, incremental."""

    def update(self, records: Records) -> None:
        """Learn from more subjects."""
        ...

    def update_counts(self, observations: ArrayLike, counts: ArrayLike) -> None:
        """Learn from distinct observations (u, d), NaN where a test was not run, seen `counts` (u,) times."""
        ...

    def distribution(self) -> Distribution:
        """Return the estimate from all subjects so far."""
        ...
