"""What operators do at a station: methods of :class:`proband.studies.Study`.

A subject is bound to a policy when it arrives: the position of the log up to which the station's agent has learned.
All later advice for it comes from that policy, whoever asks, so that it is the same at every station and after every
restart. What is advised is worked out before a turn at the log is taken; should the subject have changed in the
meantime, it is worked out again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, overload

from proband.errors import StudyError
from proband.studies.events import checks
from proband.studies.events.arrived import known_on_arrival
from proband.studies.events.checks import Decision
from proband.studies.events.kind import StaleError
from proband.studies.events.observed import Told, told_of
from proband.studies.learning import acting
from proband.studies.learning.advice import Advice, action_for, advise
from proband.studies.learning.replanning import Replanner
from proband.studies.ledger.chain import Event
from proband.studies.ledger.ledger import OPEN, Outcome
from proband.studies.ledger.subject import Situation, Subject, situation_of
from proband.studies.log.journal import Journal

MOST_ADVISED = 10_000
"""Actions that are kept until their subjects change."""

Advised = tuple[int, str]
"""What is advised: an action, and its name."""


class Station:
    """A study as one station has it: the log, the policies, and for how long it keeps subjects."""

    def __init__(self, journal: Journal, replanner: Replanner, *, lease: float) -> None:
        self._journal = journal
        self._replanner = replanner
        self._lease = lease
        self._advised: dict[str, tuple[int, tuple[int, str]]] = {}


def arrive(
    study: Station, known: Mapping[str, Outcome] | None = None, *, subject: str | None = None, key: str | None = None
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
    journal = study._journal
    journal.check_open()
    if subject is not None:
        checks.text("the name of a subject", subject)
    position = study._replanner.current().position
    content = {"known": known_on_arrival(journal.ledger, known), "policy": position, "lease": study._lease}
    event = journal.write(journal.request("arrived", subject, content, key))
    study._replanner.after_write()
    return journal.subject(str(event.subject))


def ask(study: Station, subject: str | Subject) -> Advice:
    """Return what to do next with a subject, and why; nothing is written, and no other station waited for."""
    journal, name = study._journal, name_of(subject)
    journal.check_open()
    journal.glance()
    if name not in journal.ledger.index:  # it may have arrived at a station that the store tells of
        journal.catch_up()
    with journal.lock:
        situation = situation_of(journal.ledger, checks.open_subject(journal.ledger, name, "asking"))
    action, _ = _advised(study, situation)
    return advise(journal.ledger, study._replanner.at(situation.policy), situation, action)


@overload
def tell(study: Station, subject: str | Subject, test: str, outcome: Outcome, *, key: str | None = None) -> Subject: ...
@overload
def tell(study: Station, subject: str | Subject, test: Mapping[str, Outcome], *, key: str | None = None) -> Subject: ...
def tell(
    study: Station,
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
    journal, name = study._journal, name_of(subject)
    journal.check_open()
    shown = {test: outcome} if isinstance(test, str) else dict(test)
    if not shown:
        raise StudyError(f"nothing is told of subject {name!r}; tell one outcome or more")
    told = [told_of(journal.ledger, each, what) for each, what in shown.items()]  # type: ignore[arg-type]

    def content(situation: Situation, advised: Advised) -> dict[str, Any]:
        return {"advised": _advised_steps(study, situation, advised, told)}

    _write_advised(study, "observed", name, {"told": told, "advised": [(0, "")] * len(told)}, content, key, len(told))
    return journal.subject(name)


def decide(study: Station, subject: str | Subject, decision: Decision | None = None, *, key: str | None = None) -> str:
    """Decide on a subject and finish it; return the decision.

    Parameters
    ----------
    subject : str or Subject
    decision : str or mapping, optional
        By default the advised one; if the advice is to go on testing, the best one for what is known now.
    key : str, optional
        Idempotency key.
    """
    journal, name = study._journal, name_of(subject)
    journal.check_open()
    problem = journal.ledger.problem
    chosen = None if decision is None else checks.decision_of(problem, decision)

    def content(situation: Situation, advised: Advised) -> dict[str, Any]:
        action = _best_now(study, situation, advised) if chosen is None else chosen
        return {"chosen": action, "advised": advised, "chance": _chance(study, situation, advised[0])}

    told = {"decision": None if chosen is None else problem.action_name(chosen)}
    event = _write_advised(study, "decided", name, told, content, key)
    study._advised.pop(name, None)
    study._replanner.after_write()
    return str(event.data["decision"])


def take(
    study: Station, subject: str | Subject | None = None, *, at_once: bool = False, key: str | None = None
) -> Subject:
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
    journal = study._journal
    journal.check_open()
    name = None if subject is None else name_of(subject)
    event = journal.write(journal.request("taken", name, {"at_once": at_once, "lease": study._lease}, key))
    return journal.subject(str(event.subject))


def name_of(subject: str | Subject) -> str:
    """Return the name of a subject."""
    return subject.name if isinstance(subject, Subject) else subject


def _write_advised(
    study: Station,
    kind: str,
    name: str,
    told: dict[str, Any],
    content: Callable[[Situation, Advised], dict[str, Any]],
    key: str | None,
    further: int = 0,
) -> Event:
    """Record something with what was advised, which is worked out before the turn at the log."""
    while True:
        situation = _open_situation(study, name)
        asked = {**told, "seen": 0}
        if situation is not None:  # else the turn will say why, or bring the subject that arrived at another station
            asked |= {"seen": situation.version, **content(situation, _advised(study, situation))}
        try:
            return study._journal.write(study._journal.request(kind, name, asked, key, further=further))
        except StaleError:
            continue


def _open_situation(study: Station, name: str) -> Situation | None:
    """Return an open subject in front of its policy; None if there is none."""
    ledger = study._journal.ledger
    with study._journal.lock:
        i = ledger.index.get(name)
        return None if i is None or ledger.status(i) != OPEN else situation_of(ledger, i)


def _advised(study: Station, situation: Situation) -> Advised:
    """Return what a subject's policy says; worked out once for each event of the subject."""
    version, advised = study._advised.get(situation.name, (0, (0, "")))
    if version != situation.version:
        advised = _work_out(study, situation)
        if len(study._advised) >= MOST_ADVISED:
            study._advised.clear()
        study._advised[situation.name] = situation.version, advised
    return advised


