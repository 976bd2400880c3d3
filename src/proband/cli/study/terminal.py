"""``proband study run``: an operator at a terminal, one subject after another.

On a terminal the arrow keys move and Enter chooses; numbers choose at once. Where input is not a terminal, the same
menus read a number from each line: a script can drive them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer

from proband.cli import printing
from proband.cli.study.printing import print_advice, summary_facts
from proband.errors import ProbandError
from proband.studies import Advice, Study, Subject
from proband.texts import escaped, without_passwords

UP, DOWN, ENTER, QUIT = "up", "down", "enter", "quit"
KEYS = {
    "\x1b[A": UP,
    "\x1b[B": DOWN,
    "\x1bOA": UP,
    "\x1bOB": DOWN,
    "\r": ENTER,
    "\n": ENTER,
    "k": UP,
    "j": DOWN,
    "q": QUIT,
}


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
                _treat(study, _new(study) if chosen == 0 else _taken(study, waiting[chosen - 1]))


def _new(study: Study) -> Subject:
    name = _line("Name of the subject (empty: its number)")
    return study.arrive(subject=name or None)


def _taken(study: Study, subject: Subject) -> Subject:
    """Return the subject, taken over if another station holds it."""
    return study.take(subject, at_once=True)


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
    problem = study.problem
    direct: list[str] = []
    if advice.kind == "decision":
        direct = [f"decide {advice.action}"]
    else:
        test = problem.tests[problem.test_index(advice.action)]
        direct = (
            [f"{advice.action}: enter the measurement"]
            if test.measured
            else [f"{advice.action}: {o}" for o in test.names]
        )
    others = ["run another test", "decide otherwise", "undo the last outcome", "void this subject", "leave it open"]
    chosen = choose(f"{subject.name}, {subject.spent:.4g} {subject.unit} so far".replace("  ", " "), [*direct, *others])
    if chosen is None or chosen == len(direct) + 4:
        return False
    if chosen < len(direct):
        _follow(study, subject, advice, chosen)
    else:
        (_other_test, _otherwise, _undo, _void)[chosen - len(direct)](study, subject)
    return True


def _follow(study: Study, subject: Subject, advice: Advice, chosen: int) -> None:
    if advice.kind == "decision":
        study.decide(subject, advice.action)
        return
    test = study.problem.tests[study.problem.test_index(advice.action)]
    study.tell(
        subject,
        test.name,
        _line(f"{test.name} in {test.unit}".removesuffix(" in ")) if test.measured else test.names[chosen],
    )


def _other_test(study: Study, subject: Subject) -> None:
    left = [study.problem.tests[i] for i in study.problem.operable if study.problem.tests[i].name not in subject.known]
    chosen = choose("Which test was run?", [test.name for test in left])
    if chosen is None:
        return
    test = left[chosen]
    if test.measured:
        study.tell(subject, test.name, _line(f"{test.name} in {test.unit}".removesuffix(" in ")))
        return
    outcome = choose(f"What did {test.name} show?", list(test.names))
    if outcome is not None:
        study.tell(subject, test.name, test.names[outcome])


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
        elif key == QUIT:
            typer.echo(f"\x1b[{lines}B", nl=False)
            return None
        elif key == ENTER:
            typer.echo(f"\x1b[{lines}B", nl=False)
            return place
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
