"""Reading a solved line: losses and actions of many states, expectations after a test."""

from __future__ import annotations

from typing import Any

import numpy as np

from proband.compiling import kernel
from proband.planners.gaussian.line.expectation_kernel import from_neighbours, panel_at, value_at
from proband.planners.gaussian.line.tables import Level, Scratch, Settings
from proband.vocabulary import FloatArray, IntArray


@kernel
def read(level: Level, sets: IntArray, means: FloatArray, scratch: Scratch) -> Any:
    """Return r_O and the action at each mean; NaN and −1 where there is no panel: deciding is best there."""
    losses, actions = np.empty(len(sets)), np.empty(len(sets), dtype=np.int64)
    room = scratch.rows
    for r in range(len(sets)):
        first = level.first[sets[r]]
        p = panel_at(level, first, first + level.length[sets[r]], means[r])
        losses[r], actions[r] = np.nan, -1
        if p >= 0:
            losses[r], actions[r] = value_at(level, p, means[r], room), level.actions[p]
    return losses, actions


@kernel
def loss_after(level: Level, settings: Settings, child: int, step: float, mean: float, scratch: Scratch) -> float:
    """Return E r_C(mean + step·ε)."""
    room = scratch.rows
    first, end = level.first[child], level.first[child] + level.length[child]
    if step == 0.0:
        p = panel_at(level, first, end, mean)
        return value_at(level, p, mean, room) if p >= 0 else 0.0
    return from_neighbours(level, first, end, step, settings.window * step, settings.reach, mean, room)
