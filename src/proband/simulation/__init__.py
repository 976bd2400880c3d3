"""Streams of simulated subjects through agents, and what they lose to the clairvoyant."""

from proband.simulation.regret import Trajectory, checkpoints, simulate

__all__ = ["Trajectory", "checkpoints", "simulate"]
