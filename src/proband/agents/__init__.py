"""Agents: they learn, from the subjects themselves, which policy to play."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.agents.agent import FOREVER, Agent
    from proband.agents.doubling import Doubling
    from proband.agents.explore_then_commit import ExploreThenCommit, exploration_length
    from proband.agents.fixed import Clairvoyant, TestEverything
    from proband.agents.leaf_completion import LeafCompletion
    from proband.agents.registry import AGENTS, DEFAULT_AGENT, agents_for, build_agent, checked_agent, default_agent
    from proband.agents.replanning import Greedy, Thompson
    from proband.agents.safe_leaf_completion import SafeLeafCompletion
    from proband.agents.setting import Setting
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = [
    "AGENTS",
    "DEFAULT_AGENT",
    "FOREVER",
    "Agent",
    "Clairvoyant",
    "Doubling",
    "ExploreThenCommit",
    "Greedy",
    "LeafCompletion",
    "SafeLeafCompletion",
    "Setting",
    "TestEverything",
    "Thompson",
    "agents_for",
    "build_agent",
    "checked_agent",
    "default_agent",
    "exploration_length",
]
