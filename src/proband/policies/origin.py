"""What a tree was made with: the law, and the limits for each subject.

A tree acts without either. They are kept for those who know more than it asks for: under the law what is best for them
can be found, within the limits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from proband.distributions import Discrete
from proband.errors import PolicyError, shown
from proband.problem import Problem
from proband.rewards.listed import Unstated

MOST_KEPT = 2**20
"""Outcome vectors times tests of a law that is kept in a policy file; a larger one is left out."""


@dataclass(frozen=True)
class Origin:
    """What a tree was made with.

    Attributes
    ----------
    method : str
        The planner.
    law : Discrete, optional
        None where a file keeps none.
    max_tests, budget : optional
        Most tests to run on a subject, most to pay for them.
    """

    method: str
    law: Discrete | None = None
    max_tests: int | None = None
    budget: float | None = None

    def keeps(self, problem: Problem) -> bool:
        """Return whether a file keeps the law: it is not too large, and the file has the reward as well."""
        stated = problem.to_dict(unstated=True)["reward"]["kind"] != Unstated.name
        return self.law is not None and stated and self.law.support.size <= MOST_KEPT

    def to_dict(self, problem: Problem) -> dict[str, Any]:
        """Return what stands of it in the structure of a policy file."""
        content: dict[str, Any] = {"made": {"method": self.method, "max_tests": self.max_tests, "budget": self.budget}}
        if self.law is not None and self.keeps(problem):
            rows = [" ".join(map(str, row)) for row in self.law.support.astype(np.int64).tolist()]
            content["law"] = {"support": rows, "probabilities": self.law.probabilities.tolist()}
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], problem: Problem) -> Self | None:
        """Read it from the structure of a policy file; None if it was written before origins were."""
        if "made" not in content:
            return None
        made, law = content["made"], None
        if "law" in content:
            rows = [[float(outcome) for outcome in row.split()] for row in content["law"]["support"]]
            law = Discrete(rows, content["law"]["probabilities"])
            law.check(problem)
        return cls(str(made["method"]), law, _limit(made, "max_tests", int), _limit(made, "budget", int | float))


def _limit(made: Mapping[str, Any], key: str, kind: Any) -> Any:
    given = made[key]
    wrong = isinstance(given, bool) or not isinstance(given, kind) or not 0 <= given < math.inf
    if given is not None and wrong:
        raise PolicyError(f"{key} is {shown(given)}; it must be a finite number of 0 or more; write the policy again")
    return given
