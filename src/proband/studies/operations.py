"""What operators do, each with its checks and its event.

A subject is bound to a policy when it arrives: the position of the log up to which the station's agent has learned.
All later advice for it comes from that policy, whoever asks, so that it is the same at every station and after every
restart. What is advised is worked out before a turn at the log is taken; should the subject have changed in the
meantime, it is worked out again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np

from proband.errors import StudyError
from proband.studies.events import checks
from proband.studies.events.requests import StaleError
from proband.studies.learning import acting
from proband.studies.learning.advice import Advice, Case, action_for, advise
from proband.studies.learning.learner import Published
from proband.studies.learning.replanning import Tutor
from proband.studies.ledger.chain import Event
from proband.studies.ledger.names import Decision, Outcome
from proband.studies.ledger.subject import OPEN, Subject, status_of, subject_of
from proband.studies.log.journal import Journal

MOST_ACTIONS = 10_000
"""Actions that are kept until their subjects change."""


class Desk:
    """The operators' side of a study; see :class:`proband.studies.Study`."""

    def __init__(self, journal: Journal, tutor: Tutor, *, lease: float) -> None:
        self._journal = journal
        self._tutor = tutor
        self._lease = lease
        self._actions: dict[str, tuple[int, int]] = {}
        self._closed = False

    def arrive(
        self, known: Mapping[str, Outcome] | None = None, *, subject: str | None = None, key: str | None = None
    ) -> Subject:
        """Let a subject arrive, and bind it to the station's present policy.

        Parameters
        ----------
        known : mapping, optional
            What is known of it already: names of tests to outcomes.
        subject : str, optional
            Its name; by default its number.
        key : str, optional
            Idempotency key: the same request again gives the same subject.
        """
        self._check_open()
        ledger = self._journal.ledger
        if subject is not None:
            checks.text("the name of a subject", subject)
        position = self._tutor.current().position
        content = {"known": checks.known(ledger, known), "policy": position, "lease": self._lease}
        event = self._journal.write(self._journal.request("arrived", subject, content, key))
        self._tutor.after_write()
        return self._view(event)

    def ask(self, subject: str | Subject) -> Advice:
        """Return what to do next with a subject, and why; nothing is written, and no other station waited for."""
        self._check_open()
        name = name_of(subject)
        self._journal.glance()
        if name not in self._journal.ledger.index:  # it may have arrived at a station that the store tells of
            self._journal.catch_up()
        with self._journal.lock:
            checks.open_subject(self._journal.ledger, name, "asking")
            case = self._case(name)
        published, action = self._advised(case)
        return advise(self._journal.ledger.names, published, case, action)

    @overload
    def tell(self, subject: str | Subject, test: str, outcome: Outcome, *, key: str | None = None) -> Subject: ...
    @overload
    def tell(self, subject: str | Subject, test: Mapping[str, Outcome], *, key: str | None = None) -> Subject: ...
    def tell(
        self,
        subject: str | Subject,
        test: str | Mapping[str, Outcome],
        outcome: Outcome | None = None,
        *,
        key: str | None = None,
    ) -> Subject:
        """Tell what a test showed, the advised one or another; or what several tests showed, all or none of it.

        Parameters
        ----------
        subject : str or Subject
        test : str or mapping
            The test; or tests with their outcomes, in the order in which they were run.
        outcome : str or float
            The name of the outcome, or what was measured.
        key : str, optional
            Idempotency key.
        """
        self._check_open()
        names, name = self._journal.ledger.names, name_of(subject)
        shown = {test: outcome} if isinstance(test, str) else dict(test)
        if not shown:
            raise StudyError(f"nothing is told of subject {name!r}; tell one outcome or more")
        numbers = [names.number(each, what) for each, what in shown.items()]  # type: ignore[arg-type]
        told = [
            {"test": each, "outcome": names.outcome(*number), "action": 0}
            for each, number in zip(shown, numbers, strict=True)
        ]

        def content(case: Case, action: int) -> dict[str, Any]:
            steps = self._advised_steps(case, action, numbers)
            return {"told": [{**each, "action": step} for each, step in zip(told, steps, strict=True)]}

        return self._view(self._advised_write("observed", name, {"told": told}, content, key))

    def decide(self, subject: str | Subject, decision: Decision | None = None, *, key: str | None = None) -> str:
        """Decide on a subject and finish it; return the decision.

        Parameters
        ----------
        subject : str or Subject
        decision : str or mapping, optional
            By default the advised one; if the advice is to go on testing, the best one for what is known now.
        key : str, optional
            Idempotency key.
        """
        self._check_open()
        names, name = self._journal.ledger.names, name_of(subject)
        told = {"decision": None if decision is None else names.action(names.decision(decision))}

        def content(case: Case, action: int) -> dict[str, Any]:
            chosen = self._best_now(case, action) if decision is None else names.decision(decision)
            return {**told, "chosen": chosen, "chance": self._chance(case, action)}

        event = self._advised_write("decided", name, told, content, key)
        self._actions.pop(name, None)
        self._tutor.after_write()
        return str(event.data["decision"])

    def take(self, subject: str | Subject | None = None, *, at_once: bool = False, key: str | None = None) -> Subject:
        """Take over a subject from another station.

        Parameters
        ----------
        subject : str or Subject, optional
            By default the open subject that arrived first among those whose lease has run out.
        at_once : bool, default False
            Even if the other station's lease has not run out.
        key : str, optional
            Idempotency key.
        """
        self._check_open()
        name = None if subject is None else name_of(subject)
        content = {"at_once": at_once, "lease": self._lease}
        return self._view(self._journal.write(self._journal.request("taken", name, content, key)))

    def _advised_write(
        self,
        kind: str,
        name: str,
        told: dict[str, Any],
        content: Callable[[Case, int], dict[str, Any]],
        key: str | None,
    ) -> Event:
        """Record something with what was advised, which is worked out before the turn at the log."""
        while True:
            case = self._try_case(name)
            if case is None:  # the turn will say why, or bring the subject that another station let arrive
                asked: dict[str, Any] = {**told, "seen": 0, "action": 0}
            else:
                action = self._advised(case)[1]
                asked = {**content(case, action), "seen": case.version, "action": action}
            try:
                return self._journal.write(self._journal.request(kind, name, asked, key))
            except StaleError:
                continue

    def _advised(self, case: Case) -> tuple[Published, int]:
        """Return a subject's policy and what it says; worked out once for each event of the subject."""
        published = self._tutor.at(case.policy)
        version, action = self._actions.get(case.name, (0, 0))
        if version != case.version:
            action = action_for(self._journal.ledger.problem, published, case)
            if len(self._actions) >= MOST_ACTIONS:
                self._actions.clear()
            self._actions[case.name] = (case.version, action)
        return published, action

    def _advised_steps(self, case: Case, action: int, numbers: list[tuple[int, float]]) -> list[int]:
        """Return what is advised before each of several tests, in the light of those before it."""
        problem, published = self._journal.ledger.problem, self._tutor.at(case.policy)
        steps = [action]
        for j, value in numbers[:-1]:
            state = case.state.copy()
            state[j] = value
            case = replace(case, state=state, steady=case.steady and steps[-1] == j)
            steps.append(action_for(problem, published, case))
        return steps

    def _best_now(self, case: Case, action: int) -> int:
        """Return the best decision now: the advised one, or the best for what is known where testing goes on."""
        problem = self._journal.ledger.problem
        if action >= problem.d:
            return action
        if problem.n_decisions == 1:
            return problem.d
        best = acting.best_decision(self._tutor.at(case.policy).policy, case.state, otherwise=-1)
        if best < 0:
            raise StudyError(
                f"subject {case.name!r} has tests left and nothing was learned yet that would tell the best decision "
                f"without them; run {problem.action_name(action)!r}, or name the decision"
            )
        return best

    def _chance(self, case: Case, action: int) -> float | None:
        """Return the chance of a subject that is decided now; None if unknown."""
        problem, policy = self._journal.ledger.problem, self._tutor.at(case.policy).policy
        steady = case.steady and action >= problem.d
        chance = acting.chance(problem, policy, case.state, case.coin, steady=steady)
        return None if math.isnan(chance) else chance

    def _case(self, name: str) -> Case:
        """Return a subject in front of its policy; the caller holds the lock."""
        ledger = self._journal.ledger
        columns, i = ledger.columns, ledger.index[name]
        state = np.where(ledger.unavailable, np.nan, columns.rows[i])
        return Case(
            name, state, float(columns.coin[i]), bool(columns.steady[i]), int(columns.policy[i]),
            float(columns.spent[i]), int(columns.touched[i]),
        )  # fmt: skip

    def _try_case(self, name: str) -> Case | None:
        """Return an open subject; None if there is none: the turn at the log will say why."""
        with self._journal.lock:
            ledger = self._journal.ledger
            i = ledger.index.get(name)
            return None if i is None or status_of(ledger, i) != OPEN else self._case(name)

    def _view(self, event: Event) -> Subject:
        with self._journal.lock:
            return subject_of(self._journal.ledger, self._journal.ledger.index[str(event.subject)])

    def _check_open(self) -> None:
        if self._closed:
            raise StudyError(f"study {self._journal.study!r} was closed; a closed study does nothing; open it again")


def name_of(subject: str | Subject) -> str:
    """Return the name of a subject."""
    return subject.name if isinstance(subject, Subject) else subject
