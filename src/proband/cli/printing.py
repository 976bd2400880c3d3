"""How commands speak to people, and to programs: the one place where text is printed, and made to act on nothing."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text

from proband import quantities
from proband.texts import escaped

if TYPE_CHECKING:
    from rich.progress import Progress as Progressbar

    from proband.planners import Evaluation
    from proband.planners.progress import Progress, Report
    from proband.policies.nodes import Alternative
    from proband.problem import Problem
    from proband.vocabulary import FloatArray


def progress_bar(*, counting: bool = False) -> Progressbar:
    """Return a line on standard error that is gone in the end: a spinner, or a bar that counts."""
    from rich import progress

    text, elapsed = progress.TextColumn("{task.description}"), progress.TimeElapsedColumn()
    counted = (text, progress.BarColumn(), progress.MofNCompleteColumn(), elapsed, progress.TimeRemainingColumn())
    columns = counted if counting else (progress.SpinnerColumn(), text, elapsed)
    console = Console(stderr=True)
    return progress.Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty())


@contextmanager
def search_progress() -> Iterator[Report]:
    """Show how far a search has come, on standard error, once it takes longer than two seconds."""
    bar = progress_bar()
    line = bar.add_task("searching")

    def show(progress: Progress) -> None:
        if progress.seconds > 2:
            bar.update(line, description=str(progress))
            bar.start()

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on standard error that something is under way, once it takes longer than two seconds."""
    bar = progress_bar()
    bar.add_task(what)
    with _shown_late(bar):
        yield


@contextmanager
def counting(what: str, total: int) -> Iterator[Report]:
    """Show on standard error how many of some parts are done, once it takes longer than two seconds."""
    bar = progress_bar(counting=True)
    line = bar.add_task(what, total=total)
    with _shown_late(bar):
        yield lambda progress: bar.update(line, completed=progress.done, total=progress.total or total)


@contextmanager
def kept_if_stopped(what: Callable[[], str] | str) -> Iterator[None]:
    """Say what is kept when somebody presses Ctrl-C here; without this it is nothing."""
    try:
        yield
    except KeyboardInterrupt as stop:
        told = str(stop) or (what if isinstance(what, str) else what())
        raise KeyboardInterrupt(told) from stop


@contextmanager
def _shown_late(bar: Progressbar) -> Iterator[None]:
    timer = threading.Timer(2.0, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if bar.live.is_started:
            bar.stop()


def print_json(content: Mapping[str, Any]) -> None:
    """Print a structure as strict JSON, and nothing else; see :func:`plain` for numbers that JSON has not."""
    text = json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False)
    say(escaped(text, keep="\n", escape=lambda mark: json.dumps(mark)[1:-1]))


def print_content(content: Mapping[str, Any], *, as_json: bool) -> None:
    """Print names and what belongs to them: as JSON for programs, in two columns for people."""
    if as_json:
        print_json(content)
    else:
        print_facts((name.replace("_", " "), str(value)) for name, value in content.items())


def plain(content: Any) -> Any:
    """Return a structure with None for every number that is not finite: no limit, no bound, not known.

    Examples
    --------
    >>> plain({"low": float("-inf"), "high": 800.0, "slopes": [float("nan"), 1]})
    {'low': None, 'high': 800.0, 'slopes': [None, 1]}
    """
    if isinstance(content, Mapping):
        return {key: plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and what belongs to them in two columns."""
    rows = list(facts)
    width = max(len(name) for name, _ in rows)
    console = Console(highlight=False)
    if console.is_terminal:  # broken at words, each fact in its column
        from rich.table import Table

        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, fact in rows:
            grid.add_row(Text(escaped(name)), Text(escaped(fact)))
        console.print(grid)
        return
    for name, fact in rows:
        console.print(Text.assemble((f"{escaped(name):<{width}}  ", "bold"), escaped(fact)), soft_wrap=True)


def say(text: str = "", *, error: bool = False, line: bool = True) -> None:
    """Print a text of one line or more, where nothing acts but the line breaks; all commands print by this module."""
    typer.echo(escaped(text, keep="\n"), err=error, nl=line)


def print_title(title: str) -> None:
    """Print a line that stands out."""
    console = Console(highlight=False)
    console.print(Text(escaped(title), style="bold cyan"), soft_wrap=not console.is_terminal)


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, best: int | None = None) -> None:
    """Print a table: the first column to the left, the others to the right; row `best` stands out."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for n, name in enumerate(header):
        table.add_column(Text(escaped(name)), justify="left" if n == 0 else "right", overflow="fold")
    for n, row in enumerate(rows):
        table.add_row(*(Text(escaped(cell)) for cell in row), style="green" if n == best else None)
    Console(highlight=False).print(table)


def print_choices(problem: Problem, state: FloatArray, actions: Sequence[Alternative], best: int) -> None:
    """Print the possible actions in a state: what each costs now, its value, and what it loses to the best."""
    costs = problem.costs(state)[0]
    noise = ROUNDING * max((abs(other.value) for other in actions), default=0.0)
    rows = [
        [
            f"{'test' if other.action < problem.d else 'decide'}: {problem.action_name(other.action)}",
            amount(problem, costs[other.action]) if other.action < problem.d else "",
            quantities.plain(other.value if abs(other.value) > noise else 0.0, problem.unit),
            _loss(other, problem.unit),
        ]
        for other in actions
    ]
    chosen = next((n for n, other in enumerate(actions) if other.action == best), None)
    print_table(["possible action", "cost now", "value", "loses"], rows, best=chosen)


def _loss(other: Alternative, unit: str) -> str:
    """Return what an action loses to the best, but for rounding."""
    if other.loss <= ROUNDING * max(1.0, abs(other.value)):
        return "best"
    return f"{'at most ' * other.at_most}{quantities.plain(other.loss, unit)}"


ROUNDING = 1e-9


def amount(problem: Problem, number: float) -> str:
    """Return a number of costs or rewards with its unit."""
    return quantities.amount(number, problem.unit)


def value_of_plan(problem: Problem, value: float, *, in_sample: bool) -> str:
    """Return the value of a plan, with what it is."""
    return f"{amount(problem, value)} a subject (rewards minus costs)" + ", in-sample" * in_sample


def evaluation_facts(problem: Problem, evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return what to expect of a new subject, for people."""
    return [
        ("expected costs", amount(problem, evaluation.cost)),
        ("expected tests", f"{quantities.number(evaluation.tests, 3)} of {len(problem.operable)}"),
        ("decisions", _decisions(evaluation.decisions)),
    ]


def evaluation_content(evaluation: Evaluation) -> dict[str, Any]:
    """Return what to expect of a new subject, for programs."""
    return {
        "expected_reward": evaluation.reward,
        "expected_cost": evaluation.cost,
        "expected_tests": evaluation.tests,
        "decisions": evaluation.decisions,
    }


def _decisions(decisions: Mapping[str, float], most: int = 6) -> str:
    if len(decisions) <= most:
        return " · ".join(f"{name} {quantities.percent(share)}" for name, share in decisions.items())
    likeliest, share = next(iter(decisions.items()))
    return f"{len(decisions)} different ones; most often {likeliest} ({quantities.percent(share)})"
