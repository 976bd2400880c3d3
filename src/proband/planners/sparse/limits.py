"""When a search ends short of a proof, and how its work is spent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to stop short of a proof, and how the work is spent.

    Work is counted by the kernels, in units that take about a nanosecond each on one core of 2024. What a search does
    is a function of the work done, never of the clock: with a limit on work it ends with the same plan, bit for bit,
    on any machine and under any load. Only `seconds` asks the clock when to end.

    Parameters
    ----------
    seconds : float
        Wall-clock limit.
    work : float
        Units of work that may be done; the last expansion may go beyond.
    memory : float
        Bytes the memo may take.
    states : float
        States the memo may hold.
    slice_work : float
        Units of work between two reports of progress.
    slack : float
        Share of a state's gap by which a visit may overshoot the second best test.
    improving : float
        Share of the work given to better incumbents.
    cores : {1, 2}
        With 2, a second search on another core looks for better trees while the first one proves; each may do the work
        of the limit. Plans are as reproducible as with one core, but not those of one core.
    node_seconds : float
        Seconds of the wall-clock limit kept for each node of the incumbent: what is made of it takes time, too.

    Examples
    --------
    >>> Limits(work=2e8).seconds
    inf
    """

    seconds: float = float("inf")
    work: float = float("inf")
    memory: float = 4e9
    states: float = float("inf")
    slice_work: float = 5e7
    slack: float = 0.05
    improving: float = 0.15
    cores: int = 1
    node_seconds: float = 5e-5

    def __post_init__(self) -> None:
        if self.cores not in (1, 2):
            raise ValueError(f"cores is {self.cores}; a search runs on 1 or on 2 of them; give one of these")
