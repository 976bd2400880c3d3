"""What the certified agent can say for sure, in the words of its user."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from proband.quantities import amount

ROUNDING = 1e-9
"""A bound as small as this is that of the only set left."""


@dataclass(frozen=True)
class Certificate:
    """A statement that holds with probability 1 − δ, whenever it is asked for.

    Attributes
    ----------
    inside, outside, undecided : tuple of str
        Tests that are in the best set, that are not, and that may be.
    best : tuple of str
        The set that seems best.
    bound : float
        By how much, a round, the best set may be above it.
    epsilon, delta : float
        What was asked for.
    rounds : int
        Rounds until the last look, on which the statement rests.
    withdrawn : str
        Why nothing is certified any more, if nothing is: then no test is inside or outside, and the bound is infinite.
    unit : str
        Of the bound and of ε: that of the costs, or nats where the entropy itself is the reward and costs have no unit.

    Examples
    --------
    >>> print(Certificate(("harbour",), ("park",), (), ("harbour",), 0.0, 0.05, 0.05, 120))
    With probability 0.95: measuring harbour is best.
    >>> print(Certificate((), (), ("harbour", "park"), ("harbour",), 0.04, 0.05, 0.05, 120))
    With probability 0.95: measuring harbour is within 0.04 nats a round of the best.
    >>> print(Certificate((), (), ("park",), ("park",), 0.23, 0.05, 0.05, 297, unit="100 EUR/month"))
    With probability 0.95: measuring park is within 23 EUR/month a round of the best.
    >>> print(Certificate((), (), ("park",), ("park",), math.inf, 0.05, 0.05, 120, "A round was broken off."))
    Nothing is certified any more. A round was broken off.
    """

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    undecided: tuple[str, ...]
    best: tuple[str, ...]
    bound: float
    epsilon: float
    delta: float
    rounds: int
    withdrawn: str = ""
    unit: str = "nats"

    @property
    def reached(self) -> bool:
        """Whether the bound is at most ε."""
        return self.bound <= self.epsilon

    def withdraw(self, reason: str) -> Certificate:
        """Return what is left of the certificate where its proof does not hold: the set that seems best."""
        tests = (*self.inside, *self.outside, *self.undecided)
        return replace(self, inside=(), outside=(), undecided=tests, bound=math.inf, withdrawn=reason)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON values; an infinite bound is None."""
        return {**asdict(self), "bound": None if math.isinf(self.bound) else self.bound, "says": str(self)}

    def __str__(self) -> str:
        if self.withdrawn:
            return f"Nothing is certified any more. {self.withdrawn}"
        chosen = ", ".join(self.best) or "nothing"
        if math.isinf(self.bound):
            return (
                f"Nothing is certain yet: {self.rounds} rounds are too few, {len(self.undecided)} tests are undecided."
            )
        how = (
            "is best" if self.bound <= ROUNDING else f"is within {amount(self.bound, self.unit, 2)} a round of the best"
        )
        return f"With probability {1 - self.delta:g}: measuring {chosen} {how}."
