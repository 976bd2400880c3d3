"""What an experiment is: data.

An experiment names a seeded family of instances, the agents that meet on it, and what is varied. Its *parameters* have
one value each by default, the horizon T among them; a *sweep* tries other values of one parameter while all others
keep theirs. A choice of values is a *point*; points × agents × replications are the cells that
:mod:`proband.experiments.runner` runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from proband.agents import Agent, Setting, build_agent, checked_agent
from proband.distributions import Solvable
from proband.errors import ExperimentError, UnknownNameError
from proband.instances import Instance
from proband.simulation import FullInformation
from proband.vocabulary import FloatArray, IntArray

HORIZON = "horizon"
Value = int | float | str
Point = Mapping[str, Value]
"""A value for each parameter, the horizon included."""

Builder = Callable[[Setting, Point], Agent]
InstanceMaker = Callable[[Point, int, np.random.Generator], Instance[Solvable]]
"""From a point, a replication's number and its generator to an instance."""


Measure = Callable[[Point, str, IntArray], FloatArray]
Switch = Callable[[Point], int]
"""From a point to the number of subjects that explore-then-commit explores."""


def build_registered(setting: Setting, point: Point, *, name: str) -> Agent:
    """Build an agent of :data:`proband.agents.AGENTS`.

    Only those that say ``anytime = False`` are told the horizon; all others compete without it, also those that would
    use it.
    """
    told = not getattr(checked_agent(name), "anytime", True)
    return build_agent(name, setting if told else dataclasses.replace(setting, horizon=None))


def build_told(setting: Setting, point: Point, *, name: str) -> Agent:
    """Build an agent of :data:`proband.agents.AGENTS` that is told the horizon."""
    return build_agent(name, setting)


def build_informed(setting: Setting, point: Point, *, name: str) -> Agent:
    """Build an agent of :data:`proband.agents.AGENTS` to whom every subject is shown as a whole."""
    return FullInformation(build_registered(setting, point, name=name))


@dataclass(frozen=True)
class Entrant:
    """An agent that takes part under a name."""

    name: str
    build: Builder

    @classmethod
    def registered(cls, name: str) -> Entrant:
        """Return the entrant for an agent of :data:`proband.agents.AGENTS`.

        Examples
        --------
        >>> from proband.instances import easy
        >>> Entrant.registered("greedy").build(Setting(easy().problem), {}).commitment
        64
        """
        return cls(name, partial(build_registered, name=name))  # unlike a lambda it travels between processes

    @classmethod
    def told(cls, name: str) -> Entrant:
        """Return the entrant for an agent that is told the horizon, beside those that are not.

        Examples
        --------
        >>> from proband.instances import easy
        >>> Entrant.told("leaf-completion").build(Setting(easy().problem, 500), {}).horizon
        500
        """
        return cls(f"{name}-told", partial(build_told, name=name))

    @classmethod
    def informed(cls, name: str = "full-information", *, agent: str = "greedy") -> Entrant:
        """Return an entrant that learns every subject as a whole, a yardstick (:class:`FullInformation`).

        Examples
        --------
        >>> from proband.instances import easy
        >>> Entrant.informed().build(Setting(easy().problem), {}).commitment
        64
        """
        return cls(name, partial(build_informed, name=agent))


@dataclass(frozen=True)
class Parameter:
    """What can be varied: its value by default, what it is, and how it is read from a text."""

    default: Value
    about: str
    read: Callable[[str], Value]


def whole(text: str) -> int:
    """Read a whole number; 2^20 and 2**20 are understood.

    Examples
    --------
    >>> whole("2^20"), whole("1000")
    (1048576, 1000)
    """
    base, caret, exponent = text.replace("**", "^").partition("^")
    return int(base) ** int(exponent) if caret else int(base)


