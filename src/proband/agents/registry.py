"""All agents by name, for experiments, studies, the command line, and the conformance kit.

An agent's name says what it does; one that serves several kinds of problems does so in the way of each.
"""

from __future__ import annotations

from proband.agents.agent import Agent
from proband.agents.setting import Buildable, Setting
from proband.errors import AgentError, UnknownNameError
from proband.problem import Problem
from proband.registries import Registry
from proband.vocabulary import Kind

DEFAULT_AGENT = "safe-leaf-completion"
DEFAULT_AGENTS = {Kind.LISTED: DEFAULT_AGENT, Kind.SCORES: DEFAULT_AGENT, Kind.SETS: "thrifty"}
"""The agent to take when none is named, for each kind of problem."""

AGENTS: Registry[Buildable] = Registry(
    "proband.agents",
    "agent",
    AgentError,
    {
        "clairvoyant": "proband.agents.fixed:Clairvoyant",
        "test-everything": "proband.agents.fixed:TestEverything",
        "explore-then-commit": "proband.agents.explorers:EXPLORE_THEN_COMMIT",
        "doubling": "proband.agents.explorers:DOUBLING",
        "doubling-keep": "proband.agents.explorers:DOUBLING_KEEP",
        "greedy": "proband.agents.replanning:Greedy",
        "thompson": "proband.agents.replanning:Thompson",
        "leaf-completion": "proband.agents.leaf_completion:LeafCompletion",
        "safe-leaf-completion": "proband.agents.safe_leaf_completion:SafeLeafCompletion",
        "elimination": "proband.agents.entropy.elimination:Elimination",
        "certified": "proband.agents.entropy.certified:Certified",
        "thrifty": "proband.agents.entropy.thrifty:Thrifty",
    },
)
"""Every agent by name; other packages add theirs by entry points, and a place ``module:Class`` is a name, too."""


def build_agent(name: str, setting: Setting) -> Agent:
    """Return a new agent of :data:`AGENTS`.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> build_agent("greedy", Setting(Problem([Test("crack", 0.75)], (), Match()))).commitment
    64
    """
    found, kind = checked_agent(name), setting.problem.kind
    if kind not in found.kinds:
        raise AgentError(
            f"{name} is no agent for {kind.value}; these are served by {', '.join(agents_for(setting.problem))}; "
            "choose one of them"
        )
    if not (setting.max_tests is None and setting.budget is None) and not getattr(found, "limited", False):
        raise AgentError(
            f"max_tests is {setting.max_tests} and budget is {setting.budget}; {name} keeps to no limits for each "
            f"subject; leave them out, or choose {DEFAULT_AGENT}"
        )
    return found.of(setting)


def checked_agent(name: str) -> Buildable:
    """Return what builds the agent of a name, or raise."""
    if name not in AGENTS and ":" not in name:
        raise UnknownNameError(
            f"agent {name!r} does not exist; choose one of {', '.join(AGENTS)}, or name a place such as "
            "package.module:Class; where another version or package made it, install a newer proband, or the package"
        )
    found = AGENTS[name]
    if not callable(getattr(found, "of", None)) or not isinstance(getattr(found, "kinds", None), frozenset):
        raise AgentError(
            f"{name} is {found!r}; an agent's class has `kinds`, a frozenset of the kinds of problems that it serves, "
            "and a class method `of(setting)`; add them (docs/agents.md)"
        )
    return found


def agents_for(problem: Problem) -> list[str]:
    """Return the names of the agents that serve a problem."""
    return [name for name in AGENTS if problem.kind in checked_agent(name).kinds]


def default_agent(problem: Problem) -> str:
    """Return the agent to take for a problem when none is named."""
    return DEFAULT_AGENTS[problem.kind]
