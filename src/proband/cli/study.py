"""``proband study``: live studies from the command line, every command scriptable."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from proband.agents import AGENTS
from proband.cli import inputs, printing
from proband.cli.next import parse_known
from proband.cli.study_printing import print_advice, print_answer, spent_on, summary_facts
from proband.cli.study_run import operate
from proband.errors import StudyError, UnknownNameError, UnknownStudyError
from proband.studies import Study, copy_study, import_study, open_store
from proband.studies.exchange import read_export
from proband.studies.stores import Hidden

STORE_VARIABLE = "PROBAND_STORE"
DEFAULT_STORE = "sqlite:///proband.db"

StudyArgument = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")]
SubjectArgument = Annotated[str, typer.Argument(metavar="SUBJECT", help="Name of the subject.")]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        envvar=STORE_VARIABLE,
        parser=Hidden,
        help="Where studies are kept: sqlite:///FILE, or postgresql://...",
    ),
]
StationOption = Annotated[
    str | None, typer.Option("--station", metavar="NAME", help="Where this is told; by default the machine.")
]
ActorOption = Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Who tells it; by default the user.")]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", metavar="KEY", help="Idempotency key: the same command again is recorded once."),
]
ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept with the event.")]
KnownOption = Annotated[
    list[str] | None,
    typer.Option("--known", metavar="TEST=OUTCOME", help="What is known of the subject; once for each test."),
]
JsonOption = inputs.JsonOption

study_app = typer.Typer(no_args_is_help=True, help="Live studies: ask, tell, decide, and lose nothing.")


def opened(name: str, store: str, station: str | None = None, actor: str | None = None) -> Study:
    """Open a study; learning happens in the process that is asked, right after a decision."""
    return Study.open(name, store=store, station=station, actor=actor, replan="now")


@study_app.command("create")
def create_command(
    problem: inputs.ProblemArgument,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="By default the problem's name.")] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help=f"Who learns: {', '.join(AGENTS)}, or module:Class.")
    ] = None,
    horizon: Annotated[
        int | None, typer.Option("--horizon", min=1, metavar="T", help="Number of subjects, for agents that use it.")
    ] = None,
    condition_number: Annotated[
        float | None,
        typer.Option(
            "--condition-number",
            metavar="SIGMA",
            help="Of the covariance of measured tests: elimination needs it, explore-then-commit uses it.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Of coins and draws.")] = 0,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Begin a study of a problem.

    [bold]Examples[/bold]
    $ proband study create bolts.toml --name bolts
    $ proband study create bolts --store postgresql://host/quality
    """
    task, _ = inputs.load_problem(problem)
    with Study.create(
        task, name=name, agent=agent, store=store, seed=seed, horizon=horizon, condition_number=condition_number,
        station=station, actor=actor, replan="never",
    ) as study:  # fmt: skip
        found = {"study": study.name, "agent": study.summary(exploration=False).agent, "store": study.store.url}
    if as_json:
        printing.print_json(found)
        return
    printing.print_facts([(key, str(value)) for key, value in found.items()])
    printing.say(f'\nNow try:  proband study run "{found["study"]}"')


