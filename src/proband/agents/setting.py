"""What an agent is told before the first subject, and how it is built from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from proband.agents.agent import Agent
from proband.distributions import Distribution
from proband.problem import Problem
from proband.vocabulary import Kind


@dataclass(frozen=True)
class Setting:
    """What an agent may be told before the first subject.

    Attributes
    ----------
    problem : Problem
    horizon : int, optional
        The number of subjects, where it is known.
    seed : int
        Of the agent's own randomness.
    support_size : int, optional
        |P|, where it is known.
    truth : Discrete or Gaussian, optional
        The true law: for the clairvoyant alone.
    condition_number : float, optional
        σ of the covariance, where it is known.
    max_tests, budget : optional
        Most tests to run on a subject who is decided as planned, and most to pay for them.
    """

    problem: Problem
    horizon: int | None = None
    seed: int = 0
    support_size: int | None = None
    truth: Distribution | None = None
    condition_number: float | None = None
    max_tests: int | None = None
    budget: float | None = None


class Buildable(Protocol):
    """What a name in :data:`proband.agents.AGENTS` stands for: mostly a class of agents.

    A class that experiments should tell the number of subjects T says ``anytime = False`` beside; all others compete
    without knowing it. One that keeps to limits for each subject says ``limited = True``.
    """

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of problems that are served."""
        ...

    def of(self, setting: Setting) -> Agent:
        """Return a new agent."""
        ...
