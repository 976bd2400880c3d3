"""A study at a glance: how many subjects, what they cost, what was saved, how far the agent is, what to look at.

Everything is read off the ledger's columns; only what is still to be explored needs the present policy.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from proband.distributions import Discrete
from proband.policies import CoinPolicy, FixedSet
from proband.quantities import amount
from proband.showing import Shown
from proband.studies.learning import acting
from proband.studies.learning.learner import PolicySpan, Statement
from proband.studies.ledger.leases import Leases
from proband.studies.ledger.ledger import Clock, Ledger
from proband.vocabulary import FloatArray, IntArray

if TYPE_CHECKING:  # drift brings compiled code with it
    from proband.studies.drift import DriftReport

STRETCHES = 40
"""In how many stretches costs over time are told, at most."""

LARGEST_SUPPORT = 2**18
"""Beyond so many outcome vectors the share of completed subjects is not worked out."""


@runtime_checkable
class UnderLaw(Protocol):
    """A plan that was made for a law."""

    distribution: object


class Stretch(NamedTuple):
    """Means over successive finished subjects: numbers `first` to `last` in the order of their decisions."""

    first: int
    last: int
    cost: float
    tests: float


@dataclass(frozen=True)
class Exploration:
    """What the agent will still explore.

    Attributes
    ----------
    position : int
        Up to which event it has learned.
    behind : int
        How many subjects were decided since.
    commitment : int or None
        For how many more subjects its policy stays as it is; None for ever.
    completing : float or None
        Share of the coming subjects on whom every test is run to learn from them; None if it is not known.
    """

    position: int
    behind: int
    commitment: int | None
    completing: float | None


@dataclass(frozen=True, repr=False)
class Summary(Shown):
    """A study at a glance.

    Attributes
    ----------
    study, agent, unit, created : str
    events : int
    hash : str
        Of the last entry: with `events`, all that is needed to verify later that nothing was dropped.
    open, finished, voided, imported : int
        Numbers of subjects.
    waiting : int
        Open subjects whose lease has run out.
    mean_cost, mean_tests : float or None
        Of the finished subjects.
    stretches : tuple of Stretch
        The same over time.
    tests_saved : int
        Tests that were not run on finished subjects, of those that could have been.
    cost_saved : float
        What they would have cost.
    decisions : dict
        How often each was taken.
    tests_against_advice, decisions_against_advice : int
    corrections, revelations : int
    restarted : str or None
        When learning last started afresh, as the number of the event.
    clock : tuple of Clock
        Where a station's clock was behind the log.
    exploration : Exploration or None
        None unless asked for.
    drift : DriftReport or None
        Whether the outcomes still follow one law; None unless asked for.
    statement : Statement or None
        What the agent certifies, if it does, and what a user should know; None unless exploration was asked for.
    trouble : str or None
        Why the agent cannot learn, if it cannot.
    """

    study: str
    agent: str
    unit: str
    created: str
    events: int
    hash: str
    open: int
    finished: int
    voided: int
    imported: int
    waiting: int
    mean_cost: float | None
    mean_tests: float | None
    stretches: tuple[Stretch, ...]
    tests_saved: int
    cost_saved: float
    decisions: dict[str, int]
    tests_against_advice: int
    decisions_against_advice: int
    corrections: int
    revelations: int
    restarted: int | None
    clock: tuple[Clock, ...]
    exploration: Exploration | None
    drift: DriftReport | None
    statement: Statement | None
    trouble: str | None

    def __repr__(self) -> str:
        cost = "" if self.mean_cost is None else f", {amount(self.mean_cost, self.unit)} a subject"
        return f"Summary({self.study!r}: {self.finished:,} finished, {self.open:,} open, agent {self.agent}{cost})"

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        explored = self.exploration
        return {
            **vars(self),
            "stretches": [stretch._asdict() for stretch in self.stretches],
            "clock": [warning._asdict() for warning in self.clock],
            "exploration": None if explored is None else dict(vars(explored)),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "statement": None if self.statement is None else self.statement.to_dict(),
        }


def summarise(
    ledger: Ledger,
    leases: Leases,
    *,
    span: PolicySpan | None,
    statement: Statement | None = None,
    drift: DriftReport | None = None,
    trouble: Exception | None = None,
) -> Summary:
    """Return a study at a glance; what is to be explored needs the present policy."""
    columns, n = ledger.columns, len(ledger.columns)
    voided = columns.voided[:n] > 0
    done = np.array([i for i in ledger.order if not voided[i]], dtype=np.int64)
    tests = (~np.isnan(columns.paid[done])).sum(axis=1)
    costs = columns.spent[done]
    saved = _everything(ledger, done)
    decided = Counter(str(columns.decisions[i]) for i in done)
    return Summary(
        study=ledger.creation["name"],
        agent=ledger.creation["agent"],
        unit=ledger.problem.unit,
        created=ledger.creation["created"],
        events=ledger.position,
        hash=ledger.hash,
        open=len(ledger.open),
        finished=len(done),
        voided=int(voided.sum()),
        imported=sum(int(imported.counts.sum()) for imported in ledger.imports),
        waiting=sum(map(leases.over, ledger.open)),
        mean_cost=float(costs.mean()) if len(done) else None,
        mean_tests=float(tests.mean()) if len(done) else None,
        stretches=_stretches(costs, tests),
        tests_saved=int(np.isnan(columns.rows[done][:, ledger.problem.operable]).sum()),
        cost_saved=float(saved.sum() - costs.sum()),
        decisions=dict(sorted(decided.items())),
        tests_against_advice=int(columns.deviations[:n][~voided].sum()),
        decisions_against_advice=int((~columns.obeyed[done]).sum()),
        corrections=ledger.kinds.get("corrected", 0),
        revelations=ledger.kinds.get("revealed", 0),
        restarted=ledger.restarts[-1] if ledger.restarts else None,
        clock=tuple(ledger.clock),
        exploration=None if span is None else _exploration(ledger, span),
        drift=drift,
        statement=None if statement is None else statement.in_study(ledger, leases),
        trouble=None if trouble is None else str(trouble),
    )


def _stretches(costs: FloatArray, tests: NDArray[Any]) -> tuple[Stretch, ...]:
    edges = np.unique(np.linspace(0, len(costs), STRETCHES + 1).round().astype(int)).tolist()
    return tuple(
        Stretch(first + 1, last, float(costs[first:last].mean()), float(tests[first:last].mean()))
        for first, last in itertools.pairwise(edges)
    )


def _everything(ledger: Ledger, subjects: IntArray) -> FloatArray:
    """Return what it would have cost to run every test on subjects, beside what was known on arrival."""
    columns = ledger.columns
    at_first = columns.when[subjects] == columns.arrived[subjects, None]
    ways, of_subject = np.unique(at_first, axis=0, return_inverse=True)
    if not len(subjects):
        return np.zeros(0)
    return ledger.problem.cost_of_the_rest(np.where(ways, 0.0, np.nan))[of_subject.reshape(-1)]


def _exploration(ledger: Ledger, span: PolicySpan) -> Exploration:
    behind = ledger.decided_since(span.position, ledger.position)
    left = None if span.for_ever else max(0, span.commitment - behind)
    return Exploration(span.position, behind, left, _completing(ledger, span))


def _completing(ledger: Ledger, span: PolicySpan) -> float | None:
    policy = span.policy
    if isinstance(policy, FixedSet):
        return 1.0 if policy.everything and not span.for_ever else 0.0
    if not isinstance(policy, CoinPolicy):
        return 0.0
    plan = acting.plan_of(policy)
    law = plan.distribution if isinstance(plan, UnderLaw) else None
    if not isinstance(law, Discrete) or len(law) > LARGEST_SUPPORT:
        return None
    stopped = policy.stopped(law.support).states
    left = np.isnan(stopped[:, ledger.problem.operable]).any(axis=1)
    return float(law.probabilities @ np.where(left, policy.completion(stopped), 0.0))
