"""Advice: what to do next with a subject, by name, and why.

The value of an action is the reward expected from here on if it is taken and the plan followed afterwards, minus the
costs still to be paid; its loss is by how much it falls behind the best. Sometimes the advice is not the action of the
largest value: the first subjects are tested completely, and later ones with a small probability, so that the study
learns; this is then said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from proband.agents import FOREVER
from proband.policies import SUREST, CoinPolicy, FixedSet
from proband.problem import Problem
from proband.studies.learning import acting
from proband.studies.learning.learner import Published
from proband.studies.ledger.names import Names
from proband.vocabulary import NEVER, FloatArray, Policy

TEST, DECISION = "test", "decision"


class Alternative(NamedTuple):
    """A possible action: its name, "test" or "decision", what it is worth, and by how much it loses to the best."""

    name: str
    kind: str
    value: float
    loss: float


Alternatives = tuple[Alternative, ...]


@dataclass(frozen=True)
class Advice:
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
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**content, "alternatives": [other._asdict() for other in self.alternatives]}


class Scored(Protocol):
    """An action with its value and its loss."""

    @property
    def action(self) -> int: ...  # noqa: D102
    @property
    def value(self) -> float: ...  # noqa: D102
    @property
    def loss(self) -> float: ...  # noqa: D102


class Account(Protocol):
    """What a plan says of a state."""

    @property
    def probability(self) -> float: ...  # noqa: D102
    @property
    def alternatives(self) -> tuple[Scored, ...]: ...  # noqa: D102


@runtime_checkable
class Explains(Protocol):
    """A plan that can account for itself."""

    def explain(self, state: ArrayLike) -> Account:
        """Return every possible action in a state with its value."""
        ...


@dataclass(frozen=True)
class Case:
    """A subject in front of its policy.

    Attributes
    ----------
    name : str
    state : FloatArray of shape (d,)
    coin : float
    steady : bool
        Whether everything known was told as advised.
    policy : int
        Its position.
    spent : float
    version : int
        The last event of the subject.
    """

    name: str
    state: FloatArray
    coin: float
    steady: bool
    policy: int
    spent: float
    version: int


def action_for(problem: Problem, published: Published, case: Case) -> int:
    """Return what to do with a subject: a test, or a decision.

    A coin acts by falling below a probability or not, so that where both ways lead to the same action it need not be
    looked at.
    """
    policy, state = published.policy, case.state
    if not case.steady:
        return acting.action(problem, policy, state, case.coin, steady=False)
    low, high = published.once(
        "both ways", state, lambda: (acting.act(policy, state, 0.0), acting.act(policy, state, SUREST))
    )
    return low if low == high else acting.act(policy, state, case.coin)


def advise(names: Names, published: Published, case: Case, action: int) -> Advice:
    """Explain an action."""
    problem = names.problem
    account, options = _account(problem, published, case.state)
    test = action < problem.d
    exploring = test and not problem.tests[action].on_arrival and _explores(problem, published, case, action)
    return Advice(
        subject=case.name,
        action=problem.action_name(action),
        kind=TEST if test else DECISION,
        cost=names.price(case.state, action) if test else 0.0,
        spent=case.spent,
        unit=problem.unit,
        reason=_reason(problem, published.policy, case, action, account, options, exploring=exploring),
        alternatives=options,
        exploring=exploring,
        policy=case.policy,
    )


def _account(problem: Problem, published: Published, state: FloatArray) -> tuple[Account | None, Alternatives]:
    """Return what the plan says of a state."""

    def explained() -> tuple[Account | None, Alternatives]:
        plan = acting.base(published.policy)
        account = plan.explain(state) if isinstance(plan, Explains) else None
        return account, _alternatives(problem, account)

    return published.once("account", state, explained)


def _alternatives(problem: Problem, account: Account | None) -> Alternatives:
    if account is None:
        return ()
    return tuple(
        Alternative(
            problem.action_name(other.action), TEST if other.action < problem.d else DECISION, other.value, other.loss
        )
        for other in account.alternatives
    )


def _explores(problem: Problem, published: Published, case: Case, action: int) -> bool:
    """Return whether a test is run to learn: the first subjects' tests, or a coin that fell where the plan stops."""
    policy = published.policy
    if isinstance(policy, FixedSet):
        return _runs_everything(policy) and published.commitment < FOREVER
    if not isinstance(policy, CoinPolicy) or not case.steady:
        return False
    return published.once("without coin", case.state, lambda: acting.act(policy, case.state, NEVER)) >= problem.d


def _runs_everything(policy: FixedSet) -> bool:
    return set(policy.order) == set(policy.problem.operable.tolist())


def _reason(
    problem: Problem,
    policy: Policy,
    case: Case,
    action: int,
    account: Account | None,
    options: Alternatives,
    *,
    exploring: bool,
) -> str:
    if action < problem.d and problem.tests[action].on_arrival:
        return "It is known on arrival and costs nothing: tell it first."
    if isinstance(policy, FixedSet):
        return _fixed(problem, policy, action)
    if exploring:
        return _completing(problem, policy, case)
    if account is not None and account.probability <= 0:
        return "No subject like this one was foreseen; this is the decision for the most similar ones."
    return _comparison(problem, action, options)


def _fixed(problem: Problem, policy: FixedSet, action: int) -> str:
    if action >= problem.d:
        return "All its tests were run; this is the best decision for what they showed."
    which = "Every test is run" if _runs_everything(policy) else "The same tests are run"
    return f"{which} on this subject, whatever they show."


def _completing(problem: Problem, policy: Policy, case: Case) -> str:
    leaf, stop = acting.walk(problem, policy, case.state, NEVER)
    share = float(policy.completion(leaf[None])[0]) if isinstance(policy, CoinPolicy) else np.nan
    return (
        f"The plan would decide {problem.action_name(stop)!r} here. To go on learning, {100 * share:.2g} % of such "
        "subjects are tested completely, and this is one of them."
    )


def _comparison(problem: Problem, action: int, options: Alternatives) -> str:
    chosen = (problem.action_name(action), TEST if action < problem.d else DECISION)
    own = next((other for other in options if (other.name, other.kind) == chosen), None)
    unit = f" {problem.unit}" if problem.unit else ""
    if own is None:
        return "The policy says so."
    text = f"{own.value:.4g}{unit} are expected from here on."
    rest = [other for other in options if other is not own]
    rival = next((other for other in rest if (other.kind == TEST) != (action < problem.d)), None)
    if own.loss > 0:
        return f"{text} Another plan is being tried; {options[0].name!r} would be worth {options[0].value:.4g}{unit}."
    if rival is None:
        return text
    other = f"deciding {rival.name!r} now" if rival.kind == DECISION else f"running {rival.name!r} first"
    return f"{text} The best alternative of the other kind, {other}, would lose {rival.loss:.4g}{unit}."
