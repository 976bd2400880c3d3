"""Plans that are made elsewhere: an order, which holds all that is needed, and what comes back.

An order is bytes, so that it travels to another process or another machine: how the study began, how far its agent has
learned, and what it has to learn. Who carries it out needs no store and no log; only the same code, which is checked.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

import numpy as np

from proband.errors import PlanError
from proband.problem import Problem
from proband.studies.events import created
from proband.studies.learning.frozen import Basis, freeze, thaw
from proband.studies.learning.learner import Advance, Learner, State
from proband.studies.learning.sharing import code_of
from proband.studies.ledger.ledger import Ledger, Part


class Planner(Protocol):
    """Who makes plans for studies."""

    def plan(self, order: bytes) -> bytes:
        """Return what came of an order (:func:`carried_out`); raise PlanError if nobody could carry it out."""
        ...


class CarriedOut(NamedTuple):
    """What came of an order: an agent that learned what it had to, how many plans it made, and its seconds of CPU."""

    state: State
    plans: int
    seconds: float


@dataclass(frozen=True)
class _Order:
    creation: str
    code: str
    state: list[Any] | None
    position: int
    forced: int
    anew: bool
    parts: list[list[Any]]


def order_of(ledger: Ledger, basis: Basis, state: State | None, advance: Advance) -> bytes:
    """Return the order to take an agent to a position; without one, a new one."""
    creation = ledger.creation
    order = _Order(
        json.dumps(dict(creation)), code_of(creation["agent"]), None if state is None or advance.anew else list(state),
        advance.position, advance.forced, advance.anew, [_listed(part) for part in advance.parts],
    )  # fmt: skip
    return json.dumps([order.creation, order.code]).encode() + b"\n" + freeze(_values(order), basis)


def carried_out(order: bytes) -> bytes:
    """Learn what an order says, and return what came of it."""
    head, _, content = order.partition(b"\n")
    said, code = json.loads(head)
    creation = json.loads(said)
    if code_of(creation["agent"]) != code:
        raise PlanError(
            "the planner runs other code, other packages or another processor than who asks; plans must be the same "
            "everywhere; install the same versions there"
        )
    problem = Problem.from_dict(creation["problem"], source="the study's problem")

    def make() -> Any:
        return created.make_agent(problem, creation)

    basis = Basis(problem, make())
    given = _Order(*thaw(content, basis))
    began = time.thread_time()
    unavailable = np.array([not test.available for test in problem.tests])
    learner = Learner(make, unavailable, None if given.state is None else State(*given.state))
    parts = [Part(*part) for part in given.parts]
    span = learner.learn(Advance(given.position, given.forced, given.anew, parts))
    return freeze([list(learner.state), span.plans, time.thread_time() - began], basis)


def outcome_of(answer: bytes, basis: Basis) -> CarriedOut:
    """Return what came of an order."""
    state, plans, seconds = thaw(answer, basis)
    return CarriedOut(State(*state), plans, seconds)


def _listed(part: Part) -> list[Any]:
    return [getattr(part, field.name) for field in fields(part)]


def _values(order: _Order) -> list[Any]:
    return [getattr(order, field.name) for field in fields(order)]
