"""An instance: a problem together with the true law of its subjects, which no agent may know."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from typing import Generic, TypeVar

import numpy as np

from proband.distributions import Distribution
from proband.problem import Problem
from proband.vocabulary import FloatArray, Policy

Distribution_co = TypeVar("Distribution_co", bound=Distribution, covariant=True)


@dataclass(frozen=True)
class Instance(Generic[Distribution_co]):
    """A problem and the law of its subjects.

    Parameters
    ----------
    name : str
        Short name, as on the command line.
    problem : Problem
    distribution : Distribution
        The law P from which subjects are drawn.
    best : Policy, optional
        A policy to measure regret against, where the law is too large for the best one to be found.
    reveal : int, optional
        So many subjects later an agent is told what unavailable tests would have shown; never by default.

    Examples
    --------
    >>> from proband import Discrete, Problem, Test
    >>> from proband.rewards import Match
    >>> coin = Instance("coin", Problem([Test("toss")], reward=Match()), Discrete([[0], [1]], [0.5, 0.5]))
    >>> coin.sample(np.random.default_rng(0), 3).shape
    (3, 1)
    """

    name: str
    problem: Problem
    distribution: Distribution_co
    best: Policy | None = field(default=None, compare=False)
    reveal: int | None = None

    def __post_init__(self) -> None:
        self.distribution.check(self.problem)

    def sample(self, rng: np.random.Generator, n: int) -> FloatArray:
        """Draw the outcome vectors of n subjects, shape (n, d)."""
        return self.distribution.sample(rng, n)


def problem_text(name: str) -> str:
    """Return the text of a problem file that comes with the package, comments included.

    Examples
    --------
    >>> problem_text("bolts").splitlines()[0][:17]
    '# Bolt inspection'
    """
    return _problems().joinpath(f"{name}.toml").read_text(encoding="utf-8")


def packaged_problem(name: str) -> Problem:
    """Return a problem whose file comes with the package.

    Examples
    --------
    >>> packaged_problem("bolts").d
    9
    """
    with resources.as_file(_problems().joinpath(f"{name}.toml")) as path:
        return Problem.load(path)


def _problems() -> resources.abc.Traversable:
    return resources.files("proband.instances").joinpath("problems")
