"""How far a planner has come: the one thing that all of them report while they work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proband.quantities import number


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a callback is told now and then.

    Attributes
    ----------
    seconds : float
        Since the planner began.
    value, bound : float
        Of the best plan so far, and the most that any plan can bring; NaN while there is none.
    what : str
        What is counted, in the plural: "states", "sets", "sizes", "nodes".
    done : int
        How many of these are dealt with.
    total : int, optional
        Of how many; None where nobody knows in advance.
    details : mapping of str to float
        What only this planner counts: open nodes, the width of a grid's panels.

    Examples
    --------
    >>> seen = Progress(seconds=2.5, value=0.7, bound=0.75, what="sets", done=12, total=128)
    >>> round(seen.gap, 3), str(seen)
    (0.05, 'value 0.7, bound 0.75, gap 0.05, 12 of 128 sets')
    """

    seconds: float
    value: float
    bound: float
    what: str
    done: int
    total: int | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """How much better than the best plan so far another can be, at most."""
        return self.bound - self.value

    def __str__(self) -> str:
        known = ""
        if self.gap == self.gap:
            known = f"value {number(self.value, 5)}, bound {number(self.bound, 5)}, gap {number(self.gap, 3)}, "
        return f"{known}{self.done}{'' if self.total is None else f' of {self.total}'} {self.what}"


Report = Callable[[Progress], bool | None]
"""What planners call with their progress; a search that is answered False ends with the best plan so far."""
