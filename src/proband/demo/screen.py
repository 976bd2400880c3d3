"""The demonstration on the screen."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from proband.demo.many import (
    BOARDS,
    figure_table,
    frequency_table,
    honesty,
    learn_many,
    learning_table,
    tree_lines,
    write_many,
)
from proband.demo.many import verdict as many_verdict
from proband.demo.report import Cells, caution, cost_table, hindsight, regret_table, verdict, way, worth, write
from proband.demo.stream import BOLTS, NAMES, Demonstration, learn_online
from proband.figures import can_draw
from proband.policies.rendering import text
from proband.texts import escaped

SHOWN_SHARE = 0.01


def show(folder: Path, *, seed: int = 0, subjects: int = BOLTS, console: Console | None = None) -> None:
    """Run the demonstration, tell it on the screen, and write its figure and report into a folder."""
    console = Console(highlight=False) if console is None else console
    console.print(
        "[bold cyan]A stream of bolts[/], nine tests to choose from, one question: pass or fail?\n"
        "Three agents learn the answer from the same bolts, each on its own.\n"
    )
    if not can_draw():
        console.print(
            'There will be no figure: matplotlib is not installed; pip install "proband[figures]".\n', markup=False
        )
    demonstration = _learn(console, seed, subjects)
    unit = demonstration.instance.problem.unit
    _show_tree(console, demonstration)
    _show_bolts(console, demonstration)
    _show_table(console, f"A bolt on average, before and after learning ({unit})", cost_table(demonstration), words=1)
    console.print("Earned: rewards minus costs. Expected loss: to the clairvoyant, who knows the true law; exact.")
    _show_table(console, f"What was lost to the clairvoyant in all ({unit})", regret_table(demonstration), words=2)
    console.print(f"\n[bold]{verdict(demonstration)}[/]\n{hindsight(demonstration)}\n{caution(demonstration)}")
    written = " and ".join(escaped(str(path)) for path in write(demonstration, folder))
    console.print(f"\nWritten: {written}", markup=False, soft_wrap=True)


def show_many(folder: Path, *, seed: int = 0, subjects: int = BOARDS, console: Console | None = None) -> None:
    """Run the demonstration with many tests, tell it on the screen, and write its report into a folder."""
    console = Console(highlight=False) if console is None else console
    console.print(
        "[bold cyan]A stream of circuit boards[/], 30 tests to choose from, one question: ship or repair?\n"
        "The default agent learns the answer from the boards themselves; it is told prices and rewards only.\n"
    )
    with Progress(*_columns("boards"), console=console) as progress:
        bar = progress.add_task(NAMES[-1], total=subjects)
        found = learn_many(
            seed=seed, subjects=subjects, tell=lambda done: progress.update(bar, completed=done, refresh=True)
        )
    unit = found.instance.problem.unit
    _show_table(console, f"A board on average, while it learned ({unit})", learning_table(found), words=1)
    console.print("\n[bold]What it tests now[/]")
    for line in tree_lines(found, least=SHOWN_SHARE):
        console.print(line, markup=False, soft_wrap=True)
    _show_table(console, "How often", frequency_table(found), words=1)
    _show_table(console, f"A board from now on ({unit})", figure_table(found), words=1)
    console.print(f"\n[bold]{many_verdict(found)}[/]\n{honesty(found)}".rstrip())
    console.print(f"\nWritten: {escaped(str(write_many(found, folder)))}", markup=False, soft_wrap=True)


def _learn(console: Console, seed: int, subjects: int) -> Demonstration:
    with Progress(*_columns("bolts"), console=console) as progress:
        bars = {name: progress.add_task(name, total=subjects, start=False) for name in NAMES}

        def tell(name: str, done: int) -> None:
            if name in bars:
                progress.start_task(bars[name])
                progress.update(bars[name], completed=done, refresh=True)

        return learn_online(seed=seed, subjects=subjects, tell=tell)


def _columns(what: str) -> tuple[ProgressColumn, ...]:
    """Return what a progress bar is made of."""
    return (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn(what),
        TimeElapsedColumn(),
    )


def _show_tree(console: Console, demonstration: Demonstration) -> None:
    tree = demonstration.learned.tree()
    console.print(f"\n[bold]What {NAMES[-1]} has learned from {demonstration.subjects:,} bolts[/]")
    lines = text(tree).splitlines()  # one a node, in the order of tree.nodes()
    for line, node in zip(lines, tree.nodes(), strict=True):
        if node.probability >= SHOWN_SHARE:
            console.print(line, markup=False, soft_wrap=True)
    console.print(f"(ways that fewer than {100 * SHOWN_SHARE:g} % of the bolts go are left out: see the report)")
    console.print(worth(demonstration))


def _show_bolts(console: Console, demonstration: Demonstration) -> None:
    console.print("\n[bold]Single bolts: its first one, and those that come next[/]")
    for journey in demonstration.journeys:
        console.print(way(journey, demonstration.instance.problem.unit), markup=False)


def _show_table(console: Console, title: str, cells: Cells, *, words: int) -> None:
    """Print a table; its first columns are words, the others numbers."""
    console.print(f"\n[bold]{title}[/]")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for n, heading in enumerate(cells.headings):
        table.add_column(heading, justify="left" if n < words else "right", no_wrap=n == 0)
    for row in cells.rows:
        table.add_row(*row)
    console.print(table)
