"""Regret by phase: what came before and after explore-then-commit commits, and who is stuck.

Explore-then-commit tests N subjects completely and then plays one plan for ever: its regret until N is the price of
exploring, what comes after is the price of what it did not learn. An agent is *stuck* in a run when its loss a subject
no longer changes and is not nothing: over the subjects from T/4 to T/2 and over those from T/2 to T it is the same to
within a tenth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proband.experiments.experiment import HORIZON, Point, Switch
from proband.experiments.summary import Slope, along, fit_slope, sweeps, trajectories
from proband.experiments.tidy import TidyTable
from proband.vocabulary import FloatArray

SAME = 0.1
LEAST_LOSS = 1e-9
"""A loss a subject below this is rounding."""


@dataclass(frozen=True, eq=False)
class Phase:
    """An agent's regrets at a point, one number for each replication, and in which share of them it was stuck.

    `length` is N, the subjects until explore-then-commit commits; `before` and `after` (replications,) are regret until
    then, and from then on.
    """

    point: Point
    agent: str
    length: int
    before: FloatArray
    after: FloatArray
    stuck: float

    @property
    def share(self) -> float:
        """How much of the mean regret came after N."""
        return float(self.after.sum() / (self.before.sum() + self.after.sum()))

    @property
    def after_error(self) -> float:
        """Standard error of the mean regret after N."""
        n = len(self.after)
        return float(self.after.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan


def phases(table: TidyTable, switch: Switch) -> list[Phase]:
    """Return the phases of each point, in the order of its parameters, and agent.

    The table has a row where explore-then-commit commits, and `switch` gives that number of subjects for a point.
    """
    points = sorted(table.points(), key=lambda point: tuple(point.values()))
    return [_phase(table, point, agent, switch(point)) for point in points for agent in table.unique("agent")]


def slopes_by_phase(table: TidyTable, switch: Switch) -> dict[str, tuple[Slope, Slope]]:
    """Return for each agent the slopes in T of its regret before and after; nothing where T was not swept."""
    if HORIZON not in sweeps(table):
        return {}
    points = along(table, HORIZON)
    x = [float(point[HORIZON]) for point in points]
    found = {}
    for agent in table.unique("agent"):
        parts = [_phase(table, point, agent, switch(point)) for point in points]
        before, after = (np.column_stack([getattr(part, name) for part in parts]) for name in ("before", "after"))
        found[agent] = (fit_slope(x, before), fit_slope(x, after))
    return found


def _phase(table: TidyTable, point: Point, agent: str, length: int) -> Phase:
    t, regret = trajectories(table, agent, point=point)
    before = regret[:, np.searchsorted(t, length)]
    return Phase(point, agent, length, before, regret[:, -1] - before, float(stuck(t, regret).mean()))


def stuck(t: FloatArray, regret: FloatArray) -> NDArray[np.bool_]:
    """Return in which runs the loss a subject is positive and the same in the last two halvings of t."""
    quarter, half = (int(np.searchsorted(t, t[-1] / part, side="right")) - 1 for part in (4, 2))
    earlier = (regret[:, half] - regret[:, quarter]) / (t[half] - t[quarter])
    late = (regret[:, -1] - regret[:, half]) / (t[-1] - t[half])
    return np.asarray((late > LEAST_LOSS) & (np.abs(late - earlier) <= SAME * late))
