"""``proband study run``: an operator at a terminal, one subject after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from proband.cli import printing
from proband.cli.study.menus import ask, choose, tell
from proband.cli.study.printing import print_advice, summary_facts
from proband.errors import HeldError, ProbandError
from proband.quantities import amount
from proband.studies import Advice, Study, Subject
from proband.texts import without_passwords
from proband.vocabulary import Test

MOST_LISTED = 20
"""Subjects in a list, at most: others are called by name."""

Act = Callable[[Study, Subject], object]


def operate(study: Study) -> None:
    """Work through subjects until the operator leaves."""
    with printing.kept_if_stopped("everything that was told is recorded; an open subject stays open"):
        _operate(study)


def _operate(study: Study) -> None:
    while True:
        waiting = study.subjects(open=True)
        listed = waiting[:MOST_LISTED]
        options: list[tuple[str, Callable[[], object]]] = [("new subject", lambda: _treat(study, _new(study)))]
        options += [(_offer(s), partial(_go_on, study, s)) for s in listed]
        if len(waiting) > len(listed):
            options.append(("go on with another one, by its name", lambda: _go_on(study, study.subject(_named()))))
        options.append(("correct a finished subject", lambda: _correct_finished(study)))
        options.append(("the study at a glance", lambda: printing.print_facts(summary_facts(study.summary()))))
        chosen = choose(f"{study.name}: {len(waiting)} open", [*(name for name, _ in options), "leave"])
        if chosen is None or chosen == len(options):
            tell("Everything is recorded. Good bye.")
            return
        with _mistakes_are_shown():
            options[chosen][1]()


def _offer(subject: Subject) -> str:
    ran = len(subject.ran)
    return f"go on with {subject.name} ({ran} test{'s' * (ran != 1)}, at {subject.station})"


def _named() -> str:
    return ask("Name of the subject")


def _go_on(study: Study, subject: Subject) -> None:
    """Go on with an open subject; one that another station holds is taken over if the operator says so."""
    try:
        taken = study.take(subject)
    except HeldError as held:
        tell(str(held))
        if choose(f"Take {subject.name} over from {subject.station}?", ["leave it there", "take it over"]) != 1:
            return
        taken = study.take(subject, at_once=True)
    _treat(study, taken)


def _correct_finished(study: Study) -> None:
    """Correct an outcome of a subject that is finished: the study learns from it anew."""
    finished = [s for s in study.subjects(open=False) if s.status == "finished"]
    if not finished:
        tell("No subject is finished yet: there is nothing to correct.")
        return
    last = finished[: -MOST_LISTED - 1 : -1]
    names = [f"{s.name}: {s.decision}" for s in last]
    chosen = choose("Which subject?", [*names, *["another one, by its name"] * (len(finished) > len(last))])
    if chosen is None:
        return
    subject = study.subject(_named() if chosen == len(last) else last[chosen].name)
    run = [test for test in subject.ran if test in subject.known]
    if not run:
        tell(f"No test was run on {subject.name}: there is nothing to correct.")
        return
    which = choose("Which test?", [f"{test}: {subject.known[test]}" for test in run])
    if which is None:
        return
    right = _answer(study.problem.tests[study.problem.test_index(run[which])], "was not run: withdraw it")
    if right is not None:
        study.correct(subject, run[which], right or None, reason=ask("Why?"))
        tell(f"Corrected: {subject.name}. What was there before stays in the log.")


def _new(study: Study) -> Subject:
    name = ask("Name of the subject (empty: its number)")
    return study.arrive(subject=name or None)


def _treat(study: Study, subject: Subject) -> None:
    """Treat one subject until it is decided, voided or left open; advice is shown again when something changed."""
    known = None
    while True:
        subject = study.subject(subject.name)
        if subject.status != "open":
            tell(f"{subject.name}: {subject.decision or subject.status}, {amount(subject.spent, subject.unit)}\n")
            return
        advice = study.ask(subject)
        if subject.known != known:  # otherwise it would push what was just said off a small terminal
            known = subject.known
            printing.say()
            print_advice(advice)
        with _mistakes_are_shown():
            if not _step(study, subject, advice):
                return


def _step(study: Study, subject: Subject, advice: Advice) -> bool:
    """Let the operator act once; False to leave the subject open."""
    others = (
        ("run another test", _other_test),
        ("decide otherwise", _otherwise),
        ("undo the last outcome", _undo),
        ("void this subject", _void),
    )
    options = [*_advised(study, advice), *others]
    title = f"{subject.name}, {amount(subject.spent, subject.unit)} so far"
    chosen = choose(title, [*(option for option, _ in options), "leave it open"])
    if chosen is None or chosen == len(options):
        return False
    options[chosen][1](study, subject)
    return True


def _advised(study: Study, advice: Advice) -> list[tuple[str, Act]]:
    """Return what follows the advice, as the operator reads it and as it is done."""
    if advice.kind == "decision":
        return [(f"decide {advice.action}", lambda study, subject: study.decide(subject, advice.action))]
    test = study.problem.tests[study.problem.test_index(advice.action)]
    return [(f"{test.name}: {shown}", partial(_tell, test, outcome)) for shown, outcome in _answers(test)]


def _answers(test: Test) -> list[tuple[str, str]]:
    """Return what a test may show, as the operator reads it and as it is told; nothing where a number is asked for."""
    ask = [("enter the measurement" if test.measured else "enter the number", "")]
    listed = [] if test.measured else [(outcome, outcome) for outcome in test.names]
    return [*(ask if test.measured or test.cuts else []), *listed]


def _tell(test: Test, outcome: str, study: Study, subject: Subject) -> None:
    """Tell an outcome; a number is asked for, and the outcome that it is cut to is shown."""
    told = study.tell(subject, test.name, outcome or _measurement(test))
    if not outcome and test.cuts:
        tell(f"recorded as {test.name}: {told.known[test.name]}")


def _measurement(test: Test) -> str:
    return ask(f"{test.name} in {test.unit}".removesuffix(" in "))


def _answer(test: Test, nothing: str) -> str | None:
    """Return what a test showed, the empty text for `nothing`, or None if the operator leaves."""
    answers = _answers(test)
    chosen = choose(f"What did {test.name} show?", [*(shown for shown, _ in answers), nothing])
    if chosen is None or chosen == len(answers):
        return None if chosen is None else ""
    return answers[chosen][1] or _measurement(test)


def _other_test(study: Study, subject: Subject) -> None:
    left = [study.problem.tests[i] for i in study.problem.operable if study.problem.tests[i].name not in subject.known]
    if not left:
        tell("Every test was run already.")
        return
    chosen = choose("Which test was run?", [test.name for test in left])
    if chosen is None:
        return
    test = left[chosen]
    answers = _answers(test)
    shown = 0 if test.measured else choose(f"What did {test.name} show?", [answer for answer, _ in answers])
    if shown is not None:
        _tell(test, answers[shown][1], study, subject)


def _otherwise(study: Study, subject: Subject) -> None:
    decisions = study.problem.decisions
    if not decisions:
        study.decide(subject)
        return
    chosen = choose("Which decision?", list(decisions))
    if chosen is not None:
        study.decide(subject, decisions[chosen])


def _undo(study: Study, subject: Subject) -> None:
    if not subject.ran:
        tell("There is nothing to undo: no test was run on this subject.")
        return
    study.correct(subject, subject.ran[-1], None, reason="undone at the terminal")


def _void(study: Study, subject: Subject) -> None:
    study.void(subject, reason=ask("Why?"))


@contextmanager
def _mistakes_are_shown() -> Iterator[None]:
    """Print a mistake instead of ending the session: nothing was recorded, and the operator tries again."""
    try:
        yield
    except ProbandError as error:
        tell(f"That cannot be recorded: {without_passwords(str(error))}\n", error=True)
