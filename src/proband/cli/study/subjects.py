"""``proband study arrive``, ``ask``, ``tell`` and so on: what happens to one subject."""

from __future__ import annotations

from typing import Annotated

import typer

from proband.cli import inputs, printing
from proband.cli.study.options import (
    DEFAULT_STORE,
    ActorOption,
    KeyOption,
    KnownOption,
    ReasonOption,
    StationOption,
    StoreOption,
    StudyArgument,
    SubjectArgument,
    opened,
)
from proband.cli.study.printing import print_advice, print_answer, spent_on


def arrive_command(
    study: StudyArgument,
    subject: Annotated[str | None, typer.Option("--subject", metavar="NAME", help="By default its number.")] = None,
    known: KnownOption = None,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Let a subject arrive, and say what to do first.

    [bold]Examples[/bold]
    $ proband study arrive bolts --subject "bolt 17"
    $ proband study arrive gout --known sex=male --json
    """
    with opened(study, store, station, actor) as live:
        came = live.arrive(inputs.parse_known(known or []), subject=subject, key=key)
        advice = live.ask(came) if came.status == "open" else None
    print_answer(came, advice, as_json=as_json)


def ask_command(
    study: StudyArgument,
    subject: SubjectArgument,
    store: StoreOption = DEFAULT_STORE,
    as_json: inputs.JsonOption = False,
) -> None:
    """Say what to do next with a subject, and why. Nothing is written.

    [bold]Examples[/bold]
    $ proband study ask bolts "bolt 17"
    """
    with opened(study, store) as live:
        advice = live.ask(subject)
    if as_json:
        printing.print_json(advice.to_dict())
    else:
        print_advice(advice)


def tell_command(
    study: StudyArgument,
    subject: SubjectArgument,
    outcomes: Annotated[list[str], typer.Argument(metavar="TEST=OUTCOME...", help="What tests showed, in order.")],
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Tell what a test showed, the advised one or another, or several of them at once; say what comes next.

    [bold]Examples[/bold]
    $ proband study tell bolts "bolt 17" "bolt weight=nominal"
    """
    with opened(study, store, station, actor) as live:
        now = live.tell(subject, inputs.parse_known(outcomes), key=key)
        advice = live.ask(subject)
    print_answer(now, advice, as_json=as_json)


def decide_command(
    study: StudyArgument,
    subject: SubjectArgument,
    decision: Annotated[
        str | None, typer.Argument(metavar="[DECISION]", help="By default the advised one, or the best for now.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Decide on a subject; the study learns from it.

    [bold]Examples[/bold]
    $ proband study decide bolts "bolt 17"
    $ proband study decide bolts "bolt 17" fail
    """
    with opened(study, store, station, actor) as live:
        taken = live.decide(subject, decision, key=key)
        done = live.subject(subject)
    if as_json:
        printing.print_json({"decision": taken, **done.to_dict()})
    else:
        printing.say(f"{done.name}: {taken}, for {spent_on(done)} of tests")


def take_command(
    study: StudyArgument,
    subject: Annotated[
        str | None, typer.Argument(metavar="[SUBJECT]", help="By default the one waiting longest.")
    ] = None,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Even if the other station's lease has not run out.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Take over a subject that another station left.

    [bold]Examples[/bold]
    $ proband study take bolts
    $ proband study take bolts "bolt 17" --at-once
    """
    with opened(study, store, station, actor) as live:
        taken = live.take(subject, at_once=at_once, key=key)
        advice = live.ask(taken)
    print_answer(taken, advice, as_json=as_json)


def correct_command(
    study: StudyArgument,
    subject: SubjectArgument,
    outcome: Annotated[str, typer.Argument(metavar="TEST=OUTCOME", help="Right outcome; TEST= withdraws it.")],
    reason: ReasonOption,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Correct an outcome that was told wrongly: a new event, the old one stays in the log.

    [bold]Examples[/bold]
    $ proband study correct bolts "bolt 17" "bolt weight=light" --reason "misread"
    """
    test, _, right = (part.strip() for part in outcome.partition("="))
    with opened(study, store, station, actor) as live:
        now = live.correct(subject, test, right or None, reason=reason, key=key)
    print_answer(now, None, as_json=as_json)


def void_command(
    study: StudyArgument,
    subject: SubjectArgument,
    reason: ReasonOption,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Take a subject out of the study; it stays in the log.

    [bold]Examples[/bold]
    $ proband study void bolts "bolt 17" --reason "dropped"
    """
    with opened(study, store, station, actor) as live:
        now = live.void(subject, reason=reason, key=key)
    print_answer(now, None, as_json=as_json)


def reveal_command(
    study: StudyArgument,
    subject: SubjectArgument,
    outcomes: Annotated[list[str], typer.Argument(metavar="TEST=OUTCOME...", help="What came to light.")],
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Tell what came to light later about a finished subject.

    [bold]Examples[/bold]
    $ proband study reveal gout "case 3" "joint fluid=crystals"
    """
    with opened(study, store, station, actor) as live:
        now = live.reveal(subject, inputs.parse_known(outcomes), key=key)
    print_answer(now, None, as_json=as_json)
