"""Streams of subjects through agents, and the regret of it."""

from proband.simulation.regret import draw_stream, simulate
from proband.simulation.trajectory import Trajectory, checkpoints

__all__ = ["Trajectory", "checkpoints", "draw_stream", "simulate"]
