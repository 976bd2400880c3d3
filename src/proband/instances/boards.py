"""Circuit boards: a line with 30 tests, the example with many tests.

The numbers are invented, not measured. A board has at most one fault, or none; where the placement machine is worn,
faults are likelier. Given fault and wear the tests are independent; most see a fault or two, more or less clearly, and
sometimes where there is none. Burn-in shows whether the board will hold: it is the truth that matters, and dear. Of the
law, which nobody could list, many boards are drawn: these are the law.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from proband.distributions import Discrete
from proband.instances.instance import Instance
from proband.problem import Problem
from proband.rewards import Table
from proband.vocabulary import FloatArray, Test

BOARDS = 50_000
WORN = 0.15
FAULTS = {
    "cold joint": 0.040, "bridge": 0.025, "wrong part": 0.025, "misplaced": 0.020,
    "crack": 0.015, "contamination": 0.030, "weak supply": 0.020,
}  # fmt: skip
"""How probable a fault is where the machine is not worn."""
WEAR = {"misplaced": 6.0, "bridge": 3.0, "cold joint": 1.5}
"""How many times likelier a fault is where the machine is worn; others are as likely."""
FAILS = {
    "none": 0.01, "cold joint": 0.80, "bridge": 0.95, "wrong part": 0.70, "misplaced": 0.60,
    "crack": 0.90, "contamination": 0.55, "weak supply": 0.85,
}  # fmt: skip
"""How often a board fails in burn-in."""


class Station(NamedTuple):
    """A test: price, rate of false alarms, how often it sees which fault; group and what it costs there."""

    name: str
    cost: float
    alarms: float
    sees: Mapping[str, float]
    group: str | None = None
    group_cost: float | None = None


STATIONS = (
    Station("paste volume", 0.02, 0.06, {"cold joint": 0.55, "bridge": 0.50}),
    Station("paste offset", 0.02, 0.05, {"bridge": 0.45, "misplaced": 0.30, "worn": 0.30}),
    Station("board warpage", 0.02, 0.05, {"crack": 0.50}),
    Station("placement offset", 0.02, 0.05, {"misplaced": 0.75, "worn": 0.45}),
    Station("component height", 0.02, 0.04, {"misplaced": 0.50, "wrong part": 0.30}),
    Station("part marking", 0.03, 0.03, {"wrong part": 0.75}),
    Station("polarity", 0.02, 0.02, {"wrong part": 0.35}),
    Station("oven profile", 0.01, 0.10, {"cold joint": 0.60, "crack": 0.20}),
    Station("joint shine", 0.02, 0.12, {"cold joint": 0.50, "contamination": 0.30}),
    Station("fillet shape", 0.03, 0.06, {"cold joint": 0.70}),
    Station("bridge camera", 0.03, 0.03, {"bridge": 0.85}),
    Station("flux residue", 0.02, 0.10, {"contamination": 0.70}),
    Station("ionic test", 0.10, 0.02, {"contamination": 0.92}),
    Station("surface insulation", 0.08, 0.03, {"contamination": 0.75, "bridge": 0.50}),
    Station("X-ray of voids", 0.15, 0.03, {"cold joint": 0.90}, "X-ray", 0.05),
    Station("X-ray of bridges", 0.15, 0.02, {"bridge": 0.97}, "X-ray", 0.05),
    Station("X-ray of cracks", 0.15, 0.02, {"crack": 0.85}, "X-ray", 0.05),
    Station("ultrasound", 0.12, 0.03, {"crack": 0.93}),
    Station("supply current", 0.04, 0.05, {"bridge": 0.60, "weak supply": 0.55, "wrong part": 0.30}, "power", 0.02),
    Station("standby current", 0.04, 0.06, {"contamination": 0.40, "bridge": 0.40}, "power", 0.02),
    Station("rail ripple", 0.04, 0.04, {"weak supply": 0.85}, "power", 0.02),
    Station("start-up time", 0.04, 0.05, {"weak supply": 0.60, "cold joint": 0.30}, "power", 0.02),
    Station("clock drift", 0.04, 0.05, {"wrong part": 0.50}, "power", 0.02),
    Station("signal eye", 0.06, 0.04, {"cold joint": 0.45, "misplaced": 0.40}, "power", 0.04),
    Station("boundary scan", 0.08, 0.01, {"cold joint": 0.65, "misplaced": 0.60, "bridge": 0.50}, "power", 0.06),
    Station("self-test", 0.05, 0.02, {"wrong part": 0.55, "weak supply": 0.40, "bridge": 0.40}, "power", 0.03),
    Station("thermal image", 0.06, 0.05, {"bridge": 0.50, "weak supply": 0.50, "wrong part": 0.40}),
    Station("vibration", 0.12, 0.02, {"cold joint": 0.65, "crack": 0.60, "misplaced": 0.30}),
    Station("edge finish", 0.01, 0.08, {"worn": 0.20}),
)
BURN_IN = Test("burn-in", 0.60, outcomes=("holds", "fails"))
WORTH = ((1.0, -0.3), (-4.0, 0.4))
"""What shipping and repairing bring of a board that holds, and of one that fails."""


def circuit_boards(*, size: int = BOARDS, seed: int = 0) -> Instance[Discrete]:
    """Return the inspection of circuit boards: 29 tests, and burn-in.

    Parameters
    ----------
    size : int, default 50,000
        How many boards are drawn; they are the law.
    seed : int, default 0
        Of the draws.

    Examples
    --------
    >>> instance = circuit_boards(size=1000)
    >>> instance.problem.d, instance.problem.decisions, 0.1 < instance.distribution.marginal(29)[1] < 0.25
    (30, ('ship', 'repair'), np.True_)
    """
    outcomes = ("fine", "off")
    tests = [Test(s.name, s.cost, outcomes, s.group, s.group_cost) for s in STATIONS]
    reward = Table([BURN_IN.name], WORTH)
    problem = Problem([*tests, BURN_IN], ["ship", "repair"], reward, name="Circuit board inspection", unit="USD")
    rng = np.random.default_rng(seed)
    worn = rng.random(size) < WORN
    rates, fails, fault = _rates(), np.array(list(FAILS.values())), np.empty(size, dtype=np.int64)
    for wear in (False, True):
        here = worn == wear
        fault[here] = rng.choice(len(FAILS), p=_shares(worn=wear), size=int(here.sum()))
    off = rng.random((size, len(STATIONS))) < np.maximum(rates[fault], worn[:, None] * _wear())
    failing = rng.random(size) < fails[fault]
    return Instance("boards", problem, Discrete.from_weights(np.column_stack([off, failing]), np.ones(size)))


def _shares(*, worn: bool) -> FloatArray:
    """Return the probabilities of no fault and of each fault."""
    faults = [share * (WEAR.get(fault, 1.0) if worn else 1.0) for fault, share in FAULTS.items()]
    return np.array([1 - sum(faults), *faults])


def _rates() -> FloatArray:
    """Return how often each test is off, for no fault and for each fault, shape (faults, tests)."""
    return np.array([[max(s.alarms, s.sees.get(fault, 0.0)) for s in STATIONS] for fault in FAILS])


def _wear() -> FloatArray:
    """Return how often each test is off, at least, where the machine is worn, shape (tests,)."""
    return np.array([s.sees.get("worn", 0.0) for s in STATIONS])
