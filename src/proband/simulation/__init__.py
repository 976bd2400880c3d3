"""Streams of subjects through agents, and the regret of it."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.simulation.full_information import FullInformation
    from proband.simulation.regret import Trajectory, checkpoints, draw_stream, simulate
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = ["FullInformation", "Trajectory", "checkpoints", "draw_stream", "simulate"]
