"""``proband study run``: an operator at a terminal, one subject after another.

On a terminal the arrow keys move and Enter chooses; numbers choose at once. Where input is not a terminal, the same
menus read a number from each line: a script can drive them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import typer

from proband.cli import printing
from proband.cli.study.printing import print_advice, summary_facts
from proband.errors import ProbandError
from proband.studies import Advice, Study, Subject
from proband.texts import escaped, without_passwords
from proband.vocabulary import Test

UP, DOWN, ENTER, QUIT = "up", "down", "enter", "quit"
KEYS = (
    dict.fromkeys(("\x1b[A", "\x1bOA", "k"), UP)
    | dict.fromkeys(("\x1b[B", "\x1bOB", "j"), DOWN)
    | {"\r": ENTER, "\n": ENTER, "q": QUIT}
)

Act = Callable[[Study, Subject], object]


def operate(study: Study) -> None:
    """Work through subjects until the operator leaves."""
    while True:
        waiting = study.subjects(open=True)
        options = ["new subject", *(f"go on with {s.name} ({len(s.ran)} tests, at {s.station})" for s in waiting[:20])]
        chosen = choose(f"{study.name}: {len(waiting)} open", [*options, "the study at a glance", "leave"])
        if chosen is None or chosen == len(options) + 1:
            printing.say("Everything is recorded. Good bye.")
            return
        with _mistakes_are_shown():
            if chosen == len(options):
                printing.print_facts(summary_facts(study.summary()))
            else:
                # a subject that another station holds is taken over
                _treat(study, study.take(waiting[chosen - 1], at_once=True) if chosen else _new(study))


def _new(study: Study) -> Subject:
    name = _line("Name of the subject (empty: its number)")
    return study.arrive(subject=name or None)


def _treat(study: Study, subject: Subject) -> None:
    """Treat one subject until it is decided, voided or left open."""
    while True:
        subject = study.subject(subject.name)
        if subject.status != "open":
            printing.say(f"{subject.name}: {subject.decision or subject.status}, {subject.spent:.4g} {subject.unit}\n")
            return
        advice = study.ask(subject)
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
    title = f"{subject.name}, {subject.spent:.4g} {subject.unit} so far".replace("  ", " ")
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
    told = study.tell(subject, test.name, outcome or _line(f"{test.name} in {test.unit}".removesuffix(" in ")))
    if not outcome and test.cuts:
        printing.say(f"recorded as {test.name}: {told.known[test.name]}")


def _other_test(study: Study, subject: Subject) -> None:
    left = [study.problem.tests[i] for i in study.problem.operable if study.problem.tests[i].name not in subject.known]
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
        printing.say("No test was run yet.")
        return
    study.correct(subject, subject.ran[-1], None, reason="undone at the terminal")


def _void(study: Study, subject: Subject) -> None:
    study.void(subject, reason=_line("Why?"))


@contextmanager
def _mistakes_are_shown() -> Iterator[None]:
    """Print a mistake instead of ending the session: nothing was recorded, and the operator tries again."""
    try:
        yield
    except ProbandError as error:
        printing.say(f"That cannot be recorded: {without_passwords(str(error))}\n", error=True)


def choose(title: str, options: Sequence[str]) -> int | None:
    """Let the operator choose one option; None to leave."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _choose_by_keys(title, options)
    printing.say(title)
    for n, option in enumerate(options):
        printing.say(f"  {n + 1}  {option}")
    while True:
        line = sys.stdin.readline()
        if not line or line.strip().lower() in ("q", "quit"):
            return None
        if line.strip().isdigit() and 1 <= int(line) <= len(options):
            return int(line) - 1
        printing.say(f"{line.strip()!r} is no number from 1 to {len(options)}; try again, or q to leave")


def _choose_by_keys(title: str, options: Sequence[str]) -> int | None:
    printing.say(title + "   (arrows and Enter, or a number; q to leave)")
    place, typed, lines = 0, "", len(options)
    while True:
        for n, option in enumerate(options):
            mark = "\x1b[7m" if n == place else ""
            typer.echo(f"\x1b[2K {mark} {n + 1:>2}  {escaped(option)} \x1b[0m")
        key = _key()
        typer.echo(f"\x1b[{lines}A", nl=False)
        if key.isdigit():
            typed = (typed + key)[-2:]
            wanted = next((int(t) for t in (typed, key) if 1 <= int(t) <= lines), 0)
            if wanted and wanted * 10 > lines:
                typer.echo(f"\x1b[{lines}B", nl=False)
                return wanted - 1
            place = max(wanted - 1, 0)
        elif key in (QUIT, ENTER):
            typer.echo(f"\x1b[{lines}B", nl=False)
            return place if key == ENTER else None
        elif key in (UP, DOWN):
            typed, place = "", (place + (1 if key == DOWN else -1)) % lines


def _key() -> str:
    """Read one key from the terminal."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        read = os.read(descriptor, 8)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    text = read.decode(errors="replace")
    return KEYS.get(text, text)


def _line(question: str) -> str:
    printing.say(f"{question}: ", line=False)
    return sys.stdin.readline().strip()
