r"""What a table says: mean regret of each agent, its ratio to a baseline on the same instances, and slopes.

The ratio of an agent a to a baseline b is that of their mean regrets; its median and its spread are the median and the
standard deviation, over replications, of the ratio on the same instance (where instances are heavy-tailed, a few of
them make the means, and none makes the median); a replication is won where a's regret is the smaller one.

A slope is that of the least-squares line through the logarithms of the mean regrets. Its standard error is the
jackknife's: with ŝ_(r) the slope without replication r, se² = (n−1)/n · Σ_r (ŝ_(r) − mean)².
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from proband.experiments.experiment import Point
from proband.experiments.tidy import TidyTable
from proband.showing import Shown
from proband.vocabulary import FloatArray

BASELINES = ("explore-then-commit", "doubling")


@dataclass(frozen=True)
class Ratio:
    """An agent's regret over a baseline's: ratio of the means, its error, median and spread on instances, won ones."""

    ratio: float
    error: float
    median: float
    spread: float
    wins: int


@dataclass(frozen=True)
class Summary(Shown):
    """The regret of one agent at one point after all subjects."""

    point: Point
    agent: str
    replications: int
    mean: float
    sd: float
    error: float
    ratios: Mapping[str, Ratio]


@dataclass(frozen=True)
class Slope:
    """A slope in log-log coordinates, and its standard error."""

    slope: float
    error: float

    def __str__(self) -> str:
        return f"{self.slope:.3f}".replace("-", "−") + ("" if math.isnan(self.error) else f" ± {self.error:.3f}")


def summarise(
    table: TidyTable, *, baselines: Sequence[str] = BASELINES, measure: str = "pseudo_regret"
) -> list[Summary]:
    """Return a summary for each point, in the order of its parameters, and agent.

    Parameters
    ----------
    table : TidyTable
    baselines : sequence of str
        Agents to compare with; those that the table does not hold are left out.
    measure : str, default "pseudo_regret"

    Examples
    --------
    >>> table = TidyTable({
    ...     "horizon": np.full(4, 8), "agent": np.array(["explore-then-commit"] * 2 + ["greedy"] * 2),
    ...     "replication": np.array([0, 1, 0, 1]), "t": np.full(4, 8), "pseudo_regret": np.array([4.0, 2.0, 1.0, 2.0]),
    ... })  # fmt: skip
    >>> greedy = summarise(table)[1]
    >>> greedy.mean, greedy.ratios["explore-then-commit"].ratio, greedy.ratios["explore-then-commit"].wins
    (1.5, 0.5, 1)
    """
    final = table.final()
    summaries = []
    for point in sorted(final.points(), key=lambda point: tuple(point.values())):
        here = final.where(point)
        regrets = {agent: by_replication(here.where({"agent": agent}), measure) for agent in here.unique("agent")}
        for agent, regret in regrets.items():
            ratios = {name: compare(regret, regrets[name]) for name in baselines if name in regrets and name != agent}
            sd = float(regret.std(ddof=1)) if len(regret) > 1 else math.nan
            error = sd / math.sqrt(len(regret))
            summaries.append(Summary(point, agent, len(regret), float(regret.mean()), sd, error, ratios))
    return summaries


def compare(regret: FloatArray, baseline: FloatArray) -> Ratio:
    """Return how an agent's regrets (n,) compare with a baseline's on the same instances.

    Examples
    --------
    >>> found = compare(np.array([1.0, 3.0, 8.0]), np.array([4.0, 4.0, 16.0]))
    >>> found.ratio, found.median
    (0.5, 0.5)
    """
    n = len(regret)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(np.divide(regret.mean(), baseline.mean()))
        each = regret / baseline if baseline.all() else np.full(n, math.nan)
        spread = float(np.std(each, ddof=1)) if n > 1 else math.nan
        without = (regret.sum() - regret) / (baseline.sum() - baseline) if n > 1 else np.array([math.nan])
    return Ratio(ratio, _jackknife(without), float(np.median(each)), spread, int((regret < baseline).sum()))


def fit_slope(x: ArrayLike, regrets: FloatArray) -> Slope:
    """Fit log mean regret against log x.

    Parameters
    ----------
    x : array_like of shape (n,)
    regrets : FloatArray of shape (replications, n)

    Examples
    --------
    >>> print(fit_slope([1, 8, 64], np.array([[5.0, 20.0, 80.0], [5.0, 20.0, 80.0]])))
    0.667 ± 0.000
    """
    at = np.asarray(x, dtype=np.float64)
    replications = len(regrets)
    if replications < 2:
        return Slope(_slope(at, regrets.mean(axis=0)), math.nan)
    without = (regrets.sum(axis=0) - regrets) / (replications - 1)
    return Slope(_slope(at, regrets.mean(axis=0)), _jackknife(np.array([_slope(at, mean) for mean in without])))


def sweeps(table: TidyTable) -> list[str]:
    """Return the parameters of which the table holds three numbers or more, all others being as in the main point.

    Examples
    --------
    >>> sweeps(TidyTable({"horizon": np.array([8, 4, 2]), "m": np.array([1, 1, 1]), "t": np.array([8, 4, 2])}))
    ['horizon']
    """
    return [name for name in table.parameters if table[name].dtype.kind in "if" and len(along(table, name)) >= 3]


def along(table: TidyTable, parameter: str) -> list[Point]:
    """Return the points that differ from the main one in one parameter only, in its order."""
    main = table.points()[0]
    rest = {name: value for name, value in main.items() if name != parameter}
    points = [point for point in table.points() if all(point[name] == value for name, value in rest.items())]
    return sorted(points, key=lambda point: float(point[parameter]))


def regrets_along(table: TidyTable, parameter: str, agent: str, measure: str = "pseudo_regret") -> FloatArray:
    """Return final regrets of an agent on the points of a sweep, shape (replications, points)."""
    final = table.final().where({"agent": agent})
    return np.column_stack([by_replication(final.where(point), measure) for point in along(table, parameter)])


def slopes(table: TidyTable, measure: str = "pseudo_regret") -> dict[str, dict[str, Slope]]:
    """Return the slope of each agent's final regret in each parameter that was swept."""
    return {
        parameter: {
            agent: fit_slope(
                [float(point[parameter]) for point in along(table, parameter)],
                regrets_along(table, parameter, agent, measure),
            )
            for agent in table.unique("agent")
        }
        for parameter in sweeps(table)
    }


def by_replication(table: TidyTable, measure: str) -> FloatArray:
    """Return a measure, one number for each replication."""
    return np.asarray(table[measure][np.argsort(table["replication"], kind="stable")], dtype=np.float64)


def trajectories(
    table: TidyTable, agent: str, measure: str = "pseudo_regret", *, point: Point | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return checkpoints (n,) and an agent's regrets there (replications, n), at the main point by default."""
    here = table.where({**(point or table.points()[0]), "agent": agent})
    order = np.lexsort([here["t"], here["replication"]])
    t = np.unique(here["t"])
    return t.astype(np.float64), here[measure][order].reshape(-1, len(t))


def _slope(x: FloatArray, y: FloatArray) -> float:
    keep = (x > 0) & (y > 0)
    if keep.sum() < 2:
        return math.nan
    log_x = np.log(x[keep])
    return float(np.cov(log_x, np.log(y[keep]))[0, 1] / np.var(log_x, ddof=1))


def _jackknife(without: FloatArray) -> float:
    n = len(without)
    if n < 2 or not np.isfinite(without).all():
        return math.nan
    return math.sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))
