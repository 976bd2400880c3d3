"""What the agent of a study states beside its policy: a certificate, where it gives one, and what a user should know.

A certificate rests on rounds that measured what they were given, and on all of them. An agent sees the first from what
it is told (:mod:`.acting`: the chance of a subject that went its own way is not known). It never sees
subjects that were voided, or left open, perhaps because of what they showed: for the first the study withdraws the
certificate, of the second, which may still be finished, it gives notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from proband.studies.ledger.leases import Leases
from proband.studies.ledger.ledger import Ledger

if TYPE_CHECKING:
    from proband.agents import Agent
    from proband.agents.entropy import Certificate

_BIASED = (
    "Subjects of whom something was seen were {1} ({0:,}): if what it was is the reason, all that is learned from the "
    "others is biased."
)


@runtime_checkable
class Certifies(Protocol):
    """An agent that certifies something."""

    def certificate(self) -> Certificate:
        """Return what is certain now."""
        ...


@runtime_checkable
class GivesNotice(Protocol):
    """An agent that has something to say to its user."""

    notices: Sequence[str]


@dataclass(frozen=True)
class Statement:
    """What an agent states.

    Attributes
    ----------
    certificate : Certificate or None
        None if the agent certifies nothing.
    notices : tuple of str
        What a user should know.
    """

    certificate: Certificate | None = None
    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, agent: Agent) -> Statement:
        """Return what an agent states."""
        certificate = agent.certificate() if isinstance(agent, Certifies) else None
        return cls(certificate, tuple(agent.notices) if isinstance(agent, GivesNotice) else ())

    def in_study(self, ledger: Ledger, leases: Leases) -> Statement:
        """Return the statement as it holds in a study now, where subjects were voided or left open."""
        if self.certificate is None or self.certificate.withdrawn:
            return self
        columns, n = ledger.columns, len(ledger.columns)
        seen = np.asarray((columns.when[:n] > 0).any(axis=1))
        voided = int((seen & (columns.voided[:n] > ledger.last_restart(ledger.position))).sum())
        if voided:
            reason = _BIASED.format(voided, "voided") + " Restart the study to begin anew."
            return replace(self, certificate=self.certificate.withdraw(reason), notices=(reason, *self.notices))
        left = sum(bool(seen[i] and leases.over(i)) for i in ledger.open)
        return replace(self, notices=(_BIASED.format(left, "left open"), *self.notices)) if left else self

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as JSON values."""
        stated = None if self.certificate is None else self.certificate.to_dict()
        return {"certificate": stated, "notices": list(self.notices)}
