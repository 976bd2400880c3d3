"""What an agent is: it hands out a policy per subject and learns from what was seen of finished ones.

An agent holds no state of any subject, so subjects may be open side by side; it changes in :meth:`Agent.learn` only,
so replaying the same records gives the same agent. It never sees the reward of a subject whose tests were skipped:
nobody does.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from proband.problem import Problem
from proband.vocabulary import FloatArray, Policy, Records

FOREVER = 2**62
"""The commitment of an agent that will not change any more."""


@runtime_checkable
class Agent(Protocol):
    """Learns across subjects (the vertical sequence of the paper)."""

    def policy(self) -> Policy:
        """Return the policy for the next subject: the paper's π^(t). Pure."""
        ...

    def learn(self, records: Records) -> None:
        """Learn from finished subjects: what was seen of them in the end."""
        ...

    @property
    def commitment(self) -> int:
        """For how many coming subjects, at least one, :meth:`policy` cannot change.

        In whatever order and in however many records they are learned. Records that show an unavailable test are no
        coming subjects but history, and may change the policy at once.
        """
        ...


def fully_tested(problem: Problem, rows: FloatArray) -> NDArray[np.bool_]:
    """Return in which rows (n, d) every available test is known, those known on arrival included, shape (n,)."""
    available = [i for i, test in enumerate(problem.tests) if test.available]
    return np.asarray(~np.isnan(rows[:, available]).any(axis=1))


def shows_unavailable(problem: Problem, records: Records) -> bool:
    """Return whether some record knows the outcome of an unavailable test, as only history can."""
    unavailable = [i for i, test in enumerate(problem.tests) if not test.available]
    return bool((~np.isnan(records.outcomes[records.counts > 0][:, unavailable])).any())