def registered(names: Iterable[str]) -> tuple[Entrant, ...]:
    """Return entrants for agents of :data:`proband.agents.AGENTS`."""
    return tuple(Entrant.registered(name) for name in names)


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Parameters
    ----------
    name, title, shows : str
        What it is called, in one word and in one line, and what it shows.
    instance : callable
        Makes the instance of a point and a replication; a module's function, so that it travels between processes.
    agents : tuple of Entrant
        Those that run by default.
    horizon : int
        T.
    replications : int
    parameters : mapping of str to Parameter
        What can be varied beside the horizon.
    sweeps : mapping of str to tuple
        Values that are tried of one parameter while all others keep theirs.
    baselines : tuple of str
        Agents that the others are compared with, the first one in the figures too; none where there is one agent only.
    shared : frozenset of str
        Parameters across which a replication keeps its instance and its stream of subjects; with other values of
        all other parameters everything is drawn anew.
    per_doubling : int
        Checkpoints for each doubling of t.
    measure : callable, optional
        From a point, an agent's name and checkpoints (n,) to the numbers (n,) that are reported, where these are no
        regret of a simulation.
    quantity : str
        What is reported.
    plain : bool
        Whether its figure is that of the paper: the mean and its band, and nothing else.
    switch : callable, optional
        From a point to the number of subjects after which explore-then-commit commits; figures are recorded there,
        too, and the report splits regret into what came before and after (:mod:`proband.experiments.phases`).
    families : mapping of str to tuple of str
        Agents that differ in one setting only; the best member of each, in hindsight, is a further baseline
        (:mod:`proband.experiments.hindsight`), and figures show it alone. Means are over the first sweep.

    Examples
    --------
    >>> from proband.experiments import EXPERIMENTS
    >>> small = EXPERIMENTS["horizon"].changed(horizon=2**12, replications=2, agents=["explore-then-commit"])
    >>> [point["horizon"] for point in small.points()]
    [4096, 1024]
    >>> len(small.cells(seed=1000))
    4
    """

    name: str
    title: str
    shows: str
    instance: InstanceMaker
    agents: tuple[Entrant, ...]
    horizon: int
    replications: int
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    sweeps: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    baselines: tuple[str, ...] = ("explore-then-commit", "doubling")
    shared: frozenset[str] = frozenset()
    per_doubling: int = 4
    measure: Measure | None = None
    quantity: str = "regret"
    plain: bool = False
    switch: Switch | None = None
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what the experiment is made of, for programs."""
        return {
            **{key: getattr(self, key) for key in ("name", "title", "shows")},
            "agents": [entrant.name for entrant in self.agents],
            **{key: getattr(self, key) for key in ("horizon", "replications")},
            "parameters": {key: {"default": p.default, "about": p.about} for key, p in self.parameters.items()},
            "sweeps": {key: list(values) for key, values in self.sweeps.items()},
            "baselines": list(self.baselines),
        }

    def points(self) -> list[Point]:
        """Return the main point, with every parameter's default, and after it those of the sweeps."""
        main: dict[str, Value] = {name: parameter.default for name, parameter in self.parameters.items()}
        main[HORIZON] = self.horizon
        points = [main]
        for name, values in self.sweeps.items():
            points += [{**main, name: value} for value in values if value != main[name]]
        return [dict(point) for point in points]

    def cells(self, *, seed: int) -> list[Cell]:
        """Return what is to be run, a replication after the other."""
        return [
            Cell(self.name, point, entrant.name, replication, seed, self.per_doubling, tuple(sorted(self.shared)))
            for replication in range(self.replications)
            for point in self.points()
            for entrant in self.agents
        ]

    def entrant(self, name: str) -> Entrant:
        """Return the agent that takes part under a name."""
        return next(entrant for entrant in self.agents if entrant.name == name)

    def changed(
        self,
        *,
        horizon: int | None = None,
        replications: int | None = None,
        agents: Iterable[str] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Experiment:
        """Return the experiment with other values.

        Parameters
        ----------
        horizon : int, optional
            T; a sweep over horizons stops there.
        replications : int, optional
        agents : iterable of str, optional
            Names of the experiment's agents, or of any of :data:`proband.agents.AGENTS`.
        settings : mapping of str to str, optional
            Parameters with their value, or with several to sweep over, separated by commas: ``{"m": "1,2,4"}``.
        """
        changed = self if horizon is None else self._with_horizon(horizon)
        if replications is not None:
            changed = dataclasses.replace(changed, replications=_positive("replications", replications))
        if agents is not None:
            changed = dataclasses.replace(changed, agents=tuple(changed._find(name) for name in dict.fromkeys(agents)))
        for name, text in (settings or {}).items():
            changed = changed._with_setting(name, text)
        return changed

    def _with_horizon(self, horizon: int) -> Experiment:
        _positive(HORIZON, horizon)
        if HORIZON not in self.sweeps:
            return dataclasses.replace(self, horizon=horizon)
        kept = tuple(value for value in self.sweeps[HORIZON] if int(value) <= horizon)
        return dataclasses.replace(self, horizon=horizon, sweeps={**self.sweeps, HORIZON: kept})

    def _with_setting(self, name: str, text: str) -> Experiment:
        known = {**self.parameters, HORIZON: Parameter(self.horizon, "T", whole)}
        if name not in known:
            raise UnknownNameError(
                f"the experiment {self.name} has no parameter {name!r}; it has {', '.join(known)}; choose one of these"
            )
        try:
            values = tuple(known[name].read(part.strip()) for part in text.split(","))
        except ValueError as error:
            raise ExperimentError(
                f"{name} is {text!r} and cannot be read ({error}); it is: {known[name].about}; several values are "
                "separated by commas"
            ) from error
        default = known[name].default if known[name].default in values else values[0]
        sweeps = {**self.sweeps, name: values}
        if name == HORIZON:
            horizons = [_positive(HORIZON, int(value)) for value in values]
            return dataclasses.replace(self, horizon=max(horizons), sweeps=sweeps)
        parameters = {**self.parameters, name: dataclasses.replace(known[name], default=default)}
        return dataclasses.replace(self, parameters=parameters, sweeps=sweeps)

    def _find(self, name: str) -> Entrant:
        mine = {entrant.name: entrant for entrant in self.agents}
        if name not in mine:
            checked_agent(name)
        return mine[name] if name in mine else Entrant.registered(name)


@dataclass(frozen=True)
class Cell:
    """One agent in one replication at one point: what is run at a time.

    Attributes
    ----------
    experiment : str
    point : mapping of str to value
    agent : str
    replication : int
    seed : int
        Of the whole run.
    per_doubling : int
        Checkpoints for each doubling of t.
    shared : tuple of str
        Parameters that do not matter for what is drawn.
    """

    experiment: str
    point: Point
    agent: str
    replication: int
    seed: int
    per_doubling: int
    shared: tuple[str, ...] = ()

    def settings(self) -> dict[str, Any]:
        """Return all that the cell's result depends on, ready for JSON."""
        return dataclasses.asdict(self) | {"point": dict(self.point), "shared": list(self.shared)}


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise ExperimentError(f"{name} is {value}; it must be 1 or more; correct it")
    return value
