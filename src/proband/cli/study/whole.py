"""``proband study create``, ``list``, ``show`` and so on: a study as a whole."""

from __future__ import annotations

import shlex
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from proband.agents import AGENTS
from proband.cli import inputs, printing
from proband.cli.study.options import (
    DEFAULT_STORE,
    ActorOption,
    KeyOption,
    ReasonOption,
    StationOption,
    StoreOption,
    StudyArgument,
    on_study,
    opened,
    store_option,
)
from proband.cli.study.printing import spent_on, summary_facts
from proband.cli.study.terminal import operate
from proband.errors import StudyError, UnknownNameError
from proband.studies import Study, open_store
from proband.studies.stores.entries import names_of_studies


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
    max_tests: Annotated[
        int | None,
        typer.Option("--max-tests", min=0, metavar="N", help="Most tests of a subject who is decided as planned."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", min=0, metavar="COST", help="Most to pay for the tests of such a one.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="S", help="Of coins and draws.")] = 0,
    store: StoreOption = DEFAULT_STORE,
    station: StationOption = None,
    actor: ActorOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Begin a study of a problem.

    [bold]Examples[/bold]
    $ proband study create bolts.toml --name bolts
    $ proband study create bolts --store postgresql://host/quality
    """
    task, _ = inputs.load_problem(problem)
    with Study.create(
        task, name=name, agent=agent, store=store, seed=seed, horizon=horizon, condition_number=condition_number,
        max_tests=max_tests, budget=budget, station=station, actor=actor, replan="never",
    ) as study:  # fmt: skip
        found = {"study": study.name, "agent": study.summary(exploration=False).agent, "store": study.store.url}
    printing.print_content(found, as_json=as_json)
    if not as_json:
        printing.say(f"\nNow try:  proband study run {shlex.quote(found['study'])}{store_option(store)}")


def list_command(store: StoreOption = DEFAULT_STORE, as_json: inputs.JsonOption = False) -> None:
    """List the studies of a store.

    [bold]Examples[/bold]
    $ proband study list --store sqlite:///bolts.db
    """
    with closing(open_store(store)) as where:
        rows = [(name, where.length(name)) for name in names_of_studies(where)]
    if as_json:
        printing.print_json({"studies": [{"study": name, "events": events} for name, events in rows]})
    elif rows:
        printing.print_table(["study", "events"], [[name, f"{events:,}"] for name, events in rows])
    else:
        printing.say(f"There is no study yet: begin one with proband study create PROBLEM{store_option(store)}")


@on_study(telling=False)
def show_command(live: Study, as_json: inputs.JsonOption = False) -> None:
    """Show a study at a glance, drift included.

    [bold]Examples[/bold]
    $ proband study show bolts
    """
    with printing.waiting("summing up"):
        summary, waiting = live.summary(), live.subjects(open=True)
        drift = str(summary.drift)
    if as_json:
        printing.print_json({**summary.to_dict(), "open_subjects": [s.name for s in waiting]})
        return
    printing.print_title(summary.study)
    facts = summary_facts(summary, hint=f"{shlex.quote(summary.study)}{store_option(live.store.url)}")
    printing.print_facts([*facts, ("drift", drift)])
    if waiting:
        printing.say()
        rows = [[s.name, s.station, f"{len(s.ran)} tests", spent_on(s), s.held_until[:19]] for s in waiting[:20]]
        printing.print_table(["open subject", "station", "so far", "spent", "held until (UTC)"], rows)


@on_study()
def restart_command(live: Study, reason: ReasonOption, key: KeyOption = None) -> None:
    """Start learning afresh from here on, for instance after drift.

    [bold]Examples[/bold]
    $ proband study restart bolts --reason "new supplier"
    """
    live.restart(reason=reason, key=key)
    printing.say("The study learns afresh from here on; everything stays in its log.")


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


@on_study(replan="background")
def run_command(live: Study) -> None:
    """Work through subjects at a terminal: arrow keys or numbers, names, costs, reasons, undo.

    [bold]Examples[/bold]
    $ proband study run bolts --station "line 1"
    """
    operate(live)