def _work_out(study: Station, situation: Situation) -> Advised:
    problem = study._journal.ledger.problem
    action = action_for(problem, study._replanner.at(situation.policy), situation)
    return action, problem.action_name(action)


def _advised_steps(study: Station, situation: Situation, advised: Advised, told: list[Told]) -> list[Advised]:
    """Return what is advised before each of several tests, in the light of those before it."""
    steps = [advised]
    for each in told[:-1]:
        state = situation.state.copy()
        state[each.j] = each.value
        situation = situation._replace(state=state, steady=situation.steady and steps[-1][0] == each.j)
        steps.append(_work_out(study, situation))
    return steps


def _best_now(study: Station, situation: Situation, advised: Advised) -> int:
    """Return the best decision now: the advised one, or the best for what is known where testing goes on."""
    problem, (action, name) = study._journal.ledger.problem, advised
    if action >= problem.d:
        return action
    if problem.n_decisions == 1:
        return problem.d
    best = acting.best_decision(study._replanner.at(situation.policy).policy, situation.state, otherwise=-1)
    if best < 0:
        raise StudyError(
            f"subject {situation.name!r} has tests left and nothing was learned yet that would tell the best decision "
            f"without them; run {name!r}, or name the decision"
        )
    return best


def _chance(study: Station, situation: Situation, action: int) -> float | None:
    """Return the chance of a subject that is decided now (:mod:`.acting`); None if unknown."""
    problem, span = study._journal.ledger.problem, study._replanner.at(situation.policy)

    def work(steady: bool) -> float:
        return acting.chance(problem, span.policy, situation.state, situation.coin, steady=steady)

    steady = situation.steady and action >= problem.d  # then the coin plays no part
    chance = span.once("chance", situation.state, lambda: work(True)) if steady else work(False)
    return None if math.isnan(chance) else chance
