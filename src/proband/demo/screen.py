"""The demonstration on the screen."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from proband.demo.report import write
from proband.demo.stream import STREAM, Demonstration, inspect_stream, journey
from proband.policies.rendering import text

SHOWN_SHARE = 0.01
SHOWN_BOLTS = 4


def show(folder: Path, *, seed: int = 0, console: Console | None = None) -> None:
    """Run the demonstration, tell it on the screen, and write its figure and report into a folder."""
    console = Console(highlight=False) if console is None else console
    console.print("[bold cyan]A stream of bolts[/], nine tests to choose from, one question: pass or fail?\n")
    demonstration = _inspect(console, seed)
    _show_lessons(console, demonstration)
    _show_tree(console, demonstration)
    _show_bolts(console, demonstration)
    _show_result(console, demonstration)
    figure, document = write(demonstration, folder)
    console.print(f"\nWritten: {figure} and {document}", soft_wrap=True)


def _inspect(console: Console, seed: int) -> Demonstration:
    columns = (
        TextColumn("inspecting bolts"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=STREAM)
        return inspect_stream(
            seed=seed, tell=lambda done, doing: progress.update(task, advance=done, description=doing, refresh=True)
        )


def _show_lessons(console: Console, demonstration: Demonstration) -> None:
    unit = demonstration.instance.problem.unit
    console.print("\n[bold]Every test on the first bolts, and a new plan at each doubling of the records[/]")
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("records", f"testing costs ({unit})", f"plan is worth ({unit})", "loses to the clairvoyant"):
        table.add_column(name, justify="right")
    for lesson in demonstration.lessons:
        loss = demonstration.clairvoyant.value - lesson.truth.value
        table.add_row(str(lesson.records), f"{lesson.truth.cost:.2f}", f"{lesson.truth.value:.3f}", f"{loss:.3f}")
    console.print(table)


def _show_tree(console: Console, demonstration: Demonstration) -> None:
    tree = demonstration.learned.plan.tree()
    console.print(f"\n[bold]What was learned from {demonstration.switch} records[/]")
    lines = text(tree).splitlines()  # one a node, in the order of tree.nodes()
    for line, node in zip(lines, tree.nodes(), strict=True):
        if node.probability >= SHOWN_SHARE:
            console.print(line, markup=False, soft_wrap=True)
    console.print(f"(ways that fewer than {100 * SHOWN_SHARE:g} % of the bolts go are left out: see the report)")


def _show_bolts(console: Console, demonstration: Demonstration) -> None:
    problem, switch = demonstration.instance.problem, demonstration.switch
    console.print("\n[bold]The next bolts follow the plan[/]")
    for n in range(switch, switch + SHOWN_BOLTS):
        steps, decision, paid = journey(problem, demonstration.learned.plan, demonstration.stream[n])
        way = " → ".join([*(f"{name}: {outcome}" for name, outcome in steps), decision])
        console.print(f"bolt {n + 1}  {way}  ({paid:.2f} {problem.unit})", markup=False, soft_wrap=True)


def _show_result(console: Console, demonstration: Demonstration) -> None:
    unit = demonstration.instance.problem.unit
    before, after = demonstration.paid()
    earned_before, earned_after = demonstration.earned()
    clairvoyant = demonstration.clairvoyant
    console.print("\n[bold]A bolt on average[/]")
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("")
    for name in ("before learning", "after learning", "clairvoyant"):
        table.add_column(name, justify="right")
    table.add_row(f"testing costs ({unit})", f"{before:.2f}", f"{after:.2f}", f"{clairvoyant.expected_cost:.2f}")
    table.add_row(
        f"rewards minus costs ({unit})", f"{earned_before:.2f}", f"{earned_after:.2f}", f"{clairvoyant.value:.2f}"
    )
    console.print(table)
    console.print(
        f"The learned plan has gone {100 * demonstration.achieved:.1f} % of the way from testing everything to the "
        "clairvoyant, who knows the true law.",
        soft_wrap=True,
    )
