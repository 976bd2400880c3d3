"""``proband study arrive``, ``ask``, ``tell`` and so on: what happens to one subject."""

from __future__ import annotations

from typing import Annotated

import typer

from proband.cli.inputs import JsonOption, parse_known
from proband.cli.printing import print_facts, print_json, say, waiting
from proband.cli.study.options import KeyOption, KnownOption, ReasonOption, SubjectArgument, on_study
from proband.cli.study.printing import print_advice, print_answer, spent_on
from proband.studies import Study


@on_study()
def arrive_command(
    live: Study,
    subject: Annotated[str | None, typer.Option("--subject", metavar="NAME", help="By default its number.")] = None,
    known: KnownOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a subject arrive, and say what to do first.

    [bold]Examples[/bold]
    $ proband study arrive bolts --subject "bolt 17"
    $ proband study arrive gout --known sex=male --json
    """
    came = live.arrive(parse_known(known or []), subject=subject, key=key)
    with waiting("finding out what to do first"):
        advice = live.ask(came) if came.status == "open" else None
    print_answer(came, advice, as_json=as_json)


@on_study(telling=False)
def ask_command(live: Study, subject: SubjectArgument, as_json: JsonOption = False) -> None:
    """Say what to do next with a subject, and why. Nothing is written.

    [bold]Examples[/bold]
    $ proband study ask bolts "bolt 17"
    """
    with waiting("finding out what to do next"):
        advice = live.ask(subject)
    if as_json:
        print_json(advice.to_dict())
    else:
        print_advice(advice)


@on_study()
def tell_command(
    live: Study,
    subject: SubjectArgument,
    outcomes: Annotated[list[str], typer.Argument(metavar="TEST=OUTCOME...", help="What tests showed, in order.")],
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what a test showed, the advised one or another, or several of them at once; say what comes next.

    [bold]Examples[/bold]
    $ proband study tell bolts "bolt 17" "bolt weight=nominal"
    $ proband study tell bolts "bolt 17" hardness=63.2
    """
    told = parse_known(outcomes)
    now = live.tell(subject, told, key=key)
    cut = [f"{test}: {now.known[test]}" for test, outcome in told.items() if now.known[test] != outcome]
    if cut and not as_json and not live.problem.measured:
        print_facts([("recorded", ", ".join(cut))])
    with waiting("finding out what to do next"):
        advice = live.ask(subject)
    print_answer(now, advice, as_json=as_json)


@on_study()
def decide_command(
    live: Study,
    subject: SubjectArgument,
    decision: Annotated[
        str | None, typer.Argument(metavar="[DECISION]", help="By default the advised one, or the best for now.")
    ] = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decide on a subject; the study learns from it.

    [bold]Examples[/bold]
    $ proband study decide bolts "bolt 17"
    $ proband study decide bolts "bolt 17" fail
    """
    with waiting("learning from this subject"):
        taken = live.decide(subject, decision, key=key)
    done = live.subject(subject)
    if as_json:
        print_json({"decision": taken, **done.to_dict()})
    else:
        say(f"{done.name}: {taken}, for {spent_on(done)} of tests")


@on_study()
def take_command(
    live: Study,
    subject: Annotated[
        str | None, typer.Argument(metavar="[SUBJECT]", help="By default the one waiting longest.")
    ] = None,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="Even if the other station's lease has not run out.")
    ] = False,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take over a subject that another station left.

    [bold]Examples[/bold]
    $ proband study take bolts
    $ proband study take bolts "bolt 17" --at-once
    """
    taken = live.take(subject, at_once=at_once, key=key)
    print_answer(taken, live.ask(taken), as_json=as_json)


@on_study()
def correct_command(
    live: Study,
    subject: SubjectArgument,
    outcome: Annotated[str, typer.Argument(metavar="TEST=OUTCOME", help="Right outcome; TEST= withdraws it.")],
    reason: ReasonOption,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Correct an outcome that was told wrongly: a new event, the old one stays in the log.

    [bold]Examples[/bold]
    $ proband study correct bolts "bolt 17" "bolt weight=light" --reason "misread"
    """
    test, _, right = (part.strip() for part in outcome.partition("="))
    print_answer(live.correct(subject, test, right or None, reason=reason, key=key), None, as_json=as_json)


@on_study()
def void_command(
    live: Study, subject: SubjectArgument, reason: ReasonOption, key: KeyOption = None, as_json: JsonOption = False
) -> None:
    """Take a subject out of the study; it stays in the log.

    [bold]Examples[/bold]
    $ proband study void bolts "bolt 17" --reason "dropped"
    """
    print_answer(live.void(subject, reason=reason, key=key), None, as_json=as_json)


@on_study()
def reveal_command(
    live: Study,
    subject: SubjectArgument,
    outcomes: Annotated[list[str], typer.Argument(metavar="TEST=OUTCOME...", help="What came to light.")],
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what came to light later about a finished subject.

    [bold]Examples[/bold]
    $ proband study reveal gout "case 3" "joint fluid=crystals"
    """
    print_answer(live.reveal(subject, parse_known(outcomes), key=key), None, as_json=as_json)
