"""Beside the best in hindsight: agents that differ in one setting only, such as how long they explore, are a family.

Nobody knows beforehand which member of a family suits a law. *In hindsight* it is the one whose mean regret, over the
very replications that are reported, is least at a point: a baseline that no agent could be, and a demanding one. An
agent's ratio to a family is that of its mean regret to this member's; over several points their geometric mean and the
largest of them are told.

The *gap* is what a subject loses to the best plan, on average over a stretch of subjects. It *falls* in a run where it
is smaller from T/2 to T than from T/4 to T/2; who is stuck, :mod:`proband.experiments.phases` says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proband.experiments.experiment import Point, Value
from proband.experiments.phases import LEAST_LOSS, stuck
from proband.experiments.summary import by_replication, trajectories
from proband.experiments.tidy import TidyTable
from proband.vocabulary import FloatArray

LAST = 0.9
"""The last gap is over the subjects after this share of T, or after the checkpoint before it."""

Families = Mapping[str, tuple[str, ...]]
"""Name of a family to the names of its members."""


@dataclass(frozen=True)
class Place:
    """Where an agent stands at a point.

    Attributes
    ----------
    point : Point
    agent : str
    families : tuple of str
        Those of which it is the best member here, in hindsight.
    mean, error : float
        Mean regret over replications, and its standard error.
    ratios : dict of str to float
        Its mean regret over that of the best member of each family, and over that of each baseline.
    gaps : tuple of three floats
        Mean loss a subject from T/4 to T/2, from T/2 to T, and over the last tenth or so.
    falls, stuck : float
        In which share of the replications the gap still falls, and in which the agent is stuck.
    """

    point: Point
    agent: str
    families: tuple[str, ...]
    mean: float
    error: float
    ratios: Mapping[str, float]
    gaps: tuple[float, float, float]
    falls: float
    stuck: float


def places(table: TidyTable, families: Families, baselines: Sequence[str] = ()) -> list[Place]:
    """Return where agents stand at each point; of each family the best member only.

    Examples
    --------
    >>> table = TidyTable({
    ...     "horizon": np.full(9, 8), "agent": np.repeat(["short", "long", "other"], 3), "replication": np.zeros(9),
    ...     "t": np.tile([2, 4, 8], 3), "pseudo_regret": np.array([1.0, 2.0, 4.0, 1.0, 1.5, 2.0, 0.4, 0.7, 1.0]),
    ... })  # fmt: skip
    >>> [(place.agent, place.ratios["explorers"]) for place in places(table, {"explorers": ("short", "long")})]
    [('long', 1.0), ('other', 0.5)]
    """
    return [place for point in table.points() for place in _at(table, point, families, baselines)]


def shown(table: TidyTable, families: Families) -> TidyTable:
    """Return the table without the members of families that are not the best ones at the main point."""
    if not families:
        return table
    members = {agent for family in families.values() for agent in family}
    best = {place.agent for place in _at(table, table.points()[0], families, ())}
    keep = np.array([agent in best or agent not in members for agent in table["agent"].tolist()], dtype=np.bool_)
    return TidyTable({name: column[keep] for name, column in table.columns.items()})


@dataclass(frozen=True)
class Mean:
    """Ratios of an agent, or of the best of a family, over the points that differ in one parameter only.

    `rest` are the other parameters; of the ratios to each of those compared with, the geometric mean and the largest.
    """

    rest: Point
    agent: str
    ratios: Mapping[str, tuple[float, float]]


def geometric_means(found: Sequence[Place], over: str) -> list[Mean]:
    """Return geometric means over a parameter, of agents that were run for all its values, where there are several."""
    groups: dict[tuple[tuple[str, Value], ...], list[Place]] = {}
    for place in found:
        rest = tuple((name, value) for name, value in place.point.items() if name != over)
        groups.setdefault(rest, []).append(place)
    means = []
    for rest, group in groups.items():
        n = len({place.point[over] for place in group})
        agents = dict.fromkeys(name for place in group for name in place.families or (place.agent,))
        for agent in agents if n > 1 else ():
            own = [place.ratios for place in group if agent in (place.families or (place.agent,))]
            ratios = {name: [each[name] for each in own if each.get(name, 0) > 0] for name in own[0]}
            kept = {name: (_geometric(each), max(each)) for name, each in ratios.items() if len(each) == n}
            means.append(Mean(dict(rest), agent, kept))
    return means


def _geometric(ratios: Sequence[float]) -> float:
    return math.exp(float(np.mean(np.log(ratios))))


def _at(table: TidyTable, point: Point, families: Families, baselines: Sequence[str]) -> list[Place]:
    final = table.where(point).final()
    agents = final.unique("agent")
    means = {agent: float(by_replication(final.where({"agent": agent}), "pseudo_regret").mean()) for agent in agents}
    best = _best(means, families)
    beaten = {agent for members in families.values() for agent in members} - set(best.values())
    compared = {name: means[agent] for name, agent in best.items()}
    compared |= {name: means[name] for name in baselines if name in means}
    return [_place(table, point, agent, best, compared) for agent in agents if agent not in beaten]


def _best(means: Mapping[str, float], families: Families) -> dict[str, str]:
    """Return the member of each family, of those that take part, whose mean regret is least."""
    present = {family: [agent for agent in members if agent in means] for family, members in families.items()}
    return {family: min(members, key=means.__getitem__) for family, members in present.items() if members}


def _place(table: TidyTable, point: Point, agent: str, best: Mapping[str, str], compared: Mapping[str, float]) -> Place:
    t, regret = trajectories(table, agent, point=point)
    n, mean, gaps = len(regret), float(regret[:, -1].mean()), _gaps(t, regret)
    before, late, last = gaps.mean(axis=0).tolist()
    return Place(
        point=point,
        agent=agent,
        families=tuple(family for family, member in best.items() if member == agent),
        mean=mean,
        error=float(regret[:, -1].std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan,
        ratios={name: mean / to for name, to in compared.items() if to > 0},
        gaps=(before, late, last),
        falls=float((gaps[:, 0] - gaps[:, 1] > LEAST_LOSS).mean()),
        stuck=float(stuck(t, regret).mean()),
    )


def _gaps(t: FloatArray, regret: FloatArray) -> FloatArray:
    """Return the loss a subject of each run from T/4 to T/2, from T/2 to T, and at the end, shape (runs, 3)."""
    quarter, half, late = (int(np.searchsorted(t, share * t[-1], side="right")) - 1 for share in (0.25, 0.5, LAST))
    between = [(quarter, half), (half, len(t) - 1), (min(late, len(t) - 2), len(t) - 1)]
    return np.column_stack([(regret[:, b] - regret[:, a]) / (t[b] - t[a]) for a, b in between])
