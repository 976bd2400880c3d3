"""Replay: what a log says was advised, worked out again from the log alone.

Every event that answers an advice records it, with the position p of the agent that gave it. Replaying folds the log,
teaches one new agent along the positions that occur, in order, and asks its policies again about the states that the
subjects were in: the same names must come out, the same coins, and the same chances, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proband.errors import StudyError
from proband.problem import Problem
from proband.studies.events.arrived import next_coin
from proband.studies.learning import acting
from proband.studies.learning.learner import Learner, MakeAgent, PolicySpan
from proband.studies.ledger.chain import Event, linked
from proband.studies.ledger.ledger import Ledger
from proband.studies.log.fold import check, followed
from proband.studies.stores.contract import Entry
from proband.vocabulary import FloatArray, IntArray, Policy

if TYPE_CHECKING:
    from proband.agents import Agent


class Difference(NamedTuple):
    """An event that says something else than its replay."""

    number: int
    subject: str
    recorded: object
    replayed: object


@dataclass(frozen=True)
class Replayed:
    """What a replay found.

    Attributes
    ----------
    events : int
        How many events the log has.
    advices : int
        How many advices were worked out again.
    policies : int
        From how many different policies.
    differences : tuple of Difference
        Empty if the replay is equal.
    """

    events: int
    advices: int
    policies: int
    differences: tuple[Difference, ...]


class _Question(NamedTuple):
    """What was recorded of an advice, and the state that the subject was in (as bytes: there may be a million)."""

    number: int
    subject: int
    state: bytes
    steady: bool
    kind: str
    chosen: str
    advised: str
    followed: bool
    chance: float | None


def replay(
    entries: Iterable[Entry], make: MakeAgent, *, watch: Callable[[Ledger], None] = lambda ledger: None
) -> Replayed:
    """Work out again everything that a log says was advised.

    Parameters
    ----------
    entries : iterable of Entry
        The whole log.
    make : callable
        Gives a new agent of the study.
    watch : callable, optional
        Is shown the ledger after each entry.
    """
    ledger, asked, wrong = _asked(entries, watch)
    learner, span, policies = Learner(make, ledger.unavailable), None, 0
    advices = 0
    for position in sorted(asked):
        if span is None or not span.serves(ledger, position):
            span = learner.learn(learner.way_to(ledger, position))
            policies += 1
        advices += len(asked[position])
        wrong += _differences(ledger, span, asked[position])
    return Replayed(ledger.position, advices, policies, tuple(sorted(wrong)))


def agent_at(ledger: Ledger, make: MakeAgent, position: int) -> Agent:
    """Return the agent after folding the events up to a position."""
    learner = Learner(make, ledger.unavailable)
    learner.learn(learner.way_to(ledger, position))
    return learner.agent


def _asked(
    entries: Iterable[Entry], watch: Callable[[Ledger], None]
) -> tuple[Ledger, dict[int, list[_Question]], list[Difference]]:
    """Fold a log, and return by position the states in which something was advised, and coins that are wrong."""
    asked: dict[int, list[_Question]] = {}
    wrong: list[Difference] = []
    ledger: Ledger | None = None
    for entry, event in linked(entries):
        if ledger is not None:
            check(ledger, event)
            if event.kind in _CHOSEN:
                i = ledger.index[str(event.subject)]
                asked.setdefault(int(ledger.columns.policy[i]), []).append(_question(ledger, event, i))
            elif event.kind == "arrived":
                tossed = next_coin(ledger)
                if tossed != event.data["coin"]:
                    wrong.append(Difference(event.number, str(event.subject), event.data["coin"], tossed))
        ledger = followed(ledger, entry, event)
        watch(ledger)
    if ledger is None:
        raise StudyError("the log is empty; a study begins with the event that created it; it is no study's log")
    return ledger, asked, wrong


_CHOSEN = {"observed": "test", "decided": "decision"}
"""The events that answer an advice, and where they say what was chosen."""


def _question(ledger: Ledger, event: Event, i: int) -> _Question:
    data = event.data
    state = np.where(ledger.unavailable, np.nan, ledger.columns.rows[i])
    return _Question(
        event.number, i, state.tobytes(), bool(ledger.columns.steady[i]), event.kind, data[_CHOSEN[event.kind]],
        data["advised"], data["followed"], data.get("chance"),
    )  # fmt: skip


def _differences(ledger: Ledger, span: PolicySpan, questions: list[_Question]) -> list[Difference]:
    problem, columns = ledger.problem, ledger.columns
    states = np.array([np.frombuffer(question.state) for question in questions])
    coins = columns.coin[[question.subject for question in questions]]
    actions = _actions(problem, span.policy, states, coins, np.array([question.steady for question in questions]))
    found = []
    for question, state, tossed, action in zip(questions, states, coins.tolist(), actions.tolist(), strict=True):
        name = problem.action_name(action)
        kind = "observed" if action < problem.d else "decided"
        recorded: list[object] = [question.advised, question.followed]
        replayed: list[object] = [name, (kind, name) == (question.kind, question.chosen)]
        if question.kind == "decided":
            steady = question.steady and action >= problem.d
            chance = acting.chance(problem, span.policy, state, tossed, steady=steady)
            recorded.append(question.chance)
            # earlier versions recorded no chance where none could be tested completely
            unknown = math.isnan(chance) or (chance == 0 and question.chance is None)
            replayed.append(None if unknown else chance)
        if recorded != replayed:
            found.append(Difference(question.number, columns.names[question.subject], recorded, replayed))
    return found


def _actions(
    problem: Problem, policy: Policy, states: FloatArray, coins: FloatArray, steady: NDArray[np.bool_]
) -> IntArray:
    """Return what the policy says in each state: in bulk where the subject was treated as advised."""
    actions = np.zeros(len(states), dtype=np.int64)
    if steady.any():
        actions[steady] = policy.act(states[steady], coins[steady])
    for n in np.flatnonzero(~steady):
        actions[n] = acting.action(problem, policy, states[n], float(coins[n]), steady=False)
    return actions
