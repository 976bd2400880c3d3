"""What an agent is: it hands out a policy per subject and learns from what was seen of finished ones.

An agent holds no state of any subject, so subjects may be open side by side; it changes in :meth:`Agent.learn` only,
so replaying the same records gives the same agent. It never sees the reward of a subject whose tests were skipped:
nobody does.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from proband.vocabulary import Policy, Records

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
        """For how many coming subjects, at least one, :meth:`policy` cannot change."""
        ...
