"""Reading a solved line: losses and actions of many states, expectations after a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.planners.gaussian.compiling import kernel
from proband.planners.gaussian.line.basis_kernel import N
from proband.planners.gaussian.line.expectation_kernel import from_neighbours, panel_at, value_at
from proband.planners.gaussian.line.tables import Level, Settings, child_panels
from proband.vocabulary import FloatArray, IntArray


@kernel
def read(level: Level, sets: IntArray, means: FloatArray) -> Any:
    """Return r_O and the action at each mean; NaN and −1 where there is no panel: deciding is best there."""
    losses, actions = np.full(len(sets), np.nan), np.full(len(sets), -1, dtype=np.int64)
    room = np.empty((8, N))
    for r in range(len(sets)):
        panels = child_panels(level, sets[r])
        p = panel_at(panels.low, panels.high, means[r])
        if p >= 0:
            losses[r], actions[r] = value_at(panels, p, means[r], room), panels.actions[p]
    return losses, actions


@kernel
def loss_after(level: Level, settings: Settings, child: int, step: float, mean: float) -> float:
    """Return E r_C(mean + step·ε)."""
    room = np.empty((8, N))
    panels = child_panels(level, child)
    if step == 0.0:
        p = panel_at(panels.low, panels.high, mean)
        return value_at(panels, p, mean, room) if p >= 0 else 0.0
    return from_neighbours(panels, step, settings.window * step, settings.reach, mean, room)
