"""Learning with measured outcomes: Algorithm 3's growth with T, and quality control end to end.

``gaussian-etc`` draws laws of four measurements from a factor model; a part is good if a weighted score lies within
its limits. Explore-Then-Commit is told the condition number σ and explores ⌊σ² T^(2/3)⌋ subjects; laws are drawn
until σ lies below `largest`, for otherwise it would explore for ever. ``gaussian-quality-control`` is the example
``bolts-measured``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proband.agents import Agent, Setting
from proband.agents.gaussian import GaussianExploreThenCommit
from proband.distributions import Gaussian
from proband.experiments.experiment import Entrant, Experiment, Parameter, Point, registered
from proband.instances import Instance, bolts_measured
from proband.problem import Problem
from proband.rewards import Piece, Projection, Score
from proband.vocabulary import Test

TESTS = 4
COSTS = (0.01, 0.02, 0.03, 0.2)
LOADINGS = (0.45, 0.65)
NOISE = (0.5, 0.6)
PARAMETERS = {"largest": Parameter(4.0, "σ of a law is at most this, σ its condition number", float)}


def draw_instance(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Draw a law whose condition number is at most `largest`; the score is the last measurement."""
    largest = float(point["largest"])
    while True:
        loadings = rng.uniform(*LOADINGS, size=TESTS)
        covariance = np.outer(loadings, loadings) + np.diag(rng.uniform(*NOISE, size=TESTS))
        law = Gaussian(rng.normal(0.0, 0.2, size=TESTS), covariance)
        if law.condition_number <= largest:
            return Instance("part", part(float(np.sqrt(covariance[-1, -1]))), law)


def part(sd: float) -> Problem:
    """Return the problem of a part whose last measurement must lie within 1.2 standard deviations of 0.

    Examples
    --------
    >>> part(1.0).decisions
    ('ship', 'scrap')
    """
    limit = 1.2 * sd
    pieces = [
        Piece("ship", 1.0, when={"size": (-limit, limit)}),
        Piece("ship", -2.0, when={"size": (None, -limit)}),
        Piece("ship", -2.0, when={"size": (limit, None)}),
    ]
    tests = [Test(f"gauge {n + 1}", cost, outcomes=None) for n, cost in enumerate(COSTS)]
    return Problem(tests, ["ship", "scrap"], Projection([Score("size", {f"gauge {TESTS}": 1.0})], pieces), name="Part")


@dataclass(frozen=True)
class KnowingSigma:
    """Builds Explore-Then-Commit with the true condition number, as Theorem 4 has it."""

    def __call__(self, setting: Setting, point: Point) -> Agent:
        """Build the agent."""
        assert isinstance(setting.truth, Gaussian)
        assert setting.horizon is not None
        return GaussianExploreThenCommit(
            setting.problem, horizon=setting.horizon, condition_number=setting.truth.condition_number
        )


def make_bolts(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Return the bolts that are measured: always the same law."""
    return bolts_measured()


@dataclass(frozen=True)
class Exploring:
    """Builds Explore-Then-Commit with ⌊T^(2/3)⌋ subjects explored, as for a condition number of 1."""

    def __call__(self, setting: Setting, point: Point) -> Agent:
        """Build the agent."""
        assert setting.horizon is not None
        return GaussianExploreThenCommit(setting.problem, horizon=setting.horizon, condition_number=1.0)


GAUSSIAN_ETC = Experiment(
    name="gaussian-etc",
    title="Explore-Then-Commit with Gaussian outcomes",
    shows="How the regret of Algorithm 3 grows with T when it knows the condition number, and what agents that learn "
    "from every subject need instead. These instances are easy: what 64 subjects tell is enough, and all regret of "
    "Algorithm 3 is exploration (gaussian-lower-bound and gaussian-proxy are hard).",
    instance=draw_instance,
    agents=(Entrant("explore-then-commit", KnowingSigma()), *registered(("greedy", "leaf-completion"))),
    horizon=2**18,
    replications=10,
    parameters=PARAMETERS,
    sweeps={"horizon": tuple(2**n for n in (12, 14, 16, 18))},
    baselines=("explore-then-commit",),
    shared=frozenset({"horizon"}),
)

GAUSSIAN_QUALITY_CONTROL = Experiment(
    name="gaussian-quality-control",
    title="Quality control by measurement",
    shows="Six correlated measurements of a bolt, limits on one of them: the paper's agent (⌊T^(2/3)⌋ explored, for "
    "its own length ⌊σ² T^(2/3)⌋ exceeds T here), and agents that learn from every subject.",
    instance=make_bolts,
    agents=(
        Entrant("explore-then-commit", Exploring()),
        *registered(("test-everything", "greedy", "thompson", "leaf-completion")),
    ),
    horizon=2**15,
    replications=10,
    parameters={},
    baselines=("explore-then-commit",),
)