@study_app.command("list")
def list_command(store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """List the studies of a store.

    [bold]Examples[/bold]
    $ proband study list --store sqlite:///bolts.db
    """
    where = open_store(store)
    try:
        rows = [(name, where.length(name)) for name in where.studies()]
    finally:
        where.close()
    if as_json:
        printing.print_json({"studies": [{"study": name, "events": events} for name, events in rows]})
    elif rows:
        printing.print_table(["study", "events"], [[name, f"{events:,}"] for name, events in rows])
    else:
        printing.say("There is no study yet: begin one with proband study create.")


@study_app.command("show")
def show_command(study: StudyArgument, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Show a study at a glance, drift included.

    [bold]Examples[/bold]
    $ proband study show bolts
    """
    with opened(study, store) as live:
        summary, waiting = live.summary(), live.subjects(open=True)
    if as_json:
        printing.print_json({**summary.to_dict(), "open_subjects": [s.name for s in waiting]})
        return
    printing.print_title(summary.study)
    printing.print_facts([*summary_facts(summary), ("drift", str(summary.drift))])
    if waiting:
        printing.say()
        rows = [[s.name, s.station, f"{len(s.ran)} tests", spent_on(s), s.held_until[:19]] for s in waiting[:20]]
        printing.print_table(["open subject", "station", "so far", "spent", "held until (UTC)"], rows)


@study_app.command("arrive")
def arrive_command(
    study: StudyArgument,
    subject: Annotated[str | None, typer.Option("--subject", metavar="NAME", help="By default its number.")] = None,
    known: KnownOption = None,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a subject arrive, and say what to do first.

    [bold]Examples[/bold]
    $ proband study arrive bolts --subject "bolt 17"
    $ proband study arrive gout --known sex=male --json
    """
    with opened(study, store, station, actor) as live:
        came = live.arrive(parse_known(known or []), subject=subject, key=key)
        advice = live.ask(came) if came.status == "open" else None
    print_answer(came, advice, as_json=as_json)


@study_app.command("ask")
def ask_command(
    study: StudyArgument, subject: SubjectArgument, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False
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


@study_app.command("tell")
def tell_command(
    study: StudyArgument,
    subject: SubjectArgument,
    outcomes: Annotated[list[str], typer.Argument(metavar="TEST=OUTCOME...", help="What tests showed, in order.")],
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what a test showed, the advised one or another, or several of them at once; say what comes next.

    [bold]Examples[/bold]
    $ proband study tell bolts "bolt 17" "bolt weight=nominal"
    """
    with opened(study, store, station, actor) as live:
        now = live.tell(subject, parse_known(outcomes), key=key)
        advice = live.ask(subject)
    print_answer(now, advice, as_json=as_json)


@study_app.command("decide")
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
    as_json: JsonOption = False,
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


@study_app.command("take")
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
    as_json: JsonOption = False,
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


@study_app.command("correct")
def correct_command(
    study: StudyArgument,
    subject: SubjectArgument,
    outcome: Annotated[str, typer.Argument(metavar="TEST=OUTCOME", help="Right outcome; TEST= withdraws it.")],
    reason: ReasonOption,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Correct an outcome that was told wrongly: a new event, the old one stays in the log.

    [bold]Examples[/bold]
    $ proband study correct bolts "bolt 17" "bolt weight=light" --reason "misread"
    """
    test, _, right = (part.strip() for part in outcome.partition("="))
    with opened(study, store, station, actor) as live:
        now = live.correct(subject, test, right or None, reason=reason, key=key)
    print_answer(now, None, as_json=as_json)


@study_app.command("void")
def void_command(
    study: StudyArgument,
    subject: SubjectArgument,
    reason: ReasonOption,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a subject out of the study; it stays in the log.

    [bold]Examples[/bold]
    $ proband study void bolts "bolt 17" --reason "dropped"
    """
    with opened(study, store, station, actor) as live:
        now = live.void(subject, reason=reason, key=key)
    print_answer(now, None, as_json=as_json)


@study_app.command("reveal")
def reveal_command(
    study: StudyArgument,
    subject: SubjectArgument,
    outcomes: Annotated[list[str], typer.Argument(metavar="TEST=OUTCOME...", help="What came to light.")],
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what came to light later about a finished subject.

    [bold]Examples[/bold]
    $ proband study reveal gout "case 3" "joint fluid=crystals"
    """
    with opened(study, store, station, actor) as live:
        now = live.reveal(subject, parse_known(outcomes), key=key)
    print_answer(now, None, as_json=as_json)


@study_app.command("restart")
def restart_command(
    study: StudyArgument,
    reason: ReasonOption,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    key: KeyOption = None,
) -> None:
    """Start learning afresh from here on, for instance after drift.

    [bold]Examples[/bold]
    $ proband study restart bolts --reason "new supplier"
    """
    with opened(study, store, station, actor) as live:
        live.restart(reason=reason, key=key)
    printing.say("The study learns afresh from here on; everything stays in its log.")


@study_app.command("import")
def import_command(
    study: StudyArgument,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Past records (.csv, .parquet), or an export (.jsonl).")],
    source: Annotated[str | None, typer.Option("--source", metavar="TEXT", help="Where records come from.")] = None,
    store: StoreOption = DEFAULT_STORE,
    actor: ActorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import past records as starting knowledge, or a whole study that was exported. Twice adds nothing.

    [bold]Examples[/bold]
    $ proband study import bolts bolts-records.csv
    $ proband study import bolts bolts.jsonl --store sqlite:///copy.db
    """
    if path.suffix.lower() == ".jsonl":
        name, _ = read_export(path)
        if name != study:
            raise StudyError(
                f"{path}: it holds the study {name!r}, not {study!r}; a copy keeps its name, which is part of its log; "
                f"write proband study import {shlex.quote(name)} {shlex.quote(str(path))}, with another --store if the "
                "copy is to stand beside the first"
            )
        found = import_study(path, store=store)
        content: dict[str, Any] = {"events": found.length, "hash": found.hash}
    else:
        with opened(study, store, None, actor) as live:
            learned = live.learn_from(path, source=source)
            content = {"subjects_added": int(learned), "subjects_recognised": learned.recognised}
    if as_json:
        printing.print_json(content)
    else:
        printing.print_facts([(key.replace("_", " "), str(value)) for key, value in content.items()])


@study_app.command("export")
def export_command(
    study: StudyArgument,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The log (.jsonl), or the subjects (.csv, .parquet).")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write everything, lossless, as JSON lines; or the table of subjects.

    [bold]Examples[/bold]
    $ proband study export bolts bolts.jsonl
    $ proband study export bolts subjects.csv
    """
    with opened(study, store) as live:
        if path.suffix.lower() == ".jsonl":
            found = live.export(path)
            content: dict[str, Any] = {"written": str(path), "events": found.length, "hash": found.hash}
        else:
            live.write_table(path)
            content = {"written": str(path), "subjects": len(live.table())}
    if as_json:
        printing.print_json(content)
    else:
        printing.print_facts([(key, str(value)) for key, value in content.items()])


@study_app.command("copy")
def copy_command(
    source: Annotated[Hidden, typer.Argument(metavar="FROM", parser=Hidden, help="URL of the store to copy from.")],
    target: Annotated[Hidden, typer.Argument(metavar="TO", parser=Hidden, help="URL of the store to copy to.")],
    study: Annotated[
        list[str] | None, typer.Option("--study", metavar="NAME", help="Which study; by default all. Repeat it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Copy studies to another store, each whole or not at all, and verify them there. Twice adds what came since.

    [bold]Examples[/bold]
    $ proband study copy sqlite:///bolts.db postgresql://host/quality
    """
    with closing(open_store(source)) as here, closing(open_store(target)) as there:
        names = study or here.studies()
        if not names:
            raise UnknownStudyError(f"there is no study in {here.url}; give the store that has one")
        found = [(name, copy_study(name, source=here, target=there)) for name in names]
    if as_json:
        printing.print_json(
            {"copied": [{"study": name, "events": log.length, "hash": log.hash} for name, log in found]}
        )
    else:
        printing.print_table(["study", "events", "hash"], [[name, f"{log.length:,}", log.hash] for name, log in found])


@study_app.command("verify")
def verify_command(
    study: StudyArgument,
    length: Annotated[
        int | None, typer.Option("--length", min=1, metavar="N", help="Length at an earlier look, with --hash.")
    ] = None,
    hash: Annotated[
        str | None, typer.Option("--hash", metavar="HEX", help="Hash at that time: of entry N, or alone of any entry.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="An earlier export to compare every entry with.")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Also work out again all advice, from the log alone.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Prove that nothing was altered, reordered or dropped.

    [bold]Examples[/bold]
    $ proband study verify bolts
    $ proband study verify bolts --hash $(cat hash.txt)
    """
    with opened(study, store) as live:
        found = live.verify(length=length, hash=hash, export=export)
        replayed = live.replay() if replay else None
    content: dict[str, Any] = {"events": found.length, "hash": found.hash, "chain": "whole"}
    if replayed is not None:
        content |= {"advice_replayed": replayed.advices, "advice_that_differs": len(replayed.differences)}
    if as_json:
        printing.print_json(content)
    else:
        printing.print_facts([(key.replace("_", " "), str(value)) for key, value in content.items()])
    if replayed is not None and replayed.differences:
        raise typer.Exit(5)


@study_app.command("report")
def report_command(
    study: StudyArgument,
    out: Annotated[Path, typer.Option("--out", metavar="HTML", help="Where to write it.")] = Path("report.html"),
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Write a report: costs over time, tests saved, what was learned, decisions, drift. One HTML file, pictures inside.

    [bold]Examples[/bold]
    $ proband study report bolts --out bolts.html
    """
    from proband.figures import study_report

    if out.suffix.lower() not in (".html", ".htm"):
        raise UnknownNameError(f"--out is {str(out)!r}; a report is an HTML file; let it end in .html")
    with opened(study, store) as live, printing.waiting("writing the report"):
        try:
            tree = live.tree(depth=4)
        except (StudyError, ValueError):
            tree = None
        text = study_report(live.summary(), tree=tree)
    out.write_text(text, encoding="utf-8")
    printing.print_facts([("written", str(out))])


@study_app.command("run")
def run_command(
    study: StudyArgument,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
) -> None:
    """Work through subjects at a terminal: arrow keys or numbers, names, costs, reasons, undo.

    [bold]Examples[/bold]
    $ proband study run bolts --station "line 1"
    """
    with Study.open(study, store=store, station=station, actor=actor) as live:
        operate(live)
