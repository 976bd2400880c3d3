"""All agents by name, for experiments, studies, the command line, and the conformance kit.

An agent's name says what it does; which class does it depends on the problem: listed outcomes, measured ones with a
reward of scores, or sets of measurements with an entropy.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from proband.agents.agent import Agent
from proband.agents.doubling import Doubling
from proband.agents.entropy import Certified, Elimination, EntropyExploreThenCommit, Thrifty
from proband.agents.explore_then_commit import ExploreThenCommit
from proband.agents.fixed import Clairvoyant, TestEverything
from proband.agents.gaussian import (
    GaussianExploreThenCommit,
    GaussianGreedy,
    GaussianLeafCompletion,
    GaussianThompson,
    SafeGaussianLeafCompletion,
)
from proband.agents.leaf_completion import LeafCompletion
from proband.agents.replanning import Greedy, Thompson
from proband.agents.safe_leaf_completion import SafeLeafCompletion
from proband.distributions import Law
from proband.errors import AgentError
from proband.problem import Problem
from proband.vocabulary import Kind

DEFAULT_AGENT = "safe-leaf-completion"
DEFAULT_AGENTS = {Kind.LISTED: DEFAULT_AGENT, Kind.SCORES: DEFAULT_AGENT, Kind.SETS: "thrifty"}
"""The agent to take when none is named, for each kind of problem."""


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
    """

    problem: Problem
    horizon: int | None = None
    seed: int = 0
    support_size: int | None = None
    truth: Law | None = None
    condition_number: float | None = None


Builder = Callable[[Setting], Agent]


@dataclass(frozen=True)
class Kinds:
    """Builds an agent, by the kind of its problem.

    Attributes
    ----------
    builders : dict of Kind to callable
        For each kind of problem that the agent serves.
    """

    name: str
    builders: dict[Kind, Builder]

    def __call__(self, setting: Setting) -> Agent:
        """Build the agent for a setting."""
        kind = setting.problem.kind
        if kind not in self.builders:
            raise AgentError(
                f"{self.name} is no agent for {kind.value}; these are served by "
                f"{', '.join(agents_for(setting.problem))}; choose one of them"
            )
        return self.builders[kind](setting)


def agents_for(problem: Problem) -> list[str]:
    """Return the names of the agents that serve a problem."""
    kind = problem.kind
    return [name for name, agent in AGENTS.items() if kind in agent.builders]


def default_agent(problem: Problem) -> str:
    """Return the agent to take for a problem when none is named."""
    return DEFAULT_AGENTS[problem.kind]


def _clairvoyant(setting: Setting) -> Agent:
    if setting.truth is None:
        raise AgentError("the clairvoyant was not told the true law; only a simulation can; choose another agent")
    return Clairvoyant(setting.problem, setting.truth)


def _horizon(setting: Setting) -> int:
    if setting.horizon is None:
        raise AgentError("explore-then-commit needs a horizon and got none; give one, or use doubling")
    return setting.horizon


def _explore_listed(setting: Setting) -> Agent:
    return ExploreThenCommit(setting.problem, horizon=_horizon(setting), support_size=setting.support_size)


def _explore_scores(setting: Setting) -> Agent:
    return GaussianExploreThenCommit(
        setting.problem, horizon=_horizon(setting), condition_number=setting.condition_number
    )


def _explore_sets(setting: Setting) -> Agent:
    return EntropyExploreThenCommit(setting.problem, horizon=_horizon(setting))


def _doubling(explore: Builder, *, keep: bool) -> Builder:
    def build(setting: Setting) -> Agent:
        return Doubling(lambda horizon: explore(dataclasses.replace(setting, horizon=horizon)), keep=keep)

    return build


def _elimination(setting: Setting) -> Agent:
    if setting.condition_number is None:
        raise AgentError(
            "elimination needs the condition number of the covariance and got none; give it (--condition-number on the "
            "command line), or use thrifty"
        )
    return Elimination(setting.problem, sigma=setting.condition_number, horizon=setting.horizon)


def _everywhere(build: Builder) -> dict[Kind, Builder]:
    return dict.fromkeys(Kind, build)


AGENTS: dict[str, Kinds] = {
    kinds.name: kinds
    for kinds in (
        Kinds("clairvoyant", _everywhere(_clairvoyant)),
        Kinds("test-everything", _everywhere(lambda setting: TestEverything(setting.problem))),
        Kinds(
            "explore-then-commit",
            {Kind.LISTED: _explore_listed, Kind.SCORES: _explore_scores, Kind.SETS: _explore_sets},
        ),
        Kinds(
            "doubling",
            {
                Kind.LISTED: _doubling(_explore_listed, keep=False),
                Kind.SCORES: _doubling(_explore_scores, keep=False),
                Kind.SETS: _doubling(_explore_sets, keep=False),
            },
        ),
        Kinds("doubling-keep", {Kind.LISTED: _doubling(_explore_listed, keep=True)}),
        Kinds(
            "greedy",
            {
                Kind.LISTED: lambda setting: Greedy(setting.problem, seed=setting.seed),
                Kind.SCORES: lambda setting: GaussianGreedy(setting.problem, seed=setting.seed),
            },
        ),
        Kinds(
            "thompson",
            {
                Kind.LISTED: lambda setting: Thompson(setting.problem, seed=setting.seed),
                Kind.SCORES: lambda setting: GaussianThompson(setting.problem, seed=setting.seed),
            },
        ),
        Kinds(
            "leaf-completion",
            {
                Kind.LISTED: lambda setting: LeafCompletion(
                    setting.problem, seed=setting.seed, horizon=setting.horizon
                ),
                Kind.SCORES: lambda setting: GaussianLeafCompletion(
                    setting.problem, seed=setting.seed, horizon=setting.horizon
                ),
            },
        ),
        Kinds(
            "safe-leaf-completion",
            {
                Kind.LISTED: lambda setting: SafeLeafCompletion(
                    setting.problem, seed=setting.seed, horizon=setting.horizon
                ),
                Kind.SCORES: lambda setting: SafeGaussianLeafCompletion(
                    setting.problem, seed=setting.seed, horizon=setting.horizon
                ),
            },
        ),
        Kinds("elimination", {Kind.SETS: _elimination}),
        Kinds("certified", {Kind.SETS: lambda setting: Certified(setting.problem)}),
        Kinds("thrifty", {Kind.SETS: lambda setting: Thrifty(setting.problem, horizon=setting.horizon)}),
    )
}
"""Every agent by name."""
