"""Explore-then-commit by its name: another class for each kind of problem, alone and in doubling batches."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from proband.agents.agent import Agent
from proband.agents.doubling import Doubling
from proband.agents.entropy.explore_then_commit import EntropyExploreThenCommit
from proband.agents.explore_then_commit import ExploreThenCommit
from proband.agents.gaussian.explore_then_commit import GaussianExploreThenCommit
from proband.agents.setting import Buildable, Setting
from proband.vocabulary import Kind

EXPLORERS: dict[Kind, Buildable] = {
    Kind.LISTED: ExploreThenCommit,
    Kind.SCORES: GaussianExploreThenCommit,
    Kind.SETS: EntropyExploreThenCommit,
}


@dataclass(frozen=True)
class Exploration:
    """Builds explore-then-commit for any kind of problem: experiments tell it T, unless it is `anytime`.

    Then it plays in doubling batches, which nobody has to tell T, and may `keep` its data from batch to batch.
    """

    kinds: frozenset[Kind] = frozenset(Kind)
    anytime: bool = False
    keep: bool = False

    def of(self, setting: Setting) -> Agent:
        """Return the agent for a setting, which tells the horizon to one that is not anytime."""
        explorer = EXPLORERS[setting.problem.kind]
        if not self.anytime:
            return explorer.of(setting)
        return Doubling(lambda horizon: explorer.of(dataclasses.replace(setting, horizon=horizon)), keep=self.keep)


EXPLORE_THEN_COMMIT = Exploration()
DOUBLING = Exploration(anytime=True)
DOUBLING_KEEP = Exploration(frozenset({Kind.LISTED}), anytime=True, keep=True)
