"""All agents by name, for experiments, the command line, and the conformance kit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proband.agents.agent import Agent
from proband.agents.doubling import Doubling
from proband.agents.explore_then_commit import ExploreThenCommit
from proband.agents.fixed import Clairvoyant, TestEverything
from proband.agents.leaf_completion import LeafCompletion
from proband.agents.replanning import Greedy, Thompson
from proband.agents.safe_leaf_completion import SafeLeafCompletion
from proband.distributions import Discrete
from proband.errors import AgentError
from proband.problem import Problem

DEFAULT_AGENT = "safe-leaf-completion"


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
    truth : Discrete, optional
        The true law: for the clairvoyant alone.
    """

    problem: Problem
    horizon: int | None = None
    seed: int = 0
    support_size: int | None = None
    truth: Discrete | None = None


def _clairvoyant(setting: Setting) -> Agent:
    if setting.truth is None:
        raise AgentError("the clairvoyant was not told the true law; only a simulation can; choose another agent")
    return Clairvoyant(setting.problem, setting.truth)


def _explore_then_commit(setting: Setting) -> Agent:
    if setting.horizon is None:
        raise AgentError("explore-then-commit needs a horizon and got none; give one, or use doubling")
    return ExploreThenCommit(setting.problem, horizon=setting.horizon, support_size=setting.support_size)


def _doubling(setting: Setting, *, keep: bool) -> Agent:
    return Doubling(
        lambda horizon: ExploreThenCommit(setting.problem, horizon=horizon, support_size=setting.support_size),
        keep=keep,
    )


AGENTS: dict[str, Callable[[Setting], Agent]] = {
    "clairvoyant": _clairvoyant,
    "test-everything": lambda setting: TestEverything(setting.problem),
    "explore-then-commit": _explore_then_commit,
    "doubling": lambda setting: _doubling(setting, keep=False),
    "doubling-keep": lambda setting: _doubling(setting, keep=True),
    "greedy": lambda setting: Greedy(setting.problem, seed=setting.seed),
    "thompson": lambda setting: Thompson(setting.problem, seed=setting.seed),
    "leaf-completion": lambda setting: LeafCompletion(setting.problem, seed=setting.seed),
    "safe-leaf-completion": lambda setting: SafeLeafCompletion(setting.problem, seed=setting.seed),
}
