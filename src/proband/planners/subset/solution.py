"""What a search for the best set has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SubsetSolution:
    """A set of tests with a certificate: value ≤ max f ≤ bound.

    Attributes
    ----------
    chosen : tuple of int
        The tests, sorted.
    value : float
        f of the set, evaluated by a Cholesky factorisation.
    bound : float
        Upper bound on f of every set allowed, rounding included.
    nodes : int
        Nodes of the search, or sets enumerated.
    method : str
        "enumeration", "branch and bound" or "Lagrangian".
    status : str
        "optimal", or what ended the search: "time", "nodes", "interrupted".
    seconds : float
        Wall-clock time.
    """

    chosen: tuple[int, ...]
    value: float
    bound: float
    nodes: int
    method: str
    status: str
    seconds: float

    @property
    def gap(self) -> float:
        """Bound less value."""
        return self.bound - self.value
