"""An agent that follows a log: agent_at(p), its policies, and how it gets from p to q.

agent_at(p) is a new agent that was taught the parts of the ledger at p (:meth:`Ledger.parts`).
An agent's policies do not depend on the pieces in which subjects are learned as long as no piece crosses a commitment
(:func:`proband.testing.check_agent`), so pieces end where commitments do, and advancing from p to q teaches only what
is new. Two kinds of rows are no coming subjects, and their pieces matter. Imports are learned whole. Where finished
subjects show unavailable tests, a piece ends after the last one of them: new subjects never do, so this place moves
only when a truth comes in, and then the agent begins anew.

A policy changes only where a commitment ends or an event forces it, so one policy serves an interval of positions.

Beside its policy an agent may state a certificate, and what a user should know. A certificate rests on rounds that
measured what they were given, and on all of them. An agent sees the first from what it is told (:mod:`.acting`: the
chance of a subject that went its own way is not known). It never sees subjects that were voided, or left open, perhaps
because of what they showed: for the first the study withdraws the certificate, of the second, which may still be
finished, it gives notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from proband.studies.ledger.leases import Leases
from proband.studies.ledger.ledger import Ledger, Part
from proband.vocabulary import FloatArray, Policy, Records

if TYPE_CHECKING:  # agents bring the planners with them
    from proband.agents import Agent
    from proband.agents.entropy import Certificate
    from proband.agents.listed.audits import ValueEstimate

MakeAgent = Callable[[], "Agent"]
T = TypeVar("T")

MOST_NOTES = 10_000
"""Notes that are kept with a policy."""

_BIASED = (
    "Subjects of whom something was seen were {1} ({0:,}): if what it was is the reason, all that is learned from the "
    "others is biased."
)


@dataclass(frozen=True)
class PolicySpan:
    """The policy of agent_at(p), the span of positions that it serves, and what was noted about states."""

    position: int  # up to where the agent has learned
    since: int  # agent_at has this very policy at every position from here to `position`
    policy: Policy
    commitment: int  # for how many more subjects it cannot change
    plans: int  # how many policies were made on the way here from the position before
    notes: dict[tuple[str, bytes], Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def for_ever(self) -> bool:
        """Whether it never changes again."""
        from proband.agents.agent import FOREVER

        return self.commitment >= FOREVER

    def once(self, what: str, state: FloatArray, work: Callable[[], T]) -> T:
        """Work something out about the policy in a state (d,), unless it was noted: the same states come again."""
        key = what, state.tobytes()
        try:
            noted: T = self.notes[key]
        except KeyError:
            if len(self.notes) >= MOST_NOTES:
                self.notes.clear()
            noted = self.notes[key] = work()
        return noted

    def serves(self, ledger: Ledger, position: int) -> bool:
        """Return whether agent_at(position) has this policy, as far as is known without asking it."""
        if position <= self.position:
            return self.since <= position
        unforced = not ledger.forced(self.position, position)
        return unforced and ledger.decided_since(self.position, position) < self.commitment

    def due(self, ledger: Ledger) -> bool:
        """Return whether the end of the log may have another policy."""
        return not self.serves(ledger, ledger.position)


class Advance(NamedTuple):
    """What takes an agent from one position to another."""

    position: int
    forced: int
    anew: bool
    parts: list[Part]


class State(NamedTuple):
    """How far an agent has learned: its policy at a position, and since when it has had it."""

    agent: Agent
    policy: Policy
    position: int
    since: int

    @classmethod
    def begun(cls, agent: Agent) -> State:
        """Return that of an agent that has learned nothing."""
        return cls(agent, agent.policy(), 0, 0)


class Learner:
    """An agent, which is made anew where it must be, and how far it has learned."""

    def __init__(self, make: MakeAgent, unavailable: NDArray[np.bool_], state: State | None = None) -> None:
        self._make = make
        self._unavailable = unavailable
        begun = State.begun(make()) if state is None else state
        self.agent, self._policy, self.position, self._since = begun.agent, begun.policy, begun.position, begun.since

    @property
    def state(self) -> State:
        """All that it is, beside the study's problem and settings."""
        return State(self.agent, self._policy, self.position, self._since)

    @property
    def span(self) -> PolicySpan:
        """The policy at its position."""
        return PolicySpan(self.position, self._since, self._policy, self.agent.commitment, 0)

    def way_to(self, ledger: Ledger, upto: int) -> Advance:
        """Return what this agent has to learn to get to a position; quick, and all that it needs of the ledger."""
        anew = upto < self.position or ledger.outdated(self.position, upto)
        parts = ledger.parts(0 if anew else self.position, upto)
        return Advance(upto, ledger.last_forcing(upto), anew, parts)

    def learn(self, advance: Advance, go_on: Callable[[], None] = lambda: None) -> PolicySpan:
        """Learn them, and return the policy at their position; `go_on` is called after each piece, and may raise."""
        if advance.anew:
            self.agent = self._make()
            self._policy, self._since = self.agent.policy(), 0
        plans = 0
        for part in advance.parts:
            for records, number in self._pieces(part):
                self.agent.learn(records)
                if self.agent.policy() is not self._policy:
                    self._policy, self._since = self.agent.policy(), number
                    plans += 1
                go_on()
        self.position = advance.position
        self._since = max(self._since, advance.forced)
        return replace(self.span, plans=plans)

    def _pieces(self, part: Part) -> Iterator[tuple[Records, int]]:
        """Yield the pieces in which a part is learned, and the event at which each ends."""
        n = len(part.numbers)
        if part.whole:
            yield Records(part.outcomes, part.counts, part.chances), int(part.numbers[-1])
            return
        shown = np.flatnonzero((~np.isnan(part.outcomes[:, self._unavailable])).any(axis=1))
        history, start = (int(shown[-1]) + 1 if len(shown) else 0), 0
        while start < n:
            stop = min(start + self.agent.commitment, history if start < history else n)
            piece = slice(start, stop)
            yield Records(part.outcomes[piece], part.counts[piece], part.chances[piece]), int(part.numbers[stop - 1])
            start = stop


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


@runtime_checkable
class TellsWorth(Protocol):
    """An agent that estimates honestly what its policy brings."""

    def value_estimate(self) -> ValueEstimate | None:
        """Return what the policy in force brings a subject; None if that is not known."""
        ...


@dataclass(frozen=True)
class Statement:
    """What an agent states: a certificate, if it certifies something, and what a user should know.

    `worth` is what the policy in force brings a subject, from subjects that it was not made from.
    """

    certificate: Certificate | None = None
    notices: tuple[str, ...] = ()
    worth: ValueEstimate | None = None

    @classmethod
    def of(cls, agent: Agent) -> Statement:
        """Return what an agent states."""
        certificate = agent.certificate() if isinstance(agent, Certifies) else None
        notices = tuple(agent.notices) if isinstance(agent, GivesNotice) else ()
        return cls(certificate, notices, agent.value_estimate() if isinstance(agent, TellsWorth) else None)

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
        worth = None if self.worth is None else vars(self.worth)
        return {"certificate": stated, "notices": list(self.notices), "worth": worth}
