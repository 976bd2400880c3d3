"""Learning with measured outcomes: Algorithm 3's growth with T, quality control, and twins of the lower bound.

``gaussian-etc`` draws laws of four measurements from a factor model; a part is good if a weighted score lies within
its limits. Explore-Then-Commit is told the condition number σ and explores ⌊σ² T^(2/3)⌋ subjects; laws are drawn
until σ lies below `largest`, for otherwise it would explore for ever. ``gaussian-quality-control`` is the example
``bolts-measured``.

Where estimates matter, the measured twins of the paper's lower bound. ``gaussian-lower-bound``: x ~ N(±ε, 1) with
ε = m·T^(−1/3). The condition number is 1, so that explore-then-commit explores N = ⌊T^(2/3)⌋ subjects; its expected
regret is

    N·(Φ(ε) − 1/4)   +   (T − N)·(2Φ(ε) − 1)·Φ(−ε√N)   ≈   (1/4 + √(2/π)·m·Φ(−m))·T^(2/3),

so that both phases grow with the slope ⅔; at m = 1 a third of it comes after N. ``gaussian-proxy``: a free proxy whose
correlation with what is wanted is ρ = ±m·T^(−1/3), and means that have to be estimated, too; again N = ⌊T^(2/3)⌋
(condition numbers are near 1, and no rate needs them: ``docs/safe-gaussian.md``). Signs alternate between replications.
"""

from __future__ import annotations

import numpy as np

from proband.agents import Agent, Setting
from proband.agents.gaussian import GaussianExploreThenCommit, gaussian_exploration_length
from proband.distributions import Gaussian
from proband.experiments.experiment import HORIZON, Entrant, Experiment, Parameter, Point, registered
from proband.instances import Instance, bolts_measured, proxied, single_measurement
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


def explore_knowing(setting: Setting, point: Point) -> Agent:
    """Build Explore-Then-Commit with the true condition number, as Theorem 4 has it."""
    assert isinstance(setting.truth, Gaussian)
    assert setting.horizon is not None
    sigma = setting.truth.condition_number
    return GaussianExploreThenCommit(setting.problem, horizon=setting.horizon, condition_number=sigma)


def explore(setting: Setting, point: Point) -> Agent:
    """Build Explore-Then-Commit with ⌊T^(2/3)⌋ subjects explored, as for a condition number of 1."""
    assert setting.horizon is not None
    return GaussianExploreThenCommit(setting.problem, horizon=setting.horizon, condition_number=1.0)


def make_bolts(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Return the bolts that are measured: always the same law."""
    return bolts_measured()


def gap(point: Point) -> float:
    """Return m·T^(−1/3)."""
    return float(float(point["m"]) * int(point[HORIZON]) ** (-1 / 3))


def make_single(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Return the single measurement with the gap of a point."""
    return single_measurement(epsilon=gap(point), sign=-1 if replication % 2 else 1)


def make_proxied(point: Point, replication: int, rng: np.random.Generator) -> Instance[Gaussian]:
    """Return the measurement with a proxy of the correlation of a point."""
    return proxied(correlation=min(0.9, gap(point)) * (-1 if replication % 2 else 1))


def switch(point: Point) -> int:
    """Return N."""
    return gaussian_exploration_length(1.0, int(point[HORIZON]))


GAP = {"m": Parameter(1.0, "gap, in units of T^(-1/3)", float)}
EXPLORER = Entrant("explore-then-commit", explore)

GAUSSIAN_ETC = Experiment(
    name="gaussian-etc",
    title="Explore-Then-Commit with Gaussian outcomes",
    shows="How the regret of Algorithm 3 grows with T when it knows the condition number, and what agents that learn "
    "from every subject need instead. These instances are easy: what 64 subjects tell is enough, and all regret of "
    "Algorithm 3 is exploration (gaussian-lower-bound and gaussian-proxy are hard).",
    instance=draw_instance,
    agents=(Entrant("explore-then-commit", explore_knowing), *registered(("greedy", "leaf-completion"))),
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
    agents=(EXPLORER, *registered(("test-everything", "greedy", "thompson", "leaf-completion"))),
    horizon=2**15,
    replications=10,
    baselines=("explore-then-commit",),
)

GAUSSIAN_LOWER_BOUND = Experiment(
    name="gaussian-lower-bound",
    title="A lower bound with a measured outcome",
    shows="The sign of x ~ N(±m·T^(-1/3), 1) is to be named, and measuring costs more than it is worth: whoever plays "
    "what looks best is stuck, and explore-then-commit pays for exploring and for what it did not learn.",
    instance=make_single,
    agents=(EXPLORER, *registered(("greedy",))),
    horizon=2**16,
    replications=100,
    parameters=GAP,
    sweeps={"m": (0.5, 1.0, 2.0, 4.0, 8.0), HORIZON: tuple(2**n for n in (10, 12, 14, 16))},
    baselines=("explore-then-commit",),
    per_doubling=1,
    switch=switch,
)

GAUSSIAN_PROXY = Experiment(
    name="gaussian-proxy",
    title="Whether a proxy is to be trusted",
    shows="A free proxy has the correlation ±m·T^(-1/3) with what is wanted, and only measuring both tells which: "
    "explore-then-commit, and agents that learn from every subject, with and without a proved rate.",
    instance=make_proxied,
    agents=(EXPLORER, *registered(("greedy", "leaf-completion", "safe-leaf-completion"))),
    horizon=2**16,
    replications=20,
    parameters=GAP,
    sweeps={"m": (1.0, 4.0), HORIZON: tuple(2**n for n in (10, 13, 16))},
    baselines=("explore-then-commit",),
    per_doubling=1,
    switch=switch,
)
