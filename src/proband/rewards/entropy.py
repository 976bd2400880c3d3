"""The reward of maximum-entropy sampling (Section 3 of the paper): what a set of measurements tells.

With Gaussian outcomes of covariance Σ, measuring the set S brings λ·H(S) minus its costs, where

    H(S) = |S|/2 · log(2πe) + ½ · log det Σ[S, S]

is the entropy of what is measured, in nats. It depends on the set and on Σ, never on a single subject's x: there is
nothing to decide but to stop, the best policy is a fixed set, and what it leaves out is missing completely at random.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from proband.checking import NUMBER, FieldTypes
from proband.errors import ProblemError
from proband.rewards.base import BaseReward
from proband.vocabulary import FloatArray, Kind, Test

STOP = "stop"
"""The only decision of an entropy problem."""


@dataclass(frozen=True)
class Entropy(BaseReward):
    """λ·H(S) for the set S of measured tests.

    Parameters
    ----------
    scale : float, default 1
        λ, what a nat is worth, in the unit of the costs.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> sites = [Test(name, 1.5, outcomes=None, unit="ppb") for name in ("harbour", "station", "park")]
    >>> Problem(sites, ["stop"], Entropy()).action_name(3)
    'stop'
    """

    scale: float = 1.0

    kind = Kind.SETS
    name = "entropy"
    fields: ClassVar[FieldTypes] = {"scale": NUMBER}
    default_decisions = (STOP,)

    def __post_init__(self) -> None:
        number = isinstance(self.scale, int | float) and not isinstance(self.scale, bool)
        if not number or not 0 < self.scale <= sys.float_info.max:
            raise ProblemError(
                f"the scale of an entropy reward is {self.scale!r}; what a nat is worth must be finite and above 0; "
                "give it in the unit of the costs"
            )

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise unless the tests are measured and stopping is the only decision."""
        listed = [test.name for test in tests if not test.measured]
        if listed:
            raise ProblemError(
                f"the reward is an entropy and the tests {listed} list outcomes; entropy is of measured tests; "
                "leave their outcomes out and say that they are measured"
            )
        if tuple(decisions) != (STOP,):
            raise ProblemError(
                f"the reward is an entropy and decisions are {list(decisions)}; there is nothing to decide but to "
                f'stop; write decisions = ["{STOP}"]'
            )
        not_run = [test.name for test in tests if not test.operable]
        if not_run:
            raise ProblemError(
                f"the reward is an entropy and the tests {not_run} are known on arrival or unavailable; every test of "
                "the set is chosen; drop them"
            )

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Raise: the entropy is that of a set of tests under a law, no function of outcomes."""
        raise ProblemError(
            "the reward is the entropy of the set that is measured; no single subject has one; plan with a Gaussian law"
        )
