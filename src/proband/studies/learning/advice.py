"""Advice: what to do next with a subject, by name, and why.

The value of an action is the reward expected from here on if it is taken and the plan followed afterwards, minus the
costs still to be paid; its loss is by how much it falls behind the best. Sometimes the advice is not the action of the
largest value: the first subjects are tested completely, and later ones with a small probability, so that the study
learns; this is then said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from proband.policies import SUREST, CoinPolicy, Completing, FixedSet, has_extra
from proband.problem import Problem
from proband.quantities import percent, told
from proband.showing import Shown
from proband.studies.learning import acting
from proband.studies.learning.learner import PolicySpan
from proband.studies.ledger.ledger import Ledger
from proband.studies.ledger.subject import Situation
from proband.vocabulary import NEVER, FloatArray, Policy

if TYPE_CHECKING:  # planners bring compiled code with them
    from proband.planners.plans import Explanation

TEST, DECISION = "test", "decision"


class Alternative(NamedTuple):
    """A possible action: its name, "test" or "decision", what it is worth, and by how much it loses to the best."""

    name: str
    kind: str
    value: float
    loss: float


Alternatives = tuple[Alternative, ...]


@dataclass(frozen=True)
class Advice(Shown):
    """What to do next with a subject.

    Attributes
    ----------
    subject : str
    action : str
        The name of a test, or of a decision.
    kind : str
        "test" or "decision".
    cost : float
        What this step costs: the price of the test now, 0 for a decision.
    spent : float
        What was paid so far.
    unit : str
    reason : str
        Why, in a sentence.
    alternatives : tuple of Alternative
        Every possible action with its value, best first; empty as long as nothing was learned. For a match reward the
        only decision listed is the best one.
    exploring : bool
        Whether the study learns from this step more than the subject gains.
    policy : int
        The position of the log whose agent advises.
    """

    subject: str
    action: str
    kind: str
    cost: float
    spent: float
    unit: str
    reason: str
    alternatives: Alternatives
    exploring: bool
    policy: int

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as JSON values."""
        return {**vars(self), "alternatives": [other._asdict() for other in self.alternatives]}


@runtime_checkable
class Explains(Protocol):
    """A plan that can account for itself."""

    def explain(self, state: ArrayLike) -> Explanation:
        """Return every possible action in a state with its value."""
        ...


def action_for(problem: Problem, span: PolicySpan, situation: Situation) -> int:
    """Return what to do with a subject: a test, or a decision.

    A coin acts by falling below a probability or not, so that where both ways lead to the same action it need not be
    looked at. A coin between them may lead to extra tests, but never where the plan goes on.
    """
    policy, state = span.policy, situation.state
    if not situation.steady:
        return acting.action(problem, policy, state, situation.coin, steady=False)
    low, high = span.once(
        "both ways", state, lambda: (acting.act(policy, state, 0.0), acting.act(policy, state, SUREST))
    )
    if low == high and (low < problem.d or not has_extra(policy)):
        return low
    if isinstance(policy, Completing) and not has_extra(policy):
        share = span.once("share", state, lambda: float(policy.completion(policy.leaves(state[None]))[0]))
        return low if situation.coin < share else high
    return acting.act(policy, state, situation.coin)


def advise(ledger: Ledger, span: PolicySpan, situation: Situation, action: int) -> Advice:
    """Explain an action."""
    problem = ledger.problem
    test = action < problem.d
    exploring = test and not problem.tests[action].on_arrival and _explores(problem, span, situation, action)
    return Advice(
        subject=situation.name,
        action=problem.action_name(action),
        kind=TEST if test else DECISION,
        cost=ledger.price(situation.state, action) if test else 0.0,
        spent=situation.spent,
        unit=problem.unit,
        reason=_reason(problem, span, situation, action, exploring=exploring),
        alternatives=_account(problem, span, situation.state)[1],
        exploring=exploring,
        policy=situation.policy,
    )


def _account(problem: Problem, span: PolicySpan, state: FloatArray) -> tuple[Explanation | None, Alternatives]:
    """Return what the plan says of a state."""

    def explained() -> tuple[Explanation | None, Alternatives]:
        plan = acting.plan_of(span.policy)
        account = plan.explain(state) if isinstance(plan, Explains) else None
        others = () if account is None else account.alternatives
        return account, tuple(Alternative(*_named(problem, other.action), other.value, other.loss) for other in others)

    return span.once("account", state, explained)


def _named(problem: Problem, action: int) -> tuple[str, str]:
    """Return the name and the kind of an action."""
    return problem.action_name(action), TEST if action < problem.d else DECISION


def _explores(problem: Problem, span: PolicySpan, situation: Situation, action: int) -> bool:
    """Return whether a test is run to learn: the first subjects' tests, or a coin that fell where the plan stops."""
    policy = span.policy
    if isinstance(policy, FixedSet):
        return policy.everything and not span.for_ever
    if not isinstance(policy, CoinPolicy) or not situation.steady:
        return False
    return span.once("without coin", situation.state, lambda: acting.act(policy, situation.state, NEVER)) >= problem.d


def _reason(problem: Problem, span: PolicySpan, situation: Situation, action: int, *, exploring: bool) -> str:
    policy, (account, options) = span.policy, _account(problem, span, situation.state)
    if action < problem.d and problem.tests[action].on_arrival:
        return "It is known on arrival and costs nothing: tell it first."
    if isinstance(policy, FixedSet):
        return _fixed(problem, policy, action)
    if exploring:
        if has_extra(policy):
            return _completing(problem, policy, situation)
        return span.once("completing", situation.state, lambda: _completing(problem, policy, situation))
    if account is not None and account.probability <= 0:
        return "No subject like this one was foreseen; this is the decision for the most similar ones."
    return _comparison(problem, action, options)


def _fixed(problem: Problem, policy: FixedSet, action: int) -> str:
    if action >= problem.d:
        return "All its tests were run; this is the best decision for what they showed."
    which = "Every test is run" if policy.everything else "The same tests are run"
    return f"{which} on this subject, whatever they show."


def _completing(problem: Problem, policy: Policy, situation: Situation) -> str:
    leaf, stop = acting.walk(problem, policy, situation.state, NEVER)
    share = float(policy.completion(leaf[None])[0]) if isinstance(policy, CoinPolicy) else np.nan
    treated = "tested completely"
    if has_extra(policy) and policy.extra is not None and situation.coin >= share:
        share = float(policy.partly(leaf[None])[0])
        treated = f"given {', '.join(repr(problem.tests[i].name) for i in policy.extra.tests)}, too"
    return (
        f"The plan would decide {problem.action_name(stop)!r} here. To go on learning, {percent(share, 2)} of such "
        f"subjects are {treated}, and this is one of them."
    )


def _comparison(problem: Problem, action: int, options: Alternatives) -> str:
    chosen = _named(problem, action)
    own = next((other for other in options if other[:2] == chosen), None)
    if own is None:
        return "The policy says so."
    text = f"{told(own.value, problem.unit)} are expected from here on."
    rest = [other for other in options if other is not own]
    rival = next((other for other in rest if (other.kind == TEST) != (action < problem.d)), None)
    if own.loss > 0:
        better = f"{options[0].name!r} would be worth {told(options[0].value, problem.unit)}"
        return f"{text} Another plan is being tried; {better}."
    if rival is None:
        return text
    other = f"Deciding {rival.name!r} now" if rival.kind == DECISION else f"Running {rival.name!r} first"
    if rival.loss <= 0:
        return f"{text} {other} would bring as much."
    return f"{text} {other} would bring {told(rival.loss, problem.unit)} less."
